"""The public grid between declared bounds on which a number lives before a coin sees it.

A device clips what it holds to the bounds and rounds it to the nearest of `steps` + 1 points. NaN is refused there, so
it never reaches a coin. Rounding moves a mean by at most half a step: 2⁻¹⁷ of the range for 2¹⁶ steps.

The code is found by three operations on doubles (subtract, multiply, floor), each of which IEEE 754 rounds in one way,
so every language finds the same code.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.arguments import numbers, rational, whole
from sordino.collect.randomizer import Codes
from sordino.errors import ArgumentError

MOST_STEPS = 2**20
FINE = 2**16
"""Steps for means: rounding is far below the noise of 10⁸ people."""


def checked_steps(steps: int, *, least: int = 2, most: int = MOST_STEPS) -> int:
    """Return `steps` if it is a power of two within the limits."""
    number = whole("steps", steps, least=least, most=most)
    if number & (number - 1):
        raise ArgumentError(f"steps must be a power of two, as {2 ** number.bit_length()}, not {number}", "SRD-C202")
    return number


def checked_code(code: int, steps: int) -> int:
    """Return a code if it is one: coins for anything else would not keep ε."""
    if not 0 <= code <= steps:
        raise _not_a_code(steps)
    return code


def checked_codes(codes: Codes, steps: int) -> Codes:
    """Return codes if all of them are."""
    if len(codes) and not (codes.min() >= 0 and codes.max() <= steps):
        raise _not_a_code(steps)
    return codes


def _not_a_code(steps: int) -> ArgumentError:
    return ArgumentError(
        f"a code is a whole number from 0 to {steps}, as Scale.code returns it; it is not shown here", "SRD-C207"
    )


@dataclass(frozen=True)
class Scale:
    """Numbers from `low` to `high` in so many equal steps.

    >>> Scale(0, 100, steps=4).code(60)
    2
    """

    low: Fraction
    high: Fraction
    steps: int = FINE

    def __post_init__(self) -> None:
        low, high = rational("low", self.low), rational("high", self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        checked_steps(self.steps)
        if not (
            low < high and math.isfinite(self._factor) and self._factor > 0 and self._float(low) < self._float(high)
        ):
            raise ArgumentError(
                "high must be greater than low, and doubles must be able to tell them apart; "
                "declare bounds within which people's numbers lie",
                "SRD-C202",
            )

    @property
    def width(self) -> float:
        """How far the bounds are apart."""
        return float(self.high - self.low)

    @property
    def _factor(self) -> float:
        width = self._float(self.high) - self._float(self.low)
        return self.steps / width if width > 0 else math.nan

    @staticmethod
    def _float(number: Fraction) -> float:
        try:
            return float(number)
        except OverflowError:
            return math.inf

    def code(self, value: Any) -> int:
        """Return the code of one number: clipped to the bounds, rounded to the grid. What is no number is refused."""
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
            raise _not_a_number()
        return int(self.codes([value])[0])

    def codes(self, values: Any) -> Codes:
        """Return the codes of many numbers; refuse all if one is NaN."""
        given = numbers("values", values).astype(np.float64)
        if np.isnan(given).any():
            raise _not_a_number()
        low = float(self.low)
        inside = np.clip(given, low, float(self.high))
        return np.clip(np.floor((inside - low) * self._factor + 0.5), 0, self.steps).astype(np.int64)

    def value(self, position: Any) -> Any:
        """Return the number at a position of the grid, given as a share of the range."""
        return float(self.low) + self.width * np.asarray(position, dtype=np.float64)

    def public(self) -> Mapping[str, Any]:
        """Return the bounds, as the texts of doubles, and the steps."""
        return {
            "low": repr(float(self.low)),
            "high": repr(float(self.high)),
            "factor": repr(self._factor),
            "steps": self.steps,
        }


def _not_a_number() -> ArgumentError:
    return ArgumentError(
        "the answer must be a number (no NaN, no text, no boolean); it is not shown here, and nothing was sent",
        "SRD-C201",
    )
