"""The best k of a public list of candidates, in order, in one shot.

**Guarantee**: the result has the law of k exponential mechanisms run one after the other, each without the candidates
taken before: with ε the price of one (see ``exponential.py``), its event is that, repeated k times.
**Assumes**: as ``exponential.py``.
**Source**: Durfee & Rogers 2019, Lemma 4.2: the k largest of Gumbel-noised scores, in order, are distributed exactly
so.
**Proof**: the exponential mechanism on what is left is ε-bounded-range whatever was taken before, so this is adaptive
composition of k such events. That the race equals the rounds is the memorylessness of exponential arrival times.

Only the order comes out, never a noisy score.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.arguments import Number, rational, whole

from .grid import INTEGERS, Grid
from .mechanism import remembered, use_grant
from .selection import Selection, fitting_grid


@dataclass(frozen=True)
class TopK(Selection):
    """The `count` best candidates by Gumbel-noised score, best first.

    >>> TopK.for_epsilon(1, Bound.scalar(1), candidates=100, count=10).scale
    Fraction(20, 1)
    """

    count: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "count", whole("count", self.count, least=1, most=self.candidates))

    @classmethod
    def for_epsilon(
        cls,
        epsilon: Number,
        bound: Bound,
        candidates: int,
        *,
        grid: Grid | None = INTEGERS,
        monotone: bool = False,
        count: int = 1,
    ) -> Self:
        """Return the mechanism whose release costs exactly `epsilon` in all, in the pure calculus."""
        share = rational("epsilon", epsilon, above=0) / whole("count", count, least=1)
        fine = fitting_grid(grid, share, bound)
        unit = cls(Fraction(1), candidates, fine, monotone, count)
        return replace(unit, scale=unit.epsilon(bound) / share)

    @remembered
    def event(self, bound: Bound) -> events.Repeated:
        """Return `count` exponential mechanisms whose score sensitivity is ``bound.linf``."""
        return events.Repeated(events.Exponential(self.epsilon(bound)), self.count)

    def release(self, value: Any, grant: Grant) -> NDArray[np.int64]:
        """Return the indices of the best `count` candidates, best first; `value` holds one score for each candidate."""
        steps = self.to_steps(value)
        use_grant(self, grant)
        return np.asarray(noise.race(steps, self.rate, self.count), dtype=np.int64)

    def error(self, confidence: float = 0.95) -> float:
        """Return how far each place's score is below the best one left for it, at most, with probability `confidence`.

        The bound of one exponential mechanism at each of the `count` places, together (union bound).
        """
        return self.shortfall(confidence, self.count)
