"""Randomized response: every person answers for themselves, with the truth or, by a coin, with another answer.

**Guarantee**: an answer v ∈ {0 … k−1} is reported as it is with probability e^ε/(e^ε+k−1), and as each of the k−1
*other* answers with probability 1/(e^ε+k−1), exactly. So each report is ε-differentially private by itself, and a unit
that can change l0 reports pays l0 times.
**Assumes**: who takes part, and in which place of the array, is public: it hides what was answered, not that someone
answered. Hence the bound must be replace-one (or zero-out, where "nothing" is one of the k answers).
**Source**: Warner 1965; k values: Kairouz, Oh & Viswanath 2016, Section 3. **Proof**: any two entries of one column of
the table of probabilities have the ratio 1 or e^±ε.

It is sometimes described as "the truth with probability e^ε/(e^ε+1), a random value otherwise". The random value may be
the truth again, which makes the real ε larger, ln(1 + 2e^ε) for two values: 1.86 for a stated 1.

Estimates are post-processing of the reports and cost nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from sordino import noise
from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import numbers, probability, rational, whole
from sordino.errors import ArgumentError

from .mechanism import remembered, use_grant


@dataclass(frozen=True)
class Frequencies:
    """Unbiased estimates of how often each answer is true, as shares of all reports, with standard errors.

    A share may come out below 0 or above 1: cutting it off there would bias sums of shares.
    """

    shares: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    reports: int

    def intervals(self, confidence: float = 0.95) -> NDArray[np.float64]:
        """Return (low, high) for each share by the normal law, which is good from some dozens of reports on."""
        level = float(probability("confidence", confidence))
        widths = float(scipy.special.ndtri((1 + level) / 2)) * self.standard_errors
        return np.stack([self.shares - widths, self.shares + widths], axis=1)


@dataclass(frozen=True)
class RandomizedResponse:
    """Each answer of {0 … `categories`−1} with probability e^ε/(e^ε+k−1), else one of the others, all alike.

    >>> RandomizedResponse(epsilon=1).event(Bound.scalar(1, neighbours=Neighbours.REPLACE_ONE))
    RandomizedResponse(epsilon=Fraction(1, 1), categories=2)
    """

    epsilon: Fraction
    categories: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", rational("epsilon", self.epsilon, above=0))
        object.__setattr__(self, "categories", whole("categories", self.categories, least=2, most=2**31))

    @property
    def truth(self) -> float:
        """The probability that a report is the true answer, to float precision."""
        return 1 / (1 + (self.categories - 1) * math.exp(-float(self.epsilon)))

    @property
    def lie(self) -> float:
        """The probability of each single answer that is not the true one, to float precision."""
        return math.exp(-float(self.epsilon)) * self.truth

    @remembered
    def event(self, bound: Bound) -> Event:
        """Return one randomized response for each of the ``bound.l0`` reports that one unit can change."""
        if bound.neighbours is Neighbours.ADD_REMOVE:
            raise ArgumentError(
                "randomized response hides what a unit answered, not that it answered; "
                "state the bound with neighbours=Neighbours.REPLACE_ONE",
                "SRD-A003",
            )
        one = events.RandomizedResponse(self.epsilon, self.categories)
        return one if bound.l0 == 1 else events.Repeated(one, bound.l0)

    def release(self, value: Any, grant: Grant) -> Any:
        """Return a report for the answer, or an int64 array of reports for an array of answers.

        An answer that is none of 0 … k−1 counts as the nearest of them: to refuse it would tell what it is.
        """
        given = numbers("answers", value, "iu")
        answers = np.minimum(np.maximum(given, 0), min(self.categories - 1, np.iinfo(given.dtype).max)).astype(np.int64)
        use_grant(self, grant)
        honest = noise.logistic(self.epsilon, self.categories - 1, answers.shape)
        # One of the k−1 others: skip ahead by 1 … k−1 places, round the circle of answers.
        others = (answers + 1 + noise.uniform(self.categories - 1, answers.shape)) % self.categories
        reports = np.where(honest, answers, others)
        return int(reports) if reports.ndim == 0 else reports

    def estimate(self, reports: Any) -> Frequencies:
        """Return unbiased estimates of the share of each answer among those who gave `reports`.

        A report is j with probability lie + (truth − lie)·share_j; solving for the share is unbiased. The standard
        error is that of a binomial share of reports, divided by (truth − lie). It counts who took part as a sample; if
        only the coins are random it is a little too large.
        """
        given = self._reports(reports)
        if given.size == 0:
            raise ArgumentError("an estimate needs at least one report", "SRD-A003")
        seen = np.bincount(given.ravel(), minlength=self.categories) / given.size
        contrast = self.truth - self.lie
        errors = np.sqrt(seen * (1 - seen) / given.size) / contrast
        return Frequencies((seen - self.lie) / contrast, errors, int(given.size))

    def error(self, confidence: float = 0.95, reports: int = 1) -> float:
        """Return how far off an estimated share is, at most, with probability `confidence`, for so many reports.

        By Hoeffding's inequality on the coins, so it holds for any data: √(ln(2/(1−confidence))/(2n)) / (truth − lie).
        """
        missing = 1 - float(probability("confidence", confidence))
        count = whole("reports", reports, least=1)
        return math.sqrt(math.log(2 / missing) / (2 * count)) / (self.truth - self.lie)

    def _reports(self, value: Any) -> NDArray[np.int64]:
        answers = numbers("reports", value, "iu")
        if answers.size and not (answers.min() >= 0 and answers.max() < self.categories):
            raise ArgumentError(f"every report must be one of 0 … {self.categories - 1}", "SRD-A002")
        return answers.astype(np.int64)
