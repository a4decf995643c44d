"""A small world for tests of planning: one table of trips, questions about it, and its exact answers in plain Python.

`engine(rows)` stands for the real engines: it bounds contributions as ``bounding.py`` promises (with its own choice of
which rows or groups are kept) and adds up monomials one row after the other.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from sordino.accounting.bound import ROW, Unit
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column, Limits, OwnedByColumn, OwnedByRow, Schema, Table
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import Call, ColumnRef, Expression, Literal
from sordino.query.model.question import Aggregate, Function, Key, Output, Question
from sordino.query.model.relation import Filter, PerPerson, Relation, Scan, UnionAll
from sordino.query.model.task import Exact, Histogram, Measure, Monomial, Task
from sordino.query.plan.encoding import Distinct, People, Statistic

Row = Mapping[str, Any]

COLUMNS = {
    "user": Column(Kind.INTEGER),
    "city": Column(Kind.TEXT, keys=("a", "b", "c")),
    "place": Column(Kind.TEXT),
    "fare": Column(Kind.REAL, Range.of(0, 100), nullable=False),
    "tip": Column(Kind.REAL, Range.of(-10, 10)),
    "seats": Column(Kind.INTEGER, Range.of(1, 4)),
    "late": Column(Kind.INTEGER, Range.of(0, 1), nullable=False),
    "free": Column(Kind.REAL),
}
TRIPS = Table("trips", COLUMNS, OwnedByColumn("user"), Limits(rows=3))
SCHEMA = Schema("world", {"trips": TRIPS}, Unit("user"))
BY_ROW = Schema("world", {"trips": Table("trips", COLUMNS, OwnedByRow())}, ROW)

CITY, PLACE = ColumnRef(Kind.TEXT, "city"), ColumnRef(Kind.TEXT, "place")
FARE, TIP, FREE = (ColumnRef(Kind.REAL, name) for name in ("fare", "tip", "free"))
SEATS, LATE = ColumnRef(Kind.INTEGER, "seats"), ColumnRef(Kind.INTEGER, "late")

NO_KEYS: tuple[Key, ...] = ()
BY_CITY = (Key("city", CITY, COLUMNS["city"]),)
BY_PLACE = (Key("place", PLACE, COLUMNS["place"]),)


def of(function: Function, *arguments: Expression, parameters: Sequence[Any] = ()) -> Aggregate:
    """Return an aggregate."""
    return Aggregate(function, arguments, tuple(Fraction(each) for each in parameters))


COUNT, PEOPLE = of("count_rows"), of("count_people")
MEDIAN = of("quantile", FARE, parameters=["1/2"])
TOP = of("top", CITY, parameters=[2])
BINS = of("histogram", FARE, parameters=[0, 25, 50, 100])


def with_limits(limits: Limits) -> Schema:
    """Return the world with other limits declared."""
    return Schema("world", {"trips": Table("trips", COLUMNS, OwnedByColumn("user"), limits)}, Unit("user"))


def ask(
    *aggregates: Aggregate,
    keys: tuple[Key, ...] = BY_CITY,
    schema: Schema = SCHEMA,
    relation: Relation | None = None,
    **more: Any,
) -> Question:
    """Return a question whose columns c0, c1 … are its aggregates."""
    outputs = tuple(Output(f"c{place}", ColumnRef(Kind.REAL, f"a{place}")) for place in range(len(aggregates)))
    source = Scan(schema.tables["trips"]) if relation is None else relation
    return Question(schema, source, aggregates, outputs, keys=keys, **more)


# ---- the engine ----------------------------------------------------------------------------------------------------


def engine(rows: Sequence[Row]) -> Callable[[Task, int], Exact]:
    """Return what computes tasks exactly over these rows."""
    return lambda task, salt: _Computation(task, salt, _rows_of(task.relation, rows)).exact()


def never(_task: Task, _salt: int) -> Exact:
    """Fail: the data must not be touched."""
    raise AssertionError("data was touched")


def _rows_of(relation: Relation, rows: Sequence[Row]) -> list[Row]:
    if isinstance(relation, Scan):
        return [row for row in rows if row.get("user") is not None or isinstance(relation.table.owner, OwnedByRow)]
    if isinstance(relation, UnionAll):
        return [row for branch in relation.branches for row in _rows_of(branch, rows)]
    if isinstance(relation, Filter):
        return [row for row in _rows_of(relation.source, rows) if value_of(relation.condition, row)]
    assert isinstance(relation, PerPerson)
    owned = defaultdict(list)
    for row in _rows_of(relation.source, rows):
        owned[row["user"]].append(row)
    return [
        {
            "user": owner,
            **{name: _summary(function, argument, mine) for name, function, argument, _ in relation.summaries},
        }
        for owner, mine in owned.items()
    ]


def _summary(function: str, argument: Expression | None, rows: Sequence[Row]) -> Any:
    if argument is None:
        return len(rows)
    values = [value for row in rows if (value := value_of(argument, row)) is not None]
    return {"min": min, "max": max}[function](values) if values else None


def value_of(expression: Expression, row: Row) -> Any:
    """Return an expression's value in a row, for the few operations that planning itself makes up."""
    if isinstance(expression, ColumnRef):
        return row.get(expression.name)
    if isinstance(expression, Literal):
        return expression.value
    assert isinstance(expression, Call)
    values = [value_of(part, row) for part in expression.arguments]
    return {
        "is_null": lambda: values[0] is None,
        "case": lambda: values[1] if values[0] else values[2],
        "in": lambda: values[0] in (expression.detail or ()),
        "less": lambda: None not in values and values[0] < values[1],
        "greater": lambda: None not in values and values[0] > values[1],
        "or": lambda: any(values),
        "negate": lambda: None if values[0] is None else -values[0],
    }[expression.operation]()


def step_of(measure: Measure, row: Row) -> int | None:
    """Return a row's value in steps, exactly, or None where it is missing."""
    value = value_of(measure.expression, row)
    if value is None:
        return 0 if measure.missing_is_middle else None
    spread = measure.range
    clipped = min(max(Fraction(value), spread.low), spread.high)
    return math.floor((clipped - spread.middle) * measure.steps / spread.half + Fraction(1, 2))


def bucket_of(histogram: Histogram, row: Row) -> int | None:
    """Return the bucket of a row, or None where it has none."""
    value = value_of(histogram.expression, row)
    if histogram.categories is not None:
        return histogram.categories.index(value) if value in histogram.categories else None
    if value is None:
        return None
    if histogram.edges is not None:
        if not histogram.edges[0] <= value <= histogram.edges[-1]:
            return None
        return bisect_right(histogram.edges, value, 1, len(histogram.edges) - 1) - 1
    spread = histogram.range
    assert spread is not None
    clipped = min(max(Fraction(value), spread.low), spread.high)
    return min(
        math.floor((clipped - spread.low) * histogram.buckets / (spread.high - spread.low)), histogram.buckets - 1
    )


class _Computation:
    def __init__(self, task: Task, salt: int, rows: list[Row]) -> None:
        self.task, self.salt = task, salt
        self.groups = self._known_groups()
        keyed = [(self._key(row), row) for row in rows]
        if self.groups is None:
            self.groups = sorted({key for key, _ in keyed}, key=repr)
        self.kept = self._bounded([(key, row) for key, row in keyed if key in set(self.groups)])

    def _known_groups(self) -> list[tuple[Any, ...]] | None:
        lists = [key.column.keys for key in self.task.keys]
        return None if None in lists else list(product(*lists))  # type: ignore[arg-type]

    def _key(self, row: Row) -> tuple[Any, ...]:
        return tuple(value_of(key.expression, row) for key in self.task.keys)

    def _bounded(self, keyed: list[tuple[Any, Row]]) -> list[tuple[Any, Row, int]]:
        if self.task.bounding.method == "row":
            return [(key, row, 1) for key, row in keyed]
        owned = defaultdict(list)
        for key, row in keyed:
            owned[row["user"]].append((key, row))
        return [each for mine in owned.values() for each in _WAYS[self.task.bounding.method](self.task.bounding, mine)]

    def exact(self) -> Exact:
        groups = self.groups or []
        place = {key: index for index, key in enumerate(groups)}
        task = self.task
        sums = np.zeros((len(task.monomials), len(groups)), dtype=object)
        people: list[Any] = [[] for _ in groups]
        distincts: list[list[set[Any]]] = [[set() for _ in groups] for _ in task.distincts]
        counted: list[dict[tuple[int, int], int]] = [defaultdict(int) for _ in task.histograms]
        for serial, (key, row, weight) in enumerate(self.kept):
            at = place[key]
            for index, monomial in enumerate(task.monomials):
                sums[index, at] += weight * self._monomial(monomial, row)
            people[at].append(serial if task.bounding.method == "row" else row["user"])
            for index, expression in enumerate(task.distincts):
                distincts[index][at].add(value_of(expression, row))
            for index, histogram in enumerate(task.histograms):
                bucket = bucket_of(histogram, row)
                if bucket is not None:
                    counted[index][at, bucket] += weight
        return Exact(
            tuple([key[index] for key in groups] for index in range(len(task.keys))),
            sums.astype(np.int64) if _fits(sums) else sums,
            np.array([len(set(each)) for each in people], dtype=np.int64) if task.people else None,
            np.array([[len(each - {None}) for each in row] for row in distincts], dtype=np.int64).reshape(
                len(task.distincts), len(groups)
            ),
            tuple(_as_rows(each) for each in counted),
        )

    def _monomial(self, monomial: Monomial, row: Row) -> int:
        steps = {each: step_of(self.task.measures[each], row) for each in monomial.present}
        if any(step is None for step in steps.values()):
            return 0
        powers = ((steps[each] or 0) ** power for each, power in enumerate(monomial.powers) if power)
        return reduce(lambda left, right: left * right, powers, 1)


def _fits(sums: Any) -> bool:
    return all(abs(each) < 2**63 for each in sums.ravel().tolist())


def _as_rows(counted: Mapping[tuple[int, int], int]) -> Any:
    rows = [(group, bucket, weight) for (group, bucket), weight in sorted(counted.items())]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


Mine = list[tuple[Any, Row]]


def _sampled(way: Bounding, mine: Mine) -> Iterable[tuple[Any, Row, int]]:
    return [(key, row, 1) for key, row in sorted(mine, key=repr)[: way.rows]]


def _weighed(way: Bounding, mine: Mine) -> Iterable[tuple[Any, Row, int]]:
    weight = min(way.unit, way.unit * (way.rows or 0) // len(mine))
    return [(key, row, weight) for key, row in mine]


def _grouped(way: Bounding, mine: Mine) -> Iterable[tuple[Any, Row, int]]:
    chosen = sorted({key for key, _ in mine}, key=repr)[: way.groups]
    for group in chosen:
        rows = [row for key, row in mine if key == group]
        weight = min(way.unit, way.unit * (way.rows_per_group or 0) // len(rows))
        yield from ((group, row, weight) for row in rows)


def _normed(way: Bounding, mine: Mine) -> Iterable[tuple[Any, Row, int]]:
    squares = sum(sum(key == group for key, _ in mine) ** 2 for group in {key for key, _ in mine})
    weight = min(way.unit, math.isqrt(way.unit**2 * (way.rows or 0) ** 2 // squares))
    return [(key, row, weight) for key, row in mine]


_WAYS: dict[str, Callable[[Bounding, Mine], Iterable[tuple[Any, Row, int]]]] = {
    "sample": _sampled,
    "weigh": _weighed,
    "groups": _grouped,
    "norm": _normed,
}


def feature_sums(features: Sequence[Sequence[tuple[Statistic, int]]], task: Task, exact: Exact) -> list[list[int]]:
    """Return each feature's exact sum in each group, as Python ints."""

    def column(statistic: Statistic) -> list[int]:
        if isinstance(statistic, People):
            assert exact.people is not None
            return [int(each) for each in exact.people]
        if isinstance(statistic, Distinct):
            return [int(each) for each in exact.distincts[statistic.place]]
        return [int(each) for each in exact.sums[task.monomials.index(statistic)]]

    return [
        [
            sum(many * value for many, value in zip([c for _, c in feature], values, strict=True))
            for values in zip(*(column(statistic) for statistic, _ in feature), strict=True)
        ]
        for feature in features
    ]
