"""Tables as they are read: each column in the one type of its kind, and each row with its owner.

Stored values that their kind cannot hold are NULL: integers beyond 64 bits, decimals beyond ±10^150, dates outside of
the years 1 to 9999. Columns that are stored in the type of their kind are taken as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ibis

from .kinds import Kind
from .lowering_dates import in_range
from .metadata import OwnedByColumn, OwnedByParent, Schema, Table

OWNER = "owner__"
"""The hidden column that says who owns a row of a private relation; it is never NULL."""

Tables = Callable[[str], ibis.Table]

_SMALLEST_DIGIT = 100
"""Decimals are rounded to so many places before they become reals: PostgreSQL raises on what is too small."""
_SURE_DIGITS = 38
"""A decimal of no more digits than these is a real without further ado."""


def stored_columns(table: ibis.Table, face: Table) -> dict[str, ibis.Value]:
    """Return the visible columns of a table, each in the type of its kind."""
    return {name: _READERS[column.kind](table[name]) for name, column in face.columns.items()}


def owned(table: ibis.Table, face: Table, schema: Schema, tables: Tables) -> ibis.Table:
    """Return the visible columns of a private table with the owner of each row.

    Rows without an owner are left out. A row whose key leads to several owners is there once for each of them; a
    parent's row that is stored twice makes nothing twice. Identities are compared as they are stored: 'a' and 'A ' are
    two people.
    """
    return _OWNERS[type(face.owner)](table, face, schema, tables)


def _owned_by_column(table: ibis.Table, face: Table, schema: Schema, tables: Tables) -> ibis.Table:
    assert isinstance(face.owner, OwnedByColumn)  # noqa: S101  (chosen by type)
    identity = table[face.owner.column].cast(_identity_type(schema, tables))
    return table.select(**stored_columns(table, face), **{OWNER: identity}).filter(ibis._[OWNER].notnull())


def _owned_by_parent(table: ibis.Table, face: Table, schema: Schema, tables: Tables) -> ibis.Table:
    assert isinstance(face.owner, OwnedByParent)  # noqa: S101  (chosen by type)
    owner, parent = face.owner, schema.tables[face.owner.parent]
    people = owned(tables(parent.name), parent, schema, tables)
    pairs = people.select(**{_PARENT_KEY: people[owner.parent_column], OWNER: people[OWNER]}).distinct()
    children = table.select(**stored_columns(table, face))
    return children.inner_join(pairs, children[owner.column] == pairs[_PARENT_KEY]).select(*face.columns, OWNER)


_PARENT_KEY = "parent__"

_OWNERS = {OwnedByColumn: _owned_by_column, OwnedByParent: _owned_by_parent}


def _identity_type(schema: Schema, tables: Tables) -> str:
    """Return the type in which all tables name people: 64-bit integers if all of them do so, else texts."""
    stored = (tables(face.name)[face.owner.column].type() for face in _name_givers(schema))
    return "int64" if all(_is_small_integer(kind) for kind in stored) else "string"


def _name_givers(schema: Schema) -> Iterator[Any]:
    return (face for face in schema.tables.values() if isinstance(face.owner, OwnedByColumn))


def _is_small_integer(stored: Any) -> bool:
    return bool(stored.is_integer() and not stored.is_uint64())


def _read_boolean(value: Any) -> Any:
    return value


def _read_integer(value: Any) -> Any:
    stored = value.type()
    if _is_small_integer(stored):
        return value if stored.is_int64() else value.cast("int64")
    beyond = 2**63
    bounds = [
        ibis.literal(str(bound)).cast(stored) for bound in ((beyond,) if stored.is_uint64() else (beyond, -beyond - 1))
    ]
    held = ibis.least(value, bounds[0]).nullif(bounds[0])
    for bound in bounds[1:]:
        held = ibis.greatest(held, bound).nullif(bound)
    return held.cast("int64")


def _read_real(value: Any) -> Any:
    stored = value.type()
    if stored.is_float64():
        return value
    if stored.is_decimal() and (stored.precision or _SURE_DIGITS + 1) > _SURE_DIGITS:
        beyond = ibis.literal(f"1{'0' * 150}").cast(stored)
        held = ibis.least(value, beyond).nullif(beyond)
        value = ibis.greatest(held, -beyond).nullif(-beyond).round(_SMALLEST_DIGIT)
    return value.cast("float64")


def _read_text(value: Any) -> Any:
    return value if value.type().is_string() else value.cast("string")


def _read_date(value: Any) -> Any:
    return in_range(value, Kind.DATE)


def _read_timestamp(value: Any) -> Any:
    return in_range(value, Kind.TIMESTAMP)


_READERS: dict[Kind, Callable[[Any], Any]] = {
    Kind.BOOLEAN: _read_boolean,
    Kind.INTEGER: _read_integer,
    Kind.REAL: _read_real,
    Kind.TEXT: _read_text,
    Kind.DATE: _read_date,
    Kind.TIMESTAMP: _read_timestamp,
}
