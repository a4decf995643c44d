"""What the verbs of a frame are told: columns under names, aggregates, and the columns that a join is on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

from sqlglot import exp

from sordino.errors import ArgumentError, QuestionError
from sordino.query.sql.scope import Scope, Visible

from .expression import Formula, Place, bare_name, identifier, named, shown

Named = tuple[str | None, Formula]
"""What a column is called, if anything, and what it is."""
On = str | Iterable[str] | Mapping[str, str]
"""Columns that both sides have, or a mapping from the left side's to the right side's."""


def columns(verb: str, plain: Sequence[Any], renamed: Mapping[str, Any], least: int = 1) -> tuple[Named, ...]:
    """Return the columns that a verb was given, by name or as expressions; texts are names."""
    listed: list[Named] = [(bare_name(formula), formula) for formula in map(named, plain)]
    listed += [(name, named(one)) for name, one in renamed.items()]
    if len(listed) < least:
        raise ArgumentError(f'{verb} needs a column, such as {verb}("city")', "SRD-A003")
    return differently_named(verb, listed)


def key_sets(keys: Sequence[str | None], sets: Sequence[Any]) -> tuple[tuple[int, ...], ...]:
    """Return the places of the keys that each set names; every key must be in one of them."""
    places = {name.lower(): place for place, name in enumerate(keys) if name is not None}
    found: list[tuple[int, ...]] = []
    for one in sets:
        listed = [one] if isinstance(one, str) else one
        if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in listed):
            raise ArgumentError(
                'a set is a list of keys\' names, such as ["city", "month"]; [] is the total', "SRD-A001"
            )
        for name in listed:
            if name.lower() not in places:
                raise QuestionError(
                    f"there is no key {name[:60]!r} in group_by; there are {', '.join(places) or 'none with names'}",
                    "SRD-Q401",
                )
        found.append(tuple(places[name.lower()] for name in listed))
    for place, name in enumerate(keys):
        if not any(place in one for one in found):
            raise QuestionError(f"the key {name or place + 1!r} is in none of the sets; leave it out", "SRD-Q401")
    return tuple(found)


def aggregates(verb: str, asked: Mapping[str, Any]) -> tuple[Named, ...]:
    """Return the aggregates that a verb was given."""
    if not asked:
        raise ArgumentError(f"{verb} needs something to compute, such as {verb}(rides=so.count())", "SRD-A003")
    for name, formula in asked.items():
        if not isinstance(formula, Formula):
            raise ArgumentError(
                f'{verb} needs aggregates such as {name}=so.mean("fare"), not {type(formula).__name__}', "SRD-A001"
            )
    return tuple(asked.items())


def differently_named(verb: str, listed: Sequence[Named]) -> tuple[Named, ...]:
    """Return the columns if no two of them have one name; upper and lower case make no difference."""
    names = [name.lower() for name, _ in listed if name]
    for name in names:
        if names.count(name) > 1:
            raise QuestionError(
                f"{verb} would give two columns called {name[:60]!r}; rename one: {name}_2=…", "SRD-Q401"
            )
    return tuple(listed)


def aliased(name: str | None, node: exp.Expr) -> exp.Expr:
    """Return the node under a name."""
    return node if name is None else exp.Alias(this=node, alias=identifier(name))


def seen_node(seen: Visible) -> exp.Expr:
    """Return the node of a column under its table's name."""
    return exp.Column(this=identifier(seen.name), table=identifier(seen.qualifier))


def all_of(scope: Scope) -> tuple[Named, ...]:
    """Return all columns, as a star would give them."""
    return tuple((seen.name, seen_formula(seen)) for seen in scope.starred())


def seen_formula(seen: Visible) -> Formula:
    """Return the expression of a column under its table's name."""
    return Formula(f"col({seen.name!r})", build=lambda: seen_node(seen))


def ordered(columns: Sequence[Any]) -> tuple[tuple[Formula, bool], ...]:
    """Return the columns of an order, and whether descending, which a minus before a name says."""
    return tuple(
        (named(one.removeprefix("-")), one.startswith("-")) if isinstance(one, str) else (named(one), False)
        for one in columns
    )


def order_node(order: Sequence[tuple[Formula, bool]], place: Place) -> exp.Expr:
    """Return the ORDER BY of an order."""
    return exp.Order(expressions=[exp.Ordered(this=one.node(place), desc=down) for one, down in order])


def join_pairs(on: Any) -> tuple[list[tuple[str, str]], bool]:
    """Return the pairs of columns that a join is on, and whether each is of one name on both sides."""
    if isinstance(on, Mapping):
        pairs, same = list(on.items()), False
    else:
        listed = [on] if isinstance(on, str) or not isinstance(on, Iterable) else list(on)
        pairs, same = [(one, one) for one in listed], True
    if not pairs or not all(isinstance(name, str) and name for pair in pairs for name in pair):
        raise ArgumentError(
            'on must name the columns to join by: on="city", on=["city", "day"] or on={"city": "name"}', "SRD-A001"
        )
    return pairs, same


def equal(left: Scope, right: Scope, pairs: Sequence[tuple[str, str]]) -> exp.Expr:
    """Return the condition that the columns of each pair are equal."""
    equalities: list[exp.Expr] = [
        exp.EQ(this=_found(left, one), expression=_found(right, other)) for one, other in pairs
    ]
    return reduce(lambda before, after: exp.And(this=before, expression=after), equalities)


def _found(scope: Scope, name: str) -> exp.Expr:
    node = Place(scope).column(name)
    assert isinstance(node, exp.Column)  # noqa: S101  (that is what it makes)
    return seen_node(scope.find(node))


def said(listed: Sequence[Named]) -> str:
    """Return how the columns would be written as arguments: after one with a name of its own, all have names."""
    texts: list[str] = []
    renamed = False
    for name, formula in listed:
        renamed = renamed or name not in (None, bare_name(formula))
        texts.append(f"{name}={formula.text}" if renamed and name is not None else shown(formula))
    return ", ".join(texts)
