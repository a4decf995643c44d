"""The Skellam law, the difference of two Poisson counts: what is left of it once shares of noise are added up.

**Source**: Agarwal, Kairouz, Liu, *The Skellam mechanism for differentially private federated learning* (2021).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from sordino.arguments import Number, rational

from .counts import LARGEST_COUNT, Poisson
from .law import Drawable, beyond

_SUMMED_VARIANCE = 1e6  # up to here tails are summed term by term
_ALLOWANCE = 1e-9


@dataclass(frozen=True, init=False)
class Skellam(Drawable):
    """The difference of two independent Poisson counts of rate variance/2 each, for variances up to 2**61."""

    sigma_squared: Fraction

    def __init__(self, variance: Number) -> None:
        object.__setattr__(self, "sigma_squared", rational("variance", variance, above=0, most=2 * LARGEST_COUNT))

    @property
    def variance(self) -> float:
        """The parameter."""
        return float(self.sigma_squared)

    @cached_property
    def _count(self) -> Poisson:
        return Poisson(self.sigma_squared / 2)

    def _one(self) -> int:
        return self._count.draw() - self._count.draw()

    def _many(self, size: int) -> NDArray[np.int64]:
        return self._count.draw(size) - self._count.draw(size)

    def tail(self, confidence: Number) -> int:
        """Return t with P[|X| ≤ t] ≥ `confidence`: the smallest such t, or a safe bound where the variance is large."""
        allowed = float(beyond(confidence)) * (1 - _ALLOWANCE)
        high = 1
        while self._outside(high) > allowed:
            high *= 2
        low = -1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._outside(middle) <= allowed else (middle, high)
        return high

    def _outside(self, t: int) -> float:
        """Return P[|X| > t], or an upper bound for it.

        P[k] = e^-v·I_k(v), summed outwards for a small variance v. Otherwise the lesser of Chernoff's bound,
        2·exp(v·(cosh s - 1) - s·(t+1)) at s = asinh((t+1)/v), and twice the normal tail plus the Berry–Esseen distance
        0.3031/√v for Poisson random sums (Shevtsova 2014).
        """
        variance, nearest = self.variance, t + 1
        if variance <= _SUMMED_VARIANCE:
            reach = int(60 * math.sqrt(variance)) + 200
            return 2 * float(scipy.special.ive(np.arange(nearest, nearest + reach, dtype=np.float64), variance).sum())
        slope = math.asinh(nearest / variance)
        chernoff = 2 * math.exp(2 * variance * math.sinh(slope / 2) ** 2 - slope * nearest)
        normal = math.erfc((nearest - 0.5) / math.sqrt(2 * variance)) + 2 * 0.3031 / math.sqrt(variance)
        return min(chernoff, normal, 1.0)
