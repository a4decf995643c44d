"""What a strategy of continual release is: which sums get noise, and how running totals are read from them.

A strategy encodes what arrived as whole steps of a public grid (*measurements*), each of which gets fresh exact noise,
once; totals are decoded from noisy measurements and from nothing else.

**Guarantee**, which each strategy must keep: on any two streams that differ by one person (`Arrivals`) all measurements
that it ever makes differ by at most √`moved_squared` units in the 2-norm, whatever the batches were in
which they came. So the whole stream is one Gaussian mechanism.
**Adaptive streams**: what arrives may depend on all that was released before. A measurement depends on what arrived
until then only, and the sum of squared differences stays within the bound on every path: a Gaussian filter (Denisov,
McMahan, Rush, Smith, Thakurta 2022; Smith, Thakurta 2022, *Fully adaptive composition for Gaussian DP*).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .people import Arrivals

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
State = Mapping[str, NDArray[Any]]
"""What a strategy must remember between batches, by name. That of `encode` is as secret as data."""


@runtime_checkable
class Strategy(Protocol):
    """Frozen and public."""

    def __hash__(self) -> int: ...

    @property
    def steps(self) -> int:
        """How many steps there are at most."""
        ...

    @property
    def most_measured(self) -> int:
        """How many measurements one cell has in the whole stream, at most."""
        ...

    def exponent(self, arrivals: Arrivals) -> int:
        """Return k, where measurements are in steps of 2^k units."""
        ...

    def moved_squared(self, arrivals: Arrivals) -> Fraction:
        """Return a bound of the squared 2-norm by which one person moves all measurements, in units."""
        ...

    def rounding(self, arrivals: Arrivals) -> float:
        """Return how far a measurement is from what is decoded as its sum, at most, in steps of the grid."""
        ...

    def begin(self, arrivals: Arrivals) -> tuple[State, State]:
        """Return what is remembered before the first step: for `encode`, and for `decode`."""
        ...

    def encode(self, arrivals: Arrivals, state: State, taken: int, counts: Whole) -> tuple[Whole, State]:
        """Return the measurements of steps that follow `taken` others, a row of cells each, and what is remembered."""
        ...

    def decode(self, arrivals: Arrivals, state: State, taken: int, steps: int, noisy: Whole) -> tuple[Real, State]:
        """Return the totals, in units, after each of `steps` steps, from their noisy measurements."""
        ...

    def deviations(self, window: int | None) -> Real:
        """Return the standard deviation of each step's total (or of its last `window` steps), for noise of 1."""
        ...

    def reaches(self, window: int | None) -> Real:
        """Return by how much each step's total is off, at most, if every measurement is off by 1."""
        ...
