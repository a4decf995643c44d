"""The functions of one row that SQL may call: a table from each name to how its arguments are read."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

from sordino.data.kinds import Kind
from sordino.errors import QuestionError
from sordino.query.model.expression import Expression, Literal
from sordino.query.model.literals import as_kind, literal
from sordino.query.model.operations import call

from .dates import PART_NAMES, between, date_part, date_trunc, days_of, moved, word
from .refusals import refuse

if TYPE_CHECKING:
    from .expression import Reader

_MOST_DIGITS = 15
_FORMS = {
    "ROUND": "ROUND(x, 2)",
    "SUBSTRING": "SUBSTRING(x, 1, 3)",
    "LEFT": "LEFT(x, 3)",
    "HISTOGRAM": "HISTOGRAM(x, 10), or its edges: HISTOGRAM(x, 0, 10, 50)",
    "TOP": "TOP(x, 3)",
}
"""How what takes a constant whole number is written."""

Function = Callable[["Reader", list[exp.Expr]], Expression]


def _direct(operation: str) -> Function:
    return lambda reader, arguments: call(operation, *(reader.read(argument) for argument in arguments))


def taking(name: str, arguments: list[exp.Expr], least: int, most: int) -> list[exp.Expr]:
    """Return the arguments if their number is right."""
    if not least <= len(arguments) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise QuestionError(f"{name} takes {wanted} argument(s), not {len(arguments)}", "SRD-Q104")
    return arguments


def whole_constant(name: str, reader: Reader, node: exp.Expr) -> int:
    """Return the constant whole number that the node stands for."""
    value = reader.read(node)
    if not isinstance(value, Literal) or value.kind is not Kind.INTEGER or not isinstance(value.value, int):
        raise refuse(f"{name} needs a constant whole number here", f"write {_FORMS[name]}", "SRD-Q104")
    return value.value


def _round(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    taking("ROUND", arguments, 1, 2)
    value = reader.read(arguments[0])
    digits = whole_constant("ROUND", reader, arguments[1]) if len(arguments) == 2 else 0
    if not abs(digits) <= _MOST_DIGITS:
        raise QuestionError(f"ROUND knows {_MOST_DIGITS} digits at most, not {digits}", "SRD-Q104")
    if digits == 0:
        return call("round", value)
    scale, up, down = literal(10.0 ** abs(digits)), "multiply", "divide"
    up, down = (up, down) if digits > 0 else (down, up)
    return call(down, call("round", call(up, value, scale)), scale)


def _clip(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    """CLIP(x, low, high): what is missing stays missing, which LEAST and GREATEST would pass over.

    A stored real beyond ±2^200, ∞ included, is NULL to them; compared as it is, it lies outside like any other.
    """
    value, low, high = (reader.read(argument) for argument in taking("CLIP", arguments, 3, 3))
    _refuse_empty(low, high)
    known, inside = reader.known(value), call("least", call("greatest", value, low), high)
    if known is not None and all(each.kind is Kind.INTEGER for each in (value, low, high)):
        inside = call("to_integer", inside)
    cases: list[Expression] = []
    if known is None or known.nullable:
        cases += [call("is_null", value), literal(None)]
    if known is not None and value.kind is Kind.REAL:
        cases += [call("less", value, low), low, call("greater", value, high), high]
    return call("case", *cases, inside) if cases else inside


def _refuse_empty(low: Expression, high: Expression) -> None:
    ends = [each.value if isinstance(each, Literal) else None for each in (low, high)]
    if all(isinstance(end, int | float) for end in ends) and ends[0] > ends[1]:  # type: ignore[operator]
        raise QuestionError(f"CLIP goes from low to high, and {ends[0]} is above {ends[1]}; swap them", "SRD-Q104")


def _logarithm(base: float) -> Function:
    def read(reader: Reader, arguments: list[exp.Expr]) -> Expression:
        (value,) = taking("LOG", arguments, 1, 1)
        return call("divide", call("ln", reader.read(value)), literal(math.log(base)))

    return read


def _substring(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    taking("SUBSTRING", arguments, 2, 3)
    start = whole_constant("SUBSTRING", reader, arguments[1])
    length = whole_constant("SUBSTRING", reader, arguments[2]) if len(arguments) == 3 else None
    return call("substring", reader.read(arguments[0]), detail=(start, length))


def _left(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    value, length = taking("LEFT", arguments, 2, 2)
    return call("substring", reader.read(value), detail=(1, whole_constant("LEFT", reader, length)))


def _starts_with(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    value, prefix = taking("STARTS_WITH", arguments, 2, 2)
    if not isinstance(prefix, exp.Literal) or not prefix.is_string:
        raise refuse("STARTS_WITH needs a constant prefix", "write STARTS_WITH(x, 'a')", "SRD-Q104")
    return call("starts_with", reader.read(value), detail=str(prefix.this))


def _if(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    test, then, otherwise = taking("IF", arguments, 3, 3)
    return call("case", reader.condition(test), reader.read(then), reader.read(otherwise))


def _named_part(name: str) -> Function:
    def read(reader: Reader, arguments: list[exp.Expr]) -> Expression:
        (value,) = taking(name, arguments, 1, 1)
        return date_part(name, reader.read(value))

    return read


def _part(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    unit, value = taking("DATE_PART", arguments, 2, 2)
    return date_part(unit, reader.read(value))


def _trunc(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    """DuckDB: DATE_TRUNC('month', d). BigQuery: DATE_TRUNC(d, MONTH)."""
    first, second = taking("DATE_TRUNC", arguments, 2, 2)
    if isinstance(first, exp.Literal):
        return date_trunc(word(first), reader.read(second))
    return date_trunc(word(second), reader.read(first))


def _difference(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    """DuckDB: DATE_DIFF('day', earlier, later). BigQuery: DATE_DIFF(later, earlier, DAY)."""
    first, second, third = taking("DATE_DIFF", arguments, 3, 3)
    unit, later, earlier = (first, third, second) if isinstance(first, exp.Literal) else (third, first, second)
    if word(unit) == "DAY":
        return between(reader.read(later), reader.read(earlier))
    raise refuse("dates differ by days", "write DATE_DIFF('day', earlier, later)", "SRD-Q104")


def _moved(sign: int) -> Function:
    def read(reader: Reader, arguments: list[exp.Expr]) -> Expression:
        value, interval = taking("DATE_ADD", arguments, 2, 2)
        if not isinstance(interval, exp.Interval):
            raise refuse("a date moves by an interval", "write DATE_ADD(d, INTERVAL 3 DAY)", "SRD-Q104")
        return moved(reader.read(value), sign * days_of(interval))

    return read


def _date(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    (value,) = taking("DATE", arguments, 1, 1)
    settled = as_kind(reader.read(value), Kind.DATE)
    return settled if settled.kind is Kind.DATE else call("to_date", settled)


_OPERATIONS = {
    "ABS": "abs",
    "SIGN": "sign",
    "FLOOR": "floor",
    "CEIL": "ceil",
    "CEILING": "ceil",
    "SQRT": "sqrt",
    "EXP": "exp",
    "LN": "ln",
    "POWER": "power",
    "POW": "power",
    "MOD": "modulo",
    "LEAST": "least",
    "GREATEST": "greatest",
    "SAFE_DIVIDE": "divide",
    "LOWER": "lower",
    "UPPER": "upper",
    "TRIM": "trim",
    "LENGTH": "length",
    "CHAR_LENGTH": "length",
    "CONCAT": "concat",
    "COALESCE": "coalesce",
    "IFNULL": "coalesce",
    "NULLIF": "nullif",
}

FUNCTIONS: dict[str, Function] = {
    **{name: _direct(operation) for name, operation in _OPERATIONS.items()},
    **{name: _named_part(name) for name in sorted(PART_NAMES - {"DOY"})},
    "ROUND": _round,
    "CLIP": _clip,
    "CLAMP": _clip,
    "LOG10": _logarithm(10.0),
    "LOG2": _logarithm(2.0),
    "SUBSTRING": _substring,
    "SUBSTR": _substring,
    "LEFT": _left,
    "STARTS_WITH": _starts_with,
    "IF": _if,
    "IFF": _if,
    "DATE_PART": _part,
    "DATE_TRUNC": _trunc,
    "DATETRUNC": _trunc,
    "DATE_DIFF": _difference,
    "DATEDIFF": _difference,
    "DATE_ADD": _moved(1),
    "DATE_SUB": _moved(-1),
    "DATE": _date,
}
