"""Rows as vectors of whole numbers, so that sums over them are exact and one row moves them by what is claimed.

A value is clipped, brought to [−1, 1] and cut, towards zero, to a multiple of 2⁻¹⁵. From there on everything that is
added up is a whole number.

**Guarantee**: what a row becomes depends on that row alone: element by element, with operations that are rounded the
same way wherever a row stands. Each place is at most `ONE` in size; rows of `within_norm` have a 2-norm of at most
`ONE`, checked in exact arithmetic. `gram` and `products` are exact, so the order of rows has no say.
**Proof.** Whole numbers below 2⁵³ are exact in float64, and so are their sums while they stay below 2⁵³, in whatever
order (and with whatever fused steps) a matrix product forms them. `_CHUNK` rows of products of at most 2³⁰ stay below
2⁵³; chunks are added up as int64, which holds 2³³ rows. Cutting towards zero makes no place larger, so it cannot raise
a norm; where rounding in the floats before has raised it all the same, the squared norm of the whole numbers tells
(exactly: below 2⁵³ for a norm near `ONE`), and such a row counts as zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

BITS = 15
ONE = 2**BITS
_CHUNK = 2 ** (53 - 2 * BITS)


def boxed(values: Floats, low: Floats, high: Floats) -> Floats:
    """Return values clipped to [low, high] in each column as whole multiples of 1/ONE of half its width.

    The middle becomes 0, the ends ± `ONE`; a NaN becomes the middle, and an infinity an end.
    """
    half = high / 2 - low / 2  # so that bounds of ±1e308 have a width
    middle = low / 2 + high / 2
    with np.errstate(all="ignore"):
        scaled = (np.clip(values, low, high) - middle) / np.where(half > 0, half, 1.0)
    found: Floats = np.clip(np.trunc(np.nan_to_num(scaled, nan=0.0) * ONE), -ONE, ONE)
    return found


def unboxed(scaled: Floats, low: Floats, high: Floats) -> Floats:
    """Return numbers in [−1, 1] in the columns' own measure."""
    found: Floats = scaled * (high / 2 - low / 2) + (low / 2 + high / 2)
    return found


def within_norm(values: Floats, norm: float) -> Floats:
    """Return rows scaled down to `norm` where they are longer, as whole multiples of norm/ONE.

    What is not a finite number counts as 0. The rows' 2-norm is at most `ONE`.
    """
    with np.errstate(all="ignore"):
        known = np.clip(np.where(np.isfinite(values), values, 0.0) / norm, -_HUGE, _HUGE)
        largest = np.maximum(_largest(known), 1.0)[:, None]
        unit = known / largest  # so that squares do not overflow
        length = np.sqrt(_squares(unit))[:, None]
        short = np.where(length * largest > 1, unit / np.maximum(length * _SAFE, _TINY), known)
    cut = np.trunc(short * ONE)
    return np.where(_squares(cut)[:, None] <= float(ONE) ** 2, cut, 0.0)


_HUGE, _TINY = 1e300, 1e-300
_SAFE = 1 + 2.0**-40
"""Scales a long row a little shorter than it must be, so that rounding does not make it count as zero."""


def _largest(rows: Floats) -> Floats:
    found = np.zeros(len(rows))
    for column in rows.T:
        np.maximum(found, np.abs(column), out=found)
    return found


def _squares(rows: Floats) -> Floats:
    """Return each row's sum of squares, added up column by column: the same for a row wherever it stands."""
    found = np.zeros(len(rows))
    for column in rows.T:
        found += column * column
    return found


def products(left: Floats, right: Floats) -> Whole:
    """Return the matrix of sums over rows of products of whole numbers, of at most ONE in size, exactly."""
    found = np.zeros((left.shape[1], right.shape[1]), dtype=np.int64)
    for rows in chunks(len(left)):
        found += (left[rows].T @ right[rows]).astype(np.int64)
    return found


def gram(rows: Floats) -> Whole:
    """Return the sums over rows of all products of two places."""
    return products(rows, rows)


def totals(rows: Floats) -> Whole:
    """Return the sum of each place over the rows."""
    found: Whole = rows.astype(np.int64).sum(axis=0)
    return found


def chunks(rows: int) -> Iterator[slice]:
    """Return so many rows in pieces whose products a float holds exactly."""
    for start in range(0, rows, _CHUNK):
        yield slice(start, start + _CHUNK)


def with_constant(rows: Floats, value: int = ONE) -> Floats:
    """Return rows with a first place that is the same in all of them."""
    return np.column_stack([np.full(len(rows), float(value)), rows])


def as_floats(values: Any) -> Floats:
    """Return an array of floats, laid out row by row."""
    return np.ascontiguousarray(values, dtype=np.float64)


def weighted(rows: Floats, weights: Floats) -> Floats:
    """Return for each row its sum of places times each row of weights, added up column by column.

    So it is the same for a row wherever it stands and whoever else is there, as a matrix product's last bits are not.
    """
    found = np.zeros((len(rows), len(weights)))
    with np.errstate(over="ignore", invalid="ignore"):
        for column, weight in zip(rows.T, weights.T, strict=True):
            found += column[:, None] * weight
    return found
