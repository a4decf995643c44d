"""Tables as they are read: their visible columns and, where people own the rows, the owner of each.

Identities are compared as they are stored: 'a' and 'A ' are two people.
"""

from __future__ import annotations

from collections.abc import Callable

import ibis

from sordino.query.model.metadata import OwnedByColumn, OwnedByDay, OwnedByParent, Schema, Table

from .day_scan import day_of

OWNER = "owner__"
"""The hidden column that says who owns a row of a private relation; it is never NULL."""

Tables = Callable[[str], ibis.Table]

_PARENT_KEY = "parent__"


def owned(face: Table, schema: Schema, tables: Tables) -> ibis.Table:
    """Return the visible columns of a private table with the owner of each row.

    Rows without an owner are left out. A row whose key leads to several owners is there once for each of them; a
    parent's row that is stored twice makes nothing twice.
    """
    return _OWNERS[type(face.owner)](face, schema, tables)


def _owned_by_column(face: Table, schema: Schema, tables: Tables) -> ibis.Table:
    del schema
    assert isinstance(face.owner, OwnedByColumn)  # noqa: S101  (chosen by type)
    table = tables(face.name)
    identity = table[face.owner.column]
    return table.filter(identity.notnull()).select(*face.columns, **{OWNER: identity})


def _owned_by_parent(face: Table, schema: Schema, tables: Tables) -> ibis.Table:
    assert isinstance(face.owner, OwnedByParent)  # noqa: S101  (chosen by type)
    link, children = face.owner, tables(face.name)
    parents = owned(schema.tables[link.parent], schema, tables)
    pairs = parents.select(**{_PARENT_KEY: parents[link.parent_column], OWNER: parents[OWNER]}).distinct()
    return children.inner_join(pairs, [(link.column, _PARENT_KEY)]).select(*face.columns, OWNER)


def _owned_by_day(face: Table, schema: Schema, tables: Tables) -> ibis.Table:
    """The owner is the day and the person in one text: a day has no colon, so no two pairs are written alike."""
    del schema
    assert isinstance(face.owner, OwnedByDay) and face.blocks is not None  # noqa: S101, PT018  (chosen by type)
    table = tables(face.name)
    identity, day = table[face.owner.column], day_of(table, face.blocks)
    pair = day.cast("string") + ibis.literal(":") + identity.cast("string")
    return table.filter(identity.notnull() & day.notnull()).select(*face.columns, **{OWNER: pair})


_OWNERS: dict[type, Callable[[Table, Schema, Tables], ibis.Table]] = {
    OwnedByColumn: _owned_by_column,
    OwnedByParent: _owned_by_parent,
    OwnedByDay: _owned_by_day,
}
