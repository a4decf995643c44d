"""Dates and timestamps without a zone, in the years 1 to 9999. Others (PostgreSQL has 'infinity', too) are NULL.

Columns are brought into that range where they are scanned, so whatever is computed here starts inside of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

import ibis
from ibis.expr import datatypes as dt

from .expression import Call
from .kinds import Kind
from .lowering_values import Operation, constant

_ENDS = {
    Kind.DATE: (date.min, date.max),
    Kind.TIMESTAMP: (datetime.min, datetime.max),
}


@ibis.udf.scalar.builtin(name="add")
def _duckdb_add(day: dt.Date, days: dt.Int32) -> dt.Date:  # type: ignore[empty-body]
    """Return the date so many days later."""


@ibis.udf.scalar.builtin(name="date_pli")
def _postgres_add(day: dt.Date, days: dt.Int32) -> dt.Date:  # type: ignore[empty-body]
    """Return the date so many days later."""


@ibis.udf.scalar.builtin(name="date_add")
def _spark_add(day: dt.Date, days: dt.Int32) -> dt.Date:  # type: ignore[empty-body]
    """Return the date so many days later."""


_ADD = {"duckdb": _duckdb_add, "postgres": _postgres_add, "pyspark": _spark_add}


def in_range(value: Any, kind: Kind) -> Any:
    """Return a date or timestamp of the years 1 to 9999, and NULL for any other."""
    first, last = (constant(kind, end) for end in _ENDS[kind])
    return ibis.cases((value.between(first, last), value), else_=constant(kind, None))


_PARTS = {
    "year": lambda moment: moment.year(),
    "quarter": lambda moment: moment.quarter(),
    "month": lambda moment: moment.month(),
    "week": lambda moment: moment.week_of_year(),
    "day": lambda moment: moment.day(),
    "hour": lambda moment: moment.hour(),
    "minute": lambda moment: moment.minute(),
    "weekday": lambda moment: moment.day_of_week.index() + 1,
    "day_of_year": lambda moment: moment.day_of_year(),
}


def _date_part(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    del dialect
    return _PARTS[str(call.detail)](arguments[0]).cast("int64")


_UNITS = {"year": "Y", "quarter": "Q", "month": "M", "week": "W", "day": "D", "hour": "h"}


def _date_trunc(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    """Pass through a timestamp without zone: PostgreSQL would truncate a date in the session's time zone."""
    del dialect
    truncated = arguments[0].cast("timestamp").truncate(_UNITS[str(call.detail)])
    return truncated.cast("date") if call.kind is Kind.DATE else truncated


def _add_days(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    """Move the date. What would leave the years 1 to 9999 is NULL before (for the form see ``lowering_numbers``)."""
    (days,) = call.detail  # type: ignore[misc]
    if days == 0:
        return arguments[0]
    if days > 0:
        first_bad = constant(Kind.DATE, date.max - timedelta(days=days - 1))
        safe = ibis.least(arguments[0], first_bad).nullif(first_bad)
    else:
        last_bad = constant(Kind.DATE, date.min + timedelta(days=-days - 1))
        safe = ibis.greatest(arguments[0], last_bad).nullif(last_bad)
    return _ADD[dialect](safe, ibis.literal(days, type="int32"))


def _days_between(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    del call, dialect
    return arguments[0].delta(arguments[1], unit="day").cast("int64")


DATES: dict[str, Operation] = {
    "date_part": _date_part,
    "date_trunc": _date_trunc,
    "add_days": _add_days,
    "days_between": _days_between,
}
