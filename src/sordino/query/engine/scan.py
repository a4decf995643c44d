"""Tables as they are read: the rows of some days, their visible columns and, where people own them, the owner of each.

Identities are compared as they are stored: 'a' and 'A ' are two people.

**Guarantee** where days have budgets of their own (``model/blocks.py``): what is read are rows of the days given, and
of each person only those of that person's first day, found among all of that person's rows. A row without a day is
never read. So a person's rows, and a (person, day)'s, are on one day whatever the data holds, and if that day is not
among those given, nothing of them is read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any

import ibis

from sordino.data.kinds import Kind
from sordino.data.metadata import Blocks, OwnedByColumn, OwnedByDay, OwnedByParent, Schema, Table
from sordino.errors import QuestionError
from sordino.query.model.relation import Scan

OWNER = "owner__"
"""The hidden column that says who owns a row of a private relation; it is never NULL."""

Tables = Callable[[str], ibis.Table]

_PARENT_KEY = "parent__"
_FIRST = "first__"


def on_its_days(scan: Scan, table: ibis.Table) -> ibis.Table:
    """Return the rows of a table that a scan may read."""
    face = scan.table
    if face.blocks is None:
        return table
    if scan.days is None:
        raise QuestionError("where days have budgets of their own, a scan must say which days it reads", "SRD-Q107")
    day, conditions = _day_of(table, face.blocks), []
    for first, last in scan.days.ranges:
        conditions.append((day >= ibis.literal(first)) & (day <= ibis.literal(last)))
    inside = reduce(or_, conditions, ibis.literal(False))
    if not isinstance(face.owner, OwnedByColumn):
        return table.filter(inside)
    return _first_days(face, table, day, inside)


def _day_of(table: ibis.Table, blocks: Blocks) -> Any:
    """Return the day of each row, NULL where it has none."""
    value = table[blocks.column]
    return value.cast("date") if blocks.kind is Kind.TIMESTAMP else value


def _first_days(face: Table, table: ibis.Table, day: Any, inside: Any) -> ibis.Table:
    """Return the rows inside that lie on the first day of whoever owns them."""
    first = day.min().over(group_by=table[face.owner.column])  # type: ignore[union-attr]  # owned by a column
    known = table.mutate(**{_FIRST: first, "inside__": inside, "day__": day})
    return known.filter(known["inside__"] & (known["day__"] == known[_FIRST])).select(*table.columns)


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
    identity, day = table[face.owner.column], _day_of(table, face.blocks)
    pair = day.cast("string") + ibis.literal(":") + identity.cast("string")
    return table.filter(identity.notnull() & day.notnull()).select(*face.columns, **{OWNER: pair})


_OWNERS: dict[type, Callable[[Table, Schema, Tables], ibis.Table]] = {
    OwnedByColumn: _owned_by_column,
    OwnedByParent: _owned_by_parent,
    OwnedByDay: _owned_by_day,
}
