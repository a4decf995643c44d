"""Expressions in the analyst's words, for notes: by the columns of their tables, never by names of ours.

Relations name computed columns as they need. Here such a name is followed back to how it was computed.
"""

from __future__ import annotations

from dataclasses import dataclass

from sordino.query.model.expression import Call, ColumnRef, Expression, Literal
from sordino.query.model.question import Aggregate
from sordino.query.model.relation import PerPerson, Relation, Windowed

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
    behind = relation.behind(name)
    if not behind:
        return _begun(relation, name)
    texts = dict.fromkeys(
        _column(below, held) if isinstance(held, str) else _told(held, below) for below, held in behind
    )
    return next(iter(texts)) if len(texts) == 1 else _Text(" or ".join(each.text for each in texts), loose=True)


def _begun(relation: Relation, name: str) -> _Text:
    """Return a column of a table, a summary of a person's rows, or a window over them."""
    if isinstance(relation, PerPerson):
        function, argument = next((how, of) for output, how, of, _ in relation.summaries if output == name)
        return _Text(_call(function, "*" if argument is None else _told(argument, relation.source).text))
    if isinstance(relation, Windowed):
        function, argument = next((how, of) for output, how, of, *_ in relation.windows if output == name)
        return _Text(f"{_call(function, '' if argument is None else _told(argument, relation.source).text)} OVER (…)")
    return _Text(name)
