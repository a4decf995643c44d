"""Summaries of many rows in which no order of the rows matters: of a group, or of a window's partition.

Sums are of whole steps of 2^-20 in decimals, since the sum of floats depends on the order in which they come. Numbers
beyond ±2^40 count as that; NaN counts as NULL. A sum of integers is of the integers, clipped likewise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ibis
from ibis.expr import datatypes as dt

from sordino.data.kinds import Kind

from .numbers import round_half_up, without_nan
from .text import in_byte_order
from .values import real

_STEPS = 2.0**20
_REACH = 2**40
_DECIMAL = dt.Decimal(38, 0)

_MOST = 2**62
"""Integer sums of one person are NULL from here on: that takes millions of rows at the limit."""

Over = Callable[[Any], Any]
"""Makes a summary of rows into one over a window; for groups it does nothing."""


def summarise(function: str, argument: Any, kind: Kind, over: Over, dialect: str) -> Any:
    """Return one of the functions below of an argument, as a value of `kind`."""
    return FUNCTIONS[function](without_nan(argument), kind, over, dialect)


def _steps(argument: Any) -> Any:
    """Return a number in whole steps, clipped; NULL becomes something else, and must be left out by the caller."""
    if argument.type().is_integer():
        return ibis.greatest(ibis.least(argument, _REACH), -_REACH).cast(_DECIMAL)
    clipped = ibis.greatest(ibis.least(argument, real(_REACH)), real(-_REACH))
    return round_half_up(clipped * real(_STEPS)).cast(_DECIMAL)


def _sum(argument: Any, kind: Kind, over: Over, dialect: str) -> Any:
    del dialect
    total = over(_steps(argument).sum(where=argument.notnull()).cast(_DECIMAL))
    if kind is Kind.INTEGER:
        low, high = (ibis.literal(bound).cast(_DECIMAL) for bound in (-_MOST, _MOST))
        return ibis.greatest(ibis.least(total, high).nullif(high), low).nullif(low).cast("int64")
    return total.cast("float64") if argument.type().is_integer() else total.cast("float64") / real(_STEPS)


def _mean(argument: Any, kind: Kind, over: Over, dialect: str) -> Any:
    counted = _count(argument, kind, over, dialect).cast("float64").nullif(real(0))
    return _sum(argument, Kind.REAL, over, dialect) / counted


def _count(argument: Any, kind: Kind, over: Over, dialect: str) -> Any:
    del kind, dialect
    return over(argument.count())


def _count_distinct(argument: Any, kind: Kind, over: Over, dialect: str) -> Any:
    del kind, dialect
    positive_zero = argument + real(0) if argument.type().is_floating() else argument
    return over(positive_zero.nunique())


@ibis.udf.scalar.builtin(name="encode")
def _encode(value: bytes, form: str) -> str:  # type: ignore[empty-body]
    """Return the bytes as text."""


@ibis.udf.scalar.builtin(name="decode")
def _decode(value: str, form: str) -> bytes:  # type: ignore[empty-body]
    """Return the bytes that a text stands for."""


@ibis.udf.scalar.builtin(name="convert_from")
def _convert_from(value: bytes, encoding: str) -> str:  # type: ignore[empty-body]
    """Return the text that bytes stand for."""


def _extreme(choose: Callable[[Any], Any]) -> Callable[[Any, Kind, Over, str], Any]:
    def summary(argument: Any, kind: Kind, over: Over, dialect: str) -> Any:
        del kind
        if dialect == "postgres" and argument.type().is_string():
            chosen = over(choose(_encode(in_byte_order(argument, dialect), "hex")))
            return _convert_from(_decode(chosen, "hex"), "UTF8")
        return over(choose(argument))

    return summary


FUNCTIONS: dict[str, Callable[[Any, Kind, Over, str], Any]] = {
    "count": _count,
    "count_distinct": _count_distinct,
    "sum": _sum,
    "mean": _mean,
    "min": _extreme(lambda argument: argument.min()),
    "max": _extreme(lambda argument: argument.max()),
}
