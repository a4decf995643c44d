"""Dates and timestamps after the noise: their parts, where their spans begin, and how they are moved.

None, for NULL, is what lies beyond the years 1 to 9999.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any

PARTS: dict[str, Callable[[Any], int]] = {
    "year": lambda day: day.year,
    "quarter": lambda day: (day.month + 2) // 3,
    "month": lambda day: day.month,
    "week": lambda day: day.isocalendar().week,
    "day": lambda day: day.day,
    "hour": lambda moment: moment.hour,
    "minute": lambda moment: moment.minute,
    "second": lambda moment: moment.second,
    "weekday": lambda day: day.isoweekday(),
    "day_of_year": lambda day: day.timetuple().tm_yday,
}

_DAYS: dict[str, Callable[[Any], Any]] = {
    "year": lambda day: day.replace(month=1, day=1),
    "quarter": lambda day: day.replace(month=day.month - (day.month - 1) % 3, day=1),
    "month": lambda day: day.replace(day=1),
    "week": lambda day: moved(day, timedelta(days=-day.weekday())),
    "day": lambda day: day,
}
_TIMES = {"hour": {"minute": 0, "second": 0, "microsecond": 0}, "minute": {"second": 0, "microsecond": 0}}


def truncated(value: Any, unit: str) -> Any:
    """Return when the span began that the value lies in."""
    if unit in _TIMES:
        return value.replace(**_TIMES[unit])
    start = _DAYS[unit](value)
    return start.replace(hour=0, minute=0, second=0, microsecond=0) if isinstance(start, datetime) else start


def moved(value: Any, by: timedelta) -> Any:
    """Return what comes so much later, or earlier."""
    try:
        return value + by
    except OverflowError:
        return None


def moved_months(value: Any, months: int) -> Any:
    """Return the same day that many months later, or the month's last day if it has no such day."""
    years, month = divmod(value.year * 12 + value.month - 1 + months, 12)
    if not date.min.year <= years <= date.max.year:
        return None
    return value.replace(year=years, month=month + 1, day=min(value.day, monthrange(years, month + 1)[1]))


def midnight(value: Any) -> datetime:
    """Return when a day begins."""
    return value if isinstance(value, datetime) else datetime.combine(value, time())


def seconds_between(later: datetime, earlier: datetime) -> int:
    """Return the difference in whole seconds; what is beyond a second counts in neither."""
    return (later.replace(microsecond=0) - earlier.replace(microsecond=0)) // timedelta(seconds=1)
