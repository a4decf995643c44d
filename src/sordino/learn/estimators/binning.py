"""Columns cut into bins of about equal weight, by noisy counts of fine cells.

**Guarantee**: released are for each column how many rows fall into each of its cells: a row has one in each column, so
one that comes or goes moves as many numbers as there are columns by 1. What is missing has a cell of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound

from .bounds import Bounds
from .finding import in_steps
from .plan import Sum
from .releases import Floats, Releases

_CELLS = 256
BIN_SHARE = Fraction(1, 10)


@dataclass(frozen=True, eq=False)
class Binned:
    """One column's bins: where they end, and their noisy weights. The last bin is for what is missing."""

    edges: Floats
    """The ends of the bins between the bounds, ascending; of a column of categories, midway between them."""
    weights: Floats
    ordered: bool
    """Whether neighbouring bins are alike; categories are not."""

    def places(self, values: Floats) -> NDArray[np.intp]:
        """Return the bin of each value; one beyond the bounds has the outermost."""
        inner = np.searchsorted(self.edges[1:-1], np.where(np.isnan(values), 0.0, values), side="right")
        return np.where(np.isnan(values), len(self.weights) - 1, inner)

    @property
    def middles(self) -> Floats:
        """The middle of every bin but the last."""
        found: Floats = (self.edges[:-1] + self.edges[1:]) / 2
        return found


def cells_sum(columns: int, share: Fraction) -> Sum:
    """Return the sum by which bins are found."""
    return Sum("cells", Bound.vector(l0=columns, linf=1), share)


def binned(rows: Floats, bounds: Bounds, nominal: NDArray[np.bool_], most: int, releases: Releases) -> list[Binned]:
    """Return the bins of all columns: at most `most` for each that is not of categories."""
    cells = _cells(bounds, nominal)
    noisy = _noisy_counts(cells, rows, np.zeros(len(rows), dtype=np.int64), 1, releases)
    return [_merged(each, part[0], most) for each, part in zip(cells, noisy, strict=True)]


def class_cells(
    rows: Floats, places: NDArray[np.int64], kinds: int, bounds: Bounds, most: int, releases: Releases
) -> tuple[list[Binned], list[Floats]]:
    """Return the bins of all columns, and for each the noisy counts of classes in its bins, without what is missing."""
    cells = _cells(bounds, np.zeros(rows.shape[1], dtype=bool))
    noisy = _noisy_counts(cells, rows, places, kinds, releases)
    bins = [_merged(each, part.sum(axis=0), most) for each, part in zip(cells, noisy, strict=True)]
    return bins, [
        np.add.reduceat(part[:, :-1], np.searchsorted(cell.edges, each.edges[:-1]), axis=1).T
        for cell, each, part in zip(cells, bins, noisy, strict=True)
    ]


def _cells(bounds: Bounds, nominal: NDArray[np.bool_]) -> list[Binned]:
    fine = [_edges(*each) for each in zip(bounds.low, bounds.high, nominal, strict=True)]
    return [Binned(edges, np.zeros(len(edges)), not named) for edges, named in zip(fine, nominal, strict=True)]


def _noisy_counts(
    cells: list[Binned], rows: Floats, places: NDArray[np.int64], kinds: int, releases: Releases
) -> list[Floats]:
    """Return for each column how many rows of each kind fall into each cell, none below 0."""
    exact = [
        np.bincount(places * len(each.weights) + each.places(column), minlength=kinds * len(each.weights))
        for each, column in zip(cells, rows.T, strict=True)
    ]
    noisy = np.maximum(releases.noisy("cells", in_steps(np.concatenate(exact).astype(np.int64))), 0.0)
    parts = np.split(noisy, np.cumsum([len(each) for each in exact])[:-1])
    return [part.reshape(kinds, -1) for part in parts]


def _edges(low: float, high: float, named: bool) -> Floats:
    if named:
        return np.arange(np.floor(low), np.floor(high) + 2) - 0.5
    return np.linspace(low, high, _CELLS + 1)


def _merged(cells: Binned, weights: Floats, most: int) -> Binned:
    """Return cells put together until each bin holds its share of all: post-processing."""
    if not cells.ordered:
        return Binned(cells.edges, weights, ordered=False)
    share, ends, heavy, running = weights[:-1].sum() / most, [0], [], 0.0
    for place, weight in enumerate(weights[:-1]):
        running += float(weight)
        if running >= share and place + 1 < len(weights) - 1 and running > 0:
            ends.append(place + 1)
            heavy.append(running)
            running = 0.0
    return Binned(cells.edges[[*ends, len(cells.edges) - 1]], np.array([*heavy, running, weights[-1]]), ordered=True)
