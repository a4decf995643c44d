"""What bounding and clipping did, and what that can hide: said with every price and every answer, free of charge."""

from __future__ import annotations

from collections.abc import Callable

from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import Call, ColumnRef, Expression, Literal
from sordino.query.model.kinds import Kind, Range
from sordino.query.model.lineage import origin
from sordino.query.model.metadata import Limits
from sordino.query.model.relation import Relation
from sordino.query.model.task import Measure
from sordino.query.plan import limits as contribution
from sordino.query.plan.plan import QueryPlan

from .discovery import Found

_METHODS: dict[str, Callable[[Bounding, str], str]] = {
    "row": lambda way, _: "each row counts by itself" + (f", up to {way.rows} times" if way.rows != 1 else ""),
    "sample": lambda way, unit: (
        f"{way.rows} row{'s' if way.rows != 1 else ''} of each {unit} are kept, chosen at random: the rows of whoever "
        "has more are missing from counts and sums"
    ),
    "weigh": lambda way, unit: (
        f"the rows of each {unit} weigh {way.rows} in all at most: whoever has more rows counts less, and counts and "
        "sums are too low by that"
    ),
    "groups": lambda way, unit: (
        f"each {unit} counts in {way.groups} group{'s' if way.groups != 1 else ''} at most, with the weight of "
        f"{way.rows_per_group} row{'s' if way.rows_per_group != 1 else ''} in each: what goes beyond is missing from "
        "counts and sums"
    ),
    "norm": lambda way, unit: (
        f"the rows of each {unit} are scaled down to a norm of {way.rows} over groups: whoever has more counts less"
    ),
}


def bounding_note(bounding: Bounding, unit: str) -> str:
    """Return what a way of bounding does to whoever goes beyond it."""
    return _METHODS[bounding.method](bounding, unit)


def notes(plan: QueryPlan, found: Found | None = None) -> list[str]:
    """Return everything that keeps the answer from being the plain one, apart from noise."""
    question = plan.question
    texts = _contribution_notes(plan)
    if found is not None:
        texts += [
            f"the bounds {_ends(spread)} of {describe(expression, question.relation)} were found privately, for a part "
            "of the price"
            for expression, spread in found.ranges.items()
        ]
        if found.limits is not None:
            texts.append(f"the limit of {found.limits.rows} rows was found privately, for a part of the price")
    shown = {
        (measure.expression, measure.range)
        for measure in plan.task.measures[: plan.reading.weight_place]
        if not _is_marker(measure)
    }
    measured = {expression for expression, _ in shown}
    shown |= {
        (each.expression, _values_of(each.expression, each.range))
        for each in plan.task.histograms
        if each.range is not None and each.expression not in measured
    }
    named = {(describe(expression, question.relation), _ends(spread)) for expression, spread in shown}
    for name, ends in sorted(named):
        texts.append(f"values of {name} outside of {ends} count as its ends: means and sums leave out what lies beyond")
    for histogram in plan.task.histograms:
        if histogram.range is None:
            name = describe(histogram.expression, question.relation)
            listed = "its edges" if histogram.categories is None else "the declared keys"
            texts.append(f"values of {name} outside of {listed} are left out")
    personal = question.schema.personal
    if personal is not None:
        most = max(epsilon for _, epsilon in personal.classes)
        shares = ", ".join(f"{value}: {float(epsilon / most):.3g}" for value, epsilon in personal.classes)
        texts.append(
            f"rows weigh by {personal.column} ({shares}; others 0), and towards each person the price is that part of "
            "it: counts and sums are weighted ones"
        )
    for key in question.keys:
        if key.column.keys is not None:
            declared = "declared " if isinstance(key.expression, ColumnRef) else ""
            texts.append(f"rows whose {key.name} is not among its {len(key.column.keys)} {declared}keys are left out")
    if plan.selection is not None:
        many = int(plan.selection.error(0.95))
        texts.append(
            f"groups of few are left out: one of {many:,} {question.schema.unit.name}s is shown with probability 0.95, "
            "smaller ones more rarely; intervals hold for the groups shown"
        )
    return texts


def _contribution_notes(plan: QueryPlan) -> list[str]:
    question, bounding = plan.question, plan.bounding
    if question.relation.limits == Limits(1, 1, 1):
        return []  # one row for each person, which is all that is kept of anyone
    if {aggregate.function for aggregate in question.aggregates} == {"count_people"} and bounding.method == "groups":
        if bounding.groups == contribution.public_groups(question):
            return []
        return [f"each {question.schema.unit.name} counts in {bounding.groups} groups at most"]
    return [bounding_note(bounding, question.schema.unit.name)]


def _is_marker(measure: Measure) -> bool:
    """Return whether a measure only says where a value is missing, so that nothing is clipped."""
    return measure.steps == 1 and isinstance(measure.expression, Call) and measure.range == Range.of(-1, 1)


def _values_of(expression: Expression, buckets: Range) -> Range:
    """Return the range of values that buckets stand for: the last bucket of integers starts at its end."""
    by_number = expression.kind is Kind.INTEGER and buckets.high - buckets.low > 1
    return Range(buckets.low, buckets.high - 1) if by_number else buckets


def _ends(spread: Range) -> str:
    return f"[{float(spread.low):g}, {float(spread.high):g}]"


def describe(expression: Expression, relation: Relation) -> str:
    """Return an expression over a relation as a short text, columns by the names that they have in their tables."""
    if isinstance(expression, ColumnRef):
        place = origin(relation, expression.name)
        return expression.name if place is None else place[1]
    if isinstance(expression, Literal):
        return "NULL" if expression.value is None else str(expression.value)
    if isinstance(expression, Call):
        text = f"{expression.operation}({', '.join(describe(part, relation) for part in expression.arguments)})"
        return text if len(text) <= 60 else f"{text[:57]}…"
    return type(expression).__name__
