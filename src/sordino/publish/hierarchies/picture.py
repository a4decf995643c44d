"""A picture of a hierarchy's errors: for each level and query, how far off places are, by their size.

Everything in it is noisy or public: sizes are whole numbers that were released, errors are known from the noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.publish.picturing import GROUND, INK, MUTED, figure

from .widths import half_widths

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .release import PlaceTables

_COLOURS = ("#3f74b5", "#c2571a", "#4a8c5c", "#8a5aa8", "#a8862c", "#5b6170")
_DASHES = (0, (4, 3))
_MOST_POINTS = 4_000
_CONFIDENCE = 0.95


def draw(tables: PlaceTables) -> Figure:
    """Return the tree from the top down, a row for each level: size across, half width of intervals upwards."""
    levels = tables.tree.levels
    page = figure(7.6, 1.2 + 1.55 * len(levels))
    rows = page.subplots(len(levels), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for number, (level, axes) in enumerate(zip(levels, rows, strict=True)):
        _level(axes, tables, number)
        axes.set_ylabel(f"{level}\n{tables.tree.sizes[number]:,} places", color=INK, fontsize=9)
    rows[0].plot([], [], color=MUTED, lw=1, ls=_DASHES, label="its own noise alone")
    rows[0].legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=5, frameon=False, fontsize=9)
    rows[-1].set_xlabel("people in the place (whole numbers, as released)", color=INK)
    page.supylabel(f"half the width of a {100 * _CONFIDENCE:g} % interval, in people", fontsize=9, color=MUTED)
    return page


def _level(axes: Any, tables: PlaceTables, number: int) -> None:
    """Draw one level: a colour for each query; a dashed line is what its own noise alone would give."""
    sizes = np.maximum(tables.integers[number].sum(axis=1), 1)
    kept = np.linspace(0, len(sizes) - 1, min(len(sizes), _MOST_POINTS)).astype(np.int64)
    for place, (name, columns) in enumerate(tables.queries.items()):
        colour = _COLOURS[place % len(_COLOURS)]
        widths = tables.widths(number, columns, _CONFIDENCE)
        axes.plot(sizes[kept], widths[kept], "o", ms=3, alpha=0.6, mec="none", color=colour, label=name)
        own = tables.solver.noise[number].get(columns)
        if own is not None:
            alone = half_widths(np.array([own]), float(tables.noise[number][columns]), _CONFIDENCE)[0]
            axes.axhline(alone, color=colour, lw=1, ls=_DASHES, alpha=0.8)
    axes.set_xscale("log")
    axes.set_ylim(0)
    axes.tick_params(colors=MUTED, labelsize=8)
    axes.grid(color=GROUND, lw=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
