"""What expressions of the dataframe way can do besides operators: functions of one row, as methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from sqlglot import exp

from sordino.arguments import one_of, whole
from sordino.query.model.operations import DATE_PARTS, DATE_TRUNCATIONS

from .constants import constant_node, constants, text_node

Build = Callable[..., exp.Expr]
"""From the nodes of the operands to the node of the result."""
Result = TypeVar("Result")

_CASTS = {"integer": "BIGINT", "real": "DOUBLE", "text": "VARCHAR", "date": "DATE"}
_PART_WORDS = {"weekday": "ISODOW", "day_of_year": "DOY"}


def function(name: str, *nodes: exp.Expr) -> exp.Expr:
    """Return the call of a SQL function."""
    return exp.Anonymous(this=name, expressions=list(nodes))


def calling(name: str) -> Build:
    """Return how a SQL function is called on its operands."""
    return partial(function, name)


def _part(unit: str) -> Build:
    word = _PART_WORDS.get(unit, unit.upper())
    return lambda value: function("DATE_PART", exp.Literal.string(word), value)


def _given(name: str, *arguments: exp.Expr) -> Build:
    """Return how a SQL function is called with these arguments behind its operand."""
    return lambda value: function(name, value, *arguments)


def _plain(name: str, build: Build, words: str) -> Callable[[Methods[Result]], Result]:
    """Return the method of no arguments that builds its result so; `words` are its docstring."""

    def method(self: Methods[Result]) -> Result:
        return self._applied(name, build)

    method.__name__, method.__qualname__, method.__doc__ = name, f"Methods.{name}", words
    return method


class Methods(ABC, Generic[Result]):
    """Methods that give a new expression. Arguments are constants unless they are expressions."""

    @abstractmethod
    def _applied(self, method: str, build: Build, *operands: Any, shown: Sequence[Any] = ()) -> Result:
        """Return what the method gives; `shown` are arguments that are no operands, for its text."""

    is_null = _plain("is_null", lambda value: exp.Is(this=value, expression=exp.Null()), "Whether there is no value.")
    is_not_null = _plain(
        "is_not_null",
        lambda value: exp.Not(this=exp.Is(this=value, expression=exp.Null())),
        "Whether there is a value.",
    )

    def fill_null(self, value: Any) -> Result:
        """Return `value` where there is none."""
        return self._applied("fill_null", calling("COALESCE"), value)

    def null_if(self, value: Any) -> Result:
        """Return no value where it equals `value`."""
        return self._applied("null_if", calling("NULLIF"), value)

    def is_in(self, values: Any) -> Result:
        """Whether it is one of the constants in a list."""
        listed = constants("values", values)
        return self._applied(
            "is_in",
            lambda value: exp.In(this=value, expressions=[constant_node(one) for one in listed]),
            shown=(list(listed),),
        )

    def between(self, low: Any, high: Any) -> Result:
        """Whether low <= it <= high."""
        return self._applied(
            "between", lambda value, least, most: exp.Between(this=value, low=least, high=most), low, high
        )

    def clip(self, low: Any, high: Any) -> Result:
        """The number, at least `low` and at most `high`; NULL stays NULL. So it has bounds, and can be added up."""
        return self._applied("clip", calling("CLIP"), low, high)

    def like(self, pattern: str) -> Result:
        """Whether the text matches a pattern, in which % is any text and _ any character."""
        node = text_node("pattern", pattern)
        return self._applied("like", lambda value: exp.Like(this=value, expression=node), shown=(pattern,))

    def ilike(self, pattern: str) -> Result:
        """The same as `like`, whatever the case."""
        node = text_node("pattern", pattern)
        return self._applied("ilike", lambda value: exp.ILike(this=value, expression=node), shown=(pattern,))

    def starts_with(self, prefix: str) -> Result:
        """Whether the text begins so."""
        return self._applied("starts_with", _given("STARTS_WITH", text_node("prefix", prefix)), shown=(prefix,))

    lower = _plain("lower", calling("LOWER"), "The text in lower case.")
    upper = _plain("upper", calling("UPPER"), "The text in upper case.")
    trim = _plain("trim", calling("TRIM"), "The text without spaces around it.")
    length = _plain("length", calling("LENGTH"), "The number of characters of the text.")

    def substring(self, start: int, length: int | None = None) -> Result:
        """A part of the text; the first character is number 1."""
        given = [whole("start", start, least=1)] + ([] if length is None else [whole("length", length, least=0)])
        return self._applied("substring", _given("SUBSTRING", *map(constant_node, given)), shown=given)

    def concat(self, *others: Any) -> Result:
        """The text with others behind it."""
        return self._applied("concat", calling("CONCAT"), *others)

    floor = _plain("floor", calling("FLOOR"), "The next whole number below.")
    ceil = _plain("ceil", calling("CEIL"), "The next whole number above.")

    def round(self, digits: int = 0) -> Result:
        """The nearest whole number or, with `digits`, the nearest number with so many behind the point."""
        given = [whole("digits", digits)] if digits else []
        return self._applied("round", _given("ROUND", *map(constant_node, given)), shown=given)

    sign = _plain("sign", calling("SIGN"), "−1, 0 or 1.")
    sqrt = _plain("sqrt", calling("SQRT"), "The square root; NULL below 0.")
    exp = _plain("exp", calling("EXP"), "The exponential function.")
    ln = _plain("ln", calling("LN"), "The natural logarithm; NULL at and below 0.")

    def cast(self, kind: str) -> Result:
        """The value as "integer", "real", "text" or "date"; NULL where it cannot be read so."""
        target = exp.DataType.build(_CASTS[one_of("kind", kind, tuple(_CASTS))])
        return self._applied("cast", lambda value: exp.Cast(this=value, to=target), shown=(kind,))

    def date_part(self, unit: str) -> Result:
        """A part of a date, by its name, as a number."""
        return self._applied("date_part", _part(one_of("unit", unit, DATE_PARTS)), shown=(unit,))

    def truncate(self, unit: str) -> Result:
        """The date at which its year, quarter, month, week, day or hour began."""
        node = exp.Literal.string(one_of("unit", unit, DATE_TRUNCATIONS))
        return self._applied("truncate", lambda value: function("DATE_TRUNC", node, value), shown=(unit,))

    year = _plain("year", _part("year"), "The year of a date.")
    quarter = _plain("quarter", _part("quarter"), "The quarter of a date, 1 to 4.")
    month = _plain("month", _part("month"), "The month of a date, 1 to 12.")
    week = _plain("week", _part("week"), "The week of a date by ISO 8601, 1 to 53.")
    day = _plain("day", _part("day"), "The day of the month.")
    weekday = _plain("weekday", _part("weekday"), "The day of the week: Monday is 1, Sunday is 7.")
    day_of_year = _plain("day_of_year", _part("day_of_year"), "The day of the year, 1 to 366.")
    hour = _plain("hour", _part("hour"), "The hour of a timestamp, 0 to 23.")
    minute = _plain("minute", _part("minute"), "The minute of a timestamp, 0 to 59.")

    def add_days(self, days: int) -> Result:
        """The date so many days later."""
        size = exp.Literal.string(str(whole("days", days)))
        interval = exp.Interval(this=size, unit=exp.Var(this="DAY"))
        return self._applied("add_days", lambda value: exp.Add(this=value, expression=interval), shown=(days,))

    def days_since(self, earlier: Any) -> Result:
        """The days from `earlier` to it."""
        unit = exp.Literal.string("day")
        return self._applied("days_since", lambda later, before: function("DATE_DIFF", unit, before, later), earlier)
