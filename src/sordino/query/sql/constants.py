"""Arithmetic of constants: as decimals, so that 0.06 + 0.01 is 0.07 and not the float below it.

SQL has decimal literals: ``BETWEEN 0.06 - 0.01 AND 0.06 + 0.01`` holds for a stored 0.07. Floats would lose that row.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sordino.query.model.expression import Expression, Literal
from sordino.query.model.literals import LARGEST_INTEGER, LARGEST_REAL, exact, literal
from sordino.query.model.operations import call


def computed(operation: str, left: Expression, right: Expression) -> Expression:
    """Return the operation on both sides: of two constants the constant that it is, exactly, then rounded once."""
    one, other = _number(left), _number(right)
    if one is None or other is None or (operation == "divide" and not other):
        return call(operation, left, right)
    result = _EXACT[operation](exact(one), exact(other))
    if operation != "divide" and isinstance(one, int) and isinstance(other, int):
        return literal(int(result)) if abs(result) <= LARGEST_INTEGER else call(operation, left, right)
    return literal(float(result)) if abs(result) <= LARGEST_REAL else call(operation, left, right)


def _number(expression: Expression) -> int | float | None:
    value = expression.value if isinstance(expression, Literal) else None
    return None if isinstance(value, bool) or not isinstance(value, int | float) else value


_EXACT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
}
