"""A column in cells, drawn: the cells, and how far off ranges are by their length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sordino.publish.picturing import FITTED, GROUND, INK, MUTED, NOISY, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .range_release import Ranges


def drawn(made: Ranges) -> Figure:
    """Return two panels."""
    whole = figure(9.4, 4.0)
    left, right = whole.subplots(1, 2)
    place = np.array(made.cells["edges"][:-1]) if "edges" in made.cells else np.arange(len(made.counts))
    left.step(place, made.unbiased, where="post", color=NOISY, linewidth=0.7, label="unbiased")
    left.step(place, made.counts, where="post", color=FITTED, linewidth=1.1, label="at least 0")
    left.set(title="rows in each cell", xlabel="from" if "edges" in made.cells else "cell")
    left.legend(frameon=False)
    lengths, off = made.error_by_length()
    cell = off[0]
    right.plot(lengths, off, color=FITTED, marker="o", markersize=3, label="measured together")
    right.plot(lengths, cell * np.sqrt(lengths), color=MUTED, linestyle="--", label="cells added up, each as good")
    right.set(
        title="error by length of range", xlabel="cells", ylabel="root mean square error", xscale="log", yscale="log"
    )
    right.legend(frameon=False)
    for each in (left, right):
        each.spines[["top", "right"]].set_visible(False)
        each.tick_params(colors=INK)
        each.grid(color=GROUND, linewidth=0.6)
    return whole
