"""How rows find their group.

Public keys are numbered by their place in the list. The engine joins rows with these small tables of numbers: rows
whose key is not in the list drop out, and all others are grouped by one integer. Private keys are
grouped by as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import ibis
import pyarrow as pa

from sordino.errors import ArgumentError
from sordino.query.model.kinds import Kind
from sordino.query.model.question import Key

from .measures import whole
from .values import TYPES

GROUP = "group__"
"""The column of the group's number, where all keys are public."""

ARROW = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.INTEGER: pa.int64(),
    Kind.REAL: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}
"""The type in which values of each kind travel."""
_MOST_INLINE = 1000
"""Longer lists are sent as tables."""


def key_column(place: int) -> str:
    """Return the name under which rows carry their key at this place."""
    return f"k{place}"


@dataclass(frozen=True)
class Groups:
    """The groups of a question.

    `values` holds for each key its public values or None. `chosen`, for keys from a public table, holds those
    combinations that are groups, as ascending numbers of combinations.
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
        columns = [
            column.cast(ARROW[key.column.kind]).to_pylist() for column, key in zip(table.columns, keys, strict=True)
        ]
        values = tuple(_ascending(set(column)) for column in columns)
        places = [{value: place for place, value in enumerate(each)} for each in values]
        sizes = [len(each) for each in values]
        numbers = {
            _number([place[value] for place, value in zip(places, row, strict=True)], sizes)
            for row in zip(*columns, strict=True)
        }
        return cls(keys, values, tuple(sorted(numbers)))

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
        for place, (key, values) in enumerate(zip(self.keys, self.values, strict=True)):
            if values is not None:
                table = number(table, key_column(place), key.column.kind, values, drop_others=True)
        if not self.are_public or not self.keys:
            return table
        numbers = table[self.raw_columns[0]]
        for name, values in list(zip(self.raw_columns, self.values, strict=True))[1:]:
            numbers = numbers * whole(len(values or ())) + table[name]
        table = table.select(*rest, **{GROUP: numbers})
        return table if self.chosen is None else number(table, GROUP, Kind.INTEGER, self.chosen, drop_others=True)


def number(table: ibis.Table, name: str, kind: Kind, values: Sequence[Any], *, drop_others: bool) -> ibis.Table:
    """Return the table with a column's values replaced by their places in the list; other values drop out or are NULL.

    NULL joins with nothing, so its place, if it has one, is filled in afterwards. A value that is listed twice would
    make two rows of one, so it is refused.
    **Assumes**: texts are equal to the engine only if they are the same, byte for byte.
    """
    if len(set(values)) != len(values):
        raise ArgumentError("the values of a key or of a category must differ from each other", "SRD-A003")
    known = [(value, place) for place, value in enumerate(values) if value is not None]
    codes = _code_table(table, name, kind, known)
    everyone = None in values or not drop_others
    joined = table.join(codes, [(name, f"{name}_value")], how="left" if everyone else "inner")
    place = joined[f"{name}_place"]
    if None in values:
        place = joined[name].isnull().ifelse(ibis.literal(list(values).index(None), type="int64"), place)
    columns = [each for each in table.columns if each != name]
    numbered = joined.select(*columns, **{name: place})
    return numbered.filter(numbered[name].notnull()) if everyone and drop_others else numbered


def _code_table(table: ibis.Table, name: str, kind: Kind, known: list[tuple[Any, int]]) -> ibis.Table:
    """Return values and places as a table: part of the query's text where that is fastest, else sent beside it.

    Its columns have names of their own, since one list may serve two columns of a query.
    """
    values, places = [value for value, _ in known], [place for _, place in known]
    if table.get_backend().name == "duckdb" or not 0 < len(known) <= _MOST_INLINE:
        columns = {f"{name}_value": pa.array(values, ARROW[kind]), f"{name}_place": pa.array(places, pa.int64())}
        return ibis.memtable(pa.table(columns))
    index = ibis.range(len(known)).unnest().name("index__").as_table()
    listed = ibis.literal(values, type=f"array<{TYPES[kind]}>")
    numbered = ibis.literal(places, type="array<int64>")
    place = index["index__"]
    return index.select(**{f"{name}_value": listed[place], f"{name}_place": numbered[place]})


def _ascending(values: set[Any]) -> tuple[Any, ...]:
    known = sorted(value for value in values if value is not None)
    return (*known, None) if None in values else tuple(known)


def _number(places: Sequence[int], sizes: Sequence[int]) -> int:
    result = 0
    for place, size in zip(places, sizes, strict=True):
        result = result * size + place
    return result
