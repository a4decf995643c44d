"""Dates and timestamps without a zone, in the years 1 to 9999.

Columns are read as such (``reading``: PostgreSQL and DuckDB have 'infinity', too), and nothing here leads outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
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
    "weekday": lambda moment: moment.day_of_week.index() + 1,
    "day_of_year": lambda moment: moment.day_of_year(),
}


_UNITS = {"year": "Y", "quarter": "Q", "month": "M", "week": "W", "day": "D", "hour": "h"}


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


DATES: dict[str, Operation] = {
    "date_part": lambda call, arguments, _dialect: _PARTS[str(call.detail)](arguments[0]).cast("int64"),
    "date_trunc": _date_trunc,
    "add_days": _add_days,
    "days_between": lambda _call, arguments, _dialect: arguments[0].delta(arguments[1], unit="day").cast("int64"),
}
