"""Functions of dates in SQL: a table from each name to how its arguments are read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp

from sordino.data.kinds import Kind
from sordino.query.model.expression import Expression
from sordino.query.model.literals import as_kind, literal
from sordino.query.model.operations import call

from .arguments import taking, text_constant, whole_constant
from .dates import (
    PART_NAMES,
    as_moment,
    date_part,
    date_trunc,
    days_between,
    interval_of,
    moved,
    seconds_between,
    sized,
    word,
)
from .refusals import refuse
from .rounding import toward_zero

if TYPE_CHECKING:
    from .arguments import Function
    from .expression import Reader

_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3_600}
_A_YEAR = {"MONTH": ("month", 12), "QUARTER": ("quarter", 4)}
_DIFFERENCES = ("YEAR", "QUARTER", "MONTH", "WEEK", "ISOWEEK", "DAY", *_SECONDS)


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
    """Count the boundaries between two dates, as DuckDB, Snowflake and BigQuery do.

    DATE_DIFF('day', earlier, later), DATEDIFF(day, earlier, later); BigQuery: DATE_DIFF(later, earlier, DAY); of days
    alone DATEDIFF(later, earlier).
    """
    taking("DATE_DIFF", arguments, 2, 3)
    if len(arguments) == 2:
        return days_between(*(reader.read(argument) for argument in arguments))
    first, second, third = arguments
    leads = isinstance(first, exp.Literal) or (word(first) in _DIFFERENCES and word(third) not in _DIFFERENCES)
    unit, later, earlier = (first, third, second) if leads else (third, first, second)
    name = (word(unit) or "").removesuffix("S")
    if name not in _DIFFERENCES or (name == "WEEK" and not leads):
        raise refuse(
            f"dates do not differ by {(word(unit) or 'this')[:40]}",
            "write DATE_DIFF('day', earlier, later), or one of year, quarter, month, isoweek, hour, minute, second",
            "SRD-Q104",
        )
    return _boundaries(name, reader.read(later), reader.read(earlier))


def _boundaries(unit: str, later: Expression, earlier: Expression) -> Expression:
    if unit == "DAY":
        return days_between(later, earlier)
    if unit in _SECONDS:
        cut = [as_moment(each) for each in (later, earlier)]
        if unit != "SECOND":
            cut = [call("date_trunc", each, detail=unit.lower()) for each in cut]
        seconds = seconds_between(*cut)
        return seconds if unit == "SECOND" else _whole(call("divide", seconds, literal(_SECONDS[unit])))
    dates = [_dated(each) for each in (later, earlier)]
    if unit in ("WEEK", "ISOWEEK"):
        weeks = days_between(*(call("date_trunc", each, detail="week") for each in dates))
        return _whole(call("divide", weeks, literal(7)))
    years = call("subtract", *(call("date_part", each, detail="year") for each in dates))
    if unit == "YEAR":
        return _whole(years)
    part, many = _A_YEAR[unit]
    parts = call("subtract", *(call("date_part", each, detail=part) for each in dates))
    return _whole(call("add", call("multiply", years, literal(many)), parts))


def _whole(value: Expression) -> Expression:
    return call("to_integer", value)


def _dated(value: Expression) -> Expression:
    return as_kind(value, Kind.DATE)


def _elapsed(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    """BigQuery's TIMESTAMP_DIFF(later, earlier, MINUTE): whole units that passed, cut towards zero."""
    later, earlier, unit = taking("TIMESTAMP_DIFF", arguments, 3, 3)
    name = word(unit)
    seconds = seconds_between(reader.read(later), reader.read(earlier))
    if name == "SECOND":
        return seconds
    size = {**_SECONDS, "DAY": 86_400}.get(name or "")
    if size is None:
        raise refuse("timestamps differ by days, hours, minutes or seconds", "write DATE_DIFF('month', a, b)")
    return toward_zero(call("divide", seconds, literal(size)))


def _moved(sign: int) -> Function:
    def read(reader: Reader, arguments: list[exp.Expr]) -> Expression:
        value, interval = taking("DATE_ADD", arguments, 2, 2)
        if not isinstance(interval, exp.Interval):
            raise refuse("a date moves by an interval", "write DATE_ADD(d, INTERVAL 3 DAY)", "SRD-Q104")
        return moved(reader.read(value), interval_of(interval).times(sign))

    return read


def _added(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    """DATEADD(day, 3, d)."""
    unit, amount, value = taking("DATEADD", arguments, 3, 3)
    return moved(reader.read(value), sized(whole_constant("DATEADD", reader, amount), word(unit)))


def _months_added(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    value, amount = taking("ADD_MONTHS", arguments, 2, 2)
    return moved(reader.read(value), sized(whole_constant("DATEADD", reader, amount), "MONTH"))


def _date(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    (value,) = taking("DATE", arguments, 1, 1)
    settled = as_kind(reader.read(value), Kind.DATE)
    return settled if settled.kind is Kind.DATE else call("to_date", settled)


def _last_day(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    """Return the last day of a month: the day before the first one of the next."""
    first = call("date_trunc", _date(reader, taking("LAST_DAY", arguments, 1, 1)), detail="month")
    return call("add_days", call("add_months", first, detail=(1,)), detail=(-1,))


def _epoch(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    (value,) = taking("EPOCH", arguments, 1, 1)
    return date_part("EPOCH", reader.read(value))


# ---- dates as texts: from the ISO form of the date, and parts of the time ------------------------------------------

_PERCENT = re.compile(r"%[A-Za-z%-]|[^%]+")
_WORDS = re.compile(r"YYYY|MM|DD|HH24|MI|SS|[^A-Za-z]+")
_SPELT = {
    **dict.fromkeys(("%Y", "YYYY"), (1, 4)),
    **dict.fromkeys(("%m", "MM"), (6, 2)),
    **dict.fromkeys(("%d", "DD"), (9, 2)),
    "%F": (1, 10),
}
"""Where a part stands in 2026-01-31."""
_TIMED = {"%H": "hour", "%M": "minute", "%S": "second", "HH24": "hour", "MI": "minute", "SS": "second"}


def _formatted(name: str, pattern: re.Pattern[str]) -> Function:
    def read(reader: Reader, arguments: list[exp.Expr]) -> Expression:
        first, second = taking(name, arguments, 2, 2)
        backwards = isinstance(first, exp.Literal) and not isinstance(second, exp.Literal)
        value, form = (second, first) if backwards else (first, second)
        text, moment = text_constant(name, form), reader.read(value)
        pieces = pattern.findall(text)
        if not pieces or "".join(pieces) != text:
            raise _no_form(name)
        parts = [_piece(name, piece, moment) for piece in pieces]
        return parts[0] if len(parts) == 1 else call("concat", *parts)

    return read


def _piece(name: str, piece: str, moment: Expression) -> Expression:
    if piece in _SPELT:
        day = call("to_date", moment) if moment.kind is not Kind.DATE else moment
        return call("substring", call("to_text", day), detail=_SPELT[piece])
    if piece in _TIMED:
        part = call("date_part", moment, detail=_TIMED[piece])
        text = call("to_text", part)
        return call("case", call("less", part, literal(10)), call("concat", literal("0"), text), text)
    if piece.startswith("%") or piece[0].isalpha():
        raise _no_form(name)
    return literal(piece)


def _no_form(name: str) -> Exception:
    example = "'%Y-%m-%d %H:%M:%S'" if name != "TO_CHAR" else "'YYYY-MM-DD HH24:MI:SS'"
    return refuse(f"{name} knows numbers of the year, month, day and time", f"write {name}(d, {example})", "SRD-Q104")


_BY_PERCENT = ("STRFTIME", "FORMAT_DATE", "FORMAT_TIMESTAMP", "FORMAT_DATETIME")

DATE_FUNCTIONS: dict[str, Function] = {
    **{name: _named_part(name) for name in sorted(PART_NAMES - {"DOY"})},
    **dict.fromkeys(("DATE_PART", "DATEPART"), _part),
    **dict.fromkeys(("DATE_TRUNC", "DATETRUNC", "TIMESTAMP_TRUNC", "DATETIME_TRUNC"), _trunc),
    **dict.fromkeys(("DATE_DIFF", "DATEDIFF", "DATETIME_DIFF"), _difference),
    "TIMESTAMP_DIFF": _elapsed,
    **dict.fromkeys(("DATE_ADD", "TIMESTAMP_ADD", "DATETIME_ADD"), _moved(1)),
    **dict.fromkeys(("DATE_SUB", "TIMESTAMP_SUB", "DATETIME_SUB"), _moved(-1)),
    "DATEADD": _added,
    "ADD_MONTHS": _months_added,
    **dict.fromkeys(("LAST_DAY", "EOMONTH"), _last_day),
    "EPOCH": _epoch,
    "DATE": _date,
    **{name: _formatted(name, _PERCENT) for name in _BY_PERCENT},
    "TO_CHAR": _formatted("TO_CHAR", _WORDS),
}
"""How each function of dates is read."""
