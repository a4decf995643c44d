"""Counts that are shown because they are large: intervals that hold for the groups that came through.

Where keys are private, a group is shown if its noisy count reaches a threshold, and the count shown is that same noisy
one. So small groups are seen only when their noise was large: among the groups shown, counts near the threshold are too
high on average, and the plain interval, value ± t, would miss the truth of small groups almost always.

**Guarantee**: for every true count, the interval contains it with the confidence asked for, or more, *given that the
group is shown*; in each group by itself.
**Proof**. Let Z be the noise, y = n + Z the count shown and T the threshold, so y has the law of n + Z given n + Z ≥ T.
n is left out only where y is in the upper tail of that law, P[n + Z ≥ y | n + Z ≥ T] ≤ α/2, or in the lower,
P[n + Z ≤ y | n + Z ≥ T] ≤ α/2. The y's in one tail have probability α/2 at most, each of them. ∎
All laws used are log-concave, so both tails are monotone in n (they are a monotone likelihood ratio family also when
cut off at T), and what is not left out is one piece, whose ends are found by halving. What rounding in floats can do to
it is below one part in 10¹².
Far above the threshold these are the plain intervals; at the threshold they reach down to one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import Number, probability

from .convolution import Floats
from .estimate import Estimate, Interval, Rows

Whole = NDArray[np.int64]


class Threshold(Protocol):
    """What is known about noise that decides which counts are shown."""

    @property
    def variance_of_error(self) -> float:
        """The noise's mean square."""

    def error(self, confidence: Any) -> float:
        """Return how far the noise reaches with that probability."""

    def log_at_least(self, values: NDArray[Any]) -> Floats:
        """Return ln P[noise ≥ value]."""


@dataclass(frozen=True, eq=False)
class Shown(Estimate):
    """Noisy numbers of units in groups that are shown because theirs is `least` or more."""

    counts: Whole
    least: int
    noise: Threshold
    whole: bool = True

    @property
    def values(self) -> Floats:  # type: ignore[override]
        """The noisy counts."""
        return self.counts.astype(np.float64)

    def interval(self, confidence: Number) -> Interval:
        """Return the counts that what is shown does not speak against, and the value itself."""
        rest = 1 - probability("confidence", confidence)
        # A true count of value + reach is left out: it is shown with probability ½ at least, and its noise would have
        # to be −reach or less, which has probability rest/4 at most.
        reach, outside = math.ceil(self.noise.error(1 - rest / 4)) + 1, float(rest)
        first, last = np.ones_like(self.counts), self.counts + reach
        low = _first(lambda true: self._log_tail(self.counts, true) > math.log(outside / 2), first, last)
        too_low = math.log1p(-outside / 2)
        high = _first(lambda true: self._log_tail(self.counts + 1, true) >= too_low, first, last) - 1
        return np.minimum(low, self.counts).astype(np.float64), np.maximum(high, self.counts).astype(np.float64)

    def _log_tail(self, shown: Whole, true: Whole) -> Floats:
        """Return ln P[true + noise ≥ shown | true + noise ≥ least]."""
        return np.asarray(self.noise.log_at_least(shown - true) - self.noise.log_at_least(self.least - true))

    @property
    def standard_error(self) -> Floats:
        """That of the noise before selection."""
        return np.full(len(self.counts), math.sqrt(self.noise.variance_of_error))

    def take(self, rows: Rows) -> Shown:
        """Return the estimate for these groups only."""
        return replace(self, counts=self.counts[rows])


def _first(holds: Callable[[Whole], NDArray[np.bool_]], first: Whole, last: Whole) -> Whole:
    """Return for each group the first number from `first` on for which `holds`, or `last`; it holds from there on."""
    low, high = first, last
    for _ in range(int(np.max(high - low, initial=0)).bit_length()):
        middle = (low + high) // 2
        found = holds(middle)
        low, high = np.where(found, low, np.minimum(middle + 1, high)), np.where(found, middle, high)
    return high
