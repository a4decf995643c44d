"""What ``exact`` must compute, said slowly: in Python, in fractions, row by row."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from typing import Any

from sordino.query.model.bounding import WEIGHT_UNIT
from sordino.query.model.expression import ColumnRef, Expression
from sordino.query.model.task import Histogram, Measure, Monomial, Task

Row = dict[str, Any]
Group = tuple[Any, ...]


def value_of(expression: Expression, row: Row) -> Any:
    assert isinstance(expression, ColumnRef)
    return row[expression.name]


def is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def clipped(value: float, low: Fraction, high: Fraction) -> Fraction:
    if math.isinf(value):
        return high if value > 0 else low
    return max(low, min(high, Fraction(value)))


def step(measure: Measure, row: Row) -> int | None:
    value = value_of(measure.expression, row)
    if is_missing(value):
        return 0 if measure.missing_is_middle else None
    bounds = measure.range
    if not bounds.half:
        return 0
    place = (clipped(value, bounds.low, bounds.high) - bounds.middle) * measure.steps / bounds.half
    return math.floor(place + Fraction(1, 2))


def monomial(task: Task, each: Monomial, row: Row) -> int:
    steps = [step(measure, row) for measure in task.measures]
    if any(steps[place] is None for place in each.present):
        return 0
    return math.prod(steps[place] ** power for place, power in enumerate(each.powers) if power)  # type: ignore[operator]


def bucket(histogram: Histogram, row: Row) -> int | None:
    value = value_of(histogram.expression, row)
    if histogram.categories is not None:
        return histogram.categories.index(value) if value in histogram.categories else None
    if is_missing(value):
        return None
    if histogram.edges is not None:
        inside = histogram.edges[0] <= value <= histogram.edges[-1]
        return min(sum(value >= edge for edge in histogram.edges), histogram.buckets) - 1 if inside else None
    bounds = histogram.range
    assert bounds is not None
    place = float(clipped(value, bounds.low, bounds.high)) - float(bounds.low)  # 5e-324 is nothing to an engine
    return min(math.floor(place * histogram.buckets / float(2 * bounds.half)), histogram.buckets - 1)


def group_of(task: Task, row: Row) -> Group | None:
    """Return the row's group, or None if one of its keys is not among the public ones."""
    group = tuple(value_of(key.expression, row) for key in task.keys)
    for value, key in zip(group, task.keys, strict=True):
        if key.column.keys is not None and value not in key.column.keys:
            return None
    return group


def weights(task: Task, mine: list[Group]) -> dict[Group, int]:
    """Return what each of a person's rows weighs, by group. For methods (and limits) that choose nothing by chance."""
    bounding, counts = task.bounding, Counter(mine)
    if bounding.method == "weigh":
        return dict.fromkeys(counts, min(WEIGHT_UNIT, bounding.linf * WEIGHT_UNIT // len(mine)))
    if bounding.method == "groups":
        assert bounding.l0 is not None
        assert len(counts) <= bounding.l0
        return {group: min(WEIGHT_UNIT, bounding.linf * WEIGHT_UNIT // count) for group, count in counts.items()}
    if bounding.method == "norm":
        square = sum(count**2 for count in counts.values())
        if square <= bounding.linf**2:
            return dict.fromkeys(counts, WEIGHT_UNIT)
        return dict.fromkeys(counts, math.floor(bounding.linf * WEIGHT_UNIT * (1 - 2.0**-40) / math.sqrt(square)))
    assert bounding.method == "row" or len(mine) <= bounding.linf
    return dict.fromkeys(counts, 1)


def groups_in_order(task: Task, rows: list[Row]) -> list[Group]:
    if task.public_keys:
        return list(product(*(key.column.keys or () for key in task.keys)))
    found = {group for row in rows if (group := group_of(task, row)) is not None}
    return sorted(found, key=lambda group: [(True,) if value is None else (False, value) for value in group])


def exact(task: Task, rows: list[Row], owner: str) -> dict[str, Any]:
    """Return keys, sums, people, distincts and histograms as plain lists."""
    by_row = task.bounding.method == "row"
    seen = [row for row in rows if group_of(task, row) is not None and (by_row or row[owner] is not None)]
    people: dict[Any, list[Row]] = defaultdict(list)
    for place, row in enumerate(seen):
        people[place if by_row else row[owner]].append(row)
    order = {group: place for place, group in enumerate(groups_in_order(task, seen))}
    sums = [[0] * len(order) for _ in task.monomials]
    distinct: list[list[set[Any]]] = [[set() for _ in order] for _ in task.distincts]
    owners: list[set[Any]] = [set() for _ in order]
    spreads = [Counter[tuple[int, int]]() for _ in task.histograms]
    for person, mine in people.items():
        weight = weights(task, [group_of(task, row) for row in mine])  # type: ignore[misc]
        for row in mine:
            group = group_of(task, row)
            assert group is not None
            place = order[group]
            owners[place].add(person)
            for total, each in zip(sums, task.monomials, strict=True):
                total[place] += weight[group] * monomial(task, each, row)
            for values, expression in zip(distinct, task.distincts, strict=True):
                if (value := value_of(expression, row)) is not None:
                    values[place].add("NaN" if is_missing(value) else value)
            for spread, histogram in zip(spreads, task.histograms, strict=True):
                if (found := bucket(histogram, row)) is not None:
                    spread[place, found] += weight[group]
    return {
        "keys": [[group[place] for group in order] for place in range(len(task.keys))],
        "sums": sums,
        "people": [len(each) for each in owners],
        "distincts": [[len(values) for values in each] for each in distinct],
        "histograms": [sorted([*place, weight] for place, weight in spread.items()) for spread in spreads],
    }
