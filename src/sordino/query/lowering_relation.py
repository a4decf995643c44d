"""Relations as the engine computes them: one short function for each node, each keeping the invariant of ``relation``.

Private relations of people carry the hidden column `OWNER` through every node; whatever groups, joins or orders rows
of several people does so within an owner. A tree that would let one person's rows decide about another's is refused
here once more, although no parser builds one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import ibis

from sordino.errors import QuestionError

from .expression import Expression
from .kinds import Kind
from .lowering import lower_expression
from .lowering_scan import OWNER, Tables, owned, stored_columns
from .lowering_summaries import summarise
from .lowering_text import in_byte_order
from .metadata import Schema
from .relation import Filter, Join, PerPerson, Project, Relation, Scan, SemiJoin, UnionAll, Windowed

__all__ = ["OWNER", "lower_relation"]


def lower_relation(relation: Relation, tables: Tables, schema: Schema) -> ibis.Table:
    """Return the relation with its visible columns and, if it is private and of people, with `OWNER`.

    **Guarantee**: the rows of an owner, as a multiset, depend on that owner's rows and on public tables alone, and on
    no order of storage. No row makes the engine raise.
    **Assumes**: the tables do not change while the engine reads them.
    """
    dialect = tables(next(_scans(relation)).table.name).get_backend().name
    return _Lowering(tables, schema, dialect).table(relation)


def _scans(relation: Relation) -> Iterator[Scan]:
    if isinstance(relation, Scan):
        yield relation
    for below in relation.inputs:
        yield from _scans(below)


@dataclass(frozen=True)
class _Lowering:
    """One walk over a tree."""

    tables: Tables
    schema: Schema
    dialect: str

    def table(self, relation: Relation) -> ibis.Table:
        """Return the relation as the engine computes it."""
        return _NODES[type(relation)](self, relation)

    def value(self, expression: Expression, table: ibis.Table) -> Any:
        """Return an expression over a table."""
        return lower_expression(expression, table, self.dialect)

    def owners(self, *relations: Relation) -> list[str]:
        """Return the hidden columns: the owner, where people own the rows."""
        private = any(not relation.is_public for relation in relations)
        return [OWNER] if private and not self.schema.by_row else []


def _scan(room: _Lowering, relation: Scan) -> ibis.Table:
    table = room.tables(relation.table.name)
    if room.owners(relation):
        return owned(table, relation.table, room.schema, room.tables)
    return table.select(**stored_columns(table, relation.table))


def _filter(room: _Lowering, relation: Filter) -> ibis.Table:
    source = room.table(relation.source)
    return source.filter(room.value(relation.condition, source))


def _project(room: _Lowering, relation: Project) -> ibis.Table:
    source = room.table(relation.source)
    outputs = {name: room.value(expression, source) for name, expression, _ in relation.outputs}
    return source.select(**outputs, **{name: source[name] for name in room.owners(relation)})


def _join(room: _Lowering, relation: Join) -> ibis.Table:
    keys = room.owners(relation.right) if _checked_owner(room, relation.right, relation.on_owner) else []
    left, right = room.table(relation.left), room.table(relation.right)
    if relation.single:
        right = _one_for_each_key(room, right, [name for _, name in relation.on])
    pairs = [*relation.on, *((name, name) for name in keys)]
    matched = right.select(
        **{f"right__{place}": right[name] for place, (_, name) in enumerate(pairs)},
        **{new: right[old] for old, new in relation.right_names},
    )
    conditions = [left[name] == matched[f"right__{place}"] for place, (name, _) in enumerate(pairs)]
    joined = left.join(matched, conditions or [ibis.literal(True)], how=relation.how)
    return joined.select(*relation.columns, *room.owners(relation))


def _one_for_each_key(room: _Lowering, table: ibis.Table, keys: list[str]) -> ibis.Table:
    """Return the first row of each key in the order of the rows' content, so that only equal rows can change places."""
    place = ibis.row_number().over(
        group_by=keys, order_by=_order(room, [(table[name], False) for name in table.columns])
    )
    return table.mutate(place__=place).filter(ibis._.place__ == 0).drop("place__")


def _checked_owner(room: _Lowering, other: Relation, on_owner: bool) -> bool:
    """Return whether rows must agree on the owner; refuse what would let rows of others decide."""
    if on_owner == other.is_public or (on_owner and room.schema.by_row):
        raise QuestionError(
            "two private relations can only be matched on their owners, person by person; and a public one has none",
            "SRD-Q301",
        )
    return on_owner


def _semi_join(room: _Lowering, relation: SemiJoin) -> ibis.Table:
    """NOT IN means that there is no such row: a NULL agrees with nothing, on either side."""
    source, members = room.table(relation.source), room.table(relation.members)
    keys = room.owners(relation.members) if _checked_owner(room, relation.members, relation.on_owner) else []
    pairs = [*relation.on, *((name, name) for name in keys)]
    known = members.select(**{f"right__{place}": members[name] for place, (_, name) in enumerate(pairs)})
    conditions = [source[name] == known[f"right__{place}"] for place, (name, _) in enumerate(pairs)]
    return (source.anti_join if relation.negated else source.semi_join)(known, conditions)


def _union(room: _Lowering, relation: UnionAll) -> ibis.Table:
    names = [*relation.branches[0].columns, *room.owners(relation)]
    return ibis.union(*(room.table(branch).select(*names) for branch in relation.branches))


def _per_person(room: _Lowering, relation: PerPerson) -> ibis.Table:
    if not room.owners(relation):
        raise QuestionError("an inner GROUP BY needs people who own the rows", "SRD-Q301")
    source = room.table(relation.source)
    keys = {name: room.value(expression, source) for name, expression, _ in relation.keys}
    summaries = {}
    for name, function, expression, column in relation.summaries:
        argument = source[OWNER] if expression is None else room.value(expression, source)
        summaries[name] = summarise(function, argument, column.kind, lambda summary: summary, room.dialect)
    return source.group_by(source[OWNER], **keys).aggregate(**summaries).select(*relation.columns, OWNER)


def _windowed(room: _Lowering, relation: Windowed) -> ibis.Table:
    """Add one window after the other: rows that one of them told apart are apart for the next.

    (With two row numbers side by side, how those of equal rows are paired would be up to the engine.)
    """
    if not room.owners(relation):
        raise QuestionError("a window needs people who own the rows", "SRD-Q301")
    table = room.table(relation.source)
    for name, function, argument, partition, order, column in relation.windows:
        parts = [table[OWNER], *(room.value(part, table) for part in partition)]
        value = table[OWNER] if argument is None else room.value(argument, table)
        given = [(room.value(expression, table), descending) for expression, descending in order]
        if function in _PLACES:
            completion = [] if function == "rank" else [(table[name], False) for name in table.columns if name != OWNER]
            added = _PLACES[function](value).over(group_by=parts, order_by=_order(room, [*given, *completion]) or parts)
        else:
            added = _over_partition(function, value, column.kind, parts, given, room.dialect)
        table = table.mutate(**{name: added})
    return table.select(*relation.columns, OWNER)


def _over_partition(function: str, value: Any, kind: Kind, parts: list[Any], given: list[Any], dialect: str) -> Any:
    if given:
        raise QuestionError(f"{function} over a window takes no ORDER BY here", "SRD-Q301")
    return summarise(function, value, kind, lambda summary: summary.over(group_by=parts), dialect)


_PLACES: dict[str, Callable[[Any], Any]] = {
    "row_number": lambda _: ibis.row_number() + 1,
    "rank": lambda _: ibis.rank() + 1,
    "lag": lambda value: value.lag(),
    "lead": lambda value: value.lead(),
}
"""What depends on the order. All but rank need one in which only equal rows are tied."""


def _order(room: _Lowering, wanted: Iterable[tuple[Any, bool]]) -> list[Any]:
    """Return an order with one meaning on all engines: NULL comes last, texts by their bytes.

    Of an expression that comes twice the first direction counts; Ibis would take the last.
    """
    keys: dict[Any, Any] = {}
    for value, descending in wanted:
        compared = in_byte_order(value, room.dialect)
        keys.setdefault(compared.op(), (compared.desc if descending else compared.asc)(nulls_first=False))
    return list(keys.values())


_NODES: dict[type[Relation], Callable[[_Lowering, Any], ibis.Table]] = {
    Scan: _scan,
    Filter: _filter,
    Project: _project,
    Join: _join,
    SemiJoin: _semi_join,
    UnionAll: _union,
    PerPerson: _per_person,
    Windowed: _windowed,
}
