"""Functions that make whole numbers of others in SQL: ROUND, TRUNC, DIV, WIDTH_BUCKET."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

from sordino.data.kinds import Kind
from sordino.errors import QuestionError
from sordino.query.model.expression import Expression, Literal
from sordino.query.model.literals import literal
from sordino.query.model.operations import call

from .arguments import taking, whole_constant
from .constants import computed
from .refusals import refuse

if TYPE_CHECKING:
    from .arguments import Function
    from .expression import Reader

_MOST_DIGITS = 15


def toward_zero(value: Expression) -> Expression:
    """Return the whole number between 0 and a number, next to it."""
    return call("case", call("less", value, literal(0)), call("ceil", value), call("floor", value))


def at_digit(value: Expression, digits: int, rounding: Callable[[Expression], Expression], name: str) -> Expression:
    """Return a number, rounded to so many digits behind the point (before it, if negative)."""
    if not abs(digits) <= _MOST_DIGITS:
        raise QuestionError(f"{name} knows {_MOST_DIGITS} digits at most, not {digits}", "SRD-Q104")
    if digits == 0:
        return rounding(value)
    scale, up, down = literal(10.0 ** abs(digits)), "multiply", "divide"
    up, down = (up, down) if digits > 0 else (down, up)
    return call(down, rounding(call(up, value, scale)), scale)


def _round(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    taking("ROUND", arguments, 1, 2)
    value = reader.read(arguments[0])
    digits = whole_constant("ROUND", reader, arguments[1]) if len(arguments) == 2 else 0
    return at_digit(value, digits, lambda each: call("round", each), "ROUND")


def _truncated(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    taking("TRUNC", arguments, 1, 2)
    value = reader.read(arguments[0])
    if value.kind in (Kind.DATE, Kind.TIMESTAMP):
        raise refuse("TRUNC cuts numbers", "write DATE_TRUNC('month', d) for dates", "SRD-Q104")
    digits = whole_constant("TRUNC", reader, arguments[1]) if len(arguments) == 2 else 0
    return at_digit(value, digits, toward_zero, "TRUNC")


def whole_quotient(dividend: Expression, divisor: Expression) -> Expression:
    """Return how often the one goes into the other: a whole number, cut towards zero as most engines do."""
    return toward_zero(call("divide", dividend, divisor))


def _whole_quotient(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    return whole_quotient(*(reader.read(argument) for argument in taking("DIV", arguments, 2, 2)))


def _width_bucket(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    """WIDTH_BUCKET(x, low, high, n): 1 to n, 0 below low, n + 1 from high on."""
    taking("WIDTH_BUCKET", arguments, 4, 4)
    value, low, high = (reader.read(argument) for argument in arguments[:3])
    count = whole_constant("WIDTH_BUCKET", reader, arguments[3])
    ends = [each.value if isinstance(each, Literal) else None for each in (low, high)]
    if count < 1 or not all(isinstance(end, int | float) for end in ends) or not ends[0] < ends[1]:  # type: ignore[operator]
        raise refuse("WIDTH_BUCKET needs constants: low < high, and a count", "write WIDTH_BUCKET(x, 0, 100, 10)")
    size = computed("divide", computed("subtract", high, low), literal(count))
    bucket = call("add", call("floor", call("divide", call("subtract", value, low), size)), literal(1))
    inside = call("greatest", call("least", bucket, literal(count)), literal(1))
    beyond = [call("less", value, low), literal(0), call("greater_equal", value, high), literal(count + 1)]
    return call("case", call("is_null", value), literal(None), *beyond, call("to_integer", inside))


ROUNDING_FUNCTIONS: dict[str, Function] = {
    "ROUND": _round,
    **dict.fromkeys(("TRUNC", "TRUNCATE"), _truncated),
    "DIV": _whole_quotient,
    "WIDTH_BUCKET": _width_bucket,
}
"""How each of them is read."""
