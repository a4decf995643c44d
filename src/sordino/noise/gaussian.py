"""Two normal laws on the integers: the discrete Gaussian, and the normal law rounded to the nearest integer.

**DiscreteGaussian**: ln P is -k²/2σ² plus a constant, concave. **RoundedGaussian**: P[k] is the value at k of the
normal density convolved with the indicator of [-½, ½]; both are log-concave and so is their convolution (Prékopa
1971).
**Source**: Canonne, Kamath, Steinke, *The discrete Gaussian for differential privacy* (2020).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from sordino.arguments import Number

from .enclosure import (
    Enclosure,
    context,
    digits_for,
    exp_negative,
    gaussian_cell,
    gaussian_from_zero,
    multiply,
    widened,
)
from .law import Law, beyond, scale_within
from .partition import Floats

_LARGE = 512  # deviations from here on have tails that floats can tell
_SLACK = 2.0**-40
_WIDE = 64  # variances from here on use the series around the middle of a cell
_SMOOTH = 4.0  # from this σ² on, sums over the integers equal integrals to float64 precision (error below e^(-2π²σ²))


@dataclass(frozen=True, init=False)
class _Normal(Law):
    sigma_squared: Fraction
    symmetric: ClassVar[bool] = True

    def __init__(self, variance: Number) -> None:
        object.__setattr__(self, "sigma_squared", scale_within("variance", variance, 2))

    @property
    def mode(self) -> int:
        """Zero."""
        return 0

    @property
    def spread(self) -> int:
        """The whole part of σ."""
        return math.isqrt(int(self.sigma_squared))

    def _density_exponent(self, x: int, origin: int) -> tuple[int, int]:
        """Return (x² - origin²)/2σ² as numerator and denominator."""
        return (x * x - origin * origin) * self.sigma_squared.denominator, 2 * self.sigma_squared.numerator

    def falls(self, node: NDArray[np.int64], beyond: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return how far the logarithm of the density falls, E = beyond·(2·node + beyond)/2σ², twice.

        Whole numbers below 2**63 are off by 2**-53 of themselves as floats, and so is each of three products.
        """
        fall: Floats = (2 * node + beyond).astype(np.float64)
        fall *= beyond
        fall *= float(1 / (2 * self.sigma_squared))
        return fall, fall

    def _density_heights(self, bits: int) -> Iterator[Enclosure]:
        """Yield e^-(i·width)²/2σ², i = 0, 1, …: powers a^(i²) of one exponential, a^(2i+1) from each to the next."""
        step = exp_negative(*self._density_exponent(1 << self.width_bits, 0), bits)
        twice = multiply(step, step, bits)
        height = 1 << bits, 1 << bits
        while True:
            yield height
            height, step = multiply(height, step, bits), multiply(step, twice, bits)


class DiscreteGaussian(_Normal):
    """P[k] ∝ e^(-k²/(2·variance)), for variances from 1/1000² to 2**100."""

    @property
    def variance(self) -> float:
        """The variance of the law: the parameter, less a little where that is small."""
        parameter = float(self.sigma_squared)
        if parameter >= _SMOOTH:
            return parameter
        weights = [math.exp(-k * k / (2 * parameter)) for k in range(1, 40)]
        return 2 * sum(k * k * weight for k, weight in enumerate(weights, 1)) / (1 + 2 * sum(weights))

    def ratio(self, x: int, origin: int, bits: int) -> Enclosure:
        """Return an enclosure of e^-(x²-origin²)/2σ²."""
        return exp_negative(*self._density_exponent(x, origin), bits)

    def heights(self, direction: int, bits: int) -> Iterator[Enclosure]:  # noqa: ARG002 (the same on both sides)
        """Yield e^-(i·width)²/2σ², i = 0, 1, …"""
        return self._density_heights(bits)


class RoundedGaussian(_Normal):
    """A draw of N(0, variance), rounded to the nearest integer; exactly, so it is post-processing of that normal law.

    P[k] = Φ((k+½)/σ) - Φ((k-½)/σ), for variances from 1/1000² to 2**100.
    """

    @property
    def variance(self) -> float:
        """The variance of the rounded law: that of the normal law plus 1/12, less a little where that is small."""
        parameter = float(self.sigma_squared)
        if parameter >= _SMOOTH:
            return parameter + 1 / 12
        unit = math.sqrt(2 * parameter)
        return sum((2 * k - 1) * math.erfc((k - 0.5) / unit) for k in range(1, 40))

    def tail(self, confidence: Number) -> int:
        """Return t with P[|X| ≤ t] ≥ `confidence`: the smallest such t, or one that is larger by 0.1 % or less.

        |X| > t if and only if the normal variable is t + ½ or more away from 0. Where t is large that is solved for in
        floats, rounded up.
        """
        if self.sigma_squared < _LARGE**2:
            return super().tail(confidence)
        quantile = -float(scipy.special.ndtri(float(beyond(confidence)) / 2)) + _SLACK
        return max(0, math.ceil(math.sqrt(self.sigma_squared) * quantile * (1 + _SLACK) - 0.5))

    def ratio(self, x: int, origin: int, bits: int) -> Enclosure:
        """Return an enclosure of P[x]/P[origin]."""
        if self.sigma_squared < _WIDE:
            return self._narrow(x, origin, bits)
        numerator, denominator = self._density_exponent(x, origin)
        if numerator > 2 * denominator * bits:
            return 0, 1  # with E = numerator/denominator the ratio is at most e^(-E·(1 - 1/768)): nothing of it shows
        digits = digits_for(bits)
        local = context(digits)
        density = local.exp(local.divide(Decimal(-numerator), Decimal(denominator)))
        cells = [gaussian_cell(k, self.sigma_squared, digits) for k in (x, origin)]
        return widened(local.multiply(density, local.divide(*cells)), bits)

    def falls(self, node: NDArray[np.int64], beyond: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return bounds around how far the density falls: by E at most, and by E·(1 - 1/4σ²) at least.

        P[k] is the density at k times ∫ cosh(ku/σ²)·e^(-u²/2σ²) du over |u| ≤ ½, which grows with |k|: at most E. And
        ln cosh(u√t/σ²) has a slope of at most u²/2σ⁴ ≤ 1/8σ⁴ in t = k², as tanh y ≤ y; from node to x it grows by at
        most E/4σ², for every u, and so does the integral's logarithm.
        """
        _, most = super().falls(node, beyond)
        return most * max(0.0, 1 - float(1 / (4 * self.sigma_squared))), most

    def heights(self, direction: int, bits: int) -> Iterator[Enclosure]:
        """Yield the nodes' heights: those of the density, times what a cell's mass differs from that."""
        return super().heights(direction, bits) if self.sigma_squared < _WIDE else self._wide_heights(bits)

    def _wide_heights(self, bits: int) -> Iterator[Enclosure]:
        digits = digits_for(bits)
        local = context(digits)
        middle = gaussian_cell(0, self.sigma_squared, digits)
        for block, density in enumerate(self._density_heights(bits)):
            cell = gaussian_cell(block << self.width_bits, self.sigma_squared, digits)
            yield multiply(density, widened(local.divide(cell, middle), bits), bits)

    def _narrow(self, x: int, origin: int, bits: int) -> Enclosure:
        """Return the same from the masses themselves, with as many more digits as P[origin] is small."""
        edge = Fraction(2 * abs(origin) + 1, 2) if origin else 0
        digits = digits_for(bits) + 3 + int(edge * edge / self.sigma_squared * Fraction(22, 100))
        local = context(digits)
        return widened(local.divide(self._mass(x, digits), self._mass(origin, digits)), bits)

    def _mass(self, k: int, digits: int) -> Decimal:
        """Return P[k]·√(2π), off by at most 2·10^-digits."""
        k = abs(k)
        right, left = (
            gaussian_from_zero(Fraction(edge * edge, 4) / self.sigma_squared, digits) for edge in (2 * k + 1, 2 * k - 1)
        )
        local = context(digits + 2)
        return local.subtract(right, left) if k else local.add(right, left)
