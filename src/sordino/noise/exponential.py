"""Laws whose weight falls by the same factor from each integer to the next: geometric and discrete Laplace.

ln P is linear (Geometric) or linear on both sides of its peak (DiscreteLaplace), so both are log-concave.
**Source**: Ghosh, Roughgarden, Sundararajan 2009 (the geometric mechanism); Canonne, Kamath, Steinke 2020.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sordino.arguments import Number

from .enclosure import Enclosure, exp_negative, multiply
from .law import Law, beyond, scale_within

_LARGE = 512  # scales from here on have tails that floats can tell
_SLACK = 2.0**-40


@dataclass(frozen=True, init=False)
class _Exponential(Law):
    scale: Fraction
    fineness: ClassVar[int] = 5

    def __init__(self, scale: Number) -> None:
        object.__setattr__(self, "scale", scale_within("scale", scale, 1))

    @property
    def mode(self) -> int:
        """Zero."""
        return 0

    @property
    def spread(self) -> int:
        """The whole part of the scale."""
        return int(self.scale)

    def ratio(self, x: int, origin: int, bits: int) -> Enclosure:
        """Return an enclosure of e^-(|x|-|origin|)/scale."""
        return exp_negative((abs(x) - abs(origin)) * self.scale.denominator, self.scale.numerator, bits)

    def heights(self, direction: int, bits: int) -> Iterator[Enclosure]:
        """Yield the powers of e^(-width/scale): one exponential, then products."""
        factor = self.ratio(direction << self.width_bits, 0, bits)
        height = 1 << bits, 1 << bits
        while True:
            yield height
            height = multiply(height, factor, bits)


class DiscreteLaplace(_Exponential):
    """P[k] ∝ e^(-|k|/scale), for scales from 1/1000 to 2**50.

    >>> noise = DiscreteLaplace(10)
    >>> noise.draw(3).shape
    (3,)
    """

    symmetric: ClassVar[bool] = True

    @property
    def variance(self) -> float:
        """The variance, 1/(2 sinh²(1/(2·scale))): a little below 2·scale²."""
        half = 0.5 / float(self.scale)
        return 0.5 / math.sinh(half) ** 2 if half < 300 else 0.0

    def tail(self, confidence: Number) -> int:
        """Return t with P[|X| ≤ t] ≥ `confidence`: the smallest such t, or one that is larger by 0.1 % or less.

        P[|X| > t] = 2r^(t+1)/(1 + r), r = e^(-1/scale). Where t is large it is solved for in floats, rounded up.
        """
        if self.scale < _LARGE:
            return super().tail(confidence)
        rest, scale = beyond(confidence), float(self.scale)
        inverse = math.log(2) + math.log(rest.denominator) - math.log(rest.numerator)
        logarithm = inverse - math.log1p(math.exp(-1 / scale))
        return max(0, math.ceil(scale * (logarithm + _SLACK)) - 1)


class Geometric(_Exponential):
    """P[k] ∝ e^(-k/scale) for k ≥ 0, for scales from 1/1000 to 2**50."""

    @property
    def support(self) -> tuple[int | None, int | None]:
        """From zero on."""
        return 0, None

    @property
    def variance(self) -> float:
        """The variance, 1/(4 sinh²(1/(2·scale)))."""
        half = 0.5 / float(self.scale)
        return 0.25 / math.sinh(half) ** 2 if half < 300 else 0.0
