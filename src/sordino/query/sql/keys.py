"""The outermost GROUP BY: keys, and the sets of them that ROLLUP, CUBE and GROUPING SETS stand for."""

from __future__ import annotations

import re
from itertools import combinations, product

from sqlglot import exp

from sordino.data.metadata import Schema
from sordino.errors import QuestionError
from sordino.query.model.expression import ColumnRef, Expression, Literal
from sordino.query.model.lineage import owners
from sordino.query.model.question import Key
from sordino.query.model.ranges import derive

from .calls import has_aggregates
from .grouped import group_keys, refuse_real
from .listed_keys import with_listed_keys
from .names import item
from .refusals import only, refuse
from .scope import Scope, unique_name

_MOST_KEYS = 64
_MOST_SETS = 64
_MOST_IN_CUBE = 6
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")

NodeSet = tuple[exp.Expr, ...]


def read_keys(
    select: exp.Select, scope: Scope, schema: Schema
) -> tuple[list[Expression], tuple[tuple[int, ...], ...] | None]:
    """Return the keys, and which of them each grouping set groups by (None: all of them, once)."""
    group = select.args.get("group")
    if group is None and select.args.get("distinct") is not None:
        group = exp.Group(all=True)
    if group is None:
        return [], None
    only(group, "expressions", "rollup", "cube", "grouping_sets", "all")
    if group.args.get("all"):
        plain = [item(node).node for node in select.expressions if not has_aggregates([node])]
    else:
        plain = list(group.expressions)
    sets = _node_sets(plain, group)
    named = {id(node): group_keys([node], select, scope)[0] for nodes in sets for node in nodes}
    keys = list(dict.fromkeys(named[id(node)] for nodes in sets for node in nodes))
    if len(keys) > _MOST_KEYS:
        raise refuse(f"there are more than {_MOST_KEYS} keys", "group by fewer")
    for key in keys:
        _refuse_key(key, scope, schema)
    if not any(group.args.get(name) for name in ("rollup", "cube", "grouping_sets")):
        return keys, None
    places = [tuple(sorted({keys.index(named[id(node)]) for node in nodes})) for nodes in sets]
    return keys, tuple(dict.fromkeys(places))


def _refuse_key(key: Expression, scope: Scope, schema: Schema) -> None:
    if isinstance(key, Literal):
        raise refuse("a constant is the same in all rows", "leave it out of GROUP BY", "SRD-Q106")
    refuse_real(key)
    if isinstance(key, ColumnRef) and key.name in owners(scope.relation, schema):
        raise refuse(
            "a group for each person would show persons",
            "count them by COUNT(DISTINCT …), or summarise each person in a subquery and aggregate those outside",
            "SRD-Q106",
        )


def _node_sets(plain: list[exp.Expr], group: exp.Expr) -> list[NodeSet]:
    """Return the product of all parts of the GROUP BY, as SQL defines it."""
    parts: list[list[NodeSet]] = [[tuple(plain)]]
    for name, read in (("rollup", _rollup), ("cube", _cube), ("grouping_sets", _listed)):
        parts += [read(one) for one in group.args.get(name) or ()]
    sets = 1
    for part in parts:
        sets *= len(part)
        if sets > _MOST_SETS:
            raise refuse(f"there are more than {_MOST_SETS} grouping sets", "ask for fewer, or in several questions")
    return [tuple(node for nodes in chosen for node in nodes) for chosen in product(*parts)]


def _members(node: exp.Expr) -> NodeSet:
    """Return what stands in one place: a, (a, b) or ()."""
    if isinstance(node, exp.Tuple):
        return tuple(node.expressions)
    return (node.this,) if isinstance(node, exp.Paren) else (node,)


def _rollup(node: exp.Expr) -> list[NodeSet]:
    places = _places(node, "ROLLUP")
    return [tuple(one for place in places[:length] for one in place) for length in range(len(places), -1, -1)]


def _cube(node: exp.Expr) -> list[NodeSet]:
    places = _places(node, "CUBE")
    if len(places) > _MOST_IN_CUBE:
        raise refuse(f"a CUBE of more than {_MOST_IN_CUBE} keys has too many sets", "write GROUPING SETS (…)")
    chosen = [subset for length in range(len(places), -1, -1) for subset in combinations(places, length)]
    return [tuple(one for place in subset for one in place) for subset in chosen]


def _places(node: exp.Expr, word: str) -> list[NodeSet]:
    if not node.expressions:
        raise refuse(f"{word} needs its keys", f"write GROUP BY {word} (a, b)")
    return [_members(place) for place in node.expressions]


def _listed(node: exp.Expr) -> list[NodeSet]:
    nested = {exp.Rollup: _rollup, exp.Cube: _cube, exp.GroupingSets: _listed}
    found: list[NodeSet] = []
    for one in node.expressions:
        read = nested.get(type(one))
        found += [_members(one)] if read is None else read(one)
    return found


def named_keys(keys: list[Expression], select: exp.Select, scope: Scope) -> tuple[Key, ...]:
    """Return the keys with names for people to read: the alias that the SELECT gives, or the column's own name."""
    asked: dict[Expression, str] = {}
    for node in select.expressions:
        one = item(node)
        if one.name and _WORD.fullmatch(one.name) and not has_aggregates([one.node]):
            try:
                asked.setdefault(group_keys([one.node], select, scope)[0], one.name)
            except QuestionError:
                continue
    own = {seen.column: seen.name for seen in reversed(scope.visible) if _WORD.fullmatch(seen.name)}
    named: list[Key] = []
    for place, key in enumerate(keys):
        known = own.get(key.name) if isinstance(key, ColumnRef) else None
        name = unique_name(asked.get(key) or known or f"key_{place + 1}", {key.name for key in named})
        column = derive(key, scope.relation.columns)
        named.append(Key(name, key, with_listed_keys(key, column, scope.relation)))
    return tuple(named)
