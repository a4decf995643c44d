"""Drawings of what was published of a graph: from the release alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.publish.picturing import BAND, FITTED, GROUND, INK, MUTED, NOISY, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_degrees(release: Any) -> Figure:
    """Return the degrees in order: noisy ones as dots, the fit as a line, its band around it."""
    low, high = release.intervals()
    place = np.arange(1, len(release.noisy) + 1)
    drawn = figure()
    axes = drawn.subplots()
    axes.fill_between(
        place, np.maximum(low, 0.5), np.maximum(high, 0.5), color=FITTED, alpha=BAND, lw=0, label="95 % band"
    )
    seen = release.noisy > 0
    axes.plot(place[seen], release.noisy[seen], ".", ms=2, color=NOISY, alpha=0.5, label="noisy")
    axes.plot(place, np.maximum(release.fitted, 0.5), color=FITTED, lw=1.6, label="fitted")
    axes.set(xscale="log", yscale="log", xlim=(1, max(len(place), 2)), ylim=(0.5, None))
    axes.set_xlabel("place, the most edges first", color=INK)
    axes.set_ylabel("edges of the node there", color=INK)
    axes.set_title(f"Degrees of {len(place):,} nodes", loc="left", color=INK)
    axes.tick_params(colors=MUTED)
    axes.grid(color=GROUND)
    axes.legend(frameon=False, labelcolor=INK)
    return drawn


def draw_counts(release: Any) -> Figure:
    """Return a bar for each count, with its number."""
    drawn = figure(height=1.2 + 0.6 * len(release.counts))
    axes = drawn.subplots()
    names = list(release.counts)
    bars = axes.barh(names, [max(release.counts[name], 0) for name in names], color=NOISY, height=0.55)
    axes.bar_label(bars, [f"{release.counts[name]:,.0f}" for name in names], padding=4, color=INK)
    axes.margins(x=0.2)
    axes.invert_yaxis()
    axes.set_title("Noisy counts", loc="left", color=INK)
    axes.tick_params(colors=MUTED)
    return drawn
