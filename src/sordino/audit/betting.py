"""Betting against a claim: an honest mechanism makes nobody rich.

The auditor starts with one coin and, before each batch of draws, may bet on what will come out on the two neighbours.
If the claim is true every bet is unfair to her, so her purse grows a millionfold with a chance of at most one in a
million, no matter how she chooses her bets, how many events, pairs or δ's she tries, and when she stops.

**Guarantee** (Ville 1939): if the claim holds, P[the purse ever reaches 1/α] ≤ α.
**Proof.** Let X and Y be outputs on the two inputs, drawn independently of each other and of the past, and let H and L
be disjoint sets of outputs, chosen by the past alone. For numbers a, b ≥ 0 and any c put

    u(X) = a·1[X ∈ H] − e^ε·b·1[X ∈ L] + c
    v(Y) = b·1[Y ∈ L] − e^ε·a·1[Y ∈ H] − c − δ(a + b).

Then E u + E v = a·(P(H) − e^ε·Q(H) − δ) + b·(Q(L) − e^ε·P(L) − δ) ≤ 0, since (ε, δ) bounds both brackets by 0. Where
1 + u ≥ 0 and 1 + v ≥ 0, the wealth made of one coin, (1 + u(X))·(1 + v(Y)), is not negative, and by independence its
mean is (1 + E u)(1 + E v) ≤ e^{E u + E v} ≤ 1. So the purse is a nonnegative supermartingale that starts at 1. All
pairs of draws of one batch may share one bet: they are independent, so the mean of the product is a product of means. ∎

The bet that grows fastest against known probabilities is found by Newton's method: the mean logarithm of wealth is
concave in (a, b, c). It is the likelihood ratio of the truth to the nearest pair of laws that keeps the claim.

**Sources**: Waudby-Smith, Ramdas 2023 (betting); Turner, Ly, Grünwald 2024 (two samples); Grünwald, de Heide, Koolen
2024 (growth-optimal e-variables). The factorised form is proven above.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sordino.accounting.curve import Floats

from .verdict import CHANCE

ZONES = 3
"""Of outputs: 0 is H, more likely on the first input; 1 is neither; 2 is L, more likely on the second."""

_LEAST_FACTOR = 1e-3
"""Nobody stakes all: a factor of 0 could never be made good again."""
_STEPS = 60
_HALVINGS = 20


@dataclass(frozen=True)
class Bet:
    """What one coin becomes for an output in each zone, on the first input and on the second."""

    first: Floats
    second: Floats
    growth: float
    """The mean logarithm of wealth for one pair of draws, if the probabilities that it was made for are true."""


class Purse:
    """The auditor's wealth.

    >>> purse = Purse()
    >>> purse.refutes
    False
    """

    def __init__(self, chance: float = CHANCE) -> None:
        self.chance = chance
        self.log_wealth = 0.0
        self.refutes = False

    def settle(self, bet: Bet, first: Floats, second: Floats) -> None:
        """Pay out a bet that was made before these draws: how many came in each zone, on either input."""
        self.log_wealth += float(first @ np.log(bet.first) + second @ np.log(bet.second))
        self.refutes = self.refutes or self.log_wealth >= -math.log(self.chance)


def best_bet(first: Floats, second: Floats, epsilon: float, delta: float) -> Bet | None:
    """Return the bet against (ε, δ) that grows fastest if these are the probabilities of the zones; None if none grows.

    The returned factors are of the form that the proof above needs whatever the probabilities are: they only steer.
    """
    ratio = math.exp(epsilon)
    if first[0] <= ratio * second[0] + delta and second[2] <= ratio * first[2] + delta:
        return None  # the claim allows just this
    shape = np.array(
        [
            [1, 0, 1],
            [0, 0, 1],
            [0, -ratio, 1],
            [-ratio - delta, -delta, -1],
            [-delta, -delta, -1],
            [-delta, 1 - delta, -1],
        ]
    )
    weights = np.concatenate([first, second])
    stakes = _steepest(shape, weights)
    factors = 1 + shape @ stakes
    growth = float(weights @ np.log(factors))
    if growth <= 0 or not stakes[:2].any():
        return None
    return Bet(factors[:ZONES], factors[ZONES:], growth)


def least_refutable(draws: int, points: Iterable[tuple[float, float]], chance: float = CHANCE) -> float:
    """Return how likely, at least, an event that one input alone can cause must be for `draws` of each to refute.

    By the mean growth of the best bet of somebody who knows the event: whoever must find it needs more.
    """
    needed, best = -math.log(chance) / max(draws, 1), 1.0
    for epsilon, delta in points:
        low, high = math.log(1e-12), 0.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            share = math.exp(middle)
            bet = best_bet(np.array([share, 1 - share, 0.0]), np.array([0.0, 1.0, 0.0]), epsilon, delta)
            low, high = (middle, high) if bet is None or bet.growth < needed else (low, middle)
        best = min(best, math.exp(high))
    return best


def _steepest(shape: Floats, weights: Floats) -> Floats:
    """Return (a, b, c) with a, b ≥ 0 that maximises the mean logarithm of 1 + shape·(a, b, c), by Newton's method."""
    stakes = np.zeros(3)
    for _ in range(_STEPS):
        factors = 1 + shape @ stakes
        slope = shape.T @ (weights / factors)
        free = np.flatnonzero(np.array([stakes[0] > 0 or slope[0] > 0, stakes[1] > 0 or slope[1] > 0, True]))
        if np.abs(slope[free]).max() < 1e-12:
            break
        curvature = (shape * (weights / factors**2)[:, None]).T @ shape
        step = np.zeros(3)
        # The ridge keeps directions without curvature (a zone that never comes) from running away.
        held = curvature[np.ix_(free, free)]
        step[free] = np.linalg.solve(held + np.diag(1e-9 * np.diag(held) + 1e-15), slope[free])
        moved = _within(shape, weights, stakes, step)
        if moved is None:
            break
        stakes = moved
    return stakes


def _within(shape: Floats, weights: Floats, stakes: Floats, step: Floats) -> Floats | None:
    """Return the stakes after the longest part of `step` that keeps every factor positive and does not lose."""
    now = float(weights @ np.log(1 + shape @ stakes))
    for halvings in range(40):
        moved = stakes + step / 2**halvings
        moved[:2] = np.maximum(moved[:2], 0.0)
        factors = 1 + shape @ moved
        if factors.min() >= _LEAST_FACTOR and float(weights @ np.log(factors)) > now:
            return np.asarray(moved)
    return None
