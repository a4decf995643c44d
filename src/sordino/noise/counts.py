"""Laws of counts, which distributed noise is made of: Poisson and binomial.

**Log-concavity.** Poisson: P[k+1]/P[k] = rate/(k+1) falls with k. Binomial: P[k+1]/P[k] = (n-k)p/((k+1)(1-p)) falls.
**Source** for their use as noise: Agarwal, Suresh, Yu, Kumar, McMahan 2018 (binomial); see `skellam` for Poisson.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from sordino.arguments import Number, rational, whole

from .enclosure import Enclosure, context, digits_for, exp_of, ln_factorial
from .law import Law

LARGEST_COUNT = 2**60
_EXTRA_DIGITS = 24  # a count times the logarithm of a parameter stays below 10^22
_SHORT_STEPS = 6  # up to 2**6 integers from node to node, products of ratios are cheaper than logarithms


class _Counts(Law):
    """A law whose successive ratios are rational."""

    @abstractmethod
    def _step(self, k: int) -> tuple[int, int]:
        """Return P[k+1]/P[k] as numerator and denominator."""

    def heights(self, direction: int, bits: int) -> Iterator[Enclosure]:
        """Yield the nodes' heights; where they are close together, as products of successive ratios."""
        short = self.width_bits <= _SHORT_STEPS
        return self._products(direction, bits) if short else super().heights(direction, bits)

    def _products(self, direction: int, bits: int) -> Iterator[Enclosure]:
        width, here = 1 << self.width_bits, self.mode
        low = high = 1 << bits
        while True:
            yield low, high
            for _ in range(width):
                numerator, denominator = self._step(here) if direction > 0 else self._step(here - 1)[::-1]
                if denominator == 0 or numerator == 0:
                    yield 0, 0
                    return
                low, high = low * numerator // denominator, -(-high * numerator // denominator)
                here += direction


@dataclass(frozen=True, init=False)
class Poisson(_Counts):
    """P[k] ∝ rate^k/k! for k ≥ 0, for rates up to 2**60."""

    rate: Fraction

    def __init__(self, rate: Number) -> None:
        object.__setattr__(self, "rate", rational("rate", rate, above=0, most=LARGEST_COUNT))

    @property
    def mode(self) -> int:
        """The whole part of the rate."""
        return int(self.rate)

    @property
    def spread(self) -> int:
        """The whole part of the standard deviation."""
        return math.isqrt(int(self.rate))

    @property
    def support(self) -> tuple[int | None, int | None]:
        """From zero on."""
        return 0, None

    @property
    def variance(self) -> float:
        """The rate."""
        return float(self.rate)

    def _step(self, k: int) -> tuple[int, int]:
        return self.rate.numerator, self.rate.denominator * (k + 1)

    def ratio(self, x: int, origin: int, bits: int) -> Enclosure:
        """Return an enclosure of rate^(x-origin)·origin!/x!."""
        digits = digits_for(bits) + 1
        local = context(digits + _EXTRA_DIGITS)
        power = local.multiply(_ln(self.rate, digits + _EXTRA_DIGITS), Decimal(x - origin))
        factorials = local.subtract(ln_factorial(origin, digits), ln_factorial(x, digits))
        return exp_of(local.add(power, factorials), bits)


@dataclass(frozen=True, init=False)
class Binomial(_Counts):
    """The number of heads in `trials` tosses of a coin that shows heads with `probability`; up to 2**60 trials."""

    trials: int
    probability: Fraction

    def __init__(self, trials: int, probability: Number) -> None:
        object.__setattr__(self, "trials", whole("trials", trials, least=0, most=LARGEST_COUNT))
        object.__setattr__(self, "probability", rational("probability", probability, least=0, most=1))

    @property
    def mode(self) -> int:
        """The whole part of (trials + 1)·probability, at most all trials."""
        return min(int((self.trials + 1) * self.probability), self.trials)

    @property
    def spread(self) -> int:
        """The whole part of the standard deviation."""
        return math.isqrt(int(self.trials * self.probability * (1 - self.probability)))

    @property
    def support(self) -> tuple[int | None, int | None]:
        """From no heads to all heads, where the coin has two sides."""
        return (0 if self.probability < 1 else self.trials), (self.trials if self.probability else 0)

    @property
    def variance(self) -> float:
        """trials·probability·(1 - probability)."""
        return float(self.trials * self.probability * (1 - self.probability))

    def _step(self, k: int) -> tuple[int, int]:
        heads, whole_coin = self.probability.numerator, self.probability.denominator
        return (self.trials - k) * heads, (k + 1) * (whole_coin - heads)

    def ratio(self, x: int, origin: int, bits: int) -> Enclosure:
        """Return an enclosure of the ratio of binomial coefficients times odds^(x-origin)."""
        digits = digits_for(bits) + 2
        local = context(digits + _EXTRA_DIGITS)
        odds = self.probability / (1 - self.probability)
        logarithm = local.multiply(_ln(odds, digits + _EXTRA_DIGITS), Decimal(x - origin))
        for k, sign in ((origin, 1), (self.trials - origin, 1), (x, -1), (self.trials - x, -1)):
            logarithm = local.add(logarithm, local.multiply(Decimal(sign), ln_factorial(k, digits)))
        return exp_of(logarithm, bits)


@lru_cache(maxsize=256)
def _ln(value: Fraction, digits: int) -> Decimal:
    local = context(digits + 4)
    return local.subtract(local.ln(Decimal(value.numerator)), local.ln(Decimal(value.denominator)))
