"""What holds in every row: cells that are empty, columns that are in order, columns that others determine.

    never(age=range(0, 15), marital="Married")     no row has all of these together
    at_most("started", "ended")                    the first is never above the second; a missing value breaks nothing
    determines("city", "country", {"Rome": "IT"})  the second is a function of the first

They are public: what is said here says nothing about the data, and costs nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from sordino.arguments import shown
from sordino.data.metadata import KeyValue
from sordino.errors import ArgumentError

Plain = dict[str, Any]


@dataclass(frozen=True)
class Between:
    """All values from `low` on that are below `high`."""

    low: Any
    high: Any


@dataclass(frozen=True)
class Never:
    """No row has all of these together: for each column a value, several, or a range."""

    cells: tuple[tuple[str, tuple[KeyValue, ...] | Between], ...]


@dataclass(frozen=True)
class AtMost:
    """`lower` is never above `upper`."""

    lower: str
    upper: str


@dataclass(frozen=True)
class Determines:
    """`target` is a function of `source`: the one that is given, or one that is found for a share of the budget."""

    source: str
    target: str
    given: tuple[tuple[KeyValue, KeyValue], ...] | None = None


Constraint = Never | AtMost | Determines


def between(low: Any, high: Any) -> Between:
    """Return all numbers, dates or times from `low` on that are below `high`, for `never`."""
    if isinstance(low, bool) or isinstance(high, bool) or not low < high:
        raise ArgumentError("between takes two numbers, dates or times, the first below the second", "SRD-A003")
    return Between(low, high)


def never(**cells: Any) -> Never:
    """Say that no row has all of these together: for each column a value, a list of them, a range or `between`."""
    if not cells:
        raise ArgumentError('never names one column at least: never(age=range(0, 15), marital="Married")', "SRD-A003")
    return Never(tuple((name, _allowed(name, value)) for name, value in cells.items()))


def _allowed(name: str, value: Any) -> tuple[KeyValue, ...] | Between:
    if isinstance(value, Between):
        return value
    if isinstance(value, range):
        if value.step != 1 or not value:
            raise ArgumentError(f"the range of {name!r} in never(…) must have steps of 1, and not be empty", "SRD-A003")
        return Between(value.start, value.stop)
    listed = tuple(value) if isinstance(value, list | tuple | set | frozenset) else (value,)
    if not listed or not all(each is None or isinstance(each, str | int | bool | date | datetime) for each in listed):
        raise ArgumentError(
            f"never({name}=…) takes a value, a list of values, a range or between(low, high); not {shown(value)}",
            "SRD-A001",
        )
    return listed


def at_most(lower: str, upper: str) -> AtMost:
    """Say that one column of numbers, dates or times is never above another."""
    if lower == upper:
        raise ArgumentError("a column is never above itself; name two columns", "SRD-A003")
    return AtMost(lower, upper)


def determines(source: str, target: str, given: Mapping[Any, Any] | None = None) -> Determines:
    """Say that one column is a function of another: the one given, or one that is found privately."""
    if source == target:
        raise ArgumentError("a column determines itself; name two columns", "SRD-A003")
    return Determines(source, target, None if given is None else tuple(given.items()))


def orders(constraints: Iterable[Constraint]) -> tuple[AtMost, ...]:
    """Return all orders of two columns that follow from those that are said; refuse a circle."""
    said = {(each.lower, each.upper) for each in constraints if isinstance(each, AtMost)}
    while more := {(a, d) for (a, b), (c, d) in itertools.product(said, said) if b == c} - said:
        said |= more
    if any(lower == upper for lower, upper in said):
        raise ArgumentError("the orders of columns go round in a circle; leave one of them out", "SRD-P103")
    return tuple(AtMost(*each) for each in sorted(said))


def plain_of(constraint: Constraint) -> Plain:
    """Return a constraint as JSON can hold it."""
    if isinstance(constraint, AtMost):
        return {"at_most": [constraint.lower, constraint.upper]}
    if isinstance(constraint, Determines):
        pairs = None if constraint.given is None else [[said_value(a), said_value(b)] for a, b in constraint.given]
        return {"determines": [constraint.source, constraint.target, pairs]}
    return {
        "never": {
            name: {"between": [said_value(given.low), said_value(given.high)]}
            if isinstance(given, Between)
            else [*map(said_value, given)]
            for name, given in constraint.cells
        }
    }


def constraint_from(plain: Mapping[str, Any]) -> Constraint:
    """Return the constraint that `plain_of` wrote."""
    if "at_most" in plain:
        return at_most(*plain["at_most"])
    if "determines" in plain:
        source, target, pairs = plain["determines"]
        return determines(source, target, None if pairs is None else {read_value(a): read_value(b) for a, b in pairs})
    if "never" not in plain:
        raise ArgumentError("a constraint is never, at_most or determines", "SRD-A001")
    return never(
        **{
            name: between(*map(read_value, given["between"]))
            if isinstance(given, Mapping)
            else [*map(read_value, given)]
            for name, given in plain["never"].items()
        }
    )


def said_value(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, datetime):
        return {"time": value.isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    return {"number": str(value)} if isinstance(value, float | Fraction) else value


def read_value(value: Any) -> Any:
    """Return the value that `said_value` wrote."""
    if not isinstance(value, Mapping):
        return value
    if "time" in value:
        return datetime.fromisoformat(value["time"])
    return date.fromisoformat(value["date"]) if "date" in value else Fraction(value["number"])
