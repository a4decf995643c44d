"""The paper that the figures of attacks are drawn on: one look, and bars with intervals for what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sordino.errors import UnsupportedError

from .rates import Contrast, Rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
else:
    Axes = Figure = Any  # names for annotations: matplotlib is loaded by whoever draws

INK, MUTED, GRID = "#1d2433", "#6b7385", "#e7e9ef"
RAW, PRIVATE, THIRD = "#d1495b", "#1b6ca8", "#b7791f"
"""The unprotected release is red and sordino's is blue in every figure."""


def paper(title: str, *subtitles: str, width: float = 9.6, height: float = 4.6) -> tuple[Figure, Sequence[Axes]]:
    """Return a figure with one plot for each subtitle, side by side under the title."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UnsupportedError("plots need matplotlib: pip install sordino[plot]", "SRD-C022") from error
    figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
    figure.suptitle(title, x=0.012, ha="left", fontsize=13, fontweight="bold", color=INK)
    plots = list(np.ravel(figure.subplots(1, len(subtitles))))
    for axes, subtitle in zip(plots, subtitles, strict=True):
        axes.set_title(subtitle, loc="left", fontsize=10, color=MUTED, pad=10)
        axes.tick_params(colors=MUTED, length=0, labelsize=9)
        axes.grid(color=GRID, linewidth=0.8, zorder=0)
        axes.set_axisbelow(True)
        for side in axes.spines.values():
            side.set_visible(False)
    return figure, plots


class Drawn(Protocol):
    """A result that can draw itself on a plot, and has a short line to stand above it."""

    @property
    def headline(self) -> str:
        """What the plot shows, in a few words."""
        ...

    def draw(self, axes: Axes) -> None:
        """Draw the result."""
        ...


def side_by_side(title: str, *results: Drawn | None, height: float = 4.6) -> Figure:
    """Return a figure with one plot for each result; those that are None are left out."""
    shown: list[Any] = [result for result in results if result is not None]
    figure, plots = paper(title, *(each.headline for each in shown), width=6.6 * len(shown), height=height)
    for axes, each in zip(plots, shown, strict=True):
        each.draw(axes)
    return figure


def draw_rates(axes: Axes, rates: Mapping[str, Rate], colours: Sequence[str]) -> None:
    """Draw one bar for each rate, with its 95 % interval and its share in words."""
    shares = [100 * rate.share if rate.cases else 0.0 for rate in rates.values()]
    ends = [rate.interval() for rate in rates.values()]
    errors = [
        [max(0.0, share - 100 * low) for share, (low, _) in zip(shares, ends, strict=True)],
        [max(0.0, 100 * high - share) for share, (_, high) in zip(shares, ends, strict=True)],
    ]
    places = np.arange(len(rates))
    axes.bar(places, shares, color=list(colours), width=0.62, zorder=2)
    axes.errorbar(places, shares, yerr=errors, fmt="none", ecolor=INK, elinewidth=1.2, capsize=3, zorder=3)
    for place, share, (_, high), rate in zip(places, shares, ends, rates.values(), strict=True):
        text = f"{share:.1f} %" if rate.cases else "no case"
        height = 100 * high if rate.cases else 0.0
        axes.annotate(text, (place, height), (0, 4), textcoords="offset points", ha="center", color=INK, fontsize=9)
    axes.set_xticks(places, list(rates), color=INK)
    axes.grid(visible=False, axis="x")
    axes.set_ylim(0, 112)
    axes.set_yticks(range(0, 101, 25), [f"{tick} %" for tick in range(0, 101, 25)])


def draw_contrasts(axes: Axes, raw: Contrast, private: Contrast | None, names: tuple[str, str]) -> None:
    """Draw an attack's rates inside and outside, raw and private, with what the claim allows as a dashed line."""
    inside, outside = names
    bars = {f"{inside}\nraw": raw.inside, f"{outside}\nraw": raw.outside}
    colours = [RAW, "#eab3bb"]
    if private is not None:
        bars |= {f"{inside}\nprivate": private.inside, f"{outside}\nprivate": private.outside}
        colours += [PRIVATE, "#a9cbe3"]
    draw_rates(axes, bars, colours)
    if private is not None and private.epsilon is not None:
        _draw_allowed(axes, 2, private)


def _draw_allowed(axes: Axes, place: float, claimed: Contrast) -> None:
    """Draw what the claim allows over one bar: a dashed line, in the band that the outside rate's interval leaves."""
    level, (low, high) = 100 * claimed.allowed, claimed.allowed_interval()
    axes.bar(place, 100 * (high - low), bottom=100 * low, width=0.9, color=INK, alpha=0.1, zorder=1)
    axes.plot([place - 0.45, place + 0.45], [level, level], color=INK, linewidth=1.4, linestyle=(0, (4, 2)), zorder=4)
    top = max(100 * high, 100 * claimed.inside.interval()[1] + 6)  # above the bar's own label
    text = f"ε = {claimed.epsilon:g} allows {level:.0f} %"
    axes.annotate(text, (place, top), (0, 4), textcoords="offset points", ha="center", fontsize=8.5, color=INK)
