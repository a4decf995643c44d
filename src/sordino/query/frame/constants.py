"""Constants as they come from notebooks (NumPy's and pandas' scalars, enums), as the nodes that SQL would have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime
from typing import Any

from sqlglot import exp

from sordino.errors import ArgumentError, QuestionError
from sordino.query.model.expression import Value
from sordino.query.model.literals import literal


def constant(value: Any) -> Value:
    """Return the value as a question can hold it; refuse what it cannot.

    >>> import numpy as np
    >>> constant(np.int32(3))
    3
    """
    if hasattr(value, "item") and not getattr(value, "shape", ()):
        value = value.item()  # a scalar of NumPy, and no array or column of one value
    if isinstance(value, float | date) and value != value:  # NaN, and pandas' NaT
        raise QuestionError("a missing value cannot be part of a question; write .is_null()", "SRD-Q104")
    return literal(value).value


def constants(name: str, values: Any) -> tuple[Value, ...]:
    """Return the constants of a list or the like, in its order; sets have none, so one is made."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name} must be a list of constants, not {type(values).__name__}", "SRD-A001")
    listed = sorted(values, key=repr) if isinstance(values, set | frozenset) else values
    return tuple(constant(value) for value in listed)


def constant_node(value: Value) -> exp.Expr:
    """Return the node that a constant would have in SQL."""
    return _NODES[type(value)](value)


def text_node(name: str, text: Any) -> exp.Expr:
    """Return the node of a constant that must be a text."""
    if not isinstance(text, str):
        raise ArgumentError(f"{name} must be a constant text, not {type(text).__name__}", "SRD-A001")
    return constant_node(constant(text))


def _number(value: Any) -> exp.Expr:
    size = exp.Literal.number(repr(abs(value)))
    return exp.Neg(this=size) if value < 0 else size


def _dated(kind: str) -> Callable[[Any], exp.Expr]:
    return lambda value: exp.Cast(this=exp.Literal.string(value.isoformat()), to=exp.DataType.build(kind))


_NODES: dict[type, Callable[[Any], exp.Expr]] = {
    bool: lambda value: exp.Boolean(this=value),
    int: _number,
    float: _number,
    str: exp.Literal.string,
    date: _dated("DATE"),
    datetime: _dated("TIMESTAMP"),
    type(None): lambda _: exp.Null(),
}
