"""What expressions of the dataframe way can do besides operators: functions of one row, as methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from sordino.arguments import one_of, whole

from .expression import Expression
from .frame_constants import constants
from .kinds import Kind
from .literals import as_kind, literal
from .operations import DATE_PARTS, DATE_TRUNCATIONS, Detail, call
from .sql_dates import between as days_between
from .sql_dates import moved

Build = Callable[..., Expression]
"""From the expressions of the operands to the expression of the result."""

_CASTS = ("integer", "real", "text", "date")
_MOST_DIGITS = 15

Result = TypeVar("Result")


def calling(operation: str, detail: Detail = None) -> Build:
    """Return how an operation of the allow-list is called on its operands."""
    return lambda *arguments: call(operation, *arguments, detail=detail)


class Methods(Generic[Result]):
    """Methods that give a new expression. Arguments are constants unless they are expressions."""

    def _applied(self, method: str, build: Build, *operands: Any, shown: Any = None) -> Result:
        """Return what the method gives; `shown` are arguments that are no expressions, for its text."""
        raise NotImplementedError

    def is_null(self) -> Result:
        """Whether there is no value."""
        return self._applied("is_null", calling("is_null"))

    def is_not_null(self) -> Result:
        """Whether there is a value."""
        return self._applied("is_not_null", lambda value: call("not", call("is_null", value)))

    def fill_null(self, value: Any) -> Result:
        """Return `value` where there is none."""
        return self._applied("fill_null", calling("coalesce"), value)

    def null_if(self, value: Any) -> Result:
        """Return no value where it equals `value`."""
        return self._applied("null_if", calling("nullif"), value)

    def is_in(self, values: Any) -> Result:
        """Whether it is one of the constants in a list."""
        listed = constants("values", values)
        return self._applied("is_in", calling("in", listed), shown=(list(listed),))

    def between(self, low: Any, high: Any) -> Result:
        """Whether low <= it <= high."""
        return self._applied(
            "between",
            lambda value, least, most: call(
                "and", call("greater_equal", value, least), call("less_equal", value, most)
            ),
            low,
            high,
        )

    def like(self, pattern: str) -> Result:
        """Whether the text matches a pattern, in which % is any text and _ any character."""
        return self._applied("like", calling("like", pattern), shown=(pattern,))

    def ilike(self, pattern: str) -> Result:
        """The same as `like`, whatever the case."""
        return self._applied("ilike", calling("ilike", pattern), shown=(pattern,))

    def starts_with(self, prefix: str) -> Result:
        """Whether the text begins so."""
        return self._applied("starts_with", calling("starts_with", prefix), shown=(prefix,))

    def lower(self) -> Result:
        """The text in lower case."""
        return self._applied("lower", calling("lower"))

    def upper(self) -> Result:
        """The text in upper case."""
        return self._applied("upper", calling("upper"))

    def trim(self) -> Result:
        """The text without spaces around it."""
        return self._applied("trim", calling("trim"))

    def length(self) -> Result:
        """The number of characters of the text."""
        return self._applied("length", calling("length"))

    def substring(self, start: int, length: int | None = None) -> Result:
        """A part of the text; the first character is number 1."""
        return self._applied("substring", calling("substring", (start, length)), shown=(start, length))

    def concat(self, *others: Any) -> Result:
        """The text with others behind it."""
        return self._applied("concat", calling("concat"), *others)

    def floor(self) -> Result:
        """The next whole number below."""
        return self._applied("floor", calling("floor"))

    def ceil(self) -> Result:
        """The next whole number above."""
        return self._applied("ceil", calling("ceil"))

    def round(self, digits: int = 0) -> Result:
        """The nearest whole number, or with `digits` the nearest number with so many behind the point."""
        return self._applied("round", _rounding(whole("digits", digits, least=-_MOST_DIGITS, most=_MOST_DIGITS)), shown=(digits,))

    def sign(self) -> Result:
        """−1, 0 or 1."""
        return self._applied("sign", calling("sign"))

    def sqrt(self) -> Result:
        """The square root; NULL below 0."""
        return self._applied("sqrt", calling("sqrt"))

    def exp(self) -> Result:
        """The exponential function."""
        return self._applied("exp", calling("exp"))

    def ln(self) -> Result:
        """The natural logarithm; NULL at and below 0."""
        return self._applied("ln", calling("ln"))

    def cast(self, kind: str) -> Result:
        """The value as "integer", "real", "text" or "date"; NULL where it cannot be read so."""
        return self._applied("cast", _casting(Kind(one_of("kind", kind, _CASTS))), shown=(kind,))

    def date_part(self, unit: str) -> Result:
        """A part of a date, as a number."""
        return self._applied("date_part", calling("date_part", one_of("unit", unit, DATE_PARTS)), shown=(unit,))

    def truncate(self, unit: str) -> Result:
        """The date at which its year, quarter, month, week, day or hour began."""
        return self._applied("truncate", calling("date_trunc", one_of("unit", unit, DATE_TRUNCATIONS)), shown=(unit,))

    def year(self) -> Result:
        """The year of a date."""
        return self._applied("year", calling("date_part", "year"))

    def quarter(self) -> Result:
        """The quarter of a date, 1 to 4."""
        return self._applied("quarter", calling("date_part", "quarter"))

    def month(self) -> Result:
        """The month of a date, 1 to 12."""
        return self._applied("month", calling("date_part", "month"))

    def week(self) -> Result:
        """The week of a date by ISO 8601, 1 to 53."""
        return self._applied("week", calling("date_part", "week"))

    def day(self) -> Result:
        """The day of the month."""
        return self._applied("day", calling("date_part", "day"))

    def weekday(self) -> Result:
        """The day of the week: Monday is 1, Sunday is 7."""
        return self._applied("weekday", calling("date_part", "weekday"))

    def day_of_year(self) -> Result:
        """The day of the year, 1 to 366."""
        return self._applied("day_of_year", calling("date_part", "day_of_year"))

    def hour(self) -> Result:
        """The hour of a timestamp, 0 to 23."""
        return self._applied("hour", calling("date_part", "hour"))

    def minute(self) -> Result:
        """The minute of a timestamp, 0 to 59."""
        return self._applied("minute", calling("date_part", "minute"))

    def add_days(self, days: int) -> Result:
        """The date so many days later."""
        return self._applied("add_days", lambda value: moved(value, whole("days", days)), shown=(days,))

    def days_since(self, earlier: Any) -> Result:
        """The days from `earlier` to it."""
        return self._applied("days_since", days_between, earlier)


def _rounding(digits: int) -> Build:
    if digits == 0:
        return calling("round")
    up, down = ("multiply", "divide") if digits > 0 else ("divide", "multiply")
    scale = literal(10.0 ** abs(digits))
    return lambda value: call(down, call("round", call(up, value, scale)), scale)


def _casting(kind: Kind) -> Build:
    def build(value: Expression) -> Expression:
        settled = as_kind(value, kind)
        return settled if settled.kind is kind else call(f"to_{kind.value}", settled)

    return build
