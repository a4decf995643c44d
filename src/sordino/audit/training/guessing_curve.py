"""What a number of correct guesses about canaries says of a whole trade-off curve, not of one (ε, δ) alone.

A training whose curve is known in full (Gaussian noise, sampled or not) promises more than any single (ε, δ) of it, so
the same guesses refute more.

**Source**: Mahloujifar, Melis, Chaudhuri 2024, "Auditing f-differential privacy in one run", their recursion for k = 2.

**Proof.** Let N of r guesses about m fair coins be right, and let f be a symmetric trade-off curve of the training for
adding or removing one canary, g(y) = f(1 − y): what happens with chance y under one coin happens with at least g(y)
under the other. Write R_j = E[N; N ≥ j]/m and H_j = E[r − N; N ≥ j]/m. For canary i, "guessed right, and at least j of
the others right" becomes "guessed wrong, and at least j of the others right" when its coin is turned. So, averaged over
i, as g is convex, H_j ≥ g(R_{j+1}). Also H_j − H_{j+1} = (r−j)·P[N=j]/m and R_j − R_{j+1} = j·P[N=j]/m. If P[N ≥ v] = τ
then R_v ≥ vτ/m with R_v + H_v = rτ/m; walking down from v, the least total is reached by all of τ sitting at v and by
the least P[N=j] that each inequality allows. (A state with more R, no less R + H and no less R − j/(r−j)·H stays so at
every step, whichever of the two is bound by its inequality; j/(r−j) falls with j.) The total R_0 + H_0 is r/m; if the
walk ends above it, P[N ≥ v] < τ.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from sordino.accounting.curve import Floats
from sordino.accounting.tradeoff import TradeOff

Flags = NDArray[np.bool_]

_SMALLEST = 1e-15
_POINTS, _ROUNDS, _LOOK = 129, 3, 64
_BEYOND_ROUNDING = 1 + 1e-9
_LARGEST_MU, _LARGEST_EPSILON = 40.0, 100.0  # no number of canaries proves as much


def chance_of_guesses_on(curve: TradeOff, correct: int, guesses: int, canaries: int) -> float:
    """Return the greatest chance that a training on `curve` lets `correct` guesses or more be right, rounded up.

    **Guarantee**: at least P[N ≥ v] for every training whose trade-off is nowhere below the curve, which must be
    symmetric, as all of `TradeOff` are. **Assumes**: as in `guessing.chance_of_guesses`.
    """

    def excluded(chances: Floats) -> Flags:
        return _too_many(lambda level: curve(np.clip(1.0 - level, 0.0, 1.0)), chances, correct, guesses, canaries)

    low, high = float(np.log(_SMALLEST)), 0.0
    for _ in range(_ROUNDS):
        grid = np.linspace(low, high, _POINTS)
        outside = np.flatnonzero(excluded(np.exp(grid)))
        if len(outside) == 0:
            return float(np.exp(high))
        if outside[0] == 0:
            return float(np.exp(low))
        low, high = float(grid[outside[0] - 1]), float(grid[outside[0]])
    return float(np.exp(high))


def least_mu(correct: int, guesses: int, canaries: int, doubt: float) -> float:
    """Return the largest μ such that so many correct guesses exclude μ-Gaussian privacy but for a chance of `doubt`."""

    def opposite(distances: Floats, level: Floats) -> Floats:
        return np.asarray(ndtr(ndtri(level) - distances))

    return _least(opposite, _LARGEST_MU, (correct, guesses, canaries), doubt)


def least_epsilon_on_curve(correct: int, guesses: int, canaries: int, delta: float, doubt: float) -> float:
    """Return the largest ε such that so many correct guesses exclude the curve of (ε, δ) but for `doubt`."""

    def opposite(epsilons: Floats, level: Floats) -> Floats:
        steep = 1.0 - delta - np.exp(epsilons) * (1.0 - level)
        return np.maximum(np.maximum(np.exp(-epsilons) * (level - delta), steep), 0.0)

    return _least(opposite, _LARGEST_EPSILON, (correct, guesses, canaries), doubt)


def _least(
    opposite: Callable[[Floats, Floats], Floats], largest: float, counts: tuple[int, int, int], doubt: float
) -> float:
    """Return the largest parameter, up to `largest`, whose curve is excluded; curves fall as their parameter grows."""

    def excluded(parameters: Floats) -> Flags:
        return _too_many(partial(opposite, parameters), np.full_like(parameters, doubt), *counts)

    low, high = 0.0, largest
    for _ in range(_ROUNDS):
        grid = np.linspace(low, high, _POINTS)
        inside = np.flatnonzero(~excluded(grid))
        if len(inside) == 0:
            return high
        if inside[0] == 0:
            return low
        low, high = float(grid[inside[0] - 1]), float(grid[inside[0]])
    return low


def _too_many(
    opposite: Callable[[Floats], Floats], chances: Floats, correct: int, guesses: int, canaries: int
) -> Flags:
    """Say for each τ in `chances` whether P[N ≥ v] = τ is impossible; `opposite` is the proof's g for each."""
    most = guesses / canaries * _BEYOND_ROUNDING
    right = chances * correct / canaries
    wrong = chances * (guesses - correct) / canaries
    for count in range(correct - 1, -1, -1):
        more = np.maximum(opposite(right) - wrong, 0.0)
        wrong = wrong + more
        right = np.minimum(right + more * (count / (guesses - count)), 1.0)
        if count % _LOOK == 0 and np.all(right + wrong > most):
            break  # totals only grow
    return np.asarray(right + wrong > most)
