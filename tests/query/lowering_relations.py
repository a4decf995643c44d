"""Random relations over a small schema: two tables of people, a child by foreign key, a grandchild, a public table."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from query.lowering_expressions import expressions
from sordino.accounting.bound import Unit
from sordino.data.kinds import Kind
from sordino.data.metadata import Column, OwnedByColumn, OwnedByParent, Public, Schema, Table
from sordino.query.model.relation import Filter, Join, PerPerson, Project, Relation, Scan, SemiJoin, UnionAll, Windowed

Strategy = st.SearchStrategy[Any]
Rows = Mapping[str, list[dict[str, Any]]]

_ARROW = {Kind.INTEGER: pa.int64(), Kind.REAL: pa.float64(), Kind.TEXT: pa.string(), Kind.DATE: pa.date32()}
_COLUMNS = {
    "people": {"id": Kind.INTEGER, "city": Kind.TEXT, "age": Kind.INTEGER},
    "visits": {"visit": Kind.INTEGER, "person": Kind.INTEGER, "place": Kind.TEXT, "cost": Kind.REAL, "day": Kind.DATE},
    "items": {"item": Kind.INTEGER, "visit": Kind.INTEGER, "price": Kind.REAL},
    "parts": {"item": Kind.INTEGER, "name": Kind.TEXT},
    "places": {"name": Kind.TEXT, "region": Kind.TEXT, "size": Kind.INTEGER},
}
_OWNERS = {
    "people": OwnedByColumn("id"),
    "visits": OwnedByColumn("person"),
    "items": OwnedByParent("visit", "visits", "visit"),
    "parts": OwnedByParent("item", "items", "item"),
    "places": Public(),
}
SCHEMA = Schema(
    "trips",
    {
        name: Table(name, {each: Column(kind) for each, kind in kinds.items()}, _OWNERS[name])
        for name, kinds in _COLUMNS.items()
    },
    Unit("person"),
)
PLACES = Scan(SCHEMA.tables["places"])

_FEW_IDS = (None, 1, 1, 2, 3, 4)
_FEW_TEXTS = (None, "", "a", "B", "é", "12")
_FEW_REALS = (None, 0.0, -0.0, 0.1, 2.5, 1e308, float("nan"), float("-inf"))
_VALUES: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("id", "person", "visit", "item"), _FEW_IDS),
    **dict.fromkeys(("age", "size"), (None, 0, 1, 40, 2**63 - 1, -(2**63))),
    **dict.fromkeys(("city", "place", "name", "region"), _FEW_TEXTS),
    **dict.fromkeys(("cost", "price"), _FEW_REALS),
    "day": (None, date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31)),
}


def data(seed: int, rows: int = 7) -> Rows:
    """Draw the rows of every table; ids repeat, rows do, and keys dangle or lead to several people."""
    source = random.Random(seed)  # noqa: S311  (test data)
    drawn = {
        table: [{name: source.choice(_VALUES[name]) for name in kinds} for _ in range(rows)]
        for table, kinds in _COLUMNS.items()
    }
    return {table: [*those, those[0]] for table, those in drawn.items()}


def stored(rows: Rows) -> dict[str, pa.Table]:
    """Return rows as tables."""
    return {
        table: pa.table(
            {name: pa.array([row[name] for row in rows[table]], _ARROW[kind]) for name, kind in kinds.items()}
        )
        for table, kinds in _COLUMNS.items()
    }


def without(rows: Rows, person: int) -> Rows:
    """Return the rows as if a person had never been there; what only hangs on that person's rows is orphaned."""
    named = {name: owner.column for name, owner in _OWNERS.items() if isinstance(owner, OwnedByColumn)}
    return {
        table: [row for row in those if table not in named or row[named[table]] != person]
        for table, those in rows.items()
    }


def kinds_of(relation: Relation) -> dict[str, Kind]:
    return {name: column.kind for name, column in relation.columns.items()}


@cache
def relations(depth: int = 3) -> Strategy:
    """Return a strategy for private relations."""
    scans = st.sampled_from([Scan(table) for table in SCHEMA.tables.values() if not table.is_public])
    if depth == 0:
        return scans
    below = relations(depth - 1)
    return st.one_of(*(below.flatmap(node) for node in _NODES), st.builds(_doubled, below))


def _expression(relation: Relation, kind: Kind) -> Strategy:
    return expressions(kinds_of(relation), kind, 1)


def _filter(source: Relation) -> Strategy:
    return _expression(source, Kind.BOOLEAN).map(lambda condition: Filter(source, condition))


_any_kind = st.sampled_from(list(Kind))


def _named(source: Relation, prefix: str, most: int) -> Strategy:
    """Draw triples of a new name, an expression and its column."""
    each = _any_kind.flatmap(lambda kind: _expression(source, kind))
    return st.lists(each, min_size=1, max_size=most).map(
        lambda found: tuple((f"{prefix}{place}", value, Column(value.kind)) for place, value in enumerate(found))
    )


def _project(source: Relation) -> Strategy:
    return _named(source, "p", 3).map(lambda outputs: Project(source, outputs))


def _pairs(left: Relation, right: Relation, least: int) -> Strategy:
    kinds, others = kinds_of(left), kinds_of(right)
    possible = [(name, other) for name in kinds for other in others if kinds[name] is others[other]]
    return st.lists(st.sampled_from(possible), min_size=least, max_size=2).map(tuple) if possible else st.just(())


def _fresh(left: Relation, right: Relation) -> tuple[tuple[str, str], ...]:
    return tuple((name, f"j{len(left.columns)}_{name}") for name in right.columns)


def _join_public(source: Relation) -> Strategy:
    hows = st.sampled_from(["inner", "left"])
    return st.builds(
        lambda pairs, how, single: Join(source, PLACES, pairs, how, _fresh(source, PLACES), single=single),
        _pairs(source, PLACES, 1),
        hows,
        st.booleans(),
    )


def _join_private(source: Relation) -> Strategy:
    return relations(1).flatmap(
        lambda right: st.builds(
            lambda pairs, how: Join(source, right, pairs, how, _fresh(source, right), on_owner=True),
            _pairs(source, right, 0),
            st.sampled_from(["inner", "left"]),
        )
    )


def _semi_join(source: Relation) -> Strategy:
    return st.one_of(st.just(PLACES), relations(1)).flatmap(
        lambda members: st.builds(
            lambda pairs, negated: SemiJoin(source, members, pairs, negated, on_owner=not members.is_public),
            _pairs(source, members, 1 if members.is_public else 0),
            st.booleans(),
        )
    )


def _doubled(source: Relation) -> Relation:
    return UnionAll((source, source))


_RESULTS = {"count": Kind.INTEGER, "count_distinct": Kind.INTEGER, "mean": Kind.REAL, "sum": Kind.REAL}


def _summary(source: Relation) -> Strategy:
    numbers = [(name, kind) for name in ("sum", "mean") for kind in (Kind.INTEGER, Kind.REAL)]
    others = [(name, kind) for name in ("min", "max", "count", "count_distinct") for kind in Kind]
    return st.sampled_from(numbers + others).flatmap(
        lambda chosen: _expression(source, chosen[1]).map(
            lambda argument: (chosen[0], argument, Column(_RESULTS.get(chosen[0], chosen[1])))
        )
    )


def _per_person(source: Relation) -> Strategy:
    def built(keys: Any, summaries: Any) -> Relation:
        named = tuple((f"s{place}", *summary) for place, summary in enumerate(summaries))
        return PerPerson(source, keys, (*named, ("rows", "count", None, Column(Kind.INTEGER))))

    keys = st.one_of(st.just(()), _named(source, "k", 2))
    return st.builds(built, keys, st.lists(_summary(source), max_size=3))


def _windowed(source: Relation) -> Strategy:
    one = _any_kind.flatmap(lambda kind: _expression(source, kind))
    order = st.lists(st.tuples(one, st.booleans()), min_size=1, max_size=2).map(tuple)
    places = st.builds(
        lambda function, order: (function, None, order, Column(Kind.INTEGER)),
        st.sampled_from(["row_number", "rank"]),
        order,
    )
    shifts = st.builds(
        lambda function, argument, order: (function, argument, order, Column(argument.kind)),
        st.sampled_from(["lag", "lead"]),
        one,
        order,
    )
    totals = _summary(source).filter(lambda found: found[0] != "count_distinct")
    every = st.one_of(places, shifts, totals.map(lambda found: (found[0], found[1], (), found[2])))

    def built(partition: Any, chosen: Any) -> Relation:
        return Windowed(
            source,
            tuple(
                (f"w{len(source.columns)}_{place}", function, argument, partition, order, column)
                for place, (function, argument, order, column) in enumerate(chosen)
            ),
        )

    return st.builds(built, st.lists(one, max_size=1).map(tuple), st.lists(every, min_size=1, max_size=3))


_NODES = (_filter, _project, _join_public, _join_private, _semi_join, _per_person, _windowed)
