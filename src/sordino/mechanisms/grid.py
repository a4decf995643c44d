"""The public power-of-two grid on which answers and noise live, and what rounding to it costs.

A float plus noise leaks through which floats can occur (Mironov 2012). Here an answer is first rounded to a whole
number of steps of 2^k, whole-numbered noise is added to that, and only the sum is turned into a float again, which is
post-processing. The grid is public and fixed before data is seen.

**Guarantee**: if an answer moves by v under a `Bound`, its steps move by a vector of integers w with the norms that
`Grid.sensitivity` states.
**Proof.** Let d = |v|/2^k, coordinate by coordinate, and r(x) = ⌊x + ½⌋. r is monotone and commutes with whole steps,
so |a − b| ≤ m implies |r(a) − r(b)| ≤ m for integers m, hence |w| ≤ ⌈d⌉. (Rounding half to even, or half away from
zero, commutes with no such thing: 0.5 → 0 but 1.5 → 2; −0.5 → −1 but 0.5 → 1. Each moves two steps for one.) Then
  ‖w‖∞ ≤ ⌈‖d‖∞⌉;
  ‖w‖₁ ≤ Σ⌈dᵢ⌉ < ‖d‖₁ + l0, since ⌈x⌉ < x + 1 and only l0 coordinates move: at most ⌈‖d‖₁⌉ + l0 − 1;
  ‖w‖₂ ≤ ‖d‖₂ + √l0 (triangle inequality), and ‖w‖₂² ≤ ‖w‖∞·‖w‖₁ (Hölder); both squared are whole, so ⌊·⌋ is allowed.
If every answer lies on the grid by itself (`exact`), w = v/2^k: whole numbers, so all three are rounded down instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound
from sordino.arguments import Number, numbers, rational, shown, whole
from sordino.errors import ArgumentError

Steps = NDArray[np.int64]

LIMIT = 2**62
"""Answers stay within ± this many steps, so that adding noise within the same limit cannot leave int64. (A sum that
does leave it wraps around: a function of the exact sum, so still private.)"""

FINENESS = 10
"""A grid chosen for noise has steps at least 2^FINENESS times finer than the noise and the sensitivity."""


@dataclass(frozen=True)
class Sensitivity:
    """How far steps can move when one unit changes: whole numbers, with rounding to the grid paid for."""

    l0: int
    l1: int
    l2_squared: int
    linf: int


@dataclass(frozen=True)
class Grid:
    """Multiples of 2^`exponent`. With `exact`, answers are promised to lie on it, and rounding is not paid for.

    One that breaks the promise is rounded like any other; to refuse it would tell so. A NaN breaks every promise that
    an answer moves by so much, so clip what may hold one (`ClipValues`, `ClipNorm`).

    >>> Grid(-3).step
    Fraction(1, 8)
    >>> Grid(-3).to_steps(0.3)
    2
    """

    exponent: int
    exact: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "exponent", whole("exponent", self.exponent, least=-900, most=900))
        if not isinstance(self.exact, bool):
            raise ArgumentError(f"exact must be True or False, not {shown(self.exact)}", "SRD-A001")

    @classmethod
    def fitting(cls, scale: Number, bound: Bound | None = None) -> Grid:
        """Return the coarsest grid that is 2^10 times finer than the noise.

        If `bound` is given the grid is that much finer than the bound too, so that rounding costs no more than a
        thousandth of the sensitivity.
        """
        power = floor_log2(rational("scale", scale, above=0))
        if bound is not None:  # a coordinate's share of the 1-norm is l1/l0, of the 2-norm l2/√l0
            power = min(power, floor_log2(bound.l1 / bound.l0), floor_log2(bound.l2_squared / bound.l0) // 2)
        return cls(power - FINENESS)

    @property
    def step(self) -> Fraction:
        """The distance of neighbouring grid points."""
        return Fraction(2) ** self.exponent

    @property
    def whole_numbers(self) -> bool:
        """Whether answers are ints, in and out."""
        return self.exact and self.exponent == 0

    def to_steps(self, value: Any) -> Any:
        """Return `value` in steps: an int for a number, an int64 array for an array. Halves are rounded up.

        No number is refused, for whether a release fails must not depend on data: answers are stopped at ±2^62 steps,
        infinities too, and NaN counts as 0. Stopping brings no two answers further apart, so every bound still holds.
        """
        if type(value) is int:
            return self._from_int(value)
        if type(value) is float:
            return self._from_float(value)
        array = numbers("the answer", value)
        if array.ndim == 0:
            steps = self.to_steps(array.item())
            return np.array(steps) if isinstance(value, np.ndarray) else steps
        return self._from_floats(array) if array.dtype.kind == "f" else self._from_ints(array)

    def whole_to_steps(self, values: NDArray[Any]) -> Steps:
        """Return whole numbers of any size (an array of Python ints) in steps, stopped at ±2^62 steps.

        Stopping brings no two answers further apart, in any norm, so every bound still holds.
        """
        half = 1 << max(self.exponent - 1, 0)
        steps = (values + half) >> self.exponent if self.exponent > 0 else values << -self.exponent
        stopped: Steps = np.clip(steps, -LIMIT, LIMIT).astype(np.int64)
        return stopped

    def from_steps(self, steps: Any) -> Any:
        """Return steps (an int or an int64 array) as an answer: ints on the grid of whole numbers, else floats."""
        if self.whole_numbers:
            return steps
        if type(steps) is int:
            return math.ldexp(steps, self.exponent)
        return steps * 2.0**self.exponent

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """Return how far the steps of an answer can move under `bound` (see the module's proof)."""
        step = self.step
        l1, l2_squared, linf = bound.l1 / step, bound.l2_squared / step**2, bound.linf / step
        if self.exact:
            if linf < 1 or l1 < 1 or l2_squared < 1:
                raise ArgumentError(
                    "the bound is less than one step of a grid that answers are said to lie on; "
                    "for real answers choose the grid with Grid.fitting(scale, bound)",
                    "SRD-A003",
                )
            most = math.floor(linf)
            total = min(math.floor(l1), bound.l0 * most)
            return Sensitivity(bound.l0, total, min(math.floor(l2_squared), most * total), most)
        most = math.ceil(linf)
        total = min(math.ceil(l1) + bound.l0 - 1, bound.l0 * most)
        cross = root_rounded_up(4 * l2_squared * bound.l0)
        squared = min(math.floor(l2_squared + cross + bound.l0), most * total)
        return Sensitivity(bound.l0, total, squared, most)

    def _from_int(self, value: int) -> int:
        if self.exponent > 0:
            steps = (value + (1 << (self.exponent - 1))) >> self.exponent
        else:
            # Shifting an absurdly long int would only waste memory, so its length is looked at first.
            steps = value << -self.exponent if value.bit_length() <= 63 else (LIMIT if value > 0 else -LIMIT)
        if -LIMIT <= steps <= LIMIT:
            return steps
        return LIMIT if steps > 0 else -LIMIT

    def _from_float(self, value: float) -> int:
        self._allow_floats()
        try:
            scaled = math.ldexp(value, -self.exponent)
        except OverflowError:
            scaled = math.copysign(math.inf, value)
        if not -LIMIT <= scaled <= LIMIT:
            return 0 if math.isnan(scaled) else LIMIT if scaled > 0 else -LIMIT
        floor = math.floor(scaled)
        return floor + (scaled - floor >= 0.5)

    def _from_ints(self, array: NDArray[Any]) -> Steps:
        integers = array.astype(np.uint64 if array.dtype.kind == "u" else np.int64, copy=False)
        if self.exponent > 0:
            # ⌊x + ½⌋ = ⌊x⌋ + the first bit behind the point; shifting by more bits than there are leaves the sign.
            first, second = (integers.dtype.type(min(shift, 99)) for shift in (self.exponent, self.exponent - 1))
            steps = (integers >> first) + ((integers >> second) & integers.dtype.type(1))
            return np.asarray(np.minimum(steps, steps.dtype.type(LIMIT)), dtype=np.int64)
        shift = min(-self.exponent, 63)
        reach = integers.dtype.type(LIMIT >> shift)
        above, below = integers > reach, integers < -np.int64(reach) if array.dtype.kind == "i" else False
        if not (np.any(above) or np.any(below)):
            return integers.astype(np.int64) << shift
        inside = np.where(above | below, 0, integers).astype(np.int64) << shift
        return np.where(above, LIMIT, np.where(below, -LIMIT, inside))

    def _from_floats(self, array: NDArray[Any]) -> Steps:
        self._allow_floats()
        with np.errstate(over="ignore", under="ignore"):  # what overflows is stopped, and what underflows rounds to 0
            scaled = array.astype(np.float64, copy=False) * 2.0**-self.exponent  # exact: a power of two
        if not np.all(np.abs(scaled) <= LIMIT):
            scaled = np.clip(np.nan_to_num(scaled, nan=0.0, posinf=LIMIT, neginf=-LIMIT), -LIMIT, LIMIT)
        floor = np.floor(scaled)
        steps = floor.astype(np.int64)
        # x − ⌊x⌋ is exact in floats wherever it decides (it is only rounded when x is in (−½, 0), towards 1).
        steps += np.subtract(scaled, floor, out=scaled) >= 0.5
        return steps

    def _allow_floats(self) -> None:
        if self.whole_numbers:
            raise ArgumentError(
                "the answer must be whole (an int or an array of ints) on the grid of whole numbers; "
                "for real answers give the mechanism a grid, such as Grid.fitting(scale, bound)",
                "SRD-A001",
            )


INTEGERS = Grid(0, exact=True)
"""The grid of counts and other whole answers: nothing is rounded, ints go in and ints come out."""


def floor_log2(value: Fraction) -> int:
    """Return the largest k with 2^k ≤ `value`."""
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


def root_rounded_up(square: Fraction) -> Fraction:
    """Return a fraction that is the root of the positive `square` or above it, by a factor of at most 1 + 2^−63."""
    bits = 64 - floor_log2(square) // 2
    scaled = square * Fraction(4) ** bits
    root = math.isqrt(math.floor(scaled))
    return (root + (root * root < scaled)) / Fraction(2) ** bits
