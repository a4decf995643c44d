"""The arguments of a function's call in SQL: how many there are, and those that must be constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sordino.data.kinds import Kind
from sordino.errors import QuestionError
from sordino.query.model.expression import Expression, Literal

from .refusals import refuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from .expression import Reader

    Function = Callable[[Reader, list[exp.Expr]], Expression]

_FORMS = {
    "ROUND": "ROUND(x, 2)",
    "TRUNC": "TRUNC(x, 2)",
    "SUBSTRING": "SUBSTRING(x, 1, 3)",
    "LEFT": "LEFT(x, 3)",
    "RIGHT": "RIGHT(x, 3)",
    "SPLIT_PART": "SPLIT_PART(x, '-', 1)",
    "STARTS_WITH": "STARTS_WITH(x, 'a')",
    "ENDS_WITH": "ENDS_WITH(x, 'a')",
    "CONTAINS": "CONTAINS(x, 'a')",
    "STRPOS": "STRPOS(x, 'a')",
    "REPLACE": "REPLACE(x, 'a', 'b')",
    "STRFTIME": "STRFTIME(d, '%Y-%m')",
    "TO_CHAR": "TO_CHAR(d, 'YYYY-MM')",
    "WIDTH_BUCKET": "WIDTH_BUCKET(x, 0, 100, 10)",
    "HISTOGRAM": "HISTOGRAM(x, 10), or its edges: HISTOGRAM(x, 0, 10, 50)",
    "TOP": "TOP(x, 3)",
    "APPROX_QUANTILES": "APPROX_QUANTILES(x, 4)",
    "DATEADD": "DATEADD(day, 3, d)",
}
"""How what takes a constant is written."""


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


def text_constant(name: str, node: exp.Expr) -> str:
    """Return the constant text that the node is."""
    if not isinstance(node, exp.Literal) or not node.is_string:
        raise refuse(f"{name} needs a constant text here", f"write {_FORMS[name]}", "SRD-Q104")
    return str(node.this)
