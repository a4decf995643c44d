"""Text, and reading numbers and dates out of it, without a row that could fail.

There is no TRY_CAST in PostgreSQL, and the engines disagree on what ``CAST(' 1e3 ' AS …)`` means. So a regular
expression first takes out what every engine reads alike, and gives nothing where there is no such thing; only that is
cast. The one for dates knows the calendar, leap years included: '2024-02-30' is not a date.

Texts are compared by their bytes in UTF-8, whatever collation a database has. Letters outside of ASCII are lowered and
raised as the engine (and, in PostgreSQL, its locale) knows them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ibis

from sordino.data.kinds import Kind
from sordino.query.model.expression import Call
from sordino.query.model.operations import LONGEST_MADE

from .numbers import WHOLE, kept, round_half_up, within
from .values import Operation

_SIGNED = r"[+-]?"
_REAL = _SIGNED + r"(?:[0-9]{1,50}(?:[.][0-9]{0,50})?|[.][0-9]{1,50})(?:[eE][+-]?[0-9]{1,2})?"
"""At most 50 digits before the point and 10^±99: within 10^±150, so that no engine overflows or underflows."""
_INTEGER = _SIGNED + r"[0-9]{1,18}"
_YEAR = r"(?:[0-9]{3}[1-9]|[0-9]{2}[1-9][0-9]|[0-9][1-9][0-9]{2}|[1-9][0-9]{3})"
_FOURTH = r"(?:0[48]|[2468][048]|[13579][26])"
"""01 to 99, if divisible by 4."""
_LEAP_YEAR = rf"(?:[0-9]{{2}}{_FOURTH}|{_FOURTH}00)"
_DAY = (
    r"(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    r"|02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_DATE = rf"(?:{_YEAR}-{_DAY}|{_LEAP_YEAR}-02-29)"

_END = {"postgres": "$"}
"""Elsewhere ``$`` may also stand before a last line feed."""


@ibis.udf.scalar.builtin(name="substring")
def _postgres_extract(text: str, pattern: str) -> str:  # type: ignore[empty-body]
    """Return the parenthesised part of the first match."""


@ibis.udf.scalar.builtin(name="convert_to")
def _postgres_bytes(text: str, encoding: str) -> bytes:  # type: ignore[empty-body]
    """Return the bytes of a text."""


@ibis.udf.scalar.builtin(name="substr")
def _from(text: str, start: int) -> str:  # type: ignore[empty-body]
    """Return the text from a character on."""


@ibis.udf.scalar.builtin(name="substr")
def _from_for(text: str, start: int, length: int) -> str:  # type: ignore[empty-body]
    """Return some characters of the text."""


@ibis.udf.scalar.builtin(name="trim")
def _duckdb_trim(text: str, characters: str) -> str:  # type: ignore[empty-body]
    """Return the text without these characters at its ends."""


@ibis.udf.scalar.builtin(name="btrim")
def _trim_both(text: str, characters: str) -> str:  # type: ignore[empty-body]
    """Return the text without these characters at its ends."""


def in_byte_order(value: Any, dialect: str) -> Any:
    """Return what to compare or sort a value by, so that texts come in the order of their bytes."""
    return _postgres_bytes(value, "UTF8") if dialect == "postgres" and value.type().is_string() else value


def _extracted(text: Any, pattern: str, dialect: str) -> Any:
    """Return the text without blanks around it where it matches as a whole, else NULL."""
    anchored = f"^ *({pattern}) *" + _END.get(dialect, r"\z")
    found = _postgres_extract(text, anchored) if dialect == "postgres" else text.re_extract(anchored, 1)
    return found.nullif("")


def _date_to_text(day: Any, dialect: str) -> Any:
    """Return the date in ISO form; a plain cast would follow PostgreSQL's setting of DateStyle."""
    return day.strftime("%Y-%m-%d") if dialect == "postgres" else day.cast("string")


def _same(value: Any, dialect: str) -> Any:
    del dialect
    return value


def _as(kind: str) -> Callable[[Any, str], Any]:
    def cast(value: Any, dialect: str) -> Any:
        del dialect
        return value.cast(kind)

    return cast


def _boolean_to_integer(value: Any, dialect: str) -> Any:
    """Pass through 32 bits: PostgreSQL knows no other way."""
    del dialect
    return value.cast("int32").cast("int64")


_CASTS: dict[tuple[Kind, str], Callable[[Any, str], Any]] = {
    (Kind.INTEGER, "to_real"): _as("float64"),
    (Kind.TEXT, "to_real"): lambda text, dialect: _extracted(text, _REAL, dialect).cast("float64"),
    (Kind.BOOLEAN, "to_real"): lambda value, _dialect: value.cast("int32").cast("float64"),
    (Kind.REAL, "to_integer"): lambda value, _dialect: round_half_up(within(value, WHOLE)),
    (Kind.TEXT, "to_integer"): lambda text, dialect: _extracted(text, _INTEGER, dialect).cast("int64"),
    (Kind.BOOLEAN, "to_integer"): _boolean_to_integer,
    (Kind.INTEGER, "to_text"): _as("string"),
    (Kind.BOOLEAN, "to_text"): _as("string"),
    (Kind.DATE, "to_text"): _date_to_text,
    (Kind.TEXT, "to_date"): lambda text, dialect: _extracted(text, _DATE, dialect).cast("date"),
    (Kind.TIMESTAMP, "to_date"): _as("date"),
    (Kind.DATE, "to_timestamp"): _as("timestamp"),
}


def _cast(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    return _CASTS.get((call.arguments[0].kind, call.operation), _same)(arguments[0], dialect)


def _plain(compute: Callable[..., Any]) -> Operation:
    """Return an operation that all engines know by the name that Ibis gives it."""

    def lower(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
        del call, dialect
        return compute(*arguments)

    return lower


def _substring(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    del dialect
    detail = call.detail or ()
    start, length = detail[0], detail[1]
    return _from(arguments[0], start) if length is None else _from_for(arguments[0], start, length)


@ibis.udf.scalar.builtin(name="right")
def _last(text: str, length: int) -> str:  # type: ignore[empty-body]
    """Return the last characters of the text."""


@ibis.udf.scalar.builtin(name="strpos")
def _position_in(text: str, wanted: str) -> int:  # type: ignore[empty-body]
    """Return the place of the first character of what is wanted, from 1 on; 0 if it is not there."""


@ibis.udf.scalar.builtin(name="instr")
def _spark_position(text: str, wanted: str) -> int:  # type: ignore[empty-body]
    """Return the same."""


@ibis.udf.scalar.builtin(name="replace")
def _with_replaced(text: str, old: str, new: str) -> str:  # type: ignore[empty-body]
    """Return the text with each of the one as the other."""


@ibis.udf.scalar.builtin(name="split_part")
def _part_of(text: str, separator: str, place: int) -> str:  # type: ignore[empty-body]
    """Return the part at a place, from 1 on; nothing where there are fewer."""


def _right(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    del dialect
    return _last(arguments[0], _number(call, 0))


def _position(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    """An empty text stands before everything."""
    text, wanted = arguments[0], str(call.detail)
    if not wanted:
        return kept(ibis.literal(1, type="int64"), text.notnull())
    return (_spark_position if dialect == "pyspark" else _position_in)(text, wanted).cast("int64")


def _replace(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    """Cut before and after, since what is put in may be longer than what was there."""
    del dialect
    detail = call.detail or ()
    old, new = str(detail[0]), str(detail[1])
    return _from_for(_with_replaced(_from_for(arguments[0], 1, LONGEST_MADE), old, new), 1, LONGEST_MADE)


def _split_part(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    del dialect
    return _part_of(arguments[0], str((call.detail or ())[0]), _number(call, 1))


def _number(call: Call, place: int) -> Any:
    return ibis.literal((call.detail or ())[place], type="int32")


def _concat(*texts: Any) -> Any:
    """Join texts, and cut the result: one that doubles again and again would let a single row exhaust the engine."""
    first, *others = (_from_for(text, 1, LONGEST_MADE) for text in texts)
    return _from_for(first.concat(*others), 1, LONGEST_MADE)


def _like(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    del dialect
    return arguments[0].like(call.detail)


def _ilike(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    """Lower both sides, since not every engine has ILIKE, nor one meaning of it."""
    del dialect
    return arguments[0].lower().like(ibis.literal(call.detail).lower())


def _starts_with(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    del dialect
    return arguments[0].startswith(call.detail)


TEXT: dict[str, Operation] = {
    **dict.fromkeys(("to_real", "to_integer", "to_text", "to_date", "to_timestamp"), _cast),
    "lower": _plain(lambda text: text.lower()),
    "upper": _plain(lambda text: text.upper()),
    "trim": lambda _call, arguments, dialect: (_duckdb_trim if dialect == "duckdb" else _trim_both)(arguments[0], " "),
    "length": _plain(lambda text: text.length().cast("int64")),
    "concat": _plain(_concat),
    "substring": _substring,
    "right": _right,
    "position": _position,
    "replace": _replace,
    "split_part": _split_part,
    "like": _like,
    "ilike": _ilike,
    "starts_with": _starts_with,
}
