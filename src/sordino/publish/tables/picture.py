"""A picture of synthetic rows: marginals that were measured, noisy against synthetic, each cell a point or a bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.publish.picturing import FITTED, GROUND, INK, MUTED, NOISY, figure

from .coding import cells_of_table
from .junction import Clique
from .release import SyntheticTable, labels_of
from .report import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST = 9
_MOST_NAMED = 16


def pictured(made: SyntheticTable, places: Sequence[int]) -> Figure:
    """Return a figure of at most nine marginals: those of these columns, the pairs first; of all if there are none."""
    wanted = [clique for clique in made.noisy if not places or set(clique) <= set(places)]
    shown = sorted(wanted, key=lambda clique: (-len(clique), clique))[:_MOST]
    columns = min(3, max(len(shown), 1))
    lines = -(-max(len(shown), 1) // columns)
    drawing = figure(3.6 * columns, 3.2 * lines)
    cells = cells_of_table(made.fields, made.first)
    scale = made.model.total / max(len(cells), 1)
    for number, clique in enumerate(shown):
        axes = drawing.add_subplot(lines, columns, number + 1)
        ours = counted(made.fields, clique, cells) * scale
        (_bars if len(clique) == 1 else _points)(axes, made, clique, ours)
        axes.set_title(" × ".join(made.fields[place].name for place in clique), fontsize=9, color=INK, loc="left")
        axes.tick_params(labelsize=7, colors=MUTED)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    return drawing


def _bars(axes: Any, made: SyntheticTable, clique: Clique, ours: Any) -> None:
    """Draw a column: bars of rows, and dots of what was measured, with the noise's deviation."""
    noisy, field = made.noisy[clique], made.fields[clique[0]]
    at = np.arange(field.size)
    axes.bar(at, ours, color=FITTED, alpha=0.75, width=0.8, label="synthetic")
    deviation = np.broadcast_to(noisy.precision, noisy.numbers.shape) ** -0.5
    axes.errorbar(
        at, noisy.numbers, deviation, fmt=".", color=NOISY, markersize=4, linewidth=1, label="noisy, as paid for"
    )
    if field.size <= _MOST_NAMED:
        names = ["missing" if label is None else str(label) for label in labels_of(field)]
        axes.set_xticks(at, names, rotation=60, ha="right")
    axes.set_ylim(top=1.25 * max(float(ours.max()), float(noisy.numbers.max()), 1.0))
    axes.legend(fontsize=7, frameon=False, loc="upper right")


def _points(axes: Any, made: SyntheticTable, clique: Clique, ours: Any) -> None:
    """Draw a marginal of several columns: each cell a point, noisy against synthetic, and the band of the noise."""
    noisy = made.noisy[clique]
    deviation = float(np.max(noisy.precision**-0.5))
    most = max(float(ours.max()), float(noisy.numbers.max()), 1.0)
    line = np.array([0.0, most])
    axes.fill_between(line, line - 2 * deviation, line + 2 * deviation, color=GROUND, label="noise, 2 deviations")
    axes.plot(line, line, color=MUTED, linewidth=0.8)
    axes.plot(np.ravel(noisy.numbers), np.ravel(ours), ".", color=FITTED, markersize=4, alpha=0.7)
    axes.set_xlabel("noisy, as paid for", fontsize=8, color=MUTED)
    axes.set_ylabel("synthetic", fontsize=8, color=MUTED)
    axes.legend(fontsize=7, frameon=False, loc="upper left")
