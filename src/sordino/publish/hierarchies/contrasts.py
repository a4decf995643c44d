"""A grid of cells in the basis of its contrasts, in which counts over any of its columns are diagonal.

A grid has columns of n₁, n₂, … values. For each there is an orthonormal basis of which the first vector is 1/√n for all
values, and the others (the contrasts) add up to zero. Products of these are an orthonormal basis of tables over the
grid. A *kind* is the set of columns in which a product has a contrast, as a bit for each column.

A query counts over some of the columns, T, and adds up the others. In this basis it sees each coefficient whose kind is
within T, √(Π of the n outside of T) times, and no other. Independent noise of one variance stays so in any orthonormal
basis, so every coefficient is measured by itself.
**Source**: Xiao, He, Zhang, Kifer 2023 (residual planner), section 4; Yates 1937 for the basis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Columns = tuple[int, ...]
"""The places of some columns of a grid, ascending."""


@dataclass(frozen=True)
class Contrasts:
    """The basis of a grid with so many values in each column; a grid without columns has one cell."""

    shape: tuple[int, ...]

    @property
    def cells(self) -> int:
        """The number of cells, and of coefficients."""
        return math.prod(self.shape)

    @property
    def kinds(self) -> int:
        """The number of kinds of coefficients."""
        return 1 << len(self.shape)

    @cached_property
    def kind_of(self) -> NDArray[np.int64]:
        """For each coefficient its kind."""
        found = np.zeros(self.shape, np.int64)
        for column, size in enumerate(self.shape):
            ahead = [1] * (len(self.shape) - 1 - column)
            found += ((np.arange(size) > 0) << column).reshape(-1, *ahead)
        return found.reshape(-1)

    def seen_by(self, query: Columns) -> NDArray[np.int64]:
        """Return the kinds that a query sees."""
        outside = ~sum(1 << column for column in query)
        kinds = np.arange(self.kinds)
        seen: NDArray[np.int64] = kinds[kinds & outside == 0]
        return seen

    def places_of(self, query: Columns) -> NDArray[np.int64]:
        """Return the places of a query's coefficients among all, in the order of its own."""
        index = tuple(slice(None) if column in query else 0 for column in range(len(self.shape)))
        return np.asarray(np.arange(self.cells).reshape(self.shape)[index], np.int64).reshape(-1)

    def times(self, query: Columns) -> float:
        """Return how many times each coefficient counts in what a query sees: √ of the cells that it adds up in one."""
        return math.sqrt(math.prod(n for column, n in enumerate(self.shape) if column not in query))

    def shares(self, query: Columns) -> Floats:
        """Return, for every kind, what a coefficient's variance of 1 adds to the variance of each cell of a query.

        **Proof**: the squares of a basis' entries at one value add up to 1 over all its vectors, as it is orthonormal,
        and to 1/n over the first; so to 1 − 1/n over the contrasts. Products of bases multiply. ∎
        """
        found = np.zeros(self.kinds)
        for kind in self.seen_by(query).tolist():
            parts = (1 - 1 / self.shape[column] if kind >> column & 1 else 1 / self.shape[column] for column in query)
            found[kind] = self.times(query) ** 2 * math.prod(parts)
        return found

    def coefficients(self, counts: Floats, query: Columns) -> Floats:
        """Return the coefficients of tables over the columns of a query, one table a row."""
        return self._turned(counts, query, back=False)

    def tables(self, coefficients: Floats) -> Floats:
        """Return the tables over the whole grid that have these coefficients."""
        return self._turned(coefficients, tuple(range(len(self.shape))), back=True)

    def _turned(self, rows: Floats, query: Columns, *, back: bool) -> Floats:
        """Apply each column's basis in turn. Each pass puts its column last, so that after all they are as before."""
        turned = np.ascontiguousarray(rows, np.float64)
        for column in query:
            basis = _basis(self.shape[column])
            apart = turned.reshape(len(rows), self.shape[column], -1).transpose(0, 2, 1)
            turned = np.ascontiguousarray(apart).reshape(-1, self.shape[column]) @ (basis if back else basis.T)
        return turned.reshape(len(rows), -1)


def summed(cells: NDArray[np.generic], shape: tuple[int, ...], query: Columns) -> NDArray[np.generic]:
    """Return tables over a whole grid, one a row, added up to the columns of a query."""
    away = tuple(1 + column for column in range(len(shape)) if column not in query)
    tables = cells.reshape(len(cells), *shape)
    return np.asarray(tables.sum(axis=away) if away else tables).reshape(len(cells), -1)


def _basis(n: int) -> Floats:
    """Return 1/√n and Helmert's contrasts, as rows."""
    rows = np.tri(n, n, -1)
    rows[0] = 1
    index = np.arange(1, n)
    rows[index, index] = -index
    return np.asarray(rows / np.sqrt((rows**2).sum(axis=1, keepdims=True)), np.float64)
