"""The functions of one row that SQL may call: a table from each name to how its arguments are read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sqlglot import exp

from sordino.data.kinds import Kind
from sordino.errors import QuestionError
from sordino.query.model.expression import Expression, Literal
from sordino.query.model.literals import is_null, literal
from sordino.query.model.operations import call

from .arguments import taking
from .comparing import alike
from .date_functions import DATE_FUNCTIONS
from .refusals import refuse
from .rounding import ROUNDING_FUNCTIONS
from .text_functions import TEXT_FUNCTIONS

if TYPE_CHECKING:
    from sordino.data.metadata import Column

    from .arguments import Function
    from .expression import Reader


def _direct(operation: str) -> Function:
    return lambda reader, arguments: call(operation, *(reader.read(argument) for argument in arguments))


def _clip(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    return reader.clipped(*(reader.read(argument) for argument in taking("CLIP", arguments, 3, 3)))


def clip(value: Expression, low: Expression, high: Expression, known: Column | None) -> Expression:
    """CLIP(x, low, high): what is missing stays missing, which LEAST and GREATEST would pass over.

    A stored real beyond ±2^200, ∞ included, is NULL to them; compared as it is, it lies outside like any other.
    `known` is what is known about the value of a row; None where values of answers are spoken of.
    """
    _refuse_empty(low, high)
    inside = call("least", call("greatest", value, low), high)
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


def _if(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    test, then, otherwise = taking("IF", arguments, 3, 3)
    return call("case", reader.condition(test), reader.read(then), reader.read(otherwise))


def _alternative(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    return call("coalesce", *(reader.read(argument) for argument in taking("NVL", arguments, 2, 2)))


def _if_present(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    value, there, missing = (reader.read(argument) for argument in taking("NVL2", arguments, 3, 3))
    return call("case", call("is_null", value), missing, there)


def _zero_if_null(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    (value,) = taking("ZEROIFNULL", arguments, 1, 1)
    return call("coalesce", reader.read(value), literal(0))


def _decode(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    """DECODE(x, a, 'A', b, 'B' [, default])."""
    if len(arguments) < 3:
        raise refuse(
            "DECODE takes a value, pairs, and perhaps a default", "write DECODE(x, 0, 'a', 1, 'b')", "SRD-Q104"
        )
    value, *rest = arguments
    tested = reader.read(value)
    parts: list[Expression] = []
    for searched, result in zip(rest[::2], rest[1::2], strict=False):
        wanted = reader.read(searched)
        same = call("is_null", tested) if is_null(wanted) else call("equal", *alike(tested, wanted))
        parts += [same, reader.read(result)]
    return call("case", *parts, reader.read(rest[-1]) if len(rest) % 2 else literal(None))


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
    "COALESCE": "coalesce",
    "IFNULL": "coalesce",
    "NULLIF": "nullif",
}

FUNCTIONS: dict[str, Function] = {
    **{name: _direct(operation) for name, operation in _OPERATIONS.items()},
    **TEXT_FUNCTIONS,
    **DATE_FUNCTIONS,
    **ROUNDING_FUNCTIONS,
    "CLIP": _clip,
    "CLAMP": _clip,
    "LOG10": _logarithm(10.0),
    "LOG2": _logarithm(2.0),
    "IF": _if,
    "IFF": _if,
    "IIF": _if,
    "NVL": _alternative,
    "ISNULL": _alternative,
    "NVL2": _if_present,
    "ZEROIFNULL": _zero_if_null,
    "DECODE": _decode,
}
"""How each function of one row is read."""
