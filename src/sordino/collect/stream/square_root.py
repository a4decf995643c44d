"""The square root of summation itself, in whole numbers: for short streams, as it needs all that arrived.

The column is that of (1 − x)^−½ times 2^24, rounded down: whole numbers that do not increase. Measurements are Cx in
int64, so there is no rounding to pay for; they count steps of 2^−24.
**Guarantee**: the bound of ``people.py``, computed in whole numbers.
**Source**: Fichtenberger, Henzinger, Upadhyay 2023; Henzinger, Upadhyay, Upadhyay 2023.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from sordino.errors import ArgumentError
from sordino.mechanisms.grid import LIMIT

from . import toeplitz
from .people import Arrivals
from .strategy import Real, State, Whole

_BITS = 24
_GUARD = 64
MOST_KEPT = 2048
"""Numbers that are remembered twice over, as they arrived and as they were measured: some 48 KiB."""


@dataclass(frozen=True)
class SquareRoot:
    """Noise that cancels as well as any Toeplitz strategy can."""

    steps: int

    @property
    def most_measured(self) -> int:
        """One measurement a step."""
        return self.steps

    def exponent(self, arrivals: Arrivals) -> int:  # noqa: ARG002  (whole coefficients, whatever arrives)
        """Return −24."""
        return -_BITS

    def moved_squared(self, arrivals: Arrivals) -> Fraction:
        """Return the exact squared norm over the worst pattern."""
        if self.steps * arrivals.cells > MOST_KEPT:
            raise ArgumentError(
                f"the square root keeps all that arrived, at most {MOST_KEPT:,} numbers; take "
                'strategy="buffered", which is as good within 0.3 % and keeps next to nothing',
                "SRD-C506",
            )
        column = _column(self.steps)
        if arrivals.most * int(column.sum()) > LIMIT or arrivals.events * int(column.sum()) > LIMIT:
            raise ArgumentError(
                "a step may hold so much that sums of it leave 64 bits; declare fewer events a step by most=…",
                "SRD-C506",
            )
        worst = arrivals.worst(column)
        return Fraction(sum(each**2 for each in worst.tolist()) * arrivals.each**2, 4**_BITS)

    def rounding(self, arrivals: Arrivals) -> float:  # noqa: ARG002
        """Return 0: sums are whole."""
        return 0.0

    def begin(self, arrivals: Arrivals) -> tuple[State, State]:
        """Return empty histories."""
        empty = np.zeros((0, arrivals.cells), dtype=np.int64)
        return {"arrived": empty}, {"measured": empty}

    def encode(self, arrivals: Arrivals, state: State, taken: int, counts: Whole) -> tuple[Whole, State]:  # noqa: ARG002
        """Return Cx."""
        arrived = np.concatenate([state["arrived"], counts])
        return _rows(_column(self.steps), arrived, taken), {"arrived": arrived}

    def decode(self, arrivals: Arrivals, state: State, taken: int, steps: int, noisy: Whole) -> tuple[Real, State]:  # noqa: ARG002
        """Return the totals."""
        measured = np.concatenate([state["measured"], noisy])
        return _rows(_response(self.steps), measured * 2.0**-_BITS, taken), {"measured": measured}

    def deviations(self, window: int | None) -> Real:
        """Return the deviation of each step's total for noise of 1."""
        return toeplitz.deviations(_response(self.steps), window)

    def reaches(self, window: int | None) -> Real:
        """Return Σ|h|."""
        return toeplitz.reaches(_response(self.steps), window)


def _rows(column: NDArray[Any], whole: NDArray[Any], first: int) -> NDArray[Any]:
    """Return the rows from `first` on of the convolution of a column with each cell."""
    cells = [np.convolve(column[: len(whole)], whole[:, cell])[first : len(whole)] for cell in range(whole.shape[1])]
    return np.stack(cells, axis=1)


@lru_cache(maxsize=16)
def _column(steps: int) -> Whole:
    """Return the coefficients in whole 2^−24ths, rounded down."""
    entry, column = 1 << (_BITS + _GUARD), []
    for place in range(steps):
        column.append(entry >> _GUARD)
        entry = entry * (2 * place + 1) // (2 * place + 2)
    return np.array(column, dtype=np.int64)


@lru_cache(maxsize=16)
def _response(steps: int) -> Real:
    """Return the series of 1/((1 − x)·c(x)) for the column as it is."""
    found: Real = lfilter([1.0], _column(steps) * 2.0**-_BITS, np.ones(steps))
    return found
