"""A picture of one column's shape: what it adds to the score, and how much of that noise may be."""

from __future__ import annotations

from typing import Any

import numpy as np

from sordino.errors import ArgumentError

from .binning import Binned
from .boosting import Shape


def draw_shape(column: Binned, shape: Shape, output: int, title: str, axes: Any) -> Any:
    """Return axes (new ones if none are given) with the shape as steps, and two standard deviations on either side."""
    if axes is None:
        axes = _new_axes()
    scores, reach = shape.scores[:-1, output], 2 * shape.deviations[:-1]
    if column.ordered:
        edges = column.edges
        low, high = (np.append(each, each[-1]) for each in (scores - reach, scores + reach))
        axes.fill_between(edges, low, high, step="post", alpha=0.25, linewidth=0)
        axes.step(edges, np.append(scores, scores[-1]), where="post")
    else:
        axes.bar(column.middles, scores, yerr=reach, capsize=2)
    axes.axhline(0.0, linewidth=0.5, color="black")
    axes.set_xlabel(title)
    axes.set_ylabel("adds to the score")
    return axes


def _new_axes() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ArgumentError("drawing needs matplotlib: install sordino[plot]", "SRD-A003") from None
    return Figure(figsize=(5, 3), layout="constrained").subplots()
