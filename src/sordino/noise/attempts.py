"""How often something random is tried: the truncated negative binomial law, of which the winner hides the number.

With η = `shape` and γ = `stopping`, P[k] ∝ (1−γ)^k · Π_{0 ≤ l < k} (l+η)/(l+1) for k ≥ 1. η = 1 is the geometric law
(each try is the last with probability γ), η = 0 the logarithmic one, where the constant factor η is left out.

**Guarantee**: exactly this law, though its constant is irrational for most parameters.
**Proof**: propose the geometric k, that is walk on with probability 1−γ from each try to the next; and at the l-th step
of the walk, l = 1, …, k−1, toss a coin of (l+η)/(l+1), at most 1 as η ≤ 1, and begin anew if it fails. What comes
through has a weight of γ(1−γ)^{k−1} · Π_{1 ≤ l < k} (l+η)/(l+1), the law above up to a factor. All coins are rational,
and a try comes through with probability γ at least.
**Source**: Papernot, Steinke 2022, Definition 1 (the law); von Neumann 1951 (rejection).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import Number, rational

from .coins import bernoulli
from .law import Drawable, beyond

_ALLOWANCE = 1e-12
"""More than what floats round in a sum of probabilities."""


@dataclass(frozen=True, init=False)
class TruncatedNegativeBinomial(Drawable):
    """P[k] ∝ (1−stopping)^k · Π (l+shape)/(l+1) over 0 ≤ l < k, for k ≥ 1; −1 < shape ≤ 1, stopping from 1e-6 up."""

    stopping: Fraction
    shape: Fraction

    def __init__(self, stopping: Number, shape: Number = 1) -> None:
        object.__setattr__(self, "stopping", rational("stopping", stopping, least="1e-6", most="0.999999"))
        object.__setattr__(self, "shape", rational("shape", shape, least="-0.999", most=1))

    @property
    def mean(self) -> float:
        """The mean of one draw."""
        stopping, shape = float(self.stopping), float(self.shape)
        if not shape:
            return (1 - stopping) / (stopping * -math.log(stopping))
        return shape * (1 - stopping) / (stopping * -math.expm1(shape * math.log(stopping)))

    @property
    def variance(self) -> float:
        """The variance of one draw: E[K(K−1)] is (1+η)(1−γ)/γ times the mean."""
        odds = float((1 - self.stopping) / self.stopping)
        return self.mean * ((1 + float(self.shape)) * odds + 1 - self.mean)

    def tail(self, confidence: Number) -> int:
        """Return the smallest t with P[K ≤ t] ≥ `confidence`, or a safe bound where floats cannot tell.

        Probabilities are added up from P[1] = E[K]·γ^(1+η); each is at most 1−γ times the one before.
        """
        outside = float(beyond(confidence))
        stopping, shape = float(self.stopping), float(self.shape)
        mass = self.mean * stopping ** (shape + 1) * (1 - _ALLOWANCE)
        left, k = 1.0 - mass, 1
        while min(left, mass * (1 - stopping) / stopping) > outside:
            mass *= (1 - stopping) * (k + shape) / (k + 1)
            left -= mass
            k += 1
        return k

    def _one(self) -> int:
        while True:
            k = 1
            while not bernoulli(self.stopping):
                if not bernoulli((k + self.shape) / (k + 1)):
                    break
                k += 1
            else:
                return k

    def _many(self, size: int) -> NDArray[np.int64]:
        found = np.zeros(size, dtype=np.int64)
        while len(walking := np.flatnonzero(found == 0)):
            k = 1
            while len(walking):
                ends = bernoulli(self.stopping, len(walking))
                found[walking[ends]] = k
                walking = walking[~ends]
                walking = walking[bernoulli((k + self.shape) / (k + 1), len(walking))]
                k += 1
        return found
