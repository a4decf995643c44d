"""Drawings of what was published of genotypes: from the release alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.publish.picturing import BAND, FITTED, GROUND, INK, MUTED, NOISY, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANEL = 2.0


def draw_frequencies(release: Any) -> Figure:
    """Return frequencies at sites in order, a panel for each cluster, with the width of their intervals."""
    count = len(release.clusters)
    drawn = figure(height=0.8 + _PANEL * count)
    panels = np.atleast_1d(drawn.subplots(count, 1, sharex=True, sharey=True))
    place = np.arange(1, len(release.sites) + 1)
    for number, axes in enumerate(panels):
        shares, half = release.frequencies[:, number], release.half_widths[number]
        low, high = (
            np.clip(release.estimates[:, number] - half, 0, 1),
            np.clip(release.estimates[:, number] + half, 0, 1),
        )
        axes.vlines(place, low, high, color=NOISY, alpha=BAND)
        axes.plot(place, shares, ".", ms=3, color=FITTED)
        axes.set(ylim=(-0.02, 1.02))
        axes.set_title(f"{release.clusters[number]}: about {release.people[number]:,.0f} people", loc="left", color=INK)
        axes.tick_params(colors=MUTED)
        axes.grid(color=GROUND)
    panels[-1].set_xlabel("site", color=INK)
    return drawn


def draw_manhattan(release: Any) -> Figure:
    """Return the χ² of the chosen sites by where they are, chromosomes one after the other."""
    drawn = figure()
    axes = drawn.subplots()
    at, ticks, names = _along(release.sites)
    height = release.chi_squared
    shade = np.searchsorted(ticks, at, side="right") % 2
    axes.vlines(at, 0, height, color=np.where(shade, FITTED, NOISY), lw=1)
    axes.scatter(at, height, color=np.where(shade, FITTED, NOISY), s=24, zorder=3)
    for x, y, name in zip(at, height, release.names, strict=True):
        axes.annotate(name, (x, y), xytext=(3, 3), textcoords="offset points", fontsize=7, color=MUTED)
    axes.set_xticks(ticks, names, color=MUTED)
    axes.set_ylim(0, None)
    axes.set_xlabel("chromosome, only those with a chosen site", color=INK)
    axes.set_ylabel("χ² from noisy counts", color=INK)
    axes.set_title(f"The {len(at)} sites that differ most", loc="left", color=INK)
    axes.tick_params(colors=MUTED)
    axes.grid(color=GROUND, axis="y")
    axes.margins(x=0.1)
    return drawn


def _along(sites: pa.Table) -> tuple[NDArray[np.float64], list[float], list[str]]:
    """Return where each site is, where each chromosome begins, and its name."""
    chromosome, position = sites["chromosome"].to_pylist(), np.array(sites["position"].to_pylist(), dtype=np.float64)
    names = sorted(set(chromosome), key=lambda name: (not name.isdigit(), int(name) if name.isdigit() else 0, name))
    ends = {name: max(float(p) for c, p in zip(chromosome, position, strict=True) if c == name) for name in names}
    starts = dict(zip(names, np.concatenate([[0.0], np.cumsum([1.05 * ends[name] for name in names])]), strict=False))
    return position + np.array([starts[c] for c in chromosome]), [float(starts[name]) for name in names], names
