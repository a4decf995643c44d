"""Relations as the engine computes them: one short function for each node, each keeping the invariant of ``relation``.

Private relations of people carry the hidden column `OWNER` through every node; whatever groups, joins or orders rows
of several people does so within an owner. A tree that would let one person's rows decide about another's is refused
here once more, although no parser builds one.

Joins are cut *before* they multiply: of a public right side at most so many rows of a key are kept that
all public joins of the question together multiply a row by at most 10,000; of both sides of a private join at most
1,000 rows of each person. What is kept is decided by the content of a key's, or a person's, own rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import ibis

from sordino.data.metadata import Column, Schema
from sordino.errors import QuestionError
from sordino.query.model.expression import Expression
from sordino.query.model.relation import (
    MOST_ROWS,
    Constants,
    Filter,
    Join,
    PerPerson,
    Project,
    Relation,
    Scan,
    SemiJoin,
    UnionAll,
    Windowed,
    most_per_key,
)

from .expressions import lower_expression
from .group_keys import code_table
from .scan import OWNER, Tables, on_its_days, owned
from .summaries import summarise
from .text import in_byte_order

__all__ = ["OWNER", "lower_relation"]


Pairs = tuple[tuple[str, str], ...]


def lower_relation(relation: Relation, tables: Tables, schema: Schema) -> ibis.Table:
    """Return the relation with its visible columns and, if it is private and of people, with `OWNER`.

    **Guarantee**: the rows of an owner, as a multiset, depend on that owner's rows and on public tables alone, and on
    no order of storage. No row makes the engine raise.
    **Assumes**: tables give each column in the type of its kind (``reading`` sees to that), dates in the years 1 to
    9999; and they do not change while the engine reads them.
    """
    return _Lowering(tables, schema, engine_of(relation, tables), most_per_key(relation)).table(relation)


def engine_of(relation: Relation, tables: Tables) -> str:
    """Return the name of the engine that holds the relation's tables."""
    return str(tables(next(_scans(relation)).table.name).get_backend().name)


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
    most_per_key: int
    """How many rows of a key each public join keeps."""

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
    if room.owners(relation):
        return owned(relation.table, room.schema, lambda name: _read(room, relation, name))
    return _read(room, relation, relation.table.name).select(*relation.table.columns)


def _read(room: _Lowering, scan: Scan, name: str) -> ibis.Table:
    """Return a table as a scan may read it; parents, which say whose its rows are, have no days."""
    table = room.tables(name)
    return on_its_days(scan, table) if name == scan.table.name else table


def _filter(room: _Lowering, relation: Filter) -> ibis.Table:
    source = room.table(relation.source)
    return source.filter(room.value(relation.condition, source))


def _project(room: _Lowering, relation: Project) -> ibis.Table:
    source = room.table(relation.source)
    outputs = {name: room.value(expression, source) for name, expression, _ in relation.outputs}
    return source.select(**outputs, **{name: source[name] for name in room.owners(relation)})


def _join(room: _Lowering, relation: Join) -> ibis.Table:
    _refuse_foreign_rows(room, relation.left, relation.right, relation.on_owner)
    if room.schema.by_row and not relation.left.is_public and not relation.single:
        raise QuestionError("where rows are protected, a join must keep one row one row", "SRD-Q107")
    left, right = room.table(relation.left), room.table(relation.right)
    if relation.on_owner:
        left, right = (_first_of(room, side, [OWNER], MOST_ROWS) for side in (left, right))
    elif not relation.left.is_public:
        most = 1 if relation.single else room.most_per_key
        right = _first_of(room, right, [name for _, name in relation.on], most)
    found = _matching(right, relation.on, relation.on_owner, relation.right_names)
    joined = left.join(*found, how=relation.how)
    return joined.select(*relation.columns, *room.owners(relation))


def _semi_join(room: _Lowering, relation: SemiJoin) -> ibis.Table:
    """NOT IN means that there is no such row: a NULL agrees with nothing, on either side."""
    _refuse_foreign_rows(room, relation.source, relation.members, relation.on_owner)
    source, members = room.table(relation.source), room.table(relation.members)
    found = _matching(members, relation.on, relation.on_owner, ())
    joined = (source.anti_join if relation.negated else source.semi_join)(*found)
    return joined.select(*source.columns)  # an open chain of joins would take later joins into itself


def _refuse_foreign_rows(room: _Lowering, left: Relation, right: Relation, on_owner: bool) -> None:
    """Refuse what would let one person's rows decide about another's."""
    person_by_person = on_owner and not left.is_public and not room.schema.by_row
    if not (right.is_public and not on_owner) and not (not right.is_public and person_by_person):
        raise QuestionError(
            "two private relations can only be matched person by person, on the owners of both", "SRD-Q107"
        )


def _matching(right: ibis.Table, on: Pairs, on_owner: bool, kept: Pairs) -> tuple[ibis.Table, list[Any]]:
    """Return the right side under names of its own (`kept`: old and new), and when the left agrees with it.

    Names, not columns, say where they agree: in Ibis a column that came to both sides by different ways is ambiguous.
    """
    pairs = [*on, (OWNER, OWNER)] if on_owner else on
    keys = {f"right__{place}": right[name] for place, (_, name) in enumerate(pairs)}
    renamed = right.select(right__=ibis.literal(True), **keys, **{new: right[old] for old, new in kept})
    return renamed, [(name, f"right__{place}") for place, (name, _) in enumerate(pairs)] or [ibis.literal(True)]


def _first_of(room: _Lowering, table: ibis.Table, keys: list[str], most: int) -> ibis.Table:
    """Return the first rows of each key in the order of their content, so that only equal rows can change places."""
    by_content = _order(room, [(table[name], False) for name in table.columns])
    place = ibis.row_number().over(group_by=keys, order_by=by_content)
    return table.mutate(place__=place).filter(ibis._.place__ < most).drop("place__")


def _union(room: _Lowering, relation: UnionAll) -> ibis.Table:
    if len({branch.is_public for branch in relation.branches}) > 1:
        raise QuestionError(
            "private and public rows cannot be put together: nobody would own the public ones", "SRD-Q107"
        )
    names = [*relation.branches[0].columns, *room.owners(relation)]
    return ibis.union(*(room.table(branch).select(*names) for branch in relation.branches))


def _per_person(room: _Lowering, relation: PerPerson) -> ibis.Table:
    if not room.owners(relation):
        return _public_groups(room, relation)
    source = room.table(relation.source)
    keys = {name: room.value(expression, source) for name, expression, _ in relation.keys}
    arguments = {
        f"{name}__": source[OWNER] if expression is None else room.value(expression, source)
        for name, _, expression, _ in relation.summaries
    }
    prepared = source.select(source[OWNER], **keys, **arguments)
    summaries = {
        name: summarise(function, prepared[f"{name}__"], column.kind, lambda summary: summary, room.dialect)
        for name, function, _, column in relation.summaries
    }
    return prepared.group_by(OWNER, *keys).aggregate(**summaries).select(*relation.columns, OWNER)


def _public_groups(room: _Lowering, relation: PerPerson) -> ibis.Table:
    if not relation.is_public:
        raise QuestionError("an inner GROUP BY needs people who own the rows", "SRD-Q107")
    source = room.table(relation.source)
    keys = {name: room.value(expression, source) for name, expression, _ in relation.keys}
    if not relation.summaries:
        return source.select(**keys).distinct()
    arguments = {
        f"{name}__": ibis.literal(1, type="int64") if expression is None else room.value(expression, source)
        for name, _, expression, _ in relation.summaries
    }
    prepared = source.select(**keys, **arguments)
    summaries = {
        name: summarise(function, prepared[f"{name}__"], column.kind, lambda summary: summary, room.dialect)
        for name, function, _, column in relation.summaries
    }
    grouped = prepared.group_by(*keys) if keys else prepared
    return grouped.aggregate(**summaries).select(*relation.columns)


def _constants(room: _Lowering, relation: Constants) -> ibis.Table:
    known = [(value, place) for place, value in enumerate(relation.column.keys or ())]
    table = code_table(room.dialect, relation.name, relation.column.kind, known)
    return table.select(**{relation.name: table[f"{relation.name}_value"]})


def _windowed(room: _Lowering, relation: Windowed) -> ibis.Table:
    """Add one window after the other: rows that one of them told apart are apart for the next.

    (With two row numbers side by side, how those of equal rows are paired would be up to the engine.)
    """
    if not room.owners(relation):
        raise QuestionError("a window needs people who own the rows", "SRD-Q107")
    table = room.table(relation.source)
    for window in relation.windows:
        table = _with_window(room, table, *window)
    return table.select(*relation.columns, OWNER)


def _with_window(
    room: _Lowering,
    table: ibis.Table,
    name: str,
    function: str,
    argument: Expression | None,
    partition: tuple[Expression, ...],
    order: tuple[tuple[Expression, bool], ...],
    column: Column,
) -> ibis.Table:
    """Return the table with one column more. Everything is a column first: a constant alone cannot have a window."""
    values = {"argument__": table[OWNER] if argument is None else room.value(argument, table)}
    values |= {f"part__{place}": room.value(part, table) for place, part in enumerate(partition)}
    values |= {f"order__{place}": room.value(expression, table) for place, (expression, _) in enumerate(order)}
    prepared = table.mutate(**values)
    parts = [prepared[OWNER], *(prepared[f"part__{place}"] for place in range(len(partition)))]
    given = [(prepared[f"order__{place}"], descending) for place, (_, descending) in enumerate(order)]
    if function in _PLACES:
        completion = [] if function == "rank" else [(prepared[each], False) for each in table.columns if each != OWNER]
        ordered = _order(room, [*given, *completion]) or parts
        added = _PLACES[function](prepared["argument__"]).over(group_by=parts, order_by=ordered)
    elif given:
        raise QuestionError(f"{function} over a window takes no ORDER BY here", "SRD-Q107")
    else:
        whole_partition = partial(ibis.Value.over, group_by=parts)
        added = summarise(function, prepared["argument__"], column.kind, whole_partition, room.dialect)
    return prepared.mutate(**{name: added}).select(*table.columns, name)


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
    Constants: _constants,
    Filter: _filter,
    Project: _project,
    Join: _join,
    SemiJoin: _semi_join,
    UnionAll: _union,
    PerPerson: _per_person,
    Windowed: _windowed,
}
