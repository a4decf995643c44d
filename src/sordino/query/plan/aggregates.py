"""What each aggregate needs to know, and how its value is read from noisy statistics.

One entry a function in `NEEDS`: the measures, their highest power, which statistics are wanted and how much their
errors weigh in the planner's eyes. Errors are weighed *in rows*: values are scaled to [−1, 1], so the error of a sum
counts in units of the largest value that one row can have, and a mean's in those of half its range times the group's
size. A mean's error is that of S − θN with θ between −1 and 1; a spread of θ over that range gives N the weight 1/√3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column
from sordino.errors import QuestionError
from sordino.query.model.expression import Expression, Literal
from sordino.query.model.operations import call
from sordino.query.model.question import Aggregate
from sordino.query.model.ranges import derive

from .encoding import Distinct, Encoder, People, Statistic
from .strategy import Target

_SLOPE = 3**-0.5
_LARGEST_SQUARED = 10**70
"""A value whose square's error can be squared once more, and still is a float."""


@dataclass(frozen=True)
class MeasureNeed:
    """A number that rows are read for: its expression, range, whether it may be missing, and the power needed."""

    expression: Expression
    range: Range
    nullable: bool
    whole: bool
    degree: int


class Needs:
    """Collects what all aggregates of a question need; equal expressions share one measure."""

    def __init__(self, columns: Mapping[str, Column], ranges: Mapping[Expression, Range]) -> None:
        self._columns = columns
        self._ranges = ranges
        self.measures: list[MeasureNeed] = []
        self.joint: list[frozenset[int]] = []
        self.distincts: list[Expression] = []
        self.people = False
        self.places: dict[int, tuple[int, ...]] = {}
        """For each aggregate (by its place in the question) the measures that it reads."""

    def number(self, aggregate: Aggregate, expression: Expression, degree: int) -> int:
        """Return the place of a measure of at least this degree."""
        known = derive(expression, self._columns)
        found = self._ranges.get(expression, known.range)
        if not known.kind.is_number:
            raise QuestionError(
                f"{aggregate.function} needs a number, not a {known.kind.value}; cast it, or count it instead",
                "SRD-Q301",
            )
        if found is None:
            raise QuestionError(
                "a value has no bounds, so its sum could depend on one person without limit; declare "
                "bounds(low, high), clip it in the query by CLIP(x, low, high), or let sordino find bounds for a share "
                "of ε with find=True",
                "SRD-Q302",
            )
        if found.low == found.high:
            raise QuestionError("a value is always the same number, so there is nothing to learn from it", "SRD-Q303")
        if degree > 1 and found.reach > _LARGEST_SQUARED:
            raise QuestionError(
                f"{aggregate.function} of values up to {float(found.reach):g} is beyond what floats hold; scale them "
                "down in the query, or declare closer bounds",
                "SRD-Q323",
            )
        return self._place(MeasureNeed(expression, found, known.nullable, known.kind is Kind.INTEGER, degree))

    def presence(self, expression: Expression) -> int | None:
        """Return the place of a measure that is missing where `expression` is, or None if it never is."""
        known = derive(expression, self._columns)
        if not known.nullable:
            return None
        for place, need in enumerate(self.measures):
            if need.expression == expression:
                return place
        marker = call("case", call("is_null", expression), Literal(Kind.REAL, None), Literal(Kind.REAL, 0.0))
        return self._place(MeasureNeed(marker, Range.of(-1, 1), True, False, 0))

    def together(self, places: Iterable[int]) -> None:
        """Say that products of these measures are needed."""
        self.joint.append(frozenset(places))

    def _place(self, need: MeasureNeed) -> int:
        for place, known in enumerate(self.measures):
            if known.expression == need.expression:
                self.measures[place] = MeasureNeed(
                    known.expression, known.range, known.nullable, known.whole, max(known.degree, need.degree)
                )
                return place
        self.measures.append(need)
        return len(self.measures) - 1


def _count(needs: Needs, aggregate: Aggregate) -> tuple[int, ...]:
    place = needs.presence(aggregate.arguments[0])
    return () if place is None else (place,)


def _numbers(degree: int, *, joint: bool = False) -> Callable[[Needs, Aggregate], tuple[int, ...]]:
    def collect(needs: Needs, aggregate: Aggregate) -> tuple[int, ...]:
        places = tuple(needs.number(aggregate, argument, degree) for argument in aggregate.arguments)
        if joint:
            if len(set(places)) < len(places):
                raise QuestionError(f"{aggregate.function} needs different columns", "SRD-Q304")
            needs.together(places)
        return places

    return collect


def _people(needs: Needs, _: Aggregate) -> tuple[int, ...]:
    needs.people = True
    return ()


def _distinct(needs: Needs, aggregate: Aggregate) -> tuple[int, ...]:
    expression = aggregate.arguments[0]
    if expression not in needs.distincts:
        needs.distincts.append(expression)
    return (needs.distincts.index(expression),)


COLLECT: dict[str, Callable[[Needs, Aggregate], tuple[int, ...]]] = {
    "count_rows": lambda _needs, _aggregate: (),
    "count": _count,
    "count_people": _people,
    "count_distinct": _distinct,
    "sum": _numbers(1),
    "mean": _numbers(1),
    "variance": _numbers(2),
    "deviation": _numbers(2),
    "covariance": _numbers(1, joint=True),
    "correlation": _numbers(2, joint=True),
    "regression": _numbers(2, joint=True),
}
"""For each additive function, how its needs are collected. Quantiles, tops and histograms are choices of their own."""


class Moments:
    """Names of the statistics over rows in which all of some measures are present."""

    def __init__(self, encoder: Encoder, places: tuple[int, ...], needs: Needs) -> None:
        self._encoder = encoder
        self._present = [place for place in places if needs.measures[place].nullable]

    @property
    def count(self) -> Statistic:
        """The number of such rows."""
        return self._encoder.power({}, self._present)

    def of(self, *places: int) -> Statistic:
        """The sum of the product of these measures (in steps), with repetitions as powers."""
        powers = {place: places.count(place) for place in places}
        return self._encoder.power(powers, self._present)


def targets(
    aggregate: Aggregate, places: tuple[int, ...], needs: Needs, encoder: Encoder, steps: list[int]
) -> list[Target]:
    """Return the linear functions of statistics that an aggregate is computed from, errors weighed in rows."""
    if aggregate.function == "count_people":
        return [Target(((People(), 1.0),), 1.0)]
    if aggregate.function == "count_distinct":
        return [Target(((Distinct(places[0]), 1.0),), 1.0)]
    moments = Moments(encoder, places, needs)
    if aggregate.function in ("count_rows", "count"):
        return [Target(((moments.count, 1.0),), 1.0)]
    if aggregate.function == "sum":
        return [sum_target(places[0], needs, moments, steps)]
    count = Target(((moments.count, 1.0),), _SLOPE)
    firsts = [Target(((moments.of(place), 1.0),), 1.0 / steps[place]) for place in places]
    squares = [Target(((moments.of(place, place), 1.0),), 1.0 / steps[place] ** 2) for place in places]
    products = [
        Target(((moments.of(one, other), 1.0),), 1.0 / (steps[one] * steps[other]))
        for one, other in combinations(places, 2)
    ]
    return {
        "mean": [count, *firsts],
        "variance": [count, *firsts, *squares],
        "deviation": [count, *firsts, *squares],
        "covariance": [count, *firsts, *products],
        "correlation": [count, *firsts, *squares, *products],
        "regression": [count, *firsts, *squares, *products],
    }[aggregate.function]


def sum_target(place: int, needs: Needs, moments: Moments, steps: list[int]) -> Target:
    """Return the target of Σx = middle·N + (half/steps)·Σ steps, weighed by the largest value of one row."""
    spread = needs.measures[place].range
    terms = ((moments.count, float(spread.middle)), (moments.of(place), float(spread.half) / steps[place]))
    kept = tuple(term for term in terms if term[1])
    return Target(kept, 1.0 / float(spread.reach))
