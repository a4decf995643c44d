"""Interval arithmetic on exact fractions, with ends that may be unknown: how far a value can go.

An end that is ±∞ is not known. Whatever goes beyond ±2^200, where ``lowering`` may give NULL, counts as unknown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from sordino.data.kinds import Range

End = Fraction | float  # a float only for an infinity

_FARTHEST = 2**200
_LARGEST_EXPONENT = Fraction(138)  # beyond it the exponential leaves ±2^200
_LARGEST_POWER = 16
_HALF_STEP = Fraction(1, 2**21)


@dataclass(frozen=True)
class Span:
    """All values between two ends."""

    low: End = -math.inf
    high: End = math.inf

    @classmethod
    def of(cls, known: Range | None) -> Span:
        """Return the span of a declared range, or of nothing known."""
        return ANY if known is None else cls(known.low, known.high)

    @property
    def range(self) -> Range | None:
        """The range, if both ends are known."""
        if isinstance(self.low, Fraction) and isinstance(self.high, Fraction) and self.reach <= _FARTHEST:
            return Range(self.low, self.high)
        return None

    @property
    def reach(self) -> End:
        """The largest distance from zero."""
        return max(-self.low, self.high)

    @property
    def has_zero(self) -> bool:
        """Whether zero lies in it."""
        return self.low <= 0 <= self.high

    def mapped(self, function: Callable[[Fraction], int]) -> Span:
        """Return the image under a function that never decreases and is unbounded where the span is."""
        return Span(
            Fraction(function(self.low)) if isinstance(self.low, Fraction) else self.low,
            Fraction(function(self.high)) if isinstance(self.high, Fraction) else self.high,
        )


ANY = Span()


def point(value: Fraction) -> Span:
    """Return the span of one number."""
    return Span(value, value)


def union(spans: Iterable[Span]) -> Span:
    """Return the least span that holds them all."""
    listed = list(spans)
    return Span(min(span.low for span in listed), max(span.high for span in listed))


def add(a: Span, b: Span) -> Span:
    """a + b."""
    return Span(a.low + b.low, a.high + b.high)


def negate(a: Span) -> Span:
    """−a."""
    return Span(-a.high, -a.low)


def subtract(a: Span, b: Span) -> Span:
    """a − b."""
    return add(a, negate(b))


def multiply(a: Span, b: Span) -> Span:
    """a·b; nothing times an unknown end is nothing."""
    corners = [x * y if x and y else Fraction(0) for x, y in product((a.low, a.high), (b.low, b.high))]
    return Span(min(corners), max(corners))


def divide(a: Span, b: Span) -> Span:
    """a / b, if b cannot be zero."""
    if b.has_zero:
        return ANY
    return multiply(a, Span(_inverse(b.high), _inverse(b.low)))


def _inverse(end: End) -> Fraction:
    return 1 / end if isinstance(end, Fraction) else Fraction(0)


def modulo(a: Span, b: Span) -> Span:
    """The remainder, which keeps the sign of a and is smaller than b; a is rounded to whole steps of 2^-20 before."""
    nearly = Span(a.low - _HALF_STEP, a.high + _HALF_STEP)
    return Span(
        max(nearly.low, -b.reach) if nearly.low < 0 else Fraction(0),
        min(nearly.high, b.reach) if nearly.high > 0 else Fraction(0),
    )


def absolute(a: Span) -> Span:
    """|a|."""
    return Span(Fraction(0) if a.has_zero else max(a.low, -a.high), a.reach)


def power(a: Span, b: Span) -> Span:
    """a to the power of b, for a constant whole b from 0 to 16."""
    if b.low != b.high or b.low not in range(_LARGEST_POWER + 1):
        return ANY
    exponent = int(b.low)
    base = absolute(a) if exponent % 2 == 0 else a
    return Span(base.low**exponent, base.high**exponent)


def square_root(a: Span) -> Span:
    """√a, rounded outwards; what is below zero has none."""
    return _widened(math.sqrt, Span(max(a.low, Fraction(0)), max(a.high, Fraction(0))))


def exponential(a: Span) -> Span:
    """The exponential, rounded outwards."""
    low, high = (min(max(end, -_LARGEST_EXPONENT), _LARGEST_EXPONENT) for end in (a.low, a.high))
    grown = _widened(math.exp, Span(low, high))
    return Span(
        grown.low if a.low >= -_LARGEST_EXPONENT else Fraction(0),
        grown.high if a.high <= _LARGEST_EXPONENT else math.inf,
    )


def logarithm(a: Span) -> Span:
    """The natural logarithm, rounded outwards; what is not positive has none."""
    if a.high <= 0:
        return ANY
    whole = _widened(math.log, Span(a.low if a.low > 0 else Fraction(1), a.high))
    return whole if a.low > 0 else Span(-math.inf, whole.high)


_WIDENING = Fraction(1, 2**48)


def _widened(function: Callable[[float], float], a: Span) -> Span:
    """Return the image under a function that never decreases, with room for what floats lose."""
    low, high = (Fraction(function(float(end))) if isinstance(end, Fraction) else end for end in (a.low, a.high))
    return Span(
        low - abs(low) * _WIDENING if isinstance(low, Fraction) else low,
        high + abs(high) * _WIDENING if isinstance(high, Fraction) else high,
    )


def round_half_up(value: Fraction) -> int:
    """⌊x + ½⌋."""
    return math.floor(value + Fraction(1, 2))


def sign(a: Span) -> Span:
    """−1, 0 or 1."""
    return Span(*(Fraction((end > 0) - (end < 0)) for end in (a.low, a.high)))
