"""Periods: when a budget that refreshes begins anew. All of them are periods of the calendar in UTC, counted from 1970.

The number of a period is a function of an entry's time, and the times of entries never go back. So however a clock
jumps, a scope enters each period at most once: after a jump ahead the ledger's time stands still until the clock has
caught up, and the period in which it stands is not refreshed again.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from sordino.arguments import whole
from sordino.errors import ArgumentError

Refresh = str | int
"""How often a budget begins anew: "day", "week" (from Monday), "month", or a number of seconds."""

LATEST = 253_370_764_799_999
"""The last millisecond of the year 9998: what comes after it is no time of a ledger."""

_SECOND = 1000
_DAY = 86_400 * _SECOND
_LONGEST_SECONDS = 10 * 366 * 86_400
_MONDAY = 3  # 1970 began on a Thursday


class _Calendar(NamedTuple):
    number: Callable[[int], int]
    start: Callable[[int], int]


def _month(time: int) -> int:
    moment = _EPOCH + timedelta(milliseconds=time)
    return (moment.year - 1970) * 12 + moment.month - 1


def _month_start(number: int) -> int:
    first = datetime(1970 + number // 12, number % 12 + 1, 1, tzinfo=UTC)
    return (first - _EPOCH) // timedelta(milliseconds=1)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CALENDAR = {
    "day": _Calendar(lambda time: time // _DAY, lambda number: number * _DAY),
    "week": _Calendar(lambda time: (time // _DAY + _MONDAY) // 7, lambda number: (number * 7 - _MONDAY) * _DAY),
    "month": _Calendar(_month, _month_start),
}


def checked_refresh(refresh: object) -> Refresh:
    """Return `refresh` if it names a period."""
    if isinstance(refresh, str):
        if refresh not in _CALENDAR:
            raise ArgumentError(
                f"refresh must be 'day', 'week', 'month' or a number of seconds, not {refresh[:40]!r}", "SRD-A001"
            )
        return refresh
    return whole("refresh (in seconds)", refresh, least=1, most=_LONGEST_SECONDS)


def period(refresh: Refresh, time: int) -> int:
    """Return the number of the period that `time`, in milliseconds since 1970, lies in."""
    if isinstance(refresh, int):
        return time // (refresh * _SECOND)
    return _CALENDAR[refresh].number(time)


def starts(refresh: Refresh, number: int) -> int:
    """Return the first millisecond of period `number`."""
    if isinstance(refresh, int):
        return number * refresh * _SECOND
    return _CALENDAR[refresh].start(number)


def moment(time: int) -> str:
    """Return a time in milliseconds since 1970 as people write it, to the second.

    >>> moment(0)
    '1970-01-01T00:00:00Z'
    """
    return (_EPOCH + timedelta(milliseconds=time)).strftime("%Y-%m-%dT%H:%M:%SZ")
