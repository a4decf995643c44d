"""Aggregates that need a histogram of values in each group: quantiles, minimum, maximum, the most frequent, histograms.

A quantile is released as three choices: one for the value itself, and one for each end of its interval, among the rungs
around that value (``rungs.py``). Ends aim so many ranks below and above that the true quantile lies between them with
the confidence that was planned for, by the exponential mechanism's tail bound; a guard beyond each end of the range
makes that hold for ranks beyond the data as well. They are releases of their own, so the interval looks at nothing that
was not paid for. The least and the largest value are looked for a few ranks inside (``grouped_extreme.py``); the inner
end of their interval aims around the extreme itself, so the interval holds it, and the outer end is the bound, since
nothing closer can be said of what one person may hold. Who wants no interval spends all of it on the value. A quantile
between the extremes is drawn by permute-and-flip where accounts count pure ε.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from sordino.accounting.bound import Bound
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column
from sordino.errors import QuestionError
from sordino.mechanisms.flipped_quantile import MOST_BUCKETS as MOST_FLIPPED
from sordino.mechanisms.flipped_quantile import FlippedQuantile
from sordino.mechanisms.grouped_choice import GroupedQuantile, GroupedTop
from sordino.mechanisms.grouped_extreme import GroupedExtreme
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import Expression
from sordino.query.model.question import Aggregate, Question
from sordino.query.model.ranges import derive
from sordino.query.model.task import Histogram

from . import rungs
from .plan import Choice
from .spend import cut, root_rounded_down

CHOICES = frozenset({"quantile", "minimum", "maximum", "top", "histogram"})
CONFIDENCE = Fraction(95, 100)
"""What the ends of a quantile's interval are planned for."""

_END_SHARE = 0.15
"""Of a quantile's part of the price, for each end of its interval; the rest is for the value."""
SIDES = {Fraction(0): (1,), Fraction(1): (-1,)}
"""Which ends are bought for extremes: one person can make the other one as large as the bounds allow."""
_REAL_BUCKETS = 2**14
_MOST_BUCKETS = 2**20
_LEVELS = {"minimum": Fraction(0), "maximum": Fraction(1)}
_TYPICAL_RANKS = 3.0


@dataclass(frozen=True)
class ChoiceNeed:
    """A histogram that an aggregate needs, and what is chosen from it: a level, the best `count`, or (neither) all."""

    aggregate: int
    histogram: Histogram
    level: Fraction | None = None
    count: int | None = None

    @property
    def additive(self) -> bool:
        """Whether every bin gets noise, rather than one being chosen."""
        return self.level is None and self.count is None

    def squared_error(self, bounding: Bounding, *, intervals: bool = True) -> float:
        """Return about how far off the choice is, in rows and squared, if it had ε = 1 (for the division of ε only)."""
        weight = float(bounding.l1 or bounding.linf)
        if self.level is not None:
            moved = 1.0 if self.level in (0, 1) else 2 * float(max(self.level, 1 - self.level))
            return (_TYPICAL_RANKS * moved * weight / (1 - 2 * _END_SHARE if intervals else 1.0)) ** 2
        return (_TYPICAL_RANKS * weight * (self.count or 1)) ** 2


def needs_of(
    place: int, aggregate: Aggregate, question: Question, ranges: Mapping[Expression, Range]
) -> list[ChoiceNeed]:
    """Return what the aggregate at `place` needs: one choice, or one for each of several quantiles."""
    if aggregate.function != "quantile":
        return [_need_of(place, aggregate, question, ranges)]
    single = (replace(aggregate, parameters=(level,)) for level in aggregate.parameters)
    return [_need_of(place, each, question, ranges) for each in single]


def _need_of(place: int, aggregate: Aggregate, question: Question, ranges: Mapping[Expression, Range]) -> ChoiceNeed:
    expression = aggregate.arguments[0]
    known = derive(expression, question.relation.columns)
    if aggregate.function == "top":
        return _top(place, aggregate, expression, known)
    if not known.kind.is_number:
        raise QuestionError(
            f"{aggregate.function} needs a number, not a {known.kind.value}; for texts ask for TOP or a GROUP BY",
            "SRD-Q301",
        )
    if aggregate.function == "histogram":
        edges = aggregate.parameters
        return ChoiceNeed(place, Histogram(expression, None, len(edges) - 1, edges=edges))
    spread = ranges.get(expression, known.range)
    if spread is None or spread.low == spread.high:
        raise QuestionError(
            f"{aggregate.function} needs bounds for its values; declare bounds(low, high), clip it in the query by "
            "CLIP(x, low, high), or let sordino find bounds for a share of ε with find=True",
            "SRD-Q302",
        )
    level = aggregate.parameters[0] if aggregate.function == "quantile" else _LEVELS[aggregate.function]
    if not 0 <= level <= 1 or level.denominator > 1000:
        raise QuestionError("a quantile is a fraction from 0 to 1 with at most three decimals", "SRD-Q308")
    finest = _MOST_BUCKETS if level in (0, 1) else _REAL_BUCKETS
    return ChoiceNeed(place, _buckets(expression, known, spread, finest), level=level)


def _top(place: int, aggregate: Aggregate, expression: Expression, known: Column) -> ChoiceNeed:
    if known.keys is None:
        raise QuestionError(
            "the most frequent values can only be chosen from a public list; declare keys([...]) for the column, or "
            "ask SELECT value, COUNT(*) … GROUP BY value ORDER BY 2 DESC LIMIT k, which finds values privately",
            "SRD-Q309",
        )
    count = int(aggregate.parameters[0])
    if not 1 <= count <= len(known.keys):
        raise QuestionError(f"there are {len(known.keys)} values to choose from, so ask for 1 to that many", "SRD-Q308")
    return ChoiceNeed(place, Histogram(expression, None, len(known.keys), categories=known.keys), count=count)


def _buckets(expression: Expression, known: Column, spread: Range, finest: int) -> Histogram:
    """Return one bucket for each whole number where those are few enough, else equal parts of the range.

    Extremes get more of them: their values may fill a small part of the range.
    """
    width = spread.high - spread.low
    if known.kind is Kind.INTEGER and spread.low.denominator == spread.high.denominator == 1 and width < _MOST_BUCKETS:
        return Histogram(expression, Range(spread.low, spread.high + 1), int(width) + 1)
    if known.granularity is None:
        return Histogram(expression, spread, finest)
    parts = math.ceil(width / Fraction(str(known.granularity)))
    return Histogram(expression, spread, max(1, min(parts, _MOST_BUCKETS)))


def bucket_values(histogram: Histogram, whole: bool) -> tuple[float, float, float]:
    """Return low, width, and the place within a bucket that stands for it: 0 for whole numbers, else the middle."""
    spread = histogram.range
    assert spread is not None  # noqa: S101  (only quantiles are asked for)
    width = float((spread.high - spread.low) / histogram.buckets)
    return float(spread.low), width, 0.0 if whole else 0.5


@dataclass(frozen=True)
class Terms:
    """What choices are paid in, and what is bought: pure ε or (`by_rho`) ρ; permute-and-flip or not; intervals or not.

    `flips` is for accounts of pure ε: others charge less for the exponential mechanism, which is of bounded range.
    """

    by_rho: bool
    flips: bool = False
    intervals: bool = True

    def epsilon(self, amount: Fraction) -> Fraction:
        """Return the ε of one exponential mechanism that costs `amount`: ρ = ε²/8."""
        return root_rounded_down(8 * amount) if self.by_rho else amount


def build_choice(need: ChoiceNeed, place: int, amount: Fraction, bound: Bound, terms: Terms) -> Choice:
    """Return the mechanisms of a choice that together cost exactly `amount`: ε, or ρ."""
    if need.count is not None:
        # k draws at ε/k each cost k·(ε/k)²/8 in ρ.
        epsilon = terms.epsilon(amount * need.count) if terms.by_rho else amount
        return Choice(need.aggregate, place, (GroupedTop(need.count, epsilon, need.histogram.buckets),), bound)
    level, buckets = need.level or Fraction(0), need.histogram.buckets
    sides = SIDES.get(level, (-1, 1)) if terms.intervals else ()
    parts = cut(amount, (1 - _END_SHARE * len(sides), *(_END_SHARE for _ in sides)))
    value = _value(level, terms.epsilon(parts[0]), buckets, bound, flips=terms.flips and not terms.by_rho)
    ends = (_end(level, terms.epsilon(part), buckets, side, bound) for side, part in zip(sides, parts[1:], strict=True))
    return Choice(need.aggregate, place, (value, *ends), bound)


def _value(level: Fraction, epsilon: Fraction, buckets: int, bound: Bound, *, flips: bool) -> GroupedQuantile:
    if level in (0, 1):
        return GroupedExtreme.of(level, epsilon, buckets, bound)
    return (FlippedQuantile if flips and buckets <= MOST_FLIPPED else GroupedQuantile)(level, epsilon, buckets)


def _end(level: Fraction, epsilon: Fraction, buckets: int, sign: int, bound: Bound) -> GroupedQuantile:
    """Return the choice of one end of an interval, which aims as many ranks off as it may miss its aim by."""
    aim = GroupedQuantile(level, epsilon, rungs.count(buckets), sign, guard=sign)
    reach = math.ceil(aim.rank_error(bound, float(CONFIDENCE if level in SIDES else 1 - (1 - CONFIDENCE) / 2)))
    return replace(aim, offset=sign * reach)
