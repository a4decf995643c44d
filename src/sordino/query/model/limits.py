"""How much of a relation one person has at most, by what the tables declare: the same in whatever order they are named.

**Guarantee**: if every private table keeps to its declared limits, and a child's foreign key leads to one row of its
parent, then nobody's rows of the relation go beyond the limits returned, so bounding by them cuts nothing off. No
privacy hangs on it: limits are enforced.

A row of a *join* is made of one row of each side. Let S be tables of which one row each determines the rest, because
foreign keys lead from them to all others. The join has no more rows of a person than the product of what S declares;
the smallest such product counts: ``customers JOIN orders`` is limited as ``orders`` is, unrelated tables by both
together. So it is within one group; and groups are no more than the product over tables that hold the keys. A *LEFT
JOIN* has unmatched rows besides. *UNION ALL* adds up. A public table is taken to have one row for each key that it is
joined on: where it has more, the question must say how many rows count (``so.bounding``, OPTIONS).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import prod
from typing import Any

from sordino.data.metadata import Limits, OwnedByColumn, OwnedByParent, Schema, Table

from .expression import Expression
from .lineage import origin, owners
from .relation import Filter, Join, PerPerson, Project, Relation, Scan, SemiJoin, UnionAll, Windowed

Place = tuple[int, str]
"""A side of a join, and one of its columns."""
_MOST_SIDES = 8
"""Of so many sides all sets are tried; of more, only all of them together."""


def limits_of(relation: Relation, keys: Collection[str], schema: Schema) -> Limits:
    """Return how much one person has of a private relation at most, where its rows are grouped by the columns `keys`.

    None where the declarations do not tell.
    """
    return _LIMITS[type(relation)](relation, frozenset(keys), schema)


def _columns(expressions: Iterable[Expression]) -> frozenset[str]:
    return frozenset[str]().union(*(each.columns for each in expressions))


def _of_project(relation: Project, keys: frozenset[str], schema: Schema) -> Limits:
    below = _columns(expression for name, expression, _ in relation.outputs if name in keys)
    return limits_of(relation.source, below, schema)


def _of_person(relation: PerPerson, keys: frozenset[str], schema: Schema) -> Limits:
    """One row for each person, unless there are other keys besides the owner."""
    if len(relation.keys) <= 1:
        return Limits(1, 1, 1)
    parts = [(name, expression) for name, expression, _ in relation.keys]
    parts += [(name, expression) for name, _, expression, _ in relation.summaries if expression is not None]
    return limits_of(relation.source, _columns(each for name, each in parts if name in keys), schema)


def _of_windows(relation: Windowed, keys: frozenset[str], schema: Schema) -> Limits:
    known = relation.source.columns
    return limits_of(relation.source, keys if keys <= set(known) else frozenset(known), schema)


def _of_union(relation: UnionAll, keys: frozenset[str], schema: Schema) -> Limits:
    return _added([limits_of(branch, keys, schema) for branch in relation.branches])


def _added(parts: list[Limits]) -> Limits:
    def total(values: list[int | None]) -> int | None:
        known = [value for value in values if value is not None]
        return sum(known) if len(known) == len(values) else None

    columns = ([each.rows for each in parts], [each.groups for each in parts], [each.rows_per_group for each in parts])
    return Limits(*map(total, columns))


# ---- joins ----------------------------------------------------------------------------------------------------------


@dataclass
class _Sides:
    """The private relations that inner joins put side by side, in no order, and which of their columns are equal."""

    schema: Schema
    relations: list[Relation] = field(default_factory=list)
    equal: list[set[Place]] = field(default_factory=list)

    def places(self, relation: Relation) -> dict[str, frozenset[Place]]:
        """Take a relation apart, and return where its columns come from; a public one's from what it is joined on."""
        if isinstance(relation, Filter):
            return self.places(relation.source)
        if not isinstance(relation, Join) or (relation.how == "left" and not relation.right.is_public):
            self.relations.append(relation)
            return {name: frozenset({(len(self.relations) - 1, name)}) for name in relation.columns}
        left = self.places(relation.left)
        if relation.right.is_public:
            led = frozenset[Place]().union(*(left[name] for name, _ in relation.on))
            return left | {new: led for _, new in relation.right_names}
        right = self.places(relation.right)
        for one, other in relation.on:
            self._join(left[one] | right[other])
        return left | {new: right[old] for old, new in relation.right_names}

    def _join(self, places: frozenset[Place]) -> None:
        touching = [each for each in self.equal if each & places]
        self.equal = [each for each in self.equal if not each & places] + [set(places).union(*touching)]

    def same(self, place: Place) -> frozenset[Place]:
        """Return the columns that are equal to one, itself included."""
        return frozenset(next((each for each in self.equal if place in each), {place}))

    def holders(self, keys: Iterable[Place]) -> list[frozenset[int]]:
        """Return for each key the sides that hold it. A person's own identity makes no groups of that person's rows."""
        held = [place for place in keys if place[1] not in owners(self.relations[place[0]], self.schema)]
        return [frozenset(side for side, _ in self.same(place)) for place in held]

    def sets(self) -> Iterator[frozenset[int]]:
        """Yield the sets of sides to be tried."""
        everything = range(len(self.relations))
        for size in everything if len(self.relations) <= _MOST_SIDES else ():
            yield from map(frozenset, combinations(everything, size))
        yield frozenset(everything)

    def determined(self, sides: Collection[int]) -> frozenset[int]:
        """Return the sides of which a row is known once the rows of `sides` are: foreign keys lead there."""
        known = frozenset(sides)
        while more := {there for there in range(len(self.relations)) if self._led_to(known, there)} - known:
            known |= more
        return known

    def _led_to(self, known: frozenset[int], there: int) -> bool:
        parent = _table_below(self.relations[there])
        return parent is not None and any(self._leads(here, there, parent) for here in known)

    def _leads(self, here: int, there: int, parent: Table) -> bool:
        """Whether each row of one side meets one row of the other, its parent. All sides are joined on the owner."""
        child = _table_below(self.relations[here])
        if child is None or not isinstance(child.owner, OwnedByParent) or child.owner.parent != parent.name:
            return False
        link = child.owner
        if isinstance(parent.owner, OwnedByColumn) and parent.owner.column == link.parent_column:
            return parent.limits.rows in (None, 1)  # as many rows as it declares share the person's identity
        keys, targets = self._from(here, child.name, link.column), self._from(there, parent.name, link.parent_column)
        return any(targets & self.same(key) for key in keys)

    def _from(self, side: int, table: str, column: str) -> frozenset[Place]:
        """Return the columns of a side that hand on a table's column."""
        relation = self.relations[side]
        return frozenset((side, name) for name in relation.columns if origin(relation, name) == (table, column))


def _table_below(relation: Relation) -> Table | None:
    """Return the table whose rows a relation has, each once at most, if there is one."""
    while isinstance(relation, Filter | Project | SemiJoin | Windowed):
        relation = relation.source
    return relation.table if isinstance(relation, Scan) else None


def _of_join(relation: Join, keys: frozenset[str], schema: Schema) -> Limits:
    sides = _Sides(schema)
    if relation.how == "left" and not relation.right.is_public:
        return _of_left_join(relation, keys, schema)
    places = sides.places(relation)
    if len(sides.relations) == 1:
        return limits_of(sides.relations[0], {name for key in keys for _, name in places[key]}, schema)
    return _product(sides, frozenset[Place]().union(*(places[key] for key in keys)))


def _product(sides: _Sides, keys: frozenset[Place]) -> Limits:
    grouped = {place for key in keys for place in sides.same(key)}
    parts = [
        limits_of(each, {name for side, name in grouped if side == number}, sides.schema)
        for number, each in enumerate(sides.relations)
    ]
    holders = sides.holders(keys)
    held = frozenset[int]().union(*holders)
    within = [
        (part.rows_per_group or part.rows) if number in held else (part.rows or part.rows_per_group)
        for number, part in enumerate(parts)
    ]
    whole = [chosen for chosen in sides.sets() if len(sides.determined(chosen)) == len(parts)]
    covering = [chosen for chosen in sides.sets() if all(chosen & each for each in holders)]
    rows = _least(whole, [part.rows for part in parts])
    groups = _least(covering, [part.groups or part.rows for part in parts])
    declared = any(parts[number].groups for number in held) or not holders
    per_group = _least(whole, within) if any(part.rows_per_group for part in parts) else None
    return _capped(Limits(rows, groups if declared else None, per_group))


def _least(sets: Iterable[frozenset[int]], values: list[int | None]) -> int | None:
    """Return the smallest product of values over one of the sets, if one is known."""
    unknown = {number for number, value in enumerate(values) if value is None}
    return min((prod(values[number] or 1 for number in each) for each in sets if not each & unknown), default=None)


def _capped(limits: Limits) -> Limits:
    """Nobody is in more groups, or has more rows in one, than rows in all."""
    if limits.rows is None:
        return limits
    groups, within = (each and min(each, limits.rows) for each in (limits.groups, limits.rows_per_group))
    return Limits(limits.rows, groups, within)


def _of_left_join(relation: Join, keys: frozenset[str], schema: Schema) -> Limits:
    """What an inner join has, and rows of the left besides; no more where each of those meets one row at most."""
    inner = replace(relation, how="inner")
    matched = limits_of(inner, keys, schema)
    sides = _Sides(schema)
    sides.places(relation.left)
    left = len(sides.relations)
    sides = _Sides(schema)
    sides.places(inner)
    if len(sides.determined(range(left))) == len(sides.relations):
        return matched
    alone = limits_of(relation.left, keys & set(relation.left.columns), schema)
    product = _least([frozenset({0, 1})], [alone.rows, limits_of(relation.right, (), schema).rows])
    summed = _added([matched, alone])
    rows = None if summed.rows is None or product is None else min(summed.rows - 1, product)
    return _capped(replace(summed, rows=rows))


_LIMITS: dict[type[Relation], Callable[[Any, frozenset[str], Schema], Limits]] = {
    Scan: lambda relation, *_: relation.table.limits,
    Filter: lambda relation, keys, schema: limits_of(relation.source, keys, schema),
    SemiJoin: lambda relation, keys, schema: limits_of(relation.source, keys, schema),
    Windowed: _of_windows,
    Project: _of_project,
    PerPerson: _of_person,
    Join: _of_join,
    UnionAll: _of_union,
}
