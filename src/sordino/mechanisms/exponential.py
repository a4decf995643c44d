"""The exponential mechanism: one of a public list of candidates, better ones exponentially more often.

**Guarantee**: P[i] ∝ exp(scoreᵢ/scale), exactly, with scores on the public grid. If one unit moves no score by more
than ``bound.linf``, the choice is ε-differentially private and of ε-bounded range with ε = 2·linf/scale, or linf/scale
if all scores move in the same direction (`monotone`), linf in whole grid steps.
**Assumes**: the list of candidates is public; with `monotone`, that one unit never raises a score and lowers another.
**Source**: McSherry & Talwar 2007, Theorem 6; bounded range: Durfee & Rogers 2019, Definition 3.1; Dong, Durfee &
Rogers 2020. **Proof**: ``Selection.epsilon`` shows that ln(P[i]/P'[i]) lies in a range of width ε over all i. Both P
and P' sum to 1, so that range contains 0, and no ratio exceeds e^ε.

In the usual parameters: to be ε-private for scores of sensitivity Δ choose scale = 2Δ/ε, which gives exp(ε·score/(2Δ)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sordino import noise
from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant

from .mechanism import remembered, use_grant
from .selection import Selection


@dataclass(frozen=True)
class Exponential(Selection):
    """A choice with P[i] ∝ exp(scoreᵢ/scale).

    >>> vote = Exponential.for_epsilon(1, Bound.scalar(1), candidates=3, monotone=True)
    >>> vote.scale, vote.event(Bound.scalar(1)).epsilon
    (Fraction(1, 1), Fraction(1, 1))
    """

    @remembered
    def event(self, bound: Bound) -> events.Exponential:
        """Return one exponential mechanism whose score sensitivity is ``bound.linf``."""
        return events.Exponential(self.epsilon(bound))

    def release(self, value: Any, grant: Grant) -> int:
        """Return the index of the chosen candidate; `value` holds one score for each."""
        steps = self.to_steps(value)
        use_grant(self, grant)
        return noise.choose(steps, self.rate)

    def error(self, confidence: float = 0.95) -> float:
        """Return how far the chosen score is below the best one, at most, with probability `confidence`.

        scale·(ln candidates + ln 1/(1−confidence)): a candidate t below the best has at most e^(−t/scale) times its
        probability, and there are fewer than `candidates` of them (McSherry & Talwar 2007, Theorem 7).
        """
        return self.shortfall(confidence)
