"""Dates and timestamps without a zone, in the years 1 to 9999.

Columns are read as such (``reading``: PostgreSQL and DuckDB have 'infinity', too), and nothing here leads outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

import ibis
from ibis.expr import datatypes as dt

from sordino.data.kinds import Kind
from sordino.query.model.expression import Call

from .numbers import kept
from .values import Operation, constant


@ibis.udf.scalar.builtin(name="add")
def _duckdb_add(day: dt.Date, days: dt.Int32) -> dt.Date:
    """Return the date so many days later."""


@ibis.udf.scalar.builtin(name="date_pli")
def _postgres_add(day: dt.Date, days: dt.Int32) -> dt.Date:
    """Return the date so many days later."""


@ibis.udf.scalar.builtin(name="date_add")
def _spark_add(day: dt.Date, days: dt.Int32) -> dt.Date:
    """Return the date so many days later."""


_ADD = {"duckdb": _duckdb_add, "postgres": _postgres_add, "pyspark": _spark_add}


_PARTS = {
    "year": lambda moment: moment.year(),
    "quarter": lambda moment: moment.quarter(),
    "month": lambda moment: moment.month(),
    "week": lambda moment: moment.week_of_year(),
    "day": lambda moment: moment.day(),
    "hour": lambda moment: moment.hour(),
    "minute": lambda moment: moment.minute(),
    "second": lambda moment: moment.second(),
    "weekday": lambda moment: moment.day_of_week.index() + 1,
    "day_of_year": lambda moment: moment.day_of_year(),
}


_UNITS = {"year": "Y", "quarter": "Q", "month": "M", "week": "W", "day": "D", "hour": "h", "minute": "m"}


def _date_trunc(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    """Pass through a timestamp without zone: PostgreSQL would truncate a date in the session's time zone."""
    del dialect
    truncated = arguments[0].cast("timestamp").truncate(_UNITS[str(call.detail)])
    return truncated.cast("date") if call.kind is Kind.DATE else truncated


def _add_days(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    """Move the date; one that would leave the years 1 to 9999 is NULL before."""
    days = int(call.detail[0])  # type: ignore[index, arg-type]
    day = arguments[0]
    last = constant(Kind.DATE, date.max - timedelta(days=max(days, 0)))
    first = constant(Kind.DATE, date.min + timedelta(days=max(-days, 0)))
    return _ADD[dialect](kept(day, day.between(first, last)), ibis.literal(days, type="int32"))


def _add_months(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    """Move by calendar months, to the month's last day at most; what might leave the years 1 to 9999 is NULL before."""
    del dialect
    months, moment = int(call.detail[0]), arguments[0]  # type: ignore[index, arg-type]
    year = moment.year().cast("int64") * 12 + moment.month().cast("int64") + ibis.literal(months, type="int64")
    inside = kept(moment, year.between(ibis.literal(13, type="int64"), ibis.literal(9999 * 12 + 12, type="int64")))
    later = inside.cast("timestamp") + ibis.interval(months=months)
    return later.cast("date") if call.kind is Kind.DATE else later


def _add_seconds(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    del dialect
    seconds, moment = int(call.detail[0]), arguments[0]  # type: ignore[index, arg-type]
    last = constant(Kind.TIMESTAMP, _moved(datetime.max, -max(seconds, 0)))
    first = constant(Kind.TIMESTAMP, _moved(datetime.min, max(-seconds, 0)))
    return kept(moment, moment.between(first, last)) + ibis.interval(seconds=seconds)


def _moved(moment: datetime, seconds: int) -> datetime:
    return moment + timedelta(seconds=seconds)


def _seconds_between(_: Call, arguments: Sequence[Any], dialect: str) -> Any:
    """Return whole seconds, from days and from the time of day: no engine's own difference is used."""
    del dialect
    later, earlier = arguments
    days = later.cast("date").delta(earlier.cast("date"), unit="day").cast("int64")
    return days * ibis.literal(86_400, type="int64") + _second_of_day(later) - _second_of_day(earlier)


def _second_of_day(moment: Any) -> Any:
    hour, minute, second = (part.cast("int64") for part in (moment.hour(), moment.minute(), moment.second()))
    return (hour * ibis.literal(60, type="int64") + minute) * ibis.literal(60, type="int64") + second


DATES: dict[str, Operation] = {
    "date_part": lambda call, arguments, _dialect: _PARTS[str(call.detail)](arguments[0]).cast("int64"),
    "date_trunc": _date_trunc,
    "add_days": _add_days,
    "add_months": _add_months,
    "add_seconds": _add_seconds,
    "seconds_between": _seconds_between,
    "days_between": lambda _call, arguments, _dialect: arguments[0].delta(arguments[1], unit="day").cast("int64"),
}
