"""Comparisons of values of unlike kinds, where SQL has one meaning for them.

A boolean is 0 or 1 beside a number; a text is read as a number beside one (a text that is none is equal to nothing); a
date is the midnight that it begins with beside a timestamp. Everything else stays refused by ``operations``.
"""

from __future__ import annotations

from sordino.data.kinds import Kind
from sordino.errors import QuestionError
from sordino.query.model.expression import Expression, Literal
from sordino.query.model.literals import is_null, literal, number
from sordino.query.model.operations import call

_TRUTHS = {"true": True, "t": True, "false": False, "f": False}


def alike(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """Return both sides so that they can be compared, or as they are if nothing is known of how."""
    return _beside(left, right), _beside(right, left)


def alike_to_all(value: Expression, members: list[Literal]) -> tuple[Expression, list[Literal]]:
    """Return a value and a list of constants so that it can be looked for among them."""
    pairs = [alike(value, member) for member in members]
    values = {one for one, _ in pairs}
    settled = [other for _, other in pairs if isinstance(other, Literal)]
    return (values.pop(), settled) if len(values) == 1 and len(settled) == len(members) else (value, members)


def _beside(value: Expression, other: Expression) -> Expression:
    """Return a value as it is compared with the other one."""
    if is_null(value) or is_null(other) or value.kind is other.kind:
        return value
    if isinstance(value, Literal):
        return _constant(value, other)
    if value.kind is Kind.BOOLEAN and other.kind.is_number and not _is_truth(other):
        return call("to_integer", value)
    if value.kind is Kind.TEXT and other.kind.is_number:
        return call("to_real", value)
    if value.kind is Kind.DATE and other.kind is Kind.TIMESTAMP:
        return call("to_timestamp", value)
    return value


def _constant(value: Literal, other: Expression) -> Expression:
    if value.kind is Kind.BOOLEAN and other.kind.is_number:
        return literal(int(bool(value.value)))
    if other.kind is Kind.BOOLEAN and not isinstance(other, Literal):
        if _is_truth(value):
            return literal(bool(value.value))
        truth = _TRUTHS.get(str(value.value).lower()) if value.kind is Kind.TEXT else None
        return value if truth is None else literal(truth)
    return _as_number(value) if value.kind is Kind.TEXT and other.kind.is_number else value


def _is_truth(value: Expression) -> bool:
    return isinstance(value, Literal) and value.kind is Kind.INTEGER and value.value in (0, 1)


def _as_number(value: Literal) -> Literal:
    text = str(value.value).strip()
    sign = -1 if text.startswith("-") else 1
    try:
        return literal(sign * number(text.removeprefix("-").removeprefix("+")))
    except QuestionError:
        return value
