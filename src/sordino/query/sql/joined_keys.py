"""Keys that a join makes public: ``FROM lineitem JOIN supplier … GROUP BY s_name`` has the groups that supplier lists.

An inner join to a public table lets no row through but with that table's values, so which groups there can be is
public, and all of them are returned, those without rows as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sordino.query.model.expression import Call, ColumnRef, Expression
from sordino.query.model.operations import call
from sordino.query.model.question import KeyTable
from sordino.query.model.ranges import derive
from sordino.query.model.relation import Constants, Filter, Join, Project, Relation, SemiJoin, Windowed

_Place = tuple[Relation, str]


def joined_keys(keys: list[Expression], relation: Relation) -> KeyTable | None:
    """Return the public table of all keys together; None if they do not all come from one public side of a join."""
    if not keys or all(derive(key, relation.columns).keys is not None for key in keys):
        return None
    moved = [_on_public(key, relation) for key in keys]
    sides = {id(found[0]): found[0] for found in moved if found is not None}
    if None in moved or len(sides) != 1:
        return None
    (public,) = sides.values()
    if any(isinstance(below, Constants) for below in public.walk()):
        return None
    narrowed = _narrowed(public, relation)
    outputs = tuple(
        (f"k{place}", found[1], derive(found[1], public.columns)) for place, found in enumerate(moved) if found
    )
    return KeyTable(Project(narrowed, outputs), tuple(name for name, _, _ in outputs))


def _on_public(expression: Expression, relation: Relation) -> tuple[Relation, Expression] | None:
    """Return an expression over the rows as one over the one public relation that its columns come from."""
    places = {name: _place(relation, name) for name in expression.columns}
    sides = {id(place[0]): place[0] for place in places.values() if place is not None}
    if not places or None in places.values() or len(sides) != 1:
        return None
    (side,) = sides.values()
    return side, _renamed(expression, {name: place[1] for name, place in places.items() if place is not None})


def _renamed(expression: Expression, names: dict[str, str]) -> Expression:
    if isinstance(expression, ColumnRef):
        return replace(expression, name=names[expression.name])
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(_renamed(each, names) for each in expression.arguments))
    return expression


def _place(relation: Relation, name: str) -> _Place | None:
    """Return the public side of an inner join, and its column, that a column of the rows is."""
    if isinstance(relation, Filter | SemiJoin | Windowed):
        return _place(relation.source, name) if name in relation.source.columns else None
    if isinstance(relation, Project):
        made = next(expression for output, expression, _ in relation.outputs if output == name)
        return _place(relation.source, made.name) if isinstance(made, ColumnRef) else None
    if not isinstance(relation, Join) or relation.is_public:
        return None
    old = next((old for old, new in relation.right_names if new == name), None)
    if old is None:
        return _place(relation.left, name)
    if relation.how != "inner":
        return None
    return (relation.right, old) if relation.right.is_public else _place(relation.right, old)


def _narrowed(public: Relation, relation: Relation) -> Relation:
    """Return the public rows for which the question's own conditions on them hold."""
    kept = []
    for condition in _conditions(relation):
        found = _on_public(condition, relation)
        if found is not None and found[0] is public:
            kept.append(found[1])
    if not kept:
        return public
    return Filter(public, kept[0] if len(kept) == 1 else call("and", *kept))


def _conditions(relation: Relation) -> Iterator[Expression]:
    """Yield what the outermost WHERE asks of every row, in parts that must all hold."""
    while isinstance(relation, Filter | SemiJoin):
        if isinstance(relation, Filter):
            condition = relation.condition
            together = isinstance(condition, Call) and condition.operation == "and"
            yield from condition.parts if together else (condition,)
        relation = relation.source
