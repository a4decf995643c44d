"""Numbers of rows as whole steps, and as places in a histogram, in the engine's own arithmetic.

**Guarantee**: for every row, whatever it holds, a step is NULL or a whole number within ±`steps`, a bucket is NULL or
within [0, `buckets`), and nothing raises. NULL says that there is no number; in sums it counts as nothing, which is
what a step of zero (the middle of the range) counts as.

*Integers* with whole bounds are computed in integers where the planner's steps allow it, and are exact.
*Reals* are clipped first, so what follows is bounded: with the range's ends and its middle as floats l ≤ m ≤ h, clipped
x has |x − m| ≤ h − l, and the product with the factor is about ±`steps`. The half that is added before rounding down is
a margin that float errors would have to cross at the ends of the range. They cannot if (`_is_safe`) the ends come out
within ¼ of ±`steps` in exact arithmetic and `steps` ≤ 2^48, since then three roundings move them by less than ⅛; values
in between cannot pass the ends, as rounding is monotone. In all other cases the whole number is clipped once more.
*PostgreSQL* raises when a product underflows, which 5e-324 times a factor below one does. Below one, values are shifted
away from zero before the product and the whole number is shifted back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import ibis

from sordino.data.kinds import Kind, Range
from sordino.query.model.task import Histogram, Measure

from .values import real

_LARGEST = Fraction(2) ** 1000
_MOST_SAFE_STEPS = 2**48
_BEYOND_WHOLE = 2**63


def step(measure: Measure, value: Any) -> Any:
    """Return the lowered value in steps, as a 64-bit integer; NULL where there is no number."""
    kind = measure.expression.kind
    counted = _whole_step(measure, value) if _is_whole(measure) else _float_step(measure, value)
    return is_number(value, kind).ifelse(counted, ibis.null("int64"))


def is_number(value: Any, kind: Kind) -> Any:
    """Return whether there is a number. NaN is not below infinity: neither where it is above all, nor in IEEE 754."""
    return value <= real(math.inf) if kind is Kind.REAL else value.notnull()


def bucket(histogram: Histogram, value: Any) -> Any:
    """Return the bucket of a lowered number, as a 64-bit integer; NULL where there is none."""
    kind = histogram.expression.kind
    number = value.cast("float64") if kind is not Kind.REAL else value
    if histogram.edges is not None:
        inside = is_number(value, kind).ifelse(number, ibis.null("float64"))
        return _between_edges(histogram.edges, inside)
    assert histogram.range is not None  # noqa: S101  (neither edges nor categories)
    scale = _Scale.of(histogram.range, Fraction(0), Fraction(histogram.buckets))
    counted = _clip(scale.cells(number, shift=1), 0, histogram.buckets - 1)
    return is_number(value, kind).ifelse(counted, ibis.null("int64"))


def _between_edges(edges: tuple[Fraction, ...], number: Any) -> Any:
    """Return i where edge i ≤ number < edge i+1; the last bucket holds its upper edge as well."""
    ends = [real(_nearest(edge)) for edge in edges]
    inner = [(number < end, whole(place)) for place, end in enumerate(ends[1:-1])]
    last = whole(len(edges) - 2)
    found = ibis.cases(*inner, else_=last) if inner else last
    return ((number >= ends[0]) & (number <= ends[-1])).ifelse(found, ibis.null("int64"))


@lru_cache(maxsize=1024)
def whole(value: int) -> Any:
    """Return a constant of 64 bits. A bare number is one of 32 bits to the engines, and so are products with it."""
    return ibis.literal(str(value)).cast("int64")


def _clip(value: Any, low: int, high: int) -> Any:
    return ibis.least(ibis.greatest(value, whole(low)), whole(high))


def _is_whole(measure: Measure) -> bool:
    """Whether steps are a whole number of times x's distance from the low end, less `steps`; all of it in 64 bits."""
    bounds = measure.range
    if measure.expression.kind is not Kind.INTEGER or not bounds.half:
        return False
    pieces = (measure.steps / bounds.half, bounds.low, bounds.high)
    fits = bounds.reach < _BEYOND_WHOLE and 2 * measure.steps < _BEYOND_WHOLE
    return fits and all(piece.denominator == 1 for piece in pieces)


def _whole_step(measure: Measure, value: Any) -> Any:
    low, high = int(measure.range.low), int(measure.range.high)
    factor = int(measure.steps / measure.range.half)
    return (_clip(value, low, high) - whole(low)) * whole(factor) - whole(measure.steps)


def _float_step(measure: Measure, value: Any) -> Any:
    number = value.cast("float64") if measure.expression.kind is not Kind.REAL else value
    scale = _Scale.of(measure.range, Fraction(1, 2), Fraction(2 * measure.steps), centred=True)
    steps = scale.cells(number, shift=2 * measure.steps)
    return steps if scale.is_safe(measure.steps) else _clip(steps, -measure.steps, measure.steps)


@dataclass(frozen=True)
class _Scale:
    """How floats become whole numbers: ⌊(clip(x) − origin)·factor + extra⌋. A factor of zero: floats see no width."""

    low: float
    high: float
    origin: float
    factor: float
    extra: float

    @classmethod
    def of(cls, bounds: Range, extra: Fraction, cells: Fraction, *, centred: bool = False) -> _Scale:
        """Return the scale on which the range is `cells` wide, starting from its low end or from its middle."""
        low, high = _nearest(bounds.low), _nearest(bounds.high)
        width = Fraction(high) - Fraction(low)
        factor = cells / width if width else Fraction(0)
        origin = _nearest((Fraction(low) + Fraction(high)) / 2) if centred else low
        return cls(low, high, origin, float(factor) if factor < _LARGEST else 0.0, float(extra))

    def cells(self, number: Any, shift: int) -> Any:
        """Return the whole number; the shift, where one is needed, makes every difference positive."""
        if not self.factor:
            return whole(0)
        clipped = ibis.least(ibis.greatest(number, real(self.low)), real(self.high))
        if self.factor >= 1:
            return ((clipped - real(self.origin)) * real(self.factor) + real(self.extra)).floor()
        away = _nearest(Fraction(self.origin) - shift / Fraction(self.factor))
        return ((clipped - real(away)) * real(self.factor) + real(self.extra)).floor() - whole(shift)

    def is_safe(self, steps: int) -> bool:
        """Whether no float error can carry a whole number beyond ±`steps` (see the module's text)."""
        if self.factor < 1:
            return False
        ends = [(Fraction(end) - Fraction(self.origin)) * Fraction(self.factor) for end in (self.low, self.high)]
        return steps <= _MOST_SAFE_STEPS and all(abs(abs(end) - steps) <= Fraction(1, 4) for end in ends)


def _nearest(value: Fraction) -> float:
    """Return the nearest float; what is beyond 2^1000 is taken for that."""
    return float(max(min(value, _LARGEST), -_LARGEST))
