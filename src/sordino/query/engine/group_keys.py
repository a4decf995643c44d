"""How rows find their group.

Public keys are numbered by their place in the list. The engine joins rows with these small tables of numbers: rows
whose key is not in the list drop out, and all others are grouped by one integer. Private keys are
grouped by as they are.

These tables have each value beside its place. A list that is not long is part of the query's text, so that
nothing has to be sent to the engine or kept there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
from ibis.expr import datatypes as dt
from ibis.expr import operations as ops

from sordino.data.kinds import Kind
from sordino.errors import ArgumentError
from sordino.query.model.question import Key

from .measures import whole
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


GROUP = "group__"
"""The column of the group's number, where all keys are public."""

_MOST_COMBINATIONS = 2**62
"""Engines number combinations of keys in 64 bits; past that a row could make them raise."""


def key_column(place: int) -> str:
    """Return the name under which rows carry their key at this place."""
    return f"k{place}"


@dataclass(frozen=True)
class Groups:
    """The groups of a question.

    `values` holds for each key its public values or None. `chosen`, for keys from a public table, holds those
    combinations that are groups, as ascending numbers of combinations; None if all of them are.
    """

    keys: tuple[Key, ...]
    values: tuple[tuple[Any, ...] | None, ...]
    chosen: tuple[int, ...] | None = None

    @classmethod
    def of_keys(cls, keys: tuple[Key, ...]) -> Groups:
        """Return the groups of keys with and without public values."""
        return cls(keys, tuple(key.column.keys for key in keys))

    @classmethod
    def of_table(cls, keys: tuple[Key, ...], table: pa.Table) -> Groups:
        """Return the groups that are the rows of a public table."""
        import pyarrow.compute as pc  # slow to load, and few questions need it

        columns = [column.cast(ARROW[key.column.kind]) for column, key in zip(table.columns, keys, strict=True)]
        values = tuple(_ascending(set(column.to_pylist())) for column in columns)
        combinations = prod(map(len, values))
        if combinations > _MOST_COMBINATIONS:
            raise ArgumentError("this table has keys of too many combinations to be numbered", "SRD-A002")
        numbers = np.zeros(table.num_rows, dtype=np.int64)
        for column, known in zip(columns, values, strict=True):
            numbers = numbers * len(known) + np.asarray(pc.index_in(column, pa.array(known, column.type)), np.int64)
        chosen = np.unique(numbers)
        return cls(keys, values, None if len(chosen) == combinations else tuple(chosen.tolist()))

    @property
    def are_public(self) -> bool:
        """Whether all groups are known beforehand."""
        return all(values is not None for values in self.values)

    @property
    def size(self) -> int:
        """The number of groups, if they are public."""
        return prod(len(values or ()) for values in self.values) if self.chosen is None else len(self.chosen)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns by which coded rows are grouped."""
        if not self.are_public:
            return self.raw_columns
        return (GROUP,) if self.keys else ()

    @property
    def raw_columns(self) -> tuple[str, ...]:
        """The columns of the keys before they are coded."""
        return tuple(key_column(place) for place in range(len(self.keys)))

    def code(self, table: ibis.Table) -> ibis.Table:
        """Return the rows that belong to a group, with `columns` instead of raw keys."""
        rest = [name for name in table.columns if name not in self.raw_columns]
        names = self.columns if len(self.keys) == 1 else self.raw_columns
        for place, (key, values) in enumerate(zip(self.keys, self.values, strict=True)):
            if values is not None:
                table = number(table, key_column(place), key.column.kind, values, drop_others=True, called=names[place])
        if self.are_public and len(self.keys) > 1:
            table = self._combined(table, rest)
        return table if self.chosen is None else number(table, GROUP, Kind.INTEGER, self.chosen, drop_others=True)

    def _combined(self, table: ibis.Table, rest: Sequence[str]) -> ibis.Table:
        """Return the table with one number for each combination of the keys' numbers."""
        numbers = table[self.raw_columns[0]]
        for name, values in list(zip(self.raw_columns, self.values, strict=True))[1:]:
            numbers = numbers * whole(len(values or ())) + table[name]
        return table.select(*rest, **{GROUP: numbers})


def number(
    table: ibis.Table, name: str, kind: Kind, values: Sequence[Any], *, drop_others: bool, called: str | None = None
) -> ibis.Table:
    """Return the table with a column's values replaced by their places in the list; other values drop out or are NULL.

    The column of places is `called` like the values' unless another name is given.
    NULL joins with nothing, so its place, if it has one, is filled in afterwards. A value that is listed twice would
    make two rows of one, so it is refused.
    **Assumes**: texts are equal to the engine only if they are the same, byte for byte.
    """
    if len(set(values)) != len(values):
        raise ArgumentError("the values of a key or of a category must differ from each other", "SRD-A003")
    known = [(value, place) for place, value in enumerate(values) if value is not None]
    codes = code_table(table.get_backend().name, name, kind, known)
    everyone = None in values or not drop_others
    joined = table.join(codes, [(name, f"{name}_value")], how="left" if everyone else "inner")
    place = joined[f"{name}_place"]
    if None in values:
        place = joined[name].isnull().ifelse(ibis.literal(list(values).index(None), type="int64"), place)
    columns = [each for each in table.columns if each != name]
    numbered = joined.select(*columns, **{called or name: place})
    return numbered.filter(numbered[called or name].notnull()) if everyone and drop_others else numbered


def _ascending(values: set[Any]) -> tuple[Any, ...]:
    known = sorted(value for value in values if value is not None)
    return (*known, None) if None in values else tuple(known)
