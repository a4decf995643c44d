"""Nested partitions: noisy counts of cells, of groups of cells, of groups of groups, made into one consistent estimate.

A `Nesting` says to which group each cell belongs, and each group, up to the top. Every level partitions the cells, so
one row counts once in each. Nothing here has data or adds noise.

**Guarantee**: `estimated` is the best linear unbiased estimate of all counts from independent unbiased ones with the
variances given. `nonnegative` takes it down the levels once more: what a group has is divided among its parts by the
weighted least squares projection onto parts that are at least 0 and add up to it, in closed form. With `smooth`, parts
that differ by no more than noise would make them are drawn together first, but for peaks. All of it is
post-processing.
**Source**: Hay, Rastogi, Miklau & Suciu 2010, Theorem 3, here with a variance for each level and any number of parts;
the projection onto a simplex by sorting: Held, Wolfe & Crowder 1974; drawing together: James & Stein 1961, the part
that is not negative (Baranchik 1964).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Reals = NDArray[np.float64]

_CLEAR = 4.0
"""A part of so many standard deviations is clearly there."""


@dataclass(frozen=True, eq=False)
class Nesting:
    """`parents[l][i]` is the group of level l + 1 that holds node i of level l; level 0 are the cells."""

    parents: tuple[NDArray[np.int64], ...]
    tops: int
    """The number of nodes of the highest level."""

    @property
    def levels(self) -> int:
        """The number of levels, the cells among them."""
        return len(self.parents) + 1

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of nodes of each level, from the cells up."""
        return (*(len(each) for each in self.parents), self.tops)

    @cached_property
    def cells(self) -> list[Reals]:
        """For every level the number of cells below each node."""
        return [np.asarray(each, dtype=float) for each in self.added_up(np.ones(self.sizes[0], dtype=np.int64))]

    def added_up(self, cells: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the counts of every level from those of the cells, in whole numbers."""
        found = [np.ascontiguousarray(cells, dtype=np.int64)]
        for parent, size in zip(self.parents, self.sizes[1:], strict=True):
            above = np.zeros(size, dtype=np.int64)
            np.add.at(above, parent, found[-1])
            found.append(above)
        return found


def by_fanout(cells: int, fanout: int, least: int = 1) -> Nesting:
    """Return the nesting of `cells` in a row, `fanout` neighbours to a group, until at most `least` groups are left."""
    parents, size = [], cells
    while size > max(least, 1):
        parents.append(np.arange(size, dtype=np.int64) // fanout)
        size = -(-size // fanout)
    return Nesting(tuple(parents), size)


def by_blocks(rows: int, columns: int, side: int, least: int = 1) -> Nesting:
    """Return the nesting of a grid, row by row, in blocks of `side` × `side` until at most `least` are left."""
    parents = []
    while rows * columns > max(least, 1):
        above = -(-columns // side)
        row, column = np.divmod(np.arange(rows * columns, dtype=np.int64), columns)
        parents.append(row // side * above + column // side)
        rows, columns = -(-rows // side), above
    return Nesting(tuple(parents), rows * columns)


@dataclass(frozen=True, eq=False)
class Upward:
    """What the levels below say about each node: the estimate and its variance, level by level."""

    values: list[Reals]
    variances: list[Reals]


def upward(nesting: Nesting, noisy: Sequence[Reals], variances: Sequence[float]) -> Upward:
    """Return for every node the best estimate from what was measured of it and below it.

    A level that was not measured has infinite variance.
    """
    values = [np.asarray(noisy[0], dtype=float)]
    spread = [np.full(nesting.sizes[0], float(variances[0]))]
    for level, parent in enumerate(nesting.parents, start=1):
        size, own = nesting.sizes[level], float(variances[level])
        below = np.bincount(parent, values[-1], size)
        variance = np.bincount(parent, spread[-1], size)
        if np.isinf(own):
            values.append(below)
            spread.append(variance)
            continue
        share = variance / (variance + own)
        values.append(below + share * (np.asarray(noisy[level], dtype=float) - below))
        spread.append(share * own)
    return Upward(values, spread)


def estimated(nesting: Nesting, noisy: Sequence[Reals], variances: Sequence[float]) -> list[Reals]:
    """Return the best linear unbiased estimates of every level, which add up."""
    up = upward(nesting, noisy, variances)
    found = [up.values[-1]]
    for level in range(nesting.levels - 2, -1, -1):
        parent, size = nesting.parents[level], nesting.sizes[level + 1]
        value, variance = up.values[level], up.variances[level]
        missing = (found[0] - np.bincount(parent, value, size)) / np.bincount(parent, variance, size)
        found.insert(0, value + missing[parent] * variance)
    return found


def nonnegative(
    nesting: Nesting, noisy: Sequence[Reals], variances: Sequence[float], *, smooth: bool = False
) -> list[Reals]:
    """Return estimates of every level that are at least 0 and add up."""
    up = upward(nesting, noisy, variances)
    found = [np.maximum(up.values[-1], 0.0)]
    cells = nesting.cells
    for level in range(nesting.levels - 2, -1, -1):
        parent, value, variance = nesting.parents[level], up.values[level], up.variances[level]
        if smooth:
            share = cells[level] / cells[level + 1][parent]
            value = _drawn_together(parent, found[0], value, variance, share)
        found.insert(0, divided(parent, found[0], value, variance))
    return found


def _drawn_together(parent: NDArray[np.int64], totals: Reals, values: Reals, variances: Reals, share: Reals) -> Reals:
    """Return parts moved towards equal shares of their total by 1 − (parts − 3)/Σ(distance²/variance), or all the way.

    Their distances have as many degrees of freedom as there are parts, less one: James and Stein take two off. Where
    fewer than half of the parts are clearly there, these stay where they are, and the others share what is left: one
    peak does not keep all the rest apart.
    """
    size, tiny = len(totals), np.finfo(float).tiny
    missing = (totals - np.bincount(parent, values, size)) / np.bincount(parent, variances, size)
    fitted = values + missing[parent] * variances
    clear = fitted >= _CLEAR * np.sqrt(variances)
    sparse = 2 * np.bincount(parent, clear, size) < np.bincount(parent, minlength=size)
    low = ~(clear & sparse[parent])
    left = totals - np.bincount(parent, np.where(low, 0, fitted), size)
    among = np.maximum(np.bincount(parent, np.where(low, share, 0), size), tiny)
    equal = np.where(low, (left / among)[parent] * share, fitted)
    distance = fitted - equal
    energy = np.bincount(parent, distance**2 / variances, size)
    free = np.maximum(np.bincount(parent, low, size) - 3.0, 0.0)
    kept = 1 - free / np.maximum(np.maximum(energy, free), tiny)
    moved: Reals = equal + kept[parent] * distance
    return moved


def divided(parent: NDArray[np.int64], totals: Reals, values: Reals, variances: Reals) -> Reals:
    """Return the parts x ≥ 0 nearest to `values`, Σ (x − value)²/variance the least, which add up to their totals.

    **Proof**: by the conditions of Karush, Kuhn and Tucker x = max(0, value − t·variance), with one t for each total.
    Those above 0 come first in the order of value/variance; t follows from their sums, and the right number of them is
    the largest at which the last is above its t. ∎
    """
    order = np.lexsort((-values / variances, parent))
    group, value, variance = parent[order], values[order], variances[order]
    starts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    counts = np.diff(np.r_[starts, len(group)])
    sums, spread = _running(value, starts, counts), _running(variance, starts, counts)
    threshold = (sums - totals[group]) / spread
    keeps = value > threshold * variance
    last = np.maximum.reduceat(np.where(keeps, np.arange(len(group)), -1), starts)
    t = np.where(last >= 0, threshold[np.maximum(last, 0)], np.inf)
    with np.errstate(invalid="ignore"):
        parts = np.maximum(value - np.repeat(t, counts) * variance, 0.0)
    found = np.zeros_like(values)
    found[order] = np.where(np.isfinite(parts), parts, 0.0)
    return found


def _running(values: Reals, starts: NDArray[np.int64], counts: NDArray[np.int64]) -> Reals:
    whole = np.cumsum(values)
    before = np.r_[0.0, whole][starts]
    found: Reals = whole - np.repeat(before, counts)
    return found


@dataclass(frozen=True, eq=False)
class Spread:
    """How far off `estimated` is, for sums of cells: its law depends on no data.

    **Proof** of the recursion. Given the estimate F of a node, those of its parts are z_c + s_c·(F − Σz), where
    s_c = v_c/Σv. z_c − s_c·Σz is uncorrelated with Σz, so with all else that F is made of. So a sum Σ q_c·F_c is
    (Σ q_c·s_c)·F plus something uncorrelated of variance Σ q_c²·v_c − (Σ q_c·v_c)²/Σv. ∎
    """

    nesting: Nesting
    variances: tuple[float, ...]

    @cached_property
    def _up(self) -> list[Reals]:
        return upward(self.nesting, [np.zeros(size) for size in self.nesting.sizes], self.variances).variances

    def of_sums(self, queries: Reals) -> Reals:
        """Return the variance of Σ q_i·cell_i for each row q of `queries`."""
        q = np.atleast_2d(np.asarray(queries, dtype=float))
        found = np.zeros(len(q))
        for level, parent in enumerate(self.nesting.parents):
            adding = _adding(parent, self.nesting.sizes[level + 1])
            v = self._up[level]
            whole, weighted = adding @ v, (adding @ (q * v).T).T
            found += (q**2) @ v - (weighted**2 / whole).sum(1)
            q = weighted / whole
        found += (q**2) @ self._up[-1]
        return np.maximum(found, 0.0)

    def of_cells(self) -> Reals:
        """Return the variance of each cell."""
        above = self._up[-1]
        for level in range(self.nesting.levels - 2, -1, -1):
            parent, v = self.nesting.parents[level], self._up[level]
            share = v / np.bincount(parent, v, self.nesting.sizes[level + 1])[parent]
            above = share**2 * above[parent] + v * (1 - share)
        return above


def _adding(parent: NDArray[np.int64], size: int) -> csr_array:
    count = len(parent)
    return csr_array((np.ones(count), (parent, np.arange(count))), shape=(size, count))
