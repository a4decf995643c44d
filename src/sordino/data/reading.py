"""How an engine's column is read: as one of our kinds, by an expression that cannot fail on any row.

Types are public, values are not: only the engine's schema is looked at. What comes out is of one type for each kind
(boolean, int64, float64, string, date, timestamp without zone in UTC), on every engine. Dates before the year 1 or
after 9999, and the infinite ones that DuckDB and PostgreSQL know, are read as missing: no calendar function then fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import ibis
import ibis.expr.datatypes as dt

from sordino.errors import QuestionError

from .declare import NOTHING, ColumnDeclaration
from .kinds import Kind
from .metadata import Column

_TYPES = {
    Kind.BOOLEAN: "boolean",
    Kind.INTEGER: "int64",
    Kind.REAL: "float64",
    Kind.TEXT: "string",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
}
_LARGEST = Decimal(10) ** 150
_SMALLEST = Decimal(10) ** -150


@dataclass(frozen=True)
class Reading:
    """A kind, and the way to it."""

    kind: Kind
    read: Callable[[Any], Any]


def _as_it_is(value: Any) -> Any:
    return value


def _cast(kind: Kind) -> Callable[[Any], Any]:
    return lambda value: value.cast(_TYPES[kind])


def _real(value: Any) -> Any:
    """Floats, which Spark must not compare by what files say about them, for their statistics leave NaN out."""
    real = value.cast("float64")
    return _nanvl(real, math.nan) if value.get_backend().name == "pyspark" else real


@ibis.udf.scalar.builtin(name="nanvl")  # type: ignore[untyped-decorator]  # Ibis has no types
def _nanvl(value: float, instead: float) -> float:  # type: ignore[empty-body]
    """Return the value; NaN becomes what stands instead. Sources of data do not know this function."""


def _days(value: Any) -> Any:
    inside = value.between(ibis.literal(date(1, 1, 1)), ibis.literal(date(9999, 12, 31)))
    return ibis.cases((inside, value))


def _times(value: Any) -> Any:
    inside = value.between(ibis.literal(datetime(1, 1, 1)), ibis.literal(datetime(9999, 12, 31, 23, 59, 59)))
    return ibis.cases((inside, value))


def _times_elsewhere(value: Any) -> Any:
    """Times with a zone or in other steps; seconds of DuckDB reach further than its microseconds do."""
    return _times(value.try_cast("timestamp"))


def _endless_decimal(value: Any) -> Any:
    """PostgreSQL's numeric without a precision, whose cast to a float raises beyond 1e308 and below 1e-308."""
    size, largest, smallest = value.abs(), ibis.literal(_LARGEST), ibis.literal(_SMALLEST)
    return ibis.cases(
        (value.cast("string") == "NaN", ibis.null("float64")),
        (size < smallest, ibis.literal(0.0)),
        (size <= largest, value.cast("float64")),
        (value > 0, ibis.literal(float(_LARGEST))),
        (value < 0, ibis.literal(-float(_LARGEST))),
    )


def _decimal(dtype: dt.Decimal) -> Reading:
    if dtype.precision is None or dtype.precision > 38:
        return Reading(Kind.REAL, _endless_decimal)
    whole = dtype.scale == 0 and dtype.precision <= 18
    return Reading(Kind.INTEGER, _whole_decimal) if whole else Reading(Kind.REAL, _cast(Kind.REAL))


def _whole_decimal(value: Any) -> Any:
    """A numeric without places, which in PostgreSQL can still be NaN, and then no integer can be made of it."""
    return ibis.cases((value.cast("string") == "NaN", ibis.null("int64")), else_=value.cast("int64"))


def _timestamp(dtype: dt.Timestamp) -> Reading:
    plain = dtype.timezone is None and dtype.scale in (None, 6)
    return Reading(Kind.TIMESTAMP, _times if plain else _times_elsewhere)


_READINGS: dict[type[dt.DataType], Callable[[Any], Reading]] = {
    dt.Boolean: lambda _: Reading(Kind.BOOLEAN, _as_it_is),
    dt.Int64: lambda _: Reading(Kind.INTEGER, _as_it_is),
    **{
        each: lambda _: Reading(Kind.INTEGER, _cast(Kind.INTEGER))
        for each in (dt.Int8, dt.Int16, dt.Int32, dt.UInt8, dt.UInt16, dt.UInt32)
    },
    # Half of them are beyond int64, where a cast would raise.
    dt.UInt64: lambda _: Reading(Kind.REAL, _cast(Kind.REAL)),
    dt.Float64: lambda _: Reading(Kind.REAL, _real),
    dt.Float32: lambda _: Reading(Kind.REAL, _real),
    dt.Float16: lambda _: Reading(Kind.REAL, _real),
    dt.Decimal: _decimal,
    dt.String: lambda _: Reading(Kind.TEXT, _as_it_is),
    dt.UUID: lambda _: Reading(Kind.TEXT, _cast(Kind.TEXT)),
    dt.Date: lambda _: Reading(Kind.DATE, _days),
    dt.Timestamp: _timestamp,
}


def reading_of(dtype: dt.DataType) -> Reading | None:
    """Return how a column of this type is read, or None if it cannot be asked about."""
    made = _READINGS.get(type(dtype))
    return None if made is None else made(dtype)


def identity_of(dtype: dt.DataType) -> Reading | None:
    """Return how a column of this type is read where it identifies someone.

    Whole numbers that 64 bits do not hold are read as texts: as floats several of them would be one person.
    """
    wide = isinstance(dtype, dt.Decimal) and dtype.scale == 0 and dtype.precision is not None and dtype.precision > 18
    if wide or isinstance(dtype, dt.UInt64):
        return Reading(Kind.TEXT, _cast(Kind.TEXT))
    return reading_of(dtype)


def hidden_because(dtype: dt.DataType) -> str:
    """Return why a column of this type cannot be asked about, and what to do instead."""
    what = "a type that cannot be read" if isinstance(dtype, dt.Unknown) else f"the type {dtype}"
    return (
        f"it is of {what}, and questions are about booleans, numbers, texts, dates and times; "
        "offer a view of the table in which it is one of these"
    )


_ALIKE = ({Kind.INTEGER, Kind.REAL}, {Kind.DATE, Kind.TIMESTAMP})
"""Where an engine has types, its own decides; a kind declared beside it may be a near one."""


def column_of(where: str, kind: Kind, declared: ColumnDeclaration = NOTHING) -> Column:
    """Return what is known about a column that is read as `kind`, if what was declared fits that."""
    keys = declared.key_kind
    if declared.kind not in (None, kind) and {declared.kind, kind} not in _ALIKE:
        raise _unfit(where, kind, f"kind={declared.kind.value!r}", "leave the kind out")
    if declared.range is not None and not kind.is_number:
        raise _unfit(where, kind, "bounds", "bounds are for numbers; declare keys, or nothing")
    if keys is not None and not kind.can_be_key:
        raise _unfit(where, kind, "keys", "reals that look equal may differ; group by FLOOR(…) of it instead")
    if keys not in (None, kind):
        raise _unfit(where, kind, f"keys that are {keys.value}", f"write the keys as {kind.value}")
    return Column(kind, declared.range, declared.keys, declared.nullable, declared.granularity)


def _unfit(where: str, kind: Kind, declared: str, remedy: str) -> QuestionError:
    return QuestionError(f"column {where} is {kind.value}, but was declared with {declared}; {remedy}", "SRD-Q202")
