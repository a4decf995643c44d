"""Sets of days, as ranges of the calendar, and which days a condition can be true on.

A question says in its own text which days it is about (``day BETWEEN '2026-06-03' AND '2026-06-09'``), so the days are
known before data is touched. `days_where` finds them: never too few, so that no row is missing which the question asks
for; perhaps too many, which costs more than need be. Privacy does not rest on it: see ``blocks.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import reduce

from .expression import Call, ColumnRef, Expression, Literal, Value

_DAY = timedelta(days=1)
_SHOWN = 6


@dataclass(frozen=True)
class Days:
    """Some days: ranges from first to last, both included, ascending and apart.

    >>> print(Days.of([date(2026, 6, 3), date(2026, 6, 5), date(2026, 6, 4), date(2026, 6, 9)]))
    2026-06-03 to 2026-06-05, 2026-06-09
    """

    ranges: tuple[tuple[date, date], ...]

    @classmethod
    def between(cls, first: date | None, last: date | None) -> Days:
        """Return all days of a range; None where it has no end."""
        pair = (date.min if first is None else first, date.max if last is None else last)
        return cls((pair,) if pair[0] <= pair[1] else ())

    @classmethod
    def of(cls, days: Iterable[date]) -> Days:
        """Return these days."""
        return cls(_joined((day, day) for day in days))

    def __or__(self, other: Days) -> Days:
        return Days(_joined((*self.ranges, *other.ranges)))

    def __and__(self, other: Days) -> Days:
        pairs = ((max(a, c), min(b, d)) for a, b in self.ranges for c, d in other.ranges)
        return Days(_joined(pair for pair in pairs if pair[0] <= pair[1]))

    def __len__(self) -> int:
        return sum((last - first).days + 1 for first, last in self.ranges)

    def __iter__(self) -> Iterator[date]:
        for first, last in self.ranges:
            yield from (first + timedelta(days=place) for place in range((last - first).days + 1))

    def __str__(self) -> str:
        texts = [f"{first}" if first == last else f"{first} to {last}" for first, last in self.ranges]
        return ", ".join(texts if len(texts) <= _SHOWN else [*texts[: _SHOWN - 1], "…", texts[-1]])


EVERY_DAY = Days.between(None, None)
NO_DAY = Days(())


def days_where(condition: Expression, columns: frozenset[str]) -> Days:
    """Return days outside of which `condition` cannot be true, where each of `columns` is the day (or time) of a row.

    Comparisons with constants, IN, BETWEEN, AND and OR say something; whatever else is said leaves every day.
    """
    if isinstance(condition, Call) and condition.operation in _CONDITIONS:
        return _CONDITIONS[condition.operation](condition, columns)
    return EVERY_DAY


def is_day(expression: Expression, columns: frozenset[str]) -> bool:
    """Whether an expression is the day of a row, or the time of which it is the day."""
    if isinstance(expression, Call) and expression.operation == "to_date":
        return is_day(expression.arguments[0], columns)
    return isinstance(expression, ColumnRef) and expression.name in columns


def _compared(condition: Call, columns: frozenset[str]) -> Days:
    left, right = condition.arguments
    operation = condition.operation
    if isinstance(left, Literal):
        left, right, operation = right, left, _TURNED[operation]
    if not is_day(left, columns) or not isinstance(right, Literal) or not isinstance(right.value, date):
        return EVERY_DAY
    return _RANGES[operation](right.value)


def _listed(condition: Call, columns: frozenset[str]) -> Days:
    listed = condition.detail if isinstance(condition.detail, tuple) else ()
    days = [_day(value) for value in listed if isinstance(value, date)]
    return Days.of(days) if is_day(condition.arguments[0], columns) and len(days) == len(listed) else EVERY_DAY


def _day(value: Value) -> date:
    return value.date() if isinstance(value, datetime) else value  # type: ignore[return-value]  # callers have dates


def _before(value: date) -> Days:
    """Return the days before a day, or with times before a time."""
    if isinstance(value, datetime) and value.time() > time():
        return Days.between(None, value.date())
    day = _day(value)
    return NO_DAY if day == date.min else Days.between(None, day - _DAY)


def _after(value: date) -> Days:
    if isinstance(value, datetime):
        return Days.between(value.date(), None)
    return NO_DAY if value == date.max else Days.between(value + _DAY, None)


_TURNED = {
    "equal": "equal",
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
}
_RANGES: dict[str, Callable[[date], Days]] = {
    "equal": lambda value: Days.of([_day(value)]),
    "less": _before,
    "less_equal": lambda value: Days.between(None, _day(value)),
    "greater": _after,
    "greater_equal": lambda value: Days.between(_day(value), None),
}
_CONDITIONS: dict[str, Callable[[Call, frozenset[str]], Days]] = {
    "and": lambda it, columns: reduce(Days.__and__, (days_where(part, columns) for part in it.arguments)),
    "or": lambda it, columns: reduce(Days.__or__, (days_where(part, columns) for part in it.arguments)),
    "in": _listed,
    **dict.fromkeys(_RANGES, _compared),
}


def _joined(ranges: Iterable[tuple[date, date]]) -> tuple[tuple[date, date], ...]:
    """Return ranges in order, with those that touch made one."""
    joined: list[tuple[date, date]] = []
    for first, last in sorted(ranges):
        if joined and (joined[-1][1] == date.max or first <= joined[-1][1] + _DAY):
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return tuple(joined)
