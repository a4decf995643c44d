"""Expressions as the engine computes them: one short function for each operation of the allow-list.

**Guarantee**: no row makes an engine raise, whatever is stored (NaN, ±∞, the least integer, texts that are no dates),
and a row has one value on DuckDB, PostgreSQL and Spark, but for the last bit of exp, ln and power and for letters
outside of ASCII in lower and upper. Engines see only what is built here; constants travel as typed literals.

NULL is contagious as in SQL, except in IS NULL, AND, OR, CASE, COALESCE, and LEAST and GREATEST (which skip it). A
stored NaN counts as NULL in arithmetic, IS NULL, COALESCE and summaries; where stored reals are compared, it is equal
to itself and above all other numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import ibis

from sordino.data.kinds import Kind
from sordino.errors import QuestionError
from sordino.query.model.expression import Call, ColumnRef, Expression, Literal

from .dates import DATES
from .numbers import NUMBERS, without_nan
from .slots import Slot
from .statement import parameter
from .text import TEXT, in_byte_order
from .values import TYPES, Operation, constant


def lower_expression(expression: Expression, table: ibis.Table, dialect: str) -> ibis.Value:
    """Return the expression over the columns of `table`, for an engine that Ibis knows as `dialect`."""
    if isinstance(expression, ColumnRef):
        return table[expression.name]
    if isinstance(expression, Literal):
        return constant(expression.kind, expression.value)
    if isinstance(expression, Slot):
        return parameter(expression.name, TYPES[expression.kind])
    assert isinstance(expression, Call)  # noqa: S101  (there is no other kind of node)
    lower = OPERATIONS.get(expression.operation)
    if lower is None:
        raise QuestionError(f"there is no operation {expression.operation!r}", "SRD-Q103")
    arguments = [lower_expression(argument, table, dialect) for argument in expression.arguments]
    return lower(expression, arguments, dialect)


def _delimited(call: Call, arguments: Sequence[Any]) -> list[Any]:
    """Return the arguments so that conditions among them stay in one piece.

    Ibis writes ``a = b LIKE c`` for a = (b LIKE c), and ``NOT a IS NULL`` for (NOT a) IS NULL. Inside of a function
    they are safe; this one changes nothing.
    """
    return [
        ibis.coalesce(value, ibis.null("boolean")) if isinstance(each, Call) and each.kind is Kind.BOOLEAN else value
        for each, value in zip(call.arguments, arguments, strict=True)
    ]


def _comparison(compare: Callable[[Any, Any], Any], *, ordered: bool) -> Operation:
    def lower(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
        values = _delimited(call, arguments)
        return compare(*(in_byte_order(value, dialect) for value in values) if ordered else values)

    return lower


def _simple(compute: Callable[..., Any]) -> Operation:
    def lower(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
        del call, dialect
        return compute(*arguments)

    return lower


def _in(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    del dialect
    kind, (value,) = call.arguments[0].kind, _delimited(call, arguments)
    return value.isin([constant(kind, member) for member in call.detail])  # type: ignore[union-attr]


def _is_null(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    del dialect
    (value,) = _delimited(call, arguments)
    return without_nan(value).isnull()


def _case(*arguments: Any) -> Any:
    *branches, default = arguments
    return ibis.cases(*zip(branches[::2], branches[1::2], strict=True), else_=default)


def _all(*conditions: Any) -> Any:
    return reduce(lambda left, right: left & right, conditions)


def _any(*conditions: Any) -> Any:
    return reduce(lambda left, right: left | right, conditions)


OPERATIONS: dict[str, Operation] = {
    **NUMBERS,
    **TEXT,
    **DATES,
    "equal": _comparison(lambda a, b: a == b, ordered=False),
    "not_equal": _comparison(lambda a, b: a != b, ordered=False),
    "less": _comparison(lambda a, b: a < b, ordered=True),
    "less_equal": _comparison(lambda a, b: a <= b, ordered=True),
    "greater": _comparison(lambda a, b: a > b, ordered=True),
    "greater_equal": _comparison(lambda a, b: a >= b, ordered=True),
    "in": _in,
    "is_null": _is_null,
    "and": _simple(_all),
    "or": _simple(_any),
    "not": _simple(lambda condition: ~condition),
    "case": _simple(_case),
    "coalesce": _simple(lambda *values: ibis.coalesce(*map(without_nan, values))),
    "nullif": _simple(lambda value, other: value.nullif(other)),
}
