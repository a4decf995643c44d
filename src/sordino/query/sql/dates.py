"""Dates in SQL: their parts, the units that they are cut to, and the days between them."""

from __future__ import annotations

from sqlglot import exp

from sordino.data.kinds import Kind
from sordino.errors import QuestionError
from sordino.query.model.expression import Expression, Literal
from sordino.query.model.literals import as_kind
from sordino.query.model.operations import call

from .refusals import FUNCTIONS as REFUSED_FUNCTIONS
from .refusals import refuse

_PARTS = {
    "YEAR": "year",
    "QUARTER": "quarter",
    "MONTH": "month",
    "WEEK": "week",
    "ISOWEEK": "week",
    "DAY": "day",
    "DAYOFMONTH": "day",
    "HOUR": "hour",
    "MINUTE": "minute",
    "ISODOW": "weekday",
    "DAYOFWEEKISO": "weekday",
    "DAYOFWEEK_ISO": "weekday",
    "DOY": "day_of_year",
    "DAYOFYEAR": "day_of_year",
}
_DAYS = {"DAY": 1, "DAYS": 1, "WEEK": 7, "WEEKS": 7}

PART_NAMES = frozenset(_PARTS)


def word(node: exp.Expr) -> str | None:
    """Return the bare word that names a unit, however it was written: MONTH, 'month'; None if it is not a word."""
    if isinstance(node, exp.Literal) and node.is_string:
        return str(node.this).upper()
    if isinstance(node, exp.Var) or (isinstance(node, exp.Column) and not node.table):
        return node.name.upper()
    return None


def date_part(unit: exp.Expr | str, value: Expression) -> Expression:
    """Return the part of a date that the unit names."""
    name = unit if isinstance(unit, str) else word(unit)
    if name in REFUSED_FUNCTIONS:
        raise refuse(f"{name} is not possible", REFUSED_FUNCTIONS[name])
    if name is None or name not in _PARTS:
        raise refuse(f"there is no part {str(name)[:40]!r} of a date", f"there are {', '.join(_PARTS)}", "SRD-Q104")
    return call("date_part", value, detail=_PARTS[name])


def date_trunc(unit: str | None, value: Expression) -> Expression:
    """Return the date cut down to the unit."""
    return call("date_trunc", value, detail=_PARTS.get(unit or "", unit))


def days_of(interval: exp.Interval) -> int:
    """Return the whole number of days in ``INTERVAL 3 DAY``."""
    size, unit = interval.this, interval.args.get("unit")
    negative = isinstance(size, exp.Neg)
    size = size.this if negative else size
    text = str(size.this) if isinstance(size, exp.Literal) else ""
    name = unit.name.upper() if isinstance(unit, exp.Var) else ""
    digits = text.removeprefix("-")
    if name not in _DAYS or not (digits.isdecimal() and digits.isascii()) or len(digits) > 9:
        raise refuse("dates move by whole days or weeks", "write d + INTERVAL 3 DAY", "SRD-Q104")
    return int(text) * _DAYS[name] * (-1 if negative else 1)


def moved(value: Expression, days: int) -> Expression:
    """Return the date, so many days later."""
    return call("add_days", as_kind(value, Kind.DATE), detail=(days,))


def between(later: Expression, earlier: Expression) -> Expression:
    """Return the days from the one date to the other; of timestamps, between their dates."""
    return call("days_between", _as_date(later), _as_date(earlier))


def _as_date(value: Expression) -> Expression:
    settled = as_kind(value, Kind.DATE)
    return call("to_date", settled) if settled.kind is Kind.TIMESTAMP else settled


def sum_or_date(sign: int, left: Expression, right: Expression) -> Expression:
    """Return left + right or left − right: of numbers, of a date and a number of days, or the days between dates."""
    if sign < 0 and Kind.DATE in (left.kind, right.kind) and not right.kind.is_number:
        return between(left, right)
    if left.kind is Kind.DATE and isinstance(right, Literal) and right.kind is Kind.INTEGER:
        assert isinstance(right.value, int)  # noqa: S101  (what an INTEGER that is not NULL holds)
        return moved(left, sign * right.value)
    if Kind.TIMESTAMP in (left.kind, right.kind):
        raise QuestionError(
            "timestamps have no arithmetic; write CAST(… AS DATE), and a difference of dates", "SRD-Q104"
        )
    return call("add" if sign > 0 else "subtract", left, right)
