"""Expressions in the analyst's words, for notes: by the columns of their tables, never by names of ours.

Relations name computed columns as they need. Here such a name is followed back to how it was computed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sordino.query.model.expression import Call, ColumnRef, Expression, Literal
from sordino.query.model.question import Aggregate
from sordino.query.model.relation import Filter, Join, PerPerson, Project, Relation, Scan, SemiJoin, UnionAll, Windowed

_MOST_LETTERS = 80

_SIGNS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "modulo": "%",
    "equal": "=",
    "not_equal": "<>",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "and": "AND",
    "or": "OR",
}
_FUNCTIONS = {
    "count_rows": "COUNT(*)",
    "count_people": "COUNT(DISTINCT person)",
    "count_distinct": "COUNT(DISTINCT …)",
    "mean": "AVG(…)",
    "deviation": "STDDEV(…)",
    "minimum": "MIN(…)",
    "maximum": "MAX(…)",
    "covariance": "COVAR(…)",
    "correlation": "CORR(…)",
    "is_null": "… IS NULL",
}
"""What SQL calls otherwise than by our word in capitals."""


@dataclass(frozen=True)
class _Text:
    """A text, and whether it needs brackets beside a sign."""

    text: str
    loose: bool = False

    def __str__(self) -> str:
        return f"({self.text})" if self.loose else self.text


def describe(expression: Expression, relation: Relation) -> str:
    """Return an expression over a relation as a short text."""
    text = _told(expression, relation).text
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"


def describe_aggregate(aggregate: Aggregate, relation: Relation) -> str:
    """Return an aggregate over a relation as a short text."""
    arguments = ", ".join(describe(each, relation) for each in aggregate.arguments)
    return _call(aggregate.function, arguments)


def _told(expression: Expression, relation: Relation) -> _Text:
    if isinstance(expression, ColumnRef):
        return _column(relation, expression.name)
    if isinstance(expression, Literal):
        return _Text("NULL" if expression.value is None else str(expression.value))
    if not isinstance(expression, Call):
        raise TypeError("expressions are columns, constants and calls")
    parts = [_told(part, relation) for part in expression.arguments]
    if expression.operation in _SIGNS:
        return _Text(f" {_SIGNS[expression.operation]} ".join(map(str, parts)), loose=True)
    texts = [part.text for part in parts]
    if expression.operation == "case":
        branches = [f"WHEN {when} THEN {then}" for when, then in zip(texts[:-1:2], texts[1:-1:2], strict=True)]
        return _Text(f"CASE {' '.join(branches)} ELSE {texts[-1]} END")
    return _Text(_call(expression.operation, ", ".join(texts)))


def _call(function: str, arguments: str) -> str:
    return _FUNCTIONS.get(function, f"{function.upper()}(…)").replace("…", arguments)


def _column(relation: Relation, name: str) -> _Text:
    return _COLUMNS[type(relation)](relation, name)


def _of_source(relation: Any, name: str) -> _Text:
    return _column(relation.source, name)


def _of_project(relation: Project, name: str) -> _Text:
    return next(_told(expression, relation.source) for output, expression, _ in relation.outputs if output == name)


def _of_join(relation: Join, name: str) -> _Text:
    for old, new in relation.right_names:
        if new == name:
            return _column(relation.right, old)
    return _column(relation.left, name)


def _of_union(relation: UnionAll, name: str) -> _Text:
    texts = dict.fromkeys(_column(branch, name).text for branch in relation.branches)
    return _Text(" or ".join(texts), loose=len(texts) > 1)


def _of_person(relation: PerPerson, name: str) -> _Text:
    known = {output: _told(expression, relation.source) for output, expression, _ in relation.keys}
    for output, function, argument, _ in relation.summaries:
        known[output] = _Text(_call(function, "*" if argument is None else _told(argument, relation.source).text))
    return known[name]


def _of_window(relation: Windowed, name: str) -> _Text:
    for output, function, argument, *_ in relation.windows:
        if output == name:
            return _Text(
                f"{_call(function, '' if argument is None else _told(argument, relation.source).text)} OVER (…)"
            )
    return _column(relation.source, name)


_COLUMNS: dict[type[Relation], Callable[[Any, str], _Text]] = {
    Scan: lambda _, name: _Text(name),
    Filter: _of_source,
    SemiJoin: _of_source,
    Project: _of_project,
    Join: _of_join,
    UnionAll: _of_union,
    PerPerson: _of_person,
    Windowed: _of_window,
}
