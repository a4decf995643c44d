"""How often an attack is right, with an interval; and how much better inside than outside (ε, δ) lets it be.

**Source**: Kairouz, Oh, Viswanath 2015, theorem 2.1 for what (ε, δ) allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.tradeoff import TradeOff
from sordino.arguments import Number, probability, rational, rounded_up, whole
from sordino.audit.confidence import at_least, at_most

from .limits import most_found

_ENOUGH = 1 - Fraction(1, 10**6)
"""The confidence at which an attack is said to do better than its claim allows."""


@dataclass(frozen=True)
class Rate:
    """So many of so many: a share that was measured, with the interval that the number of cases supports."""

    hits: int
    cases: int

    def __post_init__(self) -> None:
        whole("cases", self.cases, least=0)
        whole("hits", self.hits, least=0, most=self.cases)

    @property
    def share(self) -> float:
        """The share of hits; NaN where there was no case."""
        return self.hits / self.cases if self.cases else math.nan

    def interval(self, confidence: Number = 0.95) -> tuple[float, float]:
        """Return the ends of the exact (Clopper–Pearson) interval.

        **Guarantee**: covers the true rate with at least this confidence. **Assumes**: independent cases.
        """
        tail = float(1 - probability("confidence", confidence)) / 2
        return float(at_least(self.hits, self.cases, tail)), float(at_most(self.hits, self.cases, tail))

    def __str__(self) -> str:
        if not self.cases:
            return "no case"
        low, high = self.interval()
        return f"{100 * self.share:.1f} % ({100 * low:.1f} to {100 * high:.1f}; {self.hits:,} of {self.cases:,})"


def share_of(said: NDArray[Any], among: NDArray[Any] | None = None) -> Rate:
    """Return how often `said` is true, of those cases alone for which `among` is."""
    chosen = said if among is None else said[among]
    return Rate(int(np.count_nonzero(chosen)), int(chosen.size))


@dataclass(frozen=True)
class Contrast:
    """How often an attack names a truth about people in the release, and about people that it was made without.

    What it knows of the latter it knows from everybody else, so only the difference is a breach. With a claim of (ε, δ)
    per person, the first rate is at most ``allowed`` by the second, whatever the attacker knows.
    """

    inside: Rate
    outside: Rate
    epsilon: float | None = None
    delta: float = 0.0

    @classmethod
    def claiming(cls, inside: Rate, outside: Rate, epsilon: Number, delta: Number = 0) -> Contrast:
        """Return the contrast with a claim, whose numbers are checked and rounded up."""
        exact, chance = rational("epsilon", epsilon, least=0), rational("delta", delta, least=0, most=1)
        return cls(inside, outside, rounded_up(exact), rounded_up(chance))

    @property
    def advantage(self) -> float:
        """How much more often the attack is right about those inside."""
        return self.inside.share - self.outside.share

    @property
    def allowed(self) -> float:
        """The largest rate inside that the claim allows with the rate outside; 1 without a claim."""
        return self._allowed_by(self.outside.share)

    def allowed_interval(self, confidence: Number = 0.95) -> tuple[float, float]:
        """Return what the claim allows at the ends of the outside rate's own interval."""
        low, high = self.outside.interval(confidence)
        return self._allowed_by(low), self._allowed_by(high)

    def _allowed_by(self, outside: float) -> float:
        if self.epsilon is None or math.isnan(outside):
            return 1.0
        return float(most_found(TradeOff.approximate(self.epsilon, self.delta), outside))

    def exceeds(self, confidence: Number = _ENOUGH) -> bool:
        """Tell whether the attack does better than the claim allows, beyond chance: one in a million, if not said else.

        **Assumes**: independent cases. People who share a cell of a table share its noise, so a table of few cells is
        weaker evidence than its number of people suggests: look at several releases before you accuse.
        """
        low, _ = self.inside.interval(confidence)
        return low > self.allowed_interval(confidence)[1]

    def __str__(self) -> str:
        if self.epsilon is None:
            return f"inside {self.inside}, outside {self.outside}"
        low, high = self.allowed_interval()
        allows = f"ε = {self.epsilon:g} allows {100 * self.allowed:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
        return f"inside {self.inside}, outside {self.outside}; {allows}"
