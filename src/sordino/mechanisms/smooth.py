"""Noise scaled to the smooth sensitivity of the data at hand, on a grid that does not depend on it.

The smooth sensitivity S(x) = max_k A_k(x)·e^(−βk) (see ``local_sensitivity.py``) bounds how far the answer moves from x
and itself moves by a factor of at most e^β between neighbours. Integer noise of scale s(x) ∝ S(x) has all integers as
its support, whatever s(x) is, so nothing shows through which outputs can occur. Discrete normalisers need a proof of
their own. Let x, y be neighbours, d = |f(x) − f(y)| ≤ S(y), s = s(x), s' = s(y), λ = |ln(s/s')| ≤ β; o is an output,
k = o − f(x), and the loss is ln P_x(o)/P_y(o).

**Guarantee** (`SmoothLaplace`): (ε, δ), for s = 2S/ε and β = min(ε/2, ln(1 + ε/(2 ln(2/δ)))).
P_s(k) = tanh(1/(2s))·e^(−|k|/s). The loss is ln tanh(1/2s) − ln tanh(1/2s') + |o − f(y)|/s' − |k|/s, and
|o − f(y)|/s' ≤ |k|/s' + d/s' ≤ |k|/s' + ε/2.
(i) s < s': tanh is concave with tanh 0 = 0, so tanh(1/2s) ≤ (s'/s)·tanh(1/2s'): the loss is ≤ λ + ε/2 ≤ ε.
(ii) s ≥ s': tanh rises, so the loss is ≤ ε/2 + (|k|/s)(e^β − 1), which is ≤ ε unless |k|/s > ε/(2(e^β − 1)) ≥ ln(2/δ);
and P[|K| > s·ln(2/δ)] < δ, since P[|K| ≥ t] = 2e^(−t/s)/(1 + e^(−1/s)) ≤ 2e^(−t/s) for t ≥ 1.

**Guarantee** (`SmoothCauchy`): pure ε, for s = max(1, 2S/ε) and β = ε/2.048.
P_s(k) = w_s(k)/Z(s), w_s(k) = 1/(1 + (k/s)²), Z(s) = Σ w_s(k) = πs·coth(πs). First from f(x) to f(y) at scale s':
ln w moves by at most |d/s'| ≤ ε/2, as |d/dt ln(1 + t²)| = 2|t|/(1 + t²) ≤ 1. Then from s' to s: d ln w/d ln s =
2t²/(1 + t²) is in [0, 2) with t = k/s, and d ln Z/d ln s = 1 − 2πs/sinh(2πs) is in [0.976, 1) for s ≥ 1. So ln P moves
by at most λ·max(1, 2 − 0.976) = 1.024·λ ≤ ε/2. (The largest of 1 and 2S/ε moves by no larger a factor than S.)

Floats in S: it is computed with β·(1 − 2⁻²⁰) instead of β, and each float operation is off by a factor within
1 ± 2⁻⁴⁰ in all, so S moves by a factor of at most e^β for β ≥ 2⁻¹⁶, which is required. A_0·e⁰ is exact.
**Assumes**: the list of sensitivities has the two properties that ``local_sensitivity.py`` names.
**Source**: Nissim, Raskhodnikova, Smith 2007, Section 2 (continuous); the discrete proofs are above.
**Limits**: how long a draw takes depends, weakly, on the private scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sordino import noise
from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.arguments import probability, rational, rounded_up
from sordino.errors import ArgumentError
from sordino.noise import exact
from sordino.noise.keystream import SOURCE

from .additive import checked_grid
from .grid import INTEGERS, Grid, Steps
from .local_sensitivity import check_bound, global_steps, in_steps
from .mechanism import use_grant

_LEAST_BETA = 2.0**-16
_LEAST_SCALE = Fraction(1, 8)
"""A smaller scale is lifted to this (a constant, so the scale stays smooth): noise is then nearly always 0 anyway."""


def smooth_sensitivity(sensitivities: Steps, beta: float) -> Fraction:
    """Return max_k A_k·e^(−βk), which moves by a factor of at most e^β between neighbours, floats included."""
    decay = np.exp(-beta * (1 - 2.0**-20) * np.arange(len(sensitivities)))
    return Fraction(float(np.max(sensitivities * decay)))


@dataclass(frozen=True)
class SmoothLaplace:
    """Laplace noise of scale 2S/ε on one number, where S is its smooth sensitivity: (`epsilon`, `delta`).

    `sensitivity` is a global bound on the answer's sensitivity; with it `error` can promise something.

    >>> SmoothLaplace(1, "1e-6", sensitivity=100).event(Bound.scalar(100))
    SmoothLaplace(epsilon=Fraction(1, 1), delta=Fraction(1, 1000000))
    """

    epsilon: Fraction
    delta: Fraction
    sensitivity: Fraction
    grid: Grid = INTEGERS

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", rational("epsilon", self.epsilon, above=0, most="1e4"))
        object.__setattr__(self, "delta", probability("delta", self.delta))
        object.__setattr__(self, "sensitivity", rational("sensitivity", self.sensitivity, above=0))
        checked_grid(self.grid)
        _check_beta(self.beta)
        _ = self._worst  # a scale beyond the noise's range is refused here, by public numbers alone

    @property
    def beta(self) -> float:
        """The smoothness β, rounded down."""
        epsilon = float(self.epsilon)
        logarithm = math.log(2 * self.delta.denominator) - math.log(self.delta.numerator)
        return min(epsilon / 2, math.log1p(epsilon / (2 * logarithm))) * (1 - 2.0**-40)

    def event(self, bound: Bound) -> events.SmoothLaplace:
        """Return what one release runs; refuse a bound beyond the global sensitivity."""
        check_bound(bound, self.sensitivity)
        return events.SmoothLaplace(self.epsilon, self.delta)

    def release(self, value: Any, grant: Grant) -> Any:
        """Return the number in `value` (a `LocalAnswer`) with noise scaled to its smooth sensitivity."""
        answer, sensitivities = in_steps(value, self.grid, self._most)
        use_grant(self, grant)
        scale = max(2 * smooth_sensitivity(sensitivities, self.beta) / self.epsilon, _LEAST_SCALE)
        # Drawn by the reference: a law's table would stay in memory, and with it the private scale.
        return self.grid.from_steps(answer + exact.discrete_laplace(scale, SOURCE))

    def error(self, confidence: float = 0.95) -> float:
        """Return how far off the answer is at worst, with probability `confidence`: as if S were the global bound."""
        return rounded_up((self._worst.tail(probability("confidence", confidence)) + 1) * self.grid.step)

    @property
    def _worst(self) -> noise.DiscreteLaplace:
        return noise.DiscreteLaplace(max(2 * self._most / self.epsilon, _LEAST_SCALE))

    @property
    def _most(self) -> int:
        return global_steps("sensitivity", self.sensitivity, self.grid)


@dataclass(frozen=True)
class SmoothCauchy:
    """Cauchy-like noise of scale 2S/ε on one number, where S is its smooth sensitivity: pure `epsilon`, heavy tails.

    >>> SmoothCauchy(1, sensitivity=100).event(Bound.scalar(100))
    SmoothCauchy(epsilon=Fraction(1, 1))
    """

    epsilon: Fraction
    sensitivity: Fraction
    grid: Grid = INTEGERS

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", rational("epsilon", self.epsilon, above=0, most="1e4"))
        object.__setattr__(self, "sensitivity", rational("sensitivity", self.sensitivity, above=0))
        global_steps("sensitivity", self.sensitivity, checked_grid(self.grid))
        _check_beta(self.beta)

    @property
    def beta(self) -> float:
        """The smoothness β, rounded down."""
        return float(self.epsilon) / 2.048 * (1 - 2.0**-40)

    def event(self, bound: Bound) -> events.SmoothCauchy:
        """Return what one release runs; refuse a bound beyond the global sensitivity."""
        check_bound(bound, self.sensitivity)
        return events.SmoothCauchy(self.epsilon)

    def release(self, value: Any, grant: Grant) -> Any:
        """Return the number in `value` (a `LocalAnswer`) with noise scaled to its smooth sensitivity."""
        answer, sensitivities = in_steps(value, self.grid, self._most)
        use_grant(self, grant)
        scale = max(2 * smooth_sensitivity(sensitivities, self.beta) / self.epsilon, Fraction(1))
        return self.grid.from_steps(answer + draw_cauchy(scale))

    def error(self, confidence: float = 0.95) -> float:
        """Return how far off the answer is at worst, with probability `confidence`: as if S were the global bound.

        P[|K| > t] ≤ (2/π)·arctan(s/t) by comparing the sum with an integral, and Z(s) ≥ πs.
        """
        failure = 1 - float(probability("confidence", confidence))
        worst = float(max(2 * self._most / self.epsilon, Fraction(1)))
        reach = math.ceil(worst / math.tan(math.pi * failure / 2) * (1 + 2.0**-40))
        return rounded_up((reach + 1) * self.grid.step)

    @property
    def _most(self) -> int:
        return global_steps("sensitivity", self.sensitivity, self.grid)


def draw_cauchy(scale: Fraction) -> int:
    """Return an integer k with probability ∝ 1/(1 + (k/scale)²), exactly; needs scale ≥ 1.

    Rejection. With a = ⌈scale⌉ the magnitudes are cut into blocks [0, a), [a, 2a), [2a, 4a), …; below block j lies the
    constant 1 for j = 0 and 4^(1−j) after (enough, as a ≥ scale), so the blocks weigh a, a, a/2, a/4, …: the first one
    is proposed with probability 1/3, each further one with half of what is left. Half of the zeros (those that drew
    a minus) are rejected, for zero has one sign only.
    """
    size = math.ceil(scale)
    square = scale * scale
    while True:
        block = 0 if noise.bernoulli(Fraction(1, 3)) else 1
        while block and noise.bernoulli(Fraction(1, 2)):
            block += 1
        width = size << max(block - 1, 0)
        magnitude = (width if block else 0) + _uniform(width)
        negative = noise.bernoulli(Fraction(1, 2))
        if negative and magnitude == 0:
            continue
        if noise.bernoulli(4 ** max(block - 1, 0) * square / (square + magnitude**2)):
            return -magnitude if negative else magnitude


def _uniform(below: int) -> int:
    """Return a uniform integer below `below` = a·2^j, which may be beyond 2^63: its low bits are drawn singly."""
    bits = max(below.bit_length() - 62, 0)
    head = noise.uniform(below >> bits)
    for _ in range(bits):
        head = 2 * head + noise.bernoulli(Fraction(1, 2))
    return head


def _check_beta(beta: float) -> None:
    if beta < _LEAST_BETA:
        raise ArgumentError("epsilon is too small here: the smoothness must be at least 2^-16", "SRD-A002")
