"""Constants: which values a question may hold, and how one is read where another kind is meant."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any

from sordino.data.kinds import Kind
from sordino.errors import QuestionError

from .expression import Expression, Literal, Value

LARGEST_INTEGER = 2**63 - 1
LARGEST_REAL = 1e150

_KINDS: tuple[tuple[type, Kind, Callable[[Any], Value]], ...] = (
    (bool, Kind.BOOLEAN, bool),  # before int, and datetime before date: the first one is of the second's type, too
    (int, Kind.INTEGER, int),
    (float, Kind.REAL, float),
    (str, Kind.TEXT, str.__str__),
    (datetime, Kind.TIMESTAMP, lambda moment: datetime.combine(moment.date(), moment.timetz())),
    (date, Kind.DATE, lambda day: date(day.year, day.month, day.day)),
)
"""Types of Python, what they are here, and how a value of a subclass (NumPy's, pandas', enums) becomes a plain one."""


def literal(value: Value) -> Literal:
    """Return the constant, if every engine can hold it: integers of 64 bits, reals to 1e150, texts without NUL.

    None becomes a NULL whose kind `operations.call` settles from what stands beside it.

    >>> literal(3).kind
    <Kind.INTEGER: 'integer'>
    """
    if value is None:
        return Literal(Kind.TEXT, None)
    for kind_of, kind, plain in _KINDS:
        if isinstance(value, kind_of):
            _refuse_unholdable(value)
            return Literal(kind, plain(value))
    raise QuestionError(f"a value of type {type(value).__name__} cannot be part of a question", "SRD-Q104")


def _refuse_unholdable(value: Value) -> None:
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        raise QuestionError("an integer beyond 64 bits cannot be held by every engine; write it as 1e20", "SRD-Q104")
    if isinstance(value, float) and not abs(value) <= LARGEST_REAL:
        raise QuestionError("numbers must lie within ±1e150; there is nothing beyond that in sordino", "SRD-Q104")
    if isinstance(value, str) and any(character == "\0" or "\ud800" <= character <= "\udfff" for character in value):
        raise QuestionError("a text with NUL or half a character cannot be held by every engine", "SRD-Q104")
    if isinstance(value, datetime) and value.tzinfo is not None:
        raise QuestionError("timestamps have no time zone in sordino; write the time without its offset", "SRD-Q104")


def is_null(expression: Expression) -> bool:
    """Whether it is the constant NULL."""
    return isinstance(expression, Literal) and expression.value is None


def as_kind(expression: Expression, kind: Kind) -> Expression:
    """Return a constant as the `kind` that its neighbours have, if it can be read so; else what was given.

    NULL takes any kind; an integer becomes a real; a text in ISO form becomes a date or a timestamp, as engines read
    ``day >= '2026-01-31'``; a date becomes the timestamp of its midnight. A column is never converted.
    """
    if not isinstance(expression, Literal) or expression.kind is kind:
        return expression
    if expression.value is None:
        return Literal(kind, None)
    convert = _CONVERSIONS.get((expression.kind, kind))
    return expression if convert is None else Literal(kind, convert(expression.value))


def to_date(text: object) -> date:
    """Return the date that a text in ISO form names."""
    try:
        return date.fromisoformat(str(text).strip())
    except ValueError:
        raise QuestionError(f"{str(text)[:40]!r} is not a date; write '2026-01-31'", "SRD-Q104") from None


def to_timestamp(text: object) -> datetime:
    """Return the timestamp that a text in ISO form names."""
    try:
        read = datetime.fromisoformat(str(text).strip())
    except ValueError:
        raise QuestionError(f"{str(text)[:40]!r} is not a timestamp; write '2026-01-31 12:00:00'", "SRD-Q104") from None
    _refuse_unholdable(read)
    return read


def _midnight(day: object) -> datetime:
    assert isinstance(day, date)  # noqa: S101  (what a DATE holds)
    return datetime.combine(day, time())


_CONVERSIONS: dict[tuple[Kind, Kind], Callable[[Any], Value]] = {
    (Kind.INTEGER, Kind.REAL): float,
    (Kind.TEXT, Kind.DATE): to_date,
    (Kind.TEXT, Kind.TIMESTAMP): to_timestamp,
    (Kind.DATE, Kind.TIMESTAMP): _midnight,
}


def number(text: str) -> int | float:
    """Return the number that a decimal text denotes: an int if it is written as one, else the nearest float."""
    if text.isdecimal() and text.isascii():
        if len(text) > 19:
            _refuse_unholdable(LARGEST_INTEGER + 1)
        return int(text)
    try:
        value = float(text)
    except ValueError:
        raise QuestionError(f"{text[:40]!r} is not a number", "SRD-Q104") from None
    _refuse_unholdable(value)
    return value


def exact(value: int | float) -> Fraction:
    """Return the decimal that was written, exactly: 0.1 is one tenth."""
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))
