"""What reports say about numbers: values with standard errors and intervals, in the units that were asked in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import probability, whole
from sordino.collect.randomizer import Counts
from sordino.errors import ArgumentError

Floats = NDArray[np.float64]

MOST_REPORTS = 2**31
"""Sums of so many reports stay within 64 bits; beyond it they might not."""


@dataclass(frozen=True)
class Estimated:
    """One number, or an array of them, each unbiased, with the standard error of the coins.

    It is about those who answered; who did not answer is nobody's to tell.
    """

    values: Floats
    standard_errors: Floats
    reports: int

    @property
    def value(self) -> float:
        """The number, where there is one alone."""
        return float(self.values)

    @property
    def standard_error(self) -> float:
        """Of the number, where there is one alone."""
        return float(self.standard_errors)

    def intervals(self, confidence: Any = 0.95) -> Floats:
        """Return (low, high) for each by the normal law, which is good from some dozens of reports on."""
        widths = normal_quantile(confidence) * self.standard_errors
        return np.stack([self.values - widths, self.values + widths], axis=-1)

    def scaled(self, factor: Any, offset: Any = 0.0) -> Estimated:
        """Return the same in other units."""
        return Estimated(offset + factor * self.values, np.abs(factor) * self.standard_errors, self.reports)

    def in_units(self, low: float, high: float) -> Estimated:
        """Return shares of a range in the units of its bounds."""
        return self.scaled(high - low, low)

    def part(self, index: int) -> Estimated:
        """Return one of several by itself."""
        return Estimated(self.values[index], self.standard_errors[index], self.reports)

    def to_json(self) -> Mapping[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "values": self.values.tolist(),
            "standard_errors": self.standard_errors.tolist(),
            "reports": self.reports,
        }


def normal_quantile(confidence: Any) -> float:
    """Return how many standard errors an interval of that confidence reaches to each side."""
    from scipy.special import ndtri

    return float(ndtri((1 + float(probability("confidence", confidence))) / 2))


def some(counts: Counts, length: int) -> Counts:
    """Return counts if they are so many whole numbers."""
    found = np.asarray(counts)
    if found.shape != (length,) or found.dtype.kind not in "iu":
        raise ArgumentError(f"counts must be {length} whole numbers, as count() returns them", "SRD-C203")
    return found.astype(np.int64)


def people(reports: int, least: int = 1) -> int:
    """Return how many reports there are; refuse fewer than an estimate needs."""
    if whole("reports", reports, least=0, most=MOST_REPORTS) < least:
        raise ArgumentError(f"an estimate needs at least {least} reports; wait for more", "SRD-C204")
    return int(reports)
