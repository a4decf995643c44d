"""What ways to answer with one number for a mean have in common: what their sums say, and what can go wrong.

Each is asked in shares of the range, from 0 to 1; the question (`questions`) puts them into the units of people.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Protocol

from sordino.arguments import rational, whole
from sordino.collect.coins import MOST_EPSILON
from sordino.collect.randomizer import Counts

from .estimated import Estimated, some
from .linear import Linear

LEAST_EPSILON = Fraction(1, 1000)
"""Of one report. Below it a mean needs more people than there are."""


def checked_epsilon(epsilon: Any) -> Fraction:
    """Return ε of one report, if coins can hold it."""
    return rational("epsilon", epsilon, least=LEAST_EPSILON, most=MOST_EPSILON)


class Means(Protocol):
    """Sums of whole numbers become a mean by `linear`."""

    @property
    def linear(self) -> Linear:
        """How sums become a mean."""
        ...

    def variance(self, position: float) -> float:
        """Return the variance of one report for a number at that share of the range, before anything is spent."""
        return self.linear.variance(position)

    @property
    def worst(self) -> float:
        """The largest variance of one report, whatever people hold."""
        return self.linear.worst

    def estimate(self, counts: Counts, reports: float) -> Estimated:
        """Return the mean, as a share of the range, of `reports` people: those who answered, or more."""
        return self.linear.estimate(some(counts, 3), reports)

    def error(self, people: int) -> float:
        """Return the standard error with so many people, whatever they hold: the largest that there is."""
        return math.sqrt(self.worst / whole("people", people, least=1))

    def poison(self, people: int, colluding: int) -> float:
        """Return how far so many of them can move the mean, together, away from what they should have said.

        Each moves it by the distance from an end of the range to the farthest report beyond the other, over all people.
        """
        count = whole("people", people, least=1)
        return whole("colluding", colluding, least=0, most=count) / count * (self.linear.reach + 0.5)
