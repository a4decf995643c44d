"""Clipping: what one record can weigh, made true for every record whatever it holds.

**Guarantee**: whatever bytes a record holds (NaN, infinities, −0.0, denormals and INT_MIN included), its clipped form
lies on the grid and within the bound, exactly. Each record is clipped by itself: nothing about one record depends on
another. (Ints are read as floats, always: a single float in a list of ints makes NumPy read them all as floats.) So a
sum of clipped records, which `total` computes in integers, moves by at most `bound(...)`, exactly: float rounding and
the order of summation play no part. Release it on ``clip.grid``, where it lies without rounding.
**Assumes**: one unit has one record; for k records of one unit take ``bound(...).group(k)`` or clip their sum.
**Proof** (norms). The float computation only proposes a vector of whole steps, rounded towards zero. Its norm is then
computed in integers and compared with the radius; where floats were off by a hair the proposal is moved one step
towards zero in every coordinate, until it passes. The zero vector always passes. The integers cannot overflow: the
radius is at most 2^28 steps and floats are off by far less than a factor 2, so squares sum to less than 2^58.

Bounds of a sum: under add/remove and zero-out one record comes or goes, so the sum moves by one record's norm; under
replace-one by the difference of two: high − low for values, twice the radius for norms. An emptied place may also be
handed in as NaN, which counts as `missing` among values; zero-out covers the way from there, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import ROW, Bound, Unit
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import numbers, rational, whole
from sordino.errors import ArgumentError

from .grid import LIMIT, Grid, Steps, floor_log2

_FINENESS = 20
"""Without a grid of the caller's, a clipping bound is 2^20 to 2^21 steps, so rounding a record costs a millionth."""

_MOST_STEPS = 2**52
"""A value is at most this many steps from zero."""

_FLOAT_EXACT = 2**53
"""Totals stop at ± this many steps, so that as floats they are exact. Stopping is 1-Lipschitz: bounds still hold."""


@dataclass(frozen=True)
class ClipValues:
    """Numbers clipped to [`low`, `high`] and rounded to `grid`; NaN counts as `missing` (the middle if left out).

    >>> ClipValues(0, 10).apply([-5, 3, float("nan"), float("inf")]).tolist()
    [0.0, 3.0, 5.0, 10.0]
    """

    low: Fraction
    high: Fraction
    grid: Grid = None  # type: ignore[assignment]  # filled in when it is left out
    missing: Fraction = None  # type: ignore[assignment]  # likewise

    def __post_init__(self) -> None:
        low, high = rational("low", self.low), rational("high", self.high)
        if not low < high:
            raise ArgumentError(f"low ({self.low}) must be below high ({self.high})", "SRD-A003")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "grid", _grid(self.grid, max(abs(low), abs(high))))
        middle = (low + high) / 2 if self.missing is None else self.missing
        object.__setattr__(self, "missing", rational("missing", middle, least=low, most=high))
        first, last = self.range
        if first >= last or max(-first, last) > _MOST_STEPS:
            raise ArgumentError(
                "low and high must lie between 1 and 2^52 steps of the grid apart; choose another grid", "SRD-A003"
            )

    @property
    def range(self) -> tuple[int, int]:
        """The first and the last step that a clipped value can take."""
        return math.ceil(self.low / self.grid.step), math.floor(self.high / self.grid.step)

    def bound(self, neighbours: Neighbours = Neighbours.ADD_REMOVE, unit: Unit = ROW) -> Bound:
        """Return how far a sum of clipped values moves when one record changes."""
        reach = max(abs(self.low), abs(self.high))
        if neighbours is Neighbours.REPLACE_ONE:
            reach = self.high - self.low
        elif neighbours is Neighbours.ZERO_OUT:
            steps = math.ceil(max(self.high - self.missing, self.missing - self.low) / self.grid.step)
            reach = max(reach, min(steps * self.grid.step, self.high - self.low))
        return Bound.scalar(reach, neighbours=neighbours, unit=unit)

    def apply(self, values: Any) -> NDArray[Any]:
        """Return the values clipped, on the grid: int64 on the grid of whole numbers, else float64."""
        clipped: NDArray[Any] = self.grid.from_steps(self.steps(values))
        return clipped

    def total(self, values: Any) -> int | float:
        """Return the exact sum of the clipped values."""
        first, last = self.range
        total: int | float = _total(self.grid, self.steps(values).reshape(-1, 1), max(-first, last))[0].item()
        return total

    def steps(self, values: Any) -> Steps:
        """Return the values clipped, in steps of the grid."""
        floats = numbers("values", values).astype(np.float64)
        floats = np.where(np.isnan(floats), float(self.missing), floats)
        steps = Grid(self.grid.exponent).to_steps(np.clip(floats, float(self.low), float(self.high)))
        clipped: Steps = np.clip(steps, *self.range)
        return clipped


@dataclass(frozen=True)
class ClipNorm:
    """Vectors scaled down to a 1-norm or 2-norm of at most `radius`, rounded towards zero on `grid`; NaN counts as 0.

    `order` is 1 or 2; `coordinates` is the length of one vector. An infinite coordinate counts as the largest float.

    >>> ClipNorm(2, 5, coordinates=2).apply([[3.0, 4.0], [30.0, 40.0], [0.0, 0.0]]).round(3).tolist()
    [[3.0, 4.0], [3.0, 4.0], [0.0, 0.0]]
    """

    order: int
    radius: Fraction
    coordinates: int
    grid: Grid = None  # type: ignore[assignment]  # filled in when it is left out

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", whole("order", self.order, least=1, most=2))
        object.__setattr__(self, "radius", rational("radius", self.radius, above=0))
        object.__setattr__(self, "coordinates", whole("coordinates", self.coordinates, least=1, most=2**31))
        object.__setattr__(self, "grid", _grid(self.grid, self.radius))
        if not 1 <= self.radius / self.grid.step <= 2**28:
            raise ArgumentError("radius must be between 1 and 2^28 steps of the grid; choose another grid", "SRD-A003")

    def bound(self, neighbours: Neighbours = Neighbours.ADD_REMOVE, unit: Unit = ROW) -> Bound:
        """Return how far a sum of clipped vectors moves when one record changes."""
        reach = self.radius * (2 if neighbours is Neighbours.REPLACE_ONE else 1)
        norms: dict[str, Any] = {f"l{self.order}": reach}
        return Bound.vector(l0=self.coordinates, neighbours=neighbours, unit=unit, **norms)

    def apply(self, vectors: Any) -> NDArray[Any]:
        """Return the vectors (one, or one per row) clipped, on the grid."""
        array = numbers("vectors", vectors)
        clipped: NDArray[Any] = self.grid.from_steps(self._steps(array).reshape(array.shape))
        return clipped

    def total(self, vectors: Any) -> NDArray[Any]:
        """Return the exact sum of the clipped vectors, one vector."""
        return _total(self.grid, self._steps(numbers("vectors", vectors)), math.floor(self.radius / self.grid.step))

    def _steps(self, array: NDArray[Any]) -> Steps:
        if array.ndim not in (1, 2) or array.shape[-1] != self.coordinates:
            raise ArgumentError(
                f"vectors must be one vector of {self.coordinates} coordinates, or rows of that length", "SRD-A003"
            )
        # A copy, in the order of rows: NumPy adds up a row by itself then, whatever other rows there are.
        rows = np.array(array, dtype=np.float64, order="C").reshape(-1, self.coordinates)
        if not np.isfinite(rows).all():
            rows = np.nan_to_num(rows, nan=0.0)
        # Dividing by the largest coordinate first keeps squares from overflowing; a zero vector is divided by one.
        largest = np.abs(rows).max(axis=1, keepdims=True)
        shape = rows / np.where(largest > 0, largest, 1.0)
        powers = np.abs(shape) if self.order == 1 else np.square(shape)
        norm = powers.sum(axis=1, keepdims=True) ** (1 / self.order)
        radius = float(self.radius / self.grid.step)
        with np.errstate(over="ignore", under="ignore"):  # what overflows is outside, and what underflows rounds to 0
            inside = np.ldexp(largest, -self.grid.exponent) * norm <= radius
            kept = np.ldexp(rows, -self.grid.exponent)
        proposal = np.where(inside, kept, shape * (radius / np.where(norm > 0, norm, 1.0)))
        return self._shrink(np.trunc(proposal).astype(np.int64))

    def _shrink(self, steps: Steps) -> Steps:
        """Move vectors towards zero, a step in every coordinate at a time, until their norm holds in integers."""
        most = math.floor((self.radius / self.grid.step) ** self.order)
        while True:
            over = np.sum(np.abs(steps) if self.order == 1 else steps * steps, axis=1) > most
            if not over.any():
                return steps
            steps[over] -= np.sign(steps[over])


def _grid(grid: Grid | None, size: Fraction) -> Grid:
    """Return the grid of clipped records: exact, because they are put on it here."""
    return Grid(floor_log2(size) - _FINENESS if grid is None else grid.exponent, exact=True)


def _total(grid: Grid, steps: Steps, most: int) -> NDArray[Any]:
    """Return the sum of the rows of `steps`, each of which is within ±`most`."""
    stop = LIMIT if grid.whole_numbers else _FLOAT_EXACT
    if len(steps) * most <= stop:
        sums = steps.sum(axis=0)
    else:  # in two halves, each within int64, which Python's integers join without overflow
        high, low = (steps >> 26).sum(axis=0), (steps & (2**26 - 1)).sum(axis=0)
        exact = ((int(upper) << 26) + int(lower) for upper, lower in zip(high, low, strict=True))
        sums = np.array([max(-stop, min(stop, each)) for each in exact], dtype=np.int64)
    total: NDArray[Any] = grid.from_steps(sums)
    return total
