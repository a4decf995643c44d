"""Questions that differ in their numbers alone share one translation: what columns are compared with is sent beside it.

**Guarantee**: a relation without its constants is the same for all questions of one shape, so nothing that is
translated from it can depend on a constant; and with its constants bound, each of its own kind, it has the rows of the
relation that they were taken from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from sordino.query.model.expression import Call, Expression, Literal, Value
from sordino.query.model.relation import Filter, Relation
from sordino.query.model.task import Task

Given = Mapping[str, Value]
"""Values by the names of the parameters that stand for them."""

_COMPARISONS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})


@dataclass(frozen=True)
class Slot(Expression):
    """A constant's place."""

    name: str


def take_out(task: Task) -> tuple[Task, Given]:
    """Return the task with slots for the constants that rows are filtered by, and those constants."""
    taken: dict[str, Value] = {}
    return replace(task, relation=_relation(task.relation, taken)), taken


def _relation(relation: Relation, taken: dict[str, Value]) -> Relation:
    changed: dict[str, Any] = {}
    for field in fields(relation):
        part = getattr(relation, field.name)
        if isinstance(part, Relation):
            changed[field.name] = _relation(part, taken)
        elif isinstance(part, tuple) and part and all(isinstance(each, Relation) for each in part):
            changed[field.name] = tuple(_relation(each, taken) for each in part)
    if isinstance(relation, Filter):
        changed["condition"] = _condition(relation.condition, taken)
    return replace(relation, **changed) if changed else relation


def _condition(expression: Expression, taken: dict[str, Value]) -> Expression:
    if not isinstance(expression, Call):
        return expression
    arguments = tuple(
        _slot(each, taken) if expression.operation in _COMPARISONS else _condition(each, taken)
        for each in expression.arguments
    )
    return replace(expression, arguments=arguments)


def _slot(expression: Expression, taken: dict[str, Value]) -> Expression:
    if not isinstance(expression, Literal) or expression.value is None:
        return expression
    name = f"sordino_given_{len(taken)}"
    taken[name] = expression.value
    return Slot(expression.kind, name)
