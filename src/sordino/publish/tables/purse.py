"""Rounds of a publication and what they cost: a noisy marginal, or the choice of one; each paid before it is run.

Amounts are of what the publication spends: ρ, or pure ε. So under ρ noise is Gaussian and a choice of ε costs ε²/8;
under ε noise is Laplace's and a choice of ε costs ε.

**Guarantee**: all that a purse gives out is what `Running.grant` paid for, so together within the claim.
**Assumes**: `exact` gives counts that one unit moves by `bound_of` its cells.

**How far a score moves.** A candidate's score is w·(Σ |count − expected| − allowance), all in whole numbers of 1/1024,
where what is expected was released. If counts move by v, so does the sum by at most ‖v‖₁ (triangle inequality), and
the score by at most w·‖v‖₁. Whole numbers are exact, so no rounding is hidden in it. ∎
**Source**: McKenna, Mullins, Sheldon, Miklau 2022 (*AIM*), Lemma 1; Cesar, Rogers 2021 for ε²/8.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound
from sordino.mechanisms.exponential import Exponential
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.grid import root_rounded_up
from sordino.mechanisms.laplace import Laplace
from sordino.publish.publication import Running
from sordino.publish.spending import Spend

from .fitting import Measured
from .junction import Clique

Exact = Callable[[Clique], NDArray[np.int64]]
BoundOf = Callable[[int], Bound]

FINENESS = 1024
"""Scores are whole numbers of this fraction of a row."""
_FINEST = 10**12
_LARGEST_ROWS = 2.0**40


def noise_of(spend: Spend, amount: Fraction, bound: Bound) -> Laplace | Gaussian:
    """Return the noise that costs `amount` on counts that one unit moves by `bound`."""
    return Laplace.for_epsilon(amount, bound) if spend.is_pure else Gaussian.for_rho(amount, bound)


def mean_size(mechanism: Laplace | Gaussian) -> float:
    """Return how far off one number is on average (rounding aside)."""
    if isinstance(mechanism, Laplace):
        return float(mechanism.scale)
    return math.sqrt(2 / math.pi * float(mechanism.variance))


def rounded_down(amount: Fraction) -> Fraction:
    """Return a short fraction just below, so that sums of many stay short."""
    return Fraction(int(amount * _FINEST), _FINEST)


@dataclass
class Purse:
    """What is left of a publication's budget, and the two ways to spend it."""

    running: Running
    spend: Spend
    exact: Exact
    bound_of: BoundOf
    left: Fraction

    def measure(self, clique: Clique, amount: Fraction) -> Measured:
        """Return the noisy marginal."""
        return self.noisy(self.exact(clique), amount)

    def noisy(self, counts: NDArray[np.int64], amount: Fraction) -> Measured:
        """Return counts of disjoint cells with noise."""
        bound = self.bound_of(counts.size)
        mechanism = noise_of(self.spend, amount, bound)
        noisy = self.running.release(mechanism, bound, counts)
        self._paid(amount)
        return Measured(noisy.astype(np.float64), np.asarray(1 / mechanism.variance_of_error))

    def noise(self, cells: int, amount: Fraction) -> float:
        """Return how far off a number of a marginal of so many cells would be on average."""
        return mean_size(noise_of(self.spend, amount, self.bound_of(cells)))

    def choose(self, scores: Sequence[int], moves: int, amount: Fraction) -> int:
        """Return the place of a high score, by the exponential mechanism; one unit moves none by more than `moves`."""
        mechanism, bound = choice(self.spend, amount, len(scores), moves, self.bound_of(1))
        place: int = self.running.release(mechanism, bound, np.asarray(scores, dtype=np.int64))
        self._paid(amount)
        return place

    def most_off(
        self,
        expected: Mapping[Clique, NDArray[np.float64]],
        weights: Mapping[Clique, int],
        allowance: Mapping[Clique, float],
        amount: Fraction,
    ) -> Clique:
        """Return a marginal that is far from what is expected of it, by weight, beyond an allowance."""
        cliques = list(expected)
        scores = [score(self.exact(each), expected[each], weights[each], allowance[each]) for each in cliques]
        rows = self.bound_of(max(2, *(expected[each].size for each in cliques))).l1
        moves = max(weights[each] for each in cliques) * math.ceil(rows) * FINENESS
        return cliques[self.choose(scores, moves, amount)]

    def _paid(self, amount: Fraction) -> None:
        self.left -= amount
        self.running.stage("measuring")


def score(counts: NDArray[np.int64], expected: NDArray[np.float64], weight: int, allowance: float) -> int:
    """Return weight·(Σ |count − expected| − allowance) in whole numbers of 1/1024 row; see the proof above."""
    # What is no number would become the least integer there is, from which differences overflow.
    public = np.rint(np.clip(np.nan_to_num(expected), 0, _LARGEST_ROWS) * FINENESS).astype(np.int64)
    off = int(np.abs(counts * FINENESS - public).sum())
    return weight * (off - round(allowance * FINENESS))


def choice(spend: Spend, amount: Fraction, candidates: int, moves: int, like: Bound) -> tuple[Exponential, Bound]:
    """Return the choice that costs `amount`, and the bound of its scores, for the unit and the relation of `like`."""
    size = Fraction(moves)
    bound = Bound(candidates, candidates * size, candidates * size**2, size, like.neighbours, like.unit)
    return Exponential.for_epsilon(choice_epsilon(spend, amount), bound, candidates), bound


def choice_epsilon(spend: Spend, amount: Fraction) -> Fraction:
    """Return the ε of a choice that costs `amount`: √(8·amount) under ρ, rounded down."""
    if spend.is_pure:
        return amount
    root = root_rounded_up(8 * amount)
    return Fraction(int(root * 2**40) - 1, 2**40) if root > Fraction(1, 2**30) else root / 2
