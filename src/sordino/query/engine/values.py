"""Constants and kinds in the engines' terms: each kind has one type, and each constant has it from the start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Any

import ibis
import pyarrow as pa

from sordino.data.kinds import Kind
from sordino.query.model.expression import Call, Value

Operation = Callable[[Call, Sequence[Any], str], ibis.Value]
"""How one operation is said: of a call, its arguments as the engine knows them, and the engine's name."""

TYPES = {
    Kind.BOOLEAN: "boolean",
    Kind.INTEGER: "int64",
    Kind.REAL: "float64",
    Kind.TEXT: "string",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
}
"""The type in which values of each kind are computed."""

ARROW = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.INTEGER: pa.int64(),
    Kind.REAL: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}
"""The type in which values of each kind travel."""


def real(value: float) -> ibis.Value:
    """Return a constant of 64-bit floating point.

    It is written as a cast of its shortest exact decimal: a bare 1.5 is a decimal to DuckDB and PostgreSQL, with
    another arithmetic and with overflows of its own.
    """
    return _read(repr(float(value)))


@lru_cache(maxsize=1024)
def _read(decimal: str) -> ibis.Value:
    """By its text, for 0.0 and -0.0 are equal."""
    return ibis.literal(decimal).cast("float64")


def constant(kind: Kind, value: Value) -> ibis.Value:
    """Return a constant of a kind; None is NULL."""
    return ibis.null(TYPES[kind]) if value is None else _CONSTANTS[kind](value)


def _date(value: date) -> ibis.Value:
    return ibis.date(value.year, value.month, value.day)


def _timestamp(value: datetime) -> ibis.Value:
    return ibis.literal(value.isoformat(sep=" ")).cast("timestamp")


def _typed(kind: Kind) -> Callable[[Any], ibis.Value]:
    return lambda value: ibis.literal(value, type=TYPES[kind])


_CONSTANTS: dict[Kind, Callable[[Any], ibis.Value]] = {
    Kind.BOOLEAN: _typed(Kind.BOOLEAN),
    Kind.INTEGER: _typed(Kind.INTEGER),
    Kind.REAL: real,
    Kind.TEXT: _typed(Kind.TEXT),
    Kind.DATE: _date,
    Kind.TIMESTAMP: _timestamp,
}
