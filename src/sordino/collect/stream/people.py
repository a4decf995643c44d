"""What one person can add to a stream, and the pattern of steps with which that moves the noisy numbers most.

**Sensitivity** of a strategy whose matrix is Toeplitz, lower triangular, with a column c₀ ≥ c₁ ≥ … ≥ 0: a person with
at most k events, any two at least b ≥ 1 steps apart, moves Cx most with events of one sign and full size at the steps
0, b, 2b, …: the proof is in ``accounting/correlated.py``. With b = 0 events may share a step; by the triangle
inequality k events move Cx by no more than k times what one does, and k events in the first step attain it.
**Cells**: events in different cells of a histogram move different numbers, so the squares of what they move add up
(those of events in one cell do so with their inner products, which are not negative, in addition): one cell is worst.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import whole
from sordino.errors import ArgumentError

A = TypeVar("A", bound=np.generic)

MOST_STEPS = 1 << 22
MOST_EVENTS = 1 << 20
LARGEST = 1 << 50
"""Of what a step holds, in units: sums of a chunk of them stay far within int64."""


@dataclass(frozen=True)
class Arrivals:
    """What arrives in one step, in whole units: public bounds.

    `cells` numbers in each step, each within ± `most`; one event moves one of them by at most `each`. A person has at
    most `events` events in the whole stream, any two of them at least `apart` steps apart (0: they may share a step).
    """

    cells: int = 1
    each: int = 1
    most: int = 1
    events: int = 1
    apart: int = 0

    def __post_init__(self) -> None:
        whole("cells", self.cells, least=1, most=1 << 20)
        whole("each", self.each, least=1, most=LARGEST)
        whole("events", self.events, least=1, most=MOST_EVENTS)
        whole("apart", self.apart, least=0, most=MOST_STEPS)
        if not self.each <= self.most <= LARGEST:
            raise ArgumentError(
                "a step must hold one event at least, and no more than 2**50 units; declare fewer events a step",
                "SRD-A002",
            )

    @property
    def moved_cells(self) -> int:
        """How many cells a person can move."""
        return min(self.cells, self.events)

    def worst(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return Σ c over the worst pattern, for a column that does not increase, in events of size 1.

        Sums of several shifted columns are made by doubling, so floats of it are off by a few roundings at most.
        """
        if self.apart == 0:
            return column * self.events
        found, placed = np.zeros_like(column), 0
        doubled, size = column, 1
        left = min(self.events, -(-len(column) // self.apart))
        while left:
            if left & 1:
                found += shifted(doubled, placed * self.apart)
                placed += size
            left >>= 1
            if left:
                doubled = doubled + shifted(doubled, size * self.apart)
                size *= 2
        return found


def shifted(column: NDArray[A], places: int) -> NDArray[A]:
    """Return a column moved down, with zeros above, cut to its length."""
    if places >= len(column):
        return np.zeros_like(column)
    return np.concatenate([np.zeros(places, dtype=column.dtype), column[: len(column) - places]])
