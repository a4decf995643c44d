"""Probabilities of classes at public weights, exactly the same for a row whoever else is there.

Weights are rounded to multiples of 2⁻²⁰ and rows are whole multiples of 2⁻¹⁵, so margins are whole numbers of 2⁻³⁵: a
matrix product of floats forms them exactly while they stay below 2⁵³. They do for weights up to `WEIGHT_LIMIT` and c
columns up to `MOST_COLUMNS`: |Σuw| ≤ ‖u‖₁·2³⁰ ≤ √(5c/4)·2⁴⁵ < 2⁵³. Exponentials come from a table by the margin's
distance from the largest, in steps of 2⁻¹⁰; sums and quotients are single operations on floats, which IEEE 754 rounds
one way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .whole_rows import BITS, ONE, Floats

WEIGHT_LIMIT = 1024.0
MOST_COLUMNS = 2**15 - 1
_WEIGHT_BITS = 20
_TABLE_BITS = 10
_DEEPEST = 24
_TABLE: Floats = np.exp(-np.arange(_DEEPEST * 2**_TABLE_BITS + 1) / 2.0**_TABLE_BITS)


def residuals(u: Floats, weights: Floats, places: NDArray[np.int64], kinds: int) -> Floats:
    """Return p − e for each row, in whole multiples of 1/ONE: a column for each class, one where there are two.

    A row without a class (−1) has whatever it has; its `u` must be zero.
    """
    exact = u @ np.rint(weights.T * 2.0**_WEIGHT_BITS)
    return residuals_of([column * 2.0 ** -(BITS + _WEIGHT_BITS) for column in exact.T], places, kinds)


def residuals_of(margins: list[Floats], places: NDArray[np.int64], kinds: int) -> Floats:
    """Return p − e at given margins: one for each class, or that of the second where there are two."""
    if kinds == 2:
        margins = [np.zeros(len(places)), *margins]
    shown = range(1, 2) if kinds == 2 else range(kinds)
    chances = _chances(margins)
    return _bounded(np.column_stack([_cut(chances[kind], places == kind) for kind in shown]), 1 if kinds == 2 else 2)


def _chances(margins: list[Floats]) -> list[Floats]:
    largest = margins[0]
    for margin in margins[1:]:
        largest = np.maximum(largest, margin)
    odds = [_TABLE[_depth(largest - margin)] for margin in margins]
    total = odds[0]
    for each in odds[1:]:
        total = total + each
    return [each / total for each in odds]


def _depth(distance: Floats) -> NDArray[np.intp]:
    return np.minimum(np.floor(distance * 2.0**_TABLE_BITS), len(_TABLE) - 1).astype(np.intp)


def _cut(chance: Floats, own: NDArray[np.bool_]) -> Floats:
    cut: Floats = np.trunc((chance - own) * ONE)
    return cut


def _bounded(rows: Floats, square: int) -> Floats:
    """Return rows with a squared norm of at most `square` (of ONE) and the same for the sum of sizes; others are 0.

    Cutting towards zero keeps both but for rounding in the quotients before it; here that is made sure, exactly.
    """
    squares, sizes = np.zeros(len(rows)), np.zeros(len(rows))
    for column in rows.T:
        squares += column * column
        sizes += np.abs(column)
    return np.where(((squares <= square * float(ONE) ** 2) & (sizes <= square * ONE))[:, None], rows, 0.0)
