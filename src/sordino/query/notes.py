"""What bounding and clipping did, and what that can hide: said with every price and every answer, free of charge."""

from __future__ import annotations

from collections.abc import Callable

from .bounding import Bounding
from .discovery import Found
from .expression import Call, ColumnRef, Expression, Literal
from .kinds import Range
from .plan import QueryPlan

_METHODS: dict[str, Callable[[Bounding, str], str]] = {
    "row": lambda way, _: "each row counts by itself" + (f", up to {way.rows} times" if way.rows != 1 else ""),
    "sample": lambda way, unit: (
        f"{way.rows} rows of each {unit} are kept, chosen at random: the rows of whoever has more are missing from "
        "counts and sums"
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
    texts = [bounding_note(plan.bounding, question.schema.unit.name)]
    if found is not None:
        texts += [_found_range(expression, spread) for expression, spread in found.ranges.items()]
        if found.limits is not None:
            texts.append(f"the limit of {found.limits.rows} rows was found privately, for a part of the price")
    shown = {(measure.expression, measure.range) for measure in plan.task.measures if measure.steps > 1}
    shown |= {(each.expression, each.range) for each in plan.task.histograms if each.range is not None}
    for expression, spread in sorted(shown, key=lambda pair: describe(pair[0])):
        texts.append(
            f"values of {describe(expression)} outside of {_ends(spread)} count as its ends: means and sums leave out "
            "what lies beyond"
        )
    for key in question.keys:
        if key.column.keys is not None:
            texts.append(f"rows whose {key.name} is not among its {len(key.column.keys)} declared keys are left out")
    if plan.selection is not None:
        many = int(plan.selection.error(0.95))
        texts.append(
            f"groups of few are left out: one of {many:,} {question.schema.unit.name}s is shown with probability 0.95, "
            "smaller ones more rarely; intervals hold for the groups shown"
        )
    return texts


def _found_range(expression: Expression, spread: Range) -> str:
    return f"the bounds {_ends(spread)} of {describe(expression)} were found privately, for a part of the price"


def _ends(spread: Range) -> str:
    return f"[{float(spread.low):g}, {float(spread.high):g}]"


def describe(expression: Expression) -> str:
    """Return an expression as a short text."""
    if isinstance(expression, ColumnRef):
        return expression.name
    if isinstance(expression, Literal):
        return "NULL" if expression.value is None else str(expression.value)
    if isinstance(expression, Call):
        text = f"{expression.operation}({', '.join(describe(part) for part in expression.arguments)})"
        return text if len(text) <= 60 else f"{text[:57]}…"
    return type(expression).__name__
