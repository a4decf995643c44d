"""Clipped vectors as whole numbers of steps: what one unit can add to a sum, proven after rounding.

**Guarantee**: for whatever is given, the vector w of whole numbers that comes out has ‖w‖₂² ≤ `squared` and ‖w‖₁ ≤
`total`. A unit's vector is rounded by itself, before any sum, so leaving it out moves the sum by exactly w: nothing is
added for rounding. *Proof*: w is compared with `squared` in whole numbers, and is 0 if it exceeded it; the other
follows by ‖w‖₁ ≤ ‖w‖₂² for whole numbers and ‖w‖₁ ≤ √length·‖w‖₂. That floats are rounded on the way is therefore of no
concern: rounding towards zero makes w no longer than the clipped vector, up to the last bits, for which it is shortened
once more. What is not numbers of the right shape, or holds NaN or ∞, counts as 0.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.mechanisms.grid import FINENESS, Grid, Steps, floor_log2

_SHORTER = 1 - 2.0**-20
_TRIES = 4


@dataclass(frozen=True)
class ClippedSteps:
    """Vectors of `length` numbers, clipped to the 2-norm `clip`, in whole steps of `grid`."""

    length: int
    clip: Fraction
    grid: Grid

    @classmethod
    def fitting(cls, length: int, clip: Fraction) -> ClippedSteps:
        """Return them on a grid 2^10 times finer than one coordinate's share of the clip."""
        return cls(length, clip, Grid(floor_log2(clip**2 / length) // 2 - FINENESS))

    @cached_property
    def squared(self) -> int:
        """The largest ‖w‖₂²."""
        return math.floor((self.clip / self.grid.step) ** 2)

    @cached_property
    def total(self) -> int:
        """The largest ‖w‖₁."""
        return min(self.squared, math.isqrt(self.squared * self.length))

    @cached_property
    def most(self) -> int:
        """The largest |w| of one coordinate."""
        return math.isqrt(self.squared)

    def of(self, vector: Any) -> Steps:
        """Return a vector, clipped, in steps."""
        given = self.read(vector)
        largest = float(np.max(np.abs(given), initial=0.0))
        if largest == 0.0:
            return np.zeros(self.length, dtype=np.int64)
        shape = given / largest  # no square of it overflows, and not all of them vanish
        norm = math.sqrt(float(np.dot(shape, shape)))
        radius = float(self.clip / self.grid.step)
        factor = min(largest / float(self.grid.step), radius / norm)
        for _ in range(_TRIES):
            steps: Steps = np.trunc(shape * factor).astype(np.int64)
            if int(np.dot(steps, steps)) <= self.squared:
                return steps
            factor *= _SHORTER
        return np.zeros(self.length, dtype=np.int64)

    def read(self, vector: Any) -> NDArray[np.float64]:
        """Return a vector as floats; 0 in place of what is no vector of the length, or holds NaN or ∞."""
        try:
            with warnings.catch_warnings(action="ignore"):  # of an imaginary part that is dropped: it tells of a vector
                given = np.asarray(vector, dtype=np.float64)
        except Exception:  # what converts itself may fail in any way, as a tensor does that wants a gradient
            given = np.zeros(0)
        if given.shape != (self.length,) or not np.isfinite(given).all():
            return np.zeros(self.length)
        return given
