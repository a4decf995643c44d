"""A picture of answers in the order of their questions: those of the model, and those that were counted with noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sordino.publish.picturing import FITTED, GROUND, INK, MUTED, NOISY, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def answered(answers: NDArray[np.float64], counted: NDArray[np.bool_]) -> Figure:
    """Return a point for each answer."""
    drawing = figure(7.6, 3.0)
    axes = drawing.subplots()
    at = np.arange(len(answers))
    axes.grid(color=GROUND)
    axes.scatter(at[~counted], answers[~counted], s=12, color=FITTED, label="by the model", zorder=2)
    axes.scatter(at[counted], answers[counted], s=16, color=NOISY, label="counted, with noise", zorder=3)
    axes.set_xlabel("question", fontsize=8, color=INK)
    axes.set_ylabel("rows", fontsize=8, color=INK)
    axes.tick_params(labelsize=7, colors=MUTED)
    axes.legend(fontsize=7, frameon=False)
    return drawing
