"""Report noisy max: add noise to every score and say which is the largest, never by how much.

Three kinds of noise, three different laws:

``GumbelMax``       Gumbel noise. This, and only this, *is* the exponential mechanism.
``PermuteAndFlip``  exponential noise; never worse than the exponential mechanism in expected score.
``LaplaceMax``      Laplace noise; kept because much is written about it. Pure ε, not of bounded range.

It is often written that Laplace noise "is exactly the exponential mechanism"; it is not, and for more than two
candidates their probabilities differ. Nor may the bounded-range curves of the exponential mechanism price the last two:
their log-ratios span up to 2ε. They have events of their own.

**Guarantee**, of each: ε-differential privacy with ε = 2·linf/scale (linf/scale if `monotone`) for the index alone.
**Assumes**: as ``exponential.py``. The noisy maximum itself is not covered and never leaves this file.

**Proof.** Fix all noises but candidate i's, and let t be the least noise with which i wins. On a neighbour every score
moves by at most m steps, so the largest rival and i's own score move by at most m each: t moves by at most 2m, or m if
both move the same way. P[noise ≥ t + 1] ≥ e^(−rate)·P[noise ≥ t] for Laplace (on the integers: P[k+1] ≥ e^(−rate)·P[k],
summed), for exponential and for Gumbel noise. Average over the noises that were fixed. For integer noise ties are
possible; a fixed rule (the lower index wins) makes "i wins" the event {noise ≥ t} with t = max over rivals of
(scoreⱼ + noiseⱼ + [j < i]) − scoreᵢ, which moves as before, so the rule costs nothing. ∎
**Source**: Dwork & Roth 2014, Claim 3.9; McKenna & Sheldon 2020 (permute-and-flip), Theorem 1; Ding, Kifer, Sayed,
Steinke, Wang, Xiao & Zhang 2021 (permute-and-flip = exponential noise).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sordino import noise
from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.arguments import probability

from .exponential import Exponential
from .mechanism import remembered, use_grant
from .selection import Selection


@dataclass(frozen=True)
class GumbelMax(Exponential):
    """The index of the largest score after Gumbel noise of `scale`.

    This is the exponential mechanism, verbs and all: ``noise.choose`` draws it as the race that Gumbel noise decides.
    """


@dataclass(frozen=True)
class PermuteAndFlip(Selection):
    """Walk through the candidates in random order; take the first whose coin, exp((score − best)/scale), shows heads.

    All coins are flipped at once and one of the heads is drawn uniformly: the heads in a random order have a uniform
    first. The best candidate's coin is always heads, so the walk ends.
    """

    @remembered
    def event(self, bound: Bound) -> events.PermuteAndFlip:
        """Return one permute-and-flip: pure ε."""
        return events.PermuteAndFlip(self.epsilon(bound))

    def release(self, value: Any, grant: Grant) -> int:
        """Return the index of the first candidate with heads; `value` holds one score for each."""
        steps = self.to_steps(value)
        use_grant(self, grant)
        heads = np.flatnonzero(noise.flip(steps.max() - steps, self.rate))
        return int(heads[noise.uniform(heads.size)])

    def error(self, confidence: float = 0.95) -> float:
        """Return how far the choice is below the best, at most, with probability `confidence`.

        A candidate t below the best is taken only if its coin shows heads: at most e^(−t/scale) each.
        """
        return self.shortfall(confidence)


@dataclass(frozen=True)
class LaplaceMax(Selection):
    """The index of the largest score after integer Laplace noise on the grid; the lower index wins a tie."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.law  # an absurd scale is refused here rather than at the first release

    @cached_property
    def law(self) -> noise.DiscreteLaplace:
        """The noise, in steps of the grid."""
        return noise.DiscreteLaplace(1 / self.rate)

    @remembered
    def event(self, bound: Bound) -> events.LaplaceNoisyMax:
        """Return one Laplace noisy max: pure ε."""
        return events.LaplaceNoisyMax(self.epsilon(bound))

    def release(self, value: Any, grant: Grant) -> int:
        """Return the index of the winner; `value` holds one score for each candidate."""
        steps = self.to_steps(value)
        use_grant(self, grant)
        return int(np.argmax(steps + self.law.draw(self.candidates)))

    def error(self, confidence: float = 0.95) -> float:
        """Return how far the winner is below the best, at most, with probability `confidence`.

        Twice the noise that no candidate exceeds: the winner gained at most that, and the best lost at most that.
        """
        missing = (1 - float(probability("confidence", confidence))) / self.candidates
        widest = self.law.tail(1 - missing)
        return float(self.grid.step) * (2 * widest + (0 if self.grid.exact else 1))
