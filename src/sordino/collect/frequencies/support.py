"""What all frequency protocols have in common: a report *supports* some of the values.

It supports the value held with the chance `own`, and each other value with the chance `other`, whatever is held (Wang
et al. 2017 call such protocols pure). So how many reports support a value tells how many hold it: if c of n reports do,

    (c − n·other) / (own − other)

is an unbiased estimate of that. If m is the truth, its variance is

    (m·own·(1 − own) + (n − m)·other·(1 − other)) / (own − other)²

Averaged over all values that is the same for every population: `mean_squared_error`.

A client that lies can always support a value, or never: instead of its honest average between 0 and 1 it adds
(1 − other)/(own − other), or takes away other/(own − other).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from sordino.arguments import whole
from sordino.collect.estimate import Estimate
from sordino.collect.poison import Poison
from sordino.collect.randomizer import Counts
from sordino.errors import ArgumentError


@dataclass(frozen=True)
class Support:
    """The two chances, exactly as the coins have them."""

    own: Fraction
    other: Fraction

    @cached_property
    def contrast(self) -> Fraction:
        """By how much more often a value is supported by who holds it."""
        return self.own - self.other

    @cached_property
    def of_others(self) -> float:
        """The variance that each report adds to the estimate of a value that its sender does not hold."""
        return float(self.other * (1 - self.other) / self.contrast**2)

    @cached_property
    def of_holders(self) -> float:
        """The variance that each report adds to the estimate of the value that its sender holds."""
        return float(self.own * (1 - self.own) / self.contrast**2)

    def variance(self, reports: int, held: float = 0.0) -> float:
        """Return the variance of the estimate of a value that `held` of the senders hold."""
        return held * self.of_holders + (reports - held) * self.of_others

    def mean_squared_error(self, domain: int) -> float:
        """Return the squared error of an estimate, averaged over all values, for each report."""
        return (self.of_holders + (domain - 1) * self.of_others) / domain

    def estimate(self, supported: Counts, reports: int) -> Estimate:
        """Return how many hold each value, of so many reports of which `supported` support it."""
        if whole("reports", reports, least=0) == 0:
            raise ArgumentError("an estimate needs at least one report; wait for some", "SRD-C102")
        values = (supported - float(reports * self.other)) / float(self.contrast)
        slope = self.of_holders - self.of_others
        errors = np.sqrt(reports * self.of_others + slope * np.clip(values, 0.0, reports))
        return Estimate(values.astype(np.float64), errors.astype(np.float64), reports, slope)

    def poison(self) -> Poison:
        """Return how far one client can move the estimate of a value."""
        return Poison((1 - self.other) / self.contrast, self.own / self.contrast)


class Supporting(ABC):
    """What randomizers get from their support: estimates, variances and the reach of poison."""

    domain: int

    @property
    @abstractmethod
    def support(self) -> Support:
        """How often a report supports the value held, and how often another one."""

    def supported(self, counts: Counts) -> Counts:
        """Return how many reports support each value, from what `count` returned: mostly that itself."""
        return counts

    def estimate(self, counts: Counts, reports: int) -> Estimate:
        """Return how many hold each value."""
        return self.support.estimate(self.supported(counts), reports)

    def variance(self, reports: int, held: float = 0.0) -> float:
        """Return the variance of the estimate of a value that `held` of the senders hold."""
        return self.support.variance(reports, held)

    def mean_squared_error(self) -> float:
        """Return the squared error of an estimate for each report, averaged over all values."""
        return self.support.mean_squared_error(self.domain)

    def poison(self) -> Poison:
        """Return how far one client can move the estimate of a value."""
        return self.support.poison()
