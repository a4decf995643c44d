"""Which visible columns say who owns a row, and where a column comes from.

A relation's rows carry their owner unseen. Questions speak of owners by visible columns: ``GROUP BY customer`` in a
subquery, ``a.customer = b.customer`` in a join. Here it is decided which of those columns *are* the owner, from the
declarations alone. A wrong answer could not break privacy, since engines use the unseen owner; it would change meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from sordino.data.kinds import Kind
from sordino.data.metadata import OwnedByColumn, OwnedByDay, OwnedByParent, Schema, Table

from .expression import ColumnRef
from .relation import Constants, Join, NamedExpression, PerPerson, Project, Relation, Scan, UnionAll

Origin = tuple[str, str]
"""A table and one of its columns."""


def owners(relation: Relation, schema: Schema) -> frozenset[str]:
    """Return the visible columns that hold the owner in every row: several after a join of two private tables.

    A foreign key counts if it leads to the very column that identifies the person in the parent table.
    """
    return frozenset(_OWNERS.get(type(relation), _of_source)(relation, schema))


def same_owner(left: Relation, left_name: str, right: Relation, right_name: str, schema: Schema) -> bool:
    """Whether rows that agree on these two columns belong to one owner by declaration.

    So it is for two columns that hold the owner; for a child's foreign key and the parent's column that it leads to;
    and for the foreign keys of two children of one parent.
    """
    if left_name in owners(left, schema) and right_name in owners(right, schema):
        return True
    left_roots = _roots(origin(left, left_name), schema)
    right_roots = _roots(origin(right, right_name), schema)
    return bool(left_roots & right_roots)


def hold_owner(names: Collection[str], relation: Relation, schema: Schema) -> bool:
    """Whether these visible columns say together who owns a row: one holds the person, or the unit's person and day."""
    blocks = schema.blocks
    if blocks is None or not blocks.per_unit:
        return not owners(relation, schema).isdisjoint(names)
    owner = schema.tables[blocks.table].owner
    places = {origin(relation, name) for name in names if relation.columns[name].kind is not Kind.TIMESTAMP}
    return isinstance(owner, OwnedByDay) and {(blocks.table, owner.column), (blocks.table, blocks.column)} <= places


def origin(relation: Relation, name: str) -> Origin | None:
    """Return the table and column whose values this visible column hands on unchanged, if there is just one."""
    if isinstance(relation, Scan):
        return relation.table.name, name
    behind = relation.behind(name)
    places = {origin(below, held) if isinstance(held, str) else None for below, held in behind}
    return places.pop() if len(places) == 1 else None


def owner_column(table: Table, schema: Schema) -> str | None:
    """Return the table's own column that holds the owner, if there is one: declared, or a foreign key to it."""
    owner = table.owner
    if isinstance(owner, OwnedByColumn):
        return owner.column
    if not isinstance(owner, OwnedByParent) or owner.parent not in schema.tables:
        return None
    above = owner_column(schema.tables[owner.parent], schema)
    return owner.column if above == owner.parent_column else None


def _roots(place: Origin | None, schema: Schema) -> frozenset[Origin]:
    """Return the parents' columns that a column stands for: what it leads to, and itself if it is led to."""
    if place is None:
        return frozenset()
    owner = schema.tables[place[0]].owner
    leads = isinstance(owner, OwnedByParent) and owner.column == place[1]
    leads_to = {(owner.parent, owner.parent_column)} if isinstance(owner, OwnedByParent) and leads else set()
    led_to = any(
        isinstance(child.owner, OwnedByParent) and (child.owner.parent, child.owner.parent_column) == place
        for child in schema.tables.values()
    )
    return frozenset(leads_to | ({place} if led_to else set()))


def _of_scan(relation: Scan, schema: Schema) -> set[str]:
    column = owner_column(relation.table, schema)
    return set() if column is None else {column}


def _of_source(relation: Any, schema: Schema) -> frozenset[str]:
    return owners(relation.source, schema)


def _handed_on(outputs: tuple[NamedExpression, ...], source: Relation, schema: Schema) -> set[str]:
    below = owners(source, schema)
    return {name for name, expression, _ in outputs if isinstance(expression, ColumnRef) and expression.name in below}


def _of_join(relation: Join, schema: Schema) -> set[str]:
    found = set(owners(relation.left, schema))
    if relation.on_owner and relation.how == "inner":
        right = owners(relation.right, schema)
        found |= {new for old, new in relation.right_names if old in right}
    return found


def _of_union(relation: UnionAll, schema: Schema) -> frozenset[str]:
    return frozenset.intersection(*(owners(branch, schema) for branch in relation.branches))


_OWNERS: dict[type[Relation], Callable[[Any, Schema], frozenset[str] | set[str]]] = {
    Scan: _of_scan,
    Constants: lambda _, __: frozenset(),
    Project: lambda relation, schema: _handed_on(relation.outputs, relation.source, schema),
    PerPerson: lambda relation, schema: _handed_on(relation.keys, relation.source, schema),
    Join: _of_join,
    UnionAll: _of_union,
}
