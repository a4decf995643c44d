"""Dates in SQL: their parts, the units that they are cut to, intervals, and what lies between two of them."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from sqlglot import exp

from sordino.data.kinds import Kind
from sordino.errors import QuestionError
from sordino.query.model.expression import Call, Expression, Literal
from sordino.query.model.literals import as_kind, literal
from sordino.query.model.operations import DATE_PARTS, call

from .constants import computed
from .refusals import FUNCTIONS as REFUSED_FUNCTIONS
from .refusals import refuse

_PARTS = {
    **{name.upper(): name for name in DATE_PARTS if "_" not in name and name != "weekday"},
    "ISOWEEK": "week",
    "DAYOFMONTH": "day",
    "ISODOW": "weekday",
    "DAYOFWEEKISO": "weekday",
    "DAYOFWEEK_ISO": "weekday",
    "DOY": "day_of_year",
    "DAYOFYEAR": "day_of_year",
}
PART_NAMES = frozenset(_PARTS)

_SIZES = {
    "SECOND": ("second", 1),
    "MINUTE": ("second", 60),
    "HOUR": ("second", 3_600),
    "DAY": ("day", 1),
    "WEEK": ("day", 7),
    "MONTH": ("month", 1),
    "QUARTER": ("month", 3),
    "YEAR": ("month", 12),
}
SECONDS_A_DAY = 86_400
_MOST = 10**9
_UNIX = datetime(1970, 1, 1)


@dataclass(frozen=True)
class Interval:
    """A constant span of time: so many days, months or seconds, which are not the same thing."""

    amount: int
    unit: str

    def times(self, sign: int) -> Interval:
        """Return it forwards or backwards."""
        return Interval(sign * self.amount, self.unit)

    def beside(self, other: Expression) -> Expression:
        """Return it as the number that a difference of dates (in days) or timestamps (in seconds) is compared with."""
        operation = other.operation if isinstance(other, Call) else ""
        if operation == "seconds_between" and self.unit != "month":
            return literal(self.amount * (SECONDS_A_DAY if self.unit == "day" else 1))
        if operation == "days_between" and self.unit == "day":
            return literal(self.amount)
        raise refuse(
            "an interval is compared with a difference of dates or timestamps",
            "write a - b > INTERVAL 2 HOUR, or days: d1 - d2 > 30",
            "SRD-Q104",
        )


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
    if name == "EPOCH":
        return _epoch(value)
    if name in REFUSED_FUNCTIONS:
        raise refuse(f"{name} is not possible", REFUSED_FUNCTIONS[name])
    if name is None or name not in _PARTS:
        raise refuse(f"there is no part {str(name)[:40]!r} of a date", f"there are {', '.join(_PARTS)}", "SRD-Q104")
    return call("date_part", value, detail=_PARTS[name])


def _epoch(value: Expression) -> Expression:
    """Return whole seconds: of a difference, or since 1970."""
    if isinstance(value, Call) and value.operation == "seconds_between":
        return value
    if isinstance(value, Call) and value.operation == "days_between":
        return call("multiply", value, literal(SECONDS_A_DAY))
    return seconds_between(value, literal(_UNIX))


def date_trunc(unit: str | None, value: Expression) -> Expression:
    """Return the date cut down to the unit."""
    return call("date_trunc", value, detail=_PARTS.get(unit or "", unit))


def interval_of(node: exp.Interval) -> Interval:
    """Return what ``INTERVAL 3 DAY``, ``INTERVAL '3' MONTH`` or ``INTERVAL '3 months'`` says."""
    size, unit = node.this, node.args.get("unit")
    negative = isinstance(size, exp.Neg)
    text = str(size.this.this if negative else size.this) if isinstance(size, exp.Neg | exp.Literal) else ""
    digits, _, named = text.strip().partition(" ")
    name = named or (unit.name if isinstance(unit, exp.Var) else "")
    sign = -1 if negative != digits.startswith("-") else 1
    digits = digits.removeprefix("-").removeprefix("+")
    if not (digits.isdecimal() and digits.isascii()) or len(digits) > 9:
        raise _no_interval()
    return sized(sign * int(digits), name)


def sized(amount: int, unit: str | None) -> Interval:
    """Return so many of a unit, as days, months or seconds."""
    name = (unit or "").upper().strip().removesuffix("S")
    if name not in _SIZES:
        raise _no_interval()
    kept, size = _SIZES[name]
    if abs(amount * size) > _MOST:
        raise refuse("dates are moved within their 10,000 years", "write a smaller interval", "SRD-Q104")
    return Interval(amount * size, kept)


def _no_interval() -> QuestionError:
    return refuse(
        "an interval is a constant whole number of seconds, minutes, hours, days, weeks, months, quarters or years",
        "write d + INTERVAL 3 DAY",
        "SRD-Q104",
    )


def moved(value: Expression, by: Interval) -> Expression:
    """Return the date or timestamp, so much later: of a date and seconds a timestamp."""
    if isinstance(value, Literal) and value.kind is Kind.TEXT:
        value = as_kind(value, Kind.TIMESTAMP if len(str(value.value).strip()) > 10 else Kind.DATE)
    if by.unit == "second" and value.kind is Kind.DATE:
        value = as_moment(value)
    if isinstance(value, Literal) and isinstance(value.value, date):
        return literal(_moved(value.value, by))
    if by.unit == "day" and value.kind is not Kind.TIMESTAMP:
        return call("add_days", value, detail=(by.amount,))
    if by.unit == "month":
        return call("add_months", value, detail=(by.amount,))
    return call("add_seconds", value, detail=(by.amount * (SECONDS_A_DAY if by.unit == "day" else 1),))


def _moved(value: date, by: Interval) -> date:
    try:
        if by.unit != "month":
            return value + timedelta(**{f"{by.unit}s": by.amount})
        months = value.year * 12 + value.month - 1 + by.amount
        year, month = months // 12, months % 12 + 1
        return value.replace(year=year, month=month, day=min(value.day, calendar.monthrange(year, month)[1]))
    except (ValueError, OverflowError):
        raise QuestionError("a date lies in the years 1 to 9999; move it by less", "SRD-Q104") from None


def days_between(later: Expression, earlier: Expression) -> Expression:
    """Return the days from the one date to the other; of timestamps, between their dates."""
    return call("days_between", _as_date(later), _as_date(earlier))


def seconds_between(later: Expression, earlier: Expression) -> Expression:
    """Return the whole seconds from the one timestamp to the other."""
    return call("seconds_between", as_moment(later), as_moment(earlier))


def _as_date(value: Expression) -> Expression:
    settled = as_kind(value, Kind.DATE)
    return call("to_date", settled) if settled.kind is Kind.TIMESTAMP else settled


def as_moment(value: Expression) -> Expression:
    """Return a timestamp: of a date, the midnight that it begins with."""
    settled = as_kind(value, Kind.TIMESTAMP)
    return call("to_timestamp", settled) if settled.kind is Kind.DATE else settled


def sum_or_date(sign: int, left: Expression, right: Expression) -> Expression:
    """Return left + right or left − right: of numbers, of a date and a number of days, or what lies between dates.

    Dates differ by days, timestamps by seconds.
    """
    if sign < 0 and not right.kind.is_number:
        if Kind.TIMESTAMP in (left.kind, right.kind):
            return seconds_between(left, right)
        if Kind.DATE in (left.kind, right.kind):
            return days_between(left, right)
    if left.kind is Kind.DATE and isinstance(right, Literal) and right.kind is Kind.INTEGER:
        assert isinstance(right.value, int)  # noqa: S101  (what an INTEGER that is not NULL holds)
        return moved(left, sized(sign * right.value, "DAY"))
    if Kind.TIMESTAMP in (left.kind, right.kind):
        raise QuestionError(
            "a timestamp is moved by an interval; write t + INTERVAL 2 HOUR, or t1 - t2 for seconds", "SRD-Q104"
        )
    return computed("add" if sign > 0 else "subtract", left, right)
