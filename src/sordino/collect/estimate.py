"""What reports tell: a number for each value, how far off it may be, and the nearest one that could be true.

Raw estimates are unbiased, so sums and differences of them are, too; some come out below 0. Who wants counts that could
be true asks for `consistent()`, which is post-processing: free, closer to the truth in all, and no longer unbiased.

What is random is the coins, not who took part: an estimate is about those who answered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from sordino.arguments import probability

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """Estimates, one for each value (or one in all), of so many reports.

    `slope` is how much the variance of an estimate grows with what it estimates: the coins of those who hold a value
    have another variance than those of the others. It is 0 where the variance does not depend on the truth.
    """

    values: Numbers
    standard_errors: Numbers
    reports: int
    slope: float = 0.0

    def intervals(self, confidence: float = 0.95) -> Numbers:
        """Return (low, high) for each: all t with (value − t)² ≤ z²·(variance if t is the truth).

        With a slope of 0 that is value ± z standard errors. By the normal law, so good where some dozens of reports
        count for a value; see Wilson 1927, whose interval it is for k-ary response.
        """
        z = float(scipy.special.ndtri((1 + float(probability("confidence", confidence))) / 2))
        lean = z * z * self.slope / 2
        at_value = np.square(self.standard_errors) + self.slope * (self.values - self._possible())
        half = np.sqrt(np.maximum(z * z * at_value + lean * lean, 0.0))
        middle = self.values + lean
        return np.stack([middle - half, middle + half], axis=-1)

    def shares(self) -> Estimate:
        """Return the same as shares of the reports."""
        return Estimate(
            self.values / self.reports, self.standard_errors / self.reports, self.reports, self.slope / self.reports
        )

    def consistent(self) -> Consistent:
        """Return the nearest counts that are not negative and add up to all reports (Wang et al. 2020, Norm-Sub)."""
        return Consistent(_on_simplex(self.values, float(self.reports)), self)

    def _possible(self) -> Numbers:
        return np.clip(self.values, 0.0, self.reports)


@dataclass(frozen=True)
class Consistent:
    """Counts that could be true: none below 0, and in all as many as reports.

    The sum of their squared errors is never above that of the raw ones: the truth lies in the set that those were
    projected on, and a projection on a convex set brings nothing further from its points.
    """

    values: Numbers
    raw: Estimate

    @property
    def reports(self) -> int:
        """How many reports they are of."""
        return self.raw.reports

    @property
    def standard_errors(self) -> Numbers:
        """Those of the raw estimates: the root of the summed squares still bounds the expected distance."""
        return self.raw.standard_errors

    def intervals(self, confidence: float = 0.95) -> Numbers:
        """Return the raw intervals, cut at 0 and at all: they cover as often, which projected ones need not."""
        return np.clip(self.raw.intervals(confidence), 0.0, float(self.reports))


def _on_simplex(values: Numbers, total: float) -> Numbers:
    """Return max(values − t, 0) with the t for which they add up to `total`: the Euclidean projection."""
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    shift = excess[np.flatnonzero(falling > excess)[-1]]
    return np.asarray(np.maximum(values - shift, 0.0), dtype=np.float64)
