"""Private keys: which groups may be shown, by how many people are in each, and which counts come along for nothing.

A group is shown where its number of people, with noise, reaches a threshold (``mechanisms/geometric_threshold.py``,
``mechanisms/partition.py``). The noisy number of a group that is shown is part of what the mechanism's event covers, so
whatever a question asks that *is* the number of people, COUNT(DISTINCT person), or COUNT(*) where everybody weighs one
row in a group, is read from it, and no other part of the price is spent on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.errors import ArgumentError
from sordino.mechanisms.geometric_threshold import GeometricThreshold
from sordino.mechanisms.partition import GaussianThreshold, LaplaceThreshold
from sordino.query.model.bounding import Bounding
from sordino.query.model.question import Aggregate

from .spend import Spend

Threshold = GeometricThreshold | LaplaceThreshold | GaussianThreshold


@dataclass(frozen=True)
class Selection:
    """How private keys are selected, and the aggregates (by place) whose values are the noisy counts themselves."""

    mechanism: Threshold
    bound: Bound
    counted: tuple[int, ...]

    @property
    def event(self) -> Event:
        """What its release runs."""
        return self.mechanism.event(self.bound)

    @property
    def least(self) -> int:
        """The least noisy count that is shown."""
        return self.mechanism.threshold(self.bound)

    def size_shown(self, confidence: Fraction) -> int:
        """Return how many people a group needs to be shown with probability `confidence`."""
        return self.mechanism.size_shown(confidence, self.bound)


def counts_of_people(
    aggregates: Sequence[Aggregate], places: Sequence[tuple[int, ...]], bounding: Bounding
) -> tuple[int, ...]:
    """Return the aggregates (by place) that are the number of people in a group, or of rows if rows are protected.

    Counts of rows are, where everybody has one row in a group: more of them weigh one row together. `places` are the
    measures that aggregates read: a count that looks for missing values is none of them.
    """
    one_each = bounding.linf == 1
    return tuple(
        place
        for place, aggregate in enumerate(aggregates)
        if aggregate.function == "count_people"
        or (one_each and aggregate.function in ("count_rows", "count") and not places[place])
    )


def threshold_for(spend: Spend, amount: Fraction, bound: Bound) -> Threshold:
    """Return the rule that shows most keys for `amount` (ε, or ρ) and the δ for keys."""
    if spend.rho is not None:
        return GaussianThreshold.for_rho(amount, spend.keys_delta, bound)
    try:
        return GeometricThreshold(amount, spend.keys_delta, bound.l0)
    except ArgumentError:  # one person has so many keys that its law would be too long
        return LaplaceThreshold.for_epsilon(amount, spend.keys_delta, bound)
