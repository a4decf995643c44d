"""Making noisy values look like what they estimate: whole numbers, not negative. Post-processing, so free.

Rounding moves a value by at most one half; cutting off what is negative makes values more accurate one by one and
their sum too large. Both are done only when asked for. Intervals are cut likewise, so they cover as before: what is
estimated is not negative, and whole where the plan says so; where it is not (rows that weigh less than 1), they are
widened to whole numbers instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sordino.arguments import Number

from .convolution import Floats
from .estimate import Estimate, Interval, Rows, Several


def polish(estimate: Estimate | Several, *, integers: bool = False, non_negative: bool = False) -> Estimate | Several:
    """Return the estimate with whole and/or non-negative values; for counts and sums of what is not negative."""
    if not integers and not non_negative:
        return estimate
    if isinstance(estimate, Several):
        return replace(estimate, parts=tuple(Polished(part, integers, non_negative) for part in estimate.parts))
    return Polished(estimate, integers, non_negative)


@dataclass(frozen=True, eq=False)
class Polished(Estimate):
    """An estimate whose values were rounded, or cut off at zero, or both."""

    source: Estimate
    integers: bool
    non_negative: bool
    values: Floats = field(init=False)
    whole: bool = field(init=False)

    def __post_init__(self) -> None:
        rounded = np.floor(self.source.values + 0.5) if self.integers else self.source.values
        object.__setattr__(self, "values", self._cut(rounded))
        object.__setattr__(self, "whole", self.integers or self.source.whole)

    def _cut(self, numbers: Floats) -> Floats:
        return np.maximum(numbers, 0.0) if self.non_negative else numbers

    def interval(self, confidence: Number) -> Interval:
        """Return the source's interval, cut to what is possible, and containing the value."""
        low, high = self.source.interval(confidence)
        if self.source.whole:
            low, high = np.ceil(low), np.floor(high)
        elif self.integers:
            low, high = np.floor(low), np.ceil(high)
        return np.minimum(self._cut(low), self.values), np.maximum(self._cut(high), self.values)

    @property
    def standard_error(self) -> Floats | None:
        """That of the source."""
        return self.source.standard_error

    def take(self, rows: Rows) -> Polished:
        """Return the estimate for these groups only."""
        return Polished(self.source.take(rows), self.integers, self.non_negative)
