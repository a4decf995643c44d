"""Whole tables: non-negative integers near given estimates, which add up over the grid and over the tree.

From the top down. A family is a parent, whose table is fixed already, and its children. First the children's totals:
their estimates, moved to the nearest non-negative numbers with the parent's total as their sum, and rounded so that the
sum stays. Then their cells, of which both margins are known now, each child's total and each cell of the parent: moved
towards the totals and onto the parent's cells in turn, rounded within each cell of the parent, and then, for each child
that has too many, one of its people is exchanged with a child that has too few, in the cell where that costs least.
Nothing but array operations over all families of one size at once; no solver.

**Guarantee**: every number is a non-negative integer; over each family and each cell children add up to the parent,
exactly; each place's cells add up to its total. It is a function of the estimates alone, so it costs nothing.
**Proof** that exchanges end: rows and columns have sums of one grand total, so some child has too many exactly if some
other has too few; whoever has too many has a positive cell; an exchange there keeps all sums over the family, and
lowers Σ|surplus| by two. ∎
**Source**: Abowd et al. 2022, "The 2020 Census Disclosure Avoidance System TopDown Algorithm", sections 6 and 7, for
totals first and cells second, there by integer programs; Held, Wolfe, Crowder 1974 for the projection on a simplex.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .contrasts import Floats

Whole = NDArray[np.int64]

_ROUNDS = 12
"""How often estimates are moved to both margins in turn, before they are rounded."""
_ROOM = 2**22
"""How many cells are worked on at once."""


def whole_tables(
    estimates: Sequence[Floats], first_children: Sequence[NDArray[np.int64]], totals: Sequence[Whole | None] = ()
) -> list[Whole]:
    """Return for each level places × cells. Totals of places are kept where they are given, from the top down."""
    given = [*totals, *[None] * (len(estimates) - len(totals))]
    top = np.maximum(np.rint(estimates[0].sum(axis=1)), 0).astype(np.int64) if given[0] is None else given[0]
    found = [_within(estimates[0].T[None], top[None])[0].T]
    for first, level, known in zip(first_children, estimates[1:], given[1:], strict=True):
        below = np.empty(level.shape, np.int64)
        for parents, children in _families(first, len(level), level.shape[1]):
            below[children] = family(level[children], found[-1][parents], None if known is None else known[children])
        found.append(below)
    return found


def family(estimates: Floats, parents: Whole, totals: Whole | None = None) -> Whole:
    """Return whole tables (families × children × cells) that add up to those of the parents (families × cells)."""
    if estimates.shape[1] == 1:
        return parents[:, None, :]
    if totals is None:
        totals = _within(estimates.sum(axis=2)[:, :, None], parents.sum(axis=1)[:, None])[:, :, 0]
    moved = _moved(estimates, totals, parents)
    return _exchanged(moved, _rounded(moved, parents), totals)


def _families(first: NDArray[np.int64], places: int, cells: int) -> Iterator[tuple[Whole, Whole]]:
    """Return parents, and families × children, for as many families of one size at a time as there is room for."""
    sizes = np.diff(np.append(first, places))
    for size in np.unique(sizes).tolist():
        alike = np.flatnonzero(sizes == size)
        for parents in np.array_split(alike, -(-len(alike) * size * cells // _ROOM)):
            yield parents, first[parents][:, None] + np.arange(size)


def _moved(estimates: Floats, totals: Whole, parents: Whole) -> Floats:
    """Return numbers near the estimates, not negative, with the parents' cells as sums, and nearly the totals."""
    moved = estimates
    for _ in range(_ROUNDS):
        moved = moved + ((totals - moved.sum(axis=2)) / moved.shape[2])[:, :, None]
        moved = _projected(moved, parents)
    return moved


def _within(values: Floats, sums: Whole) -> Whole:
    """Return the nearest non-negative integers with these sums over the middle axis, nearly."""
    return _rounded(_projected(values, sums), sums)


def _projected(values: Floats, sums: Whole) -> Floats:
    """Return the nearest non-negative numbers with these sums over the middle axis."""
    size = values.shape[1]
    falling = -np.sort(-values, axis=1)
    over = (np.cumsum(falling, axis=1) - sums[:, None, :]) / np.arange(1, size + 1)[:, None]
    kept = np.maximum((falling > over).sum(axis=1, keepdims=True), 1)
    return np.maximum(values - np.take_along_axis(over, kept - 1, axis=1), 0)


def _rounded(values: Floats, sums: Whole) -> Whole:
    """Return values rounded down, and up for those with the largest remainders, so that the sums are met exactly."""
    low = np.floor(values + 1e-9).astype(np.int64)
    missing = (sums - low.sum(axis=1))[:, None, :]
    order = np.argsort(-(values - low), axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")
    whole: Whole = low + (rank < missing)
    return whole


def _exchanged(wanted: Floats, whole: Whole, totals: Whole) -> Whole:
    """Exchange people of children with too many and too few until every child has its total."""
    surplus = whole.sum(axis=2) - totals
    unsettled = np.flatnonzero(surplus.any(axis=1))
    while len(unsettled):
        more, less = surplus[unsettled].argmax(axis=1), surplus[unsettled].argmin(axis=1)
        giving, taking = whole[unsettled, more], whole[unsettled, less]
        gain = (giving - wanted[unsettled, more]) - (taking - wanted[unsettled, less])
        cell = np.where(giving > 0, gain, -np.inf).argmax(axis=1)
        whole[unsettled, more, cell] -= 1
        whole[unsettled, less, cell] += 1
        surplus[unsettled, more] -= 1
        surplus[unsettled, less] += 1
        unsettled = unsettled[surplus[unsettled].any(axis=1)]
    return whole
