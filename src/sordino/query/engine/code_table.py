"""Lists of public values as tables that rows can be joined with: each value beside its place.

A list that is not long is part of the query's text, so that nothing has to be sent to the engine or kept there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ibis
import pyarrow as pa
from ibis.expr import datatypes as dt
from ibis.expr import operations as ops

from sordino.data.kinds import Kind

from .values import ARROW, TYPES

_MOST_SPLIT = 10_000
_MOST_INDEXED = 1_000
"""How long a list is written as one text, and value by value; longer ones are sent as tables."""
_SEPARATORS = "\x1f\x1e|\n"

Names = tuple[str, str]


def code_table(engine: str, name: str, kind: Kind, known: Sequence[tuple[Any, int]]) -> ibis.Table:
    """Return values and places as a table. Its columns are called after `name`, as a query may hold several of them."""
    values, places = [value for value, _ in known], [place for _, place in known]
    names = f"{name}_value", f"{name}_place"
    written = _WRITTEN.get(engine, _indexed)(names, kind, values, places)
    return _sent(names, kind, values, places) if written is None else written


def _split(names: Names, kind: Kind, values: Sequence[Any], places: Sequence[int]) -> ibis.Table | None:
    """Return both lists as texts that DuckDB takes apart, which is translated as fast for many values as for few."""
    separator = _separator(values)
    if separator is None or not 0 < len(values) <= _MOST_SPLIT:
        return None
    columns = {}
    for name, each, form in zip(names, (values, places), (TYPES[kind], "int64"), strict=True):
        parts = ibis.literal(separator.join(map(str, each))).split(separator)
        columns[name] = ops.Unnest(parts.cast(dt.Array(dt.dtype(form))))
    return ops.DummyTable(columns).to_expr()


def _separator(values: Sequence[Any]) -> str | None:
    """Return a character that no value has, if there is one among the few that are tried.

    The character zero would end the query's text, so values that have it cannot be written in one.
    """
    text = "".join(map(str, values))
    return next((each for each in _SEPARATORS if each not in text and "\0" not in text), None)


def _indexed(names: Names, kind: Kind, values: Sequence[Any], places: Sequence[int]) -> ibis.Table | None:
    """Return both lists as arrays of constants, from which a row of numbers picks."""
    if not 0 < len(values) <= _MOST_INDEXED:
        return None
    index = ibis.range(len(values)).unnest().name("index__").as_table()
    listed = ibis.literal(values, type=dt.Array(dt.dtype(TYPES[kind])))
    numbered = ibis.literal(places, type=dt.Array(dt.int64))
    picked = (each[index["index__"]] for each in (listed, numbered))
    return index.select(**dict(zip(names, picked, strict=True)))


def _sent(names: Names, kind: Kind, values: Sequence[Any], places: Sequence[int]) -> ibis.Table:
    columns = pa.array(values, ARROW[kind]), pa.array(places, pa.int64())
    return ibis.memtable(pa.table(dict(zip(names, columns, strict=True))))


_WRITTEN: dict[str, Callable[[Names, Kind, Sequence[Any], Sequence[int]], ibis.Table | None]] = {"duckdb": _split}
