"""JOIN in SQL, to our `Join`: rows of one person meet public rows and that person's own rows, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

from sqlglot import exp

from sordino.data.kinds import Kind
from sordino.data.metadata import Schema
from sordino.errors import QuestionError
from sordino.query.model.expression import ColumnRef, Expression
from sordino.query.model.lineage import owners, same_owner
from sordino.query.model.literals import literal
from sordino.query.model.operations import call
from sordino.query.model.relation import Filter, Join, Relation

from .expression import Reader, chain
from .refusals import only, refuse, refuse_where_days_are_units
from .scope import Scope, Visible, computed, unique_name

Pair = tuple[str, str]
How = Literal["inner", "left"]

_REFUSED_SIDES = {
    "FULL": ("FULL JOIN is not possible", "ask with a LEFT JOIN, or put both tables together by UNION ALL"),
}
_REFUSED_KINDS = {
    "CROSS": ("a join without a condition is not possible", "write JOIN … ON a.x = b.x"),
    "SEMI": ("SEMI JOIN is not possible", "write WHERE EXISTS (SELECT 1 FROM … WHERE …)"),
    "ANTI": ("ANTI JOIN is not possible", "write WHERE NOT EXISTS (SELECT 1 FROM … WHERE …)"),
}
_REFUSED_METHODS = {
    "NATURAL": ("NATURAL JOIN is not possible", "write JOIN … USING (x), which says what the rows agree in"),
    "ASOF": ("ASOF JOIN is not possible", "write JOIN … ON a.x = b.x, and compare the rest in WHERE"),
}


def joined(left: Scope, right: Scope, node: exp.Join, schema: Schema) -> Scope:
    """Return the scope of the join that `node` asks for."""
    if str(node.args.get("side") or "").upper() == "RIGHT":
        return joined(right, left, turned(node), schema)
    how = how_of(node)
    shared = sorted(left.qualifiers & right.qualifiers)
    if shared:
        called = f"are called {shared[0][:60]!r}" if shared[0] else "have no name"
        raise QuestionError(f"two tables {called}; give one of them an alias: … AS other", "SRD-Q103")
    condition = read_condition(left, right, node)
    right = condition.filtered(right)
    relation, names, swapped = _joined_relations(left, right, condition.pairs, how, schema)
    scope = Scope(relation, both_sides(left, right, names, swapped, condition.merged))
    if not condition.remaining:
        return scope
    if how == "left":
        raise refuse("a LEFT JOIN's ON may hold equalities and conditions on the right side", "move the rest to WHERE")
    return scope.with_relation(filtered(relation, [*map(Reader(scope).condition, condition.remaining)]))


def turned(node: exp.Join) -> exp.Join:
    """Return a RIGHT JOIN as the LEFT JOIN of its sides the other way round."""
    return exp.Join(**{**node.args, "side": "LEFT"})


def how_of(node: exp.Join) -> How:
    """Return what sort of join it is."""
    method, side, kind = (str(node.args.get(each) or "").upper() for each in ("method", "side", "kind"))
    for refused, word in ((_REFUSED_METHODS, method), (_REFUSED_SIDES, side), (_REFUSED_KINDS, kind)):
        if word in refused:
            raise refuse(*refused[word])
    only(node, "this", "side", "kind", "on", "using")
    if not node.args.get("on") and not node.args.get("using"):
        raise refuse(*_REFUSED_KINDS["CROSS"])
    return "left" if side == "LEFT" else "inner"


@dataclass(frozen=True)
class JoinCondition:
    """ON or USING, taken apart: equal columns, conditions on the right side alone, and whatever else there is."""

    pairs: tuple[Pair, ...]
    on_right: tuple[exp.Expr, ...] = ()
    remaining: tuple[exp.Expr, ...] = ()
    merged: frozenset[str] = frozenset()
    """Columns of the right side that USING makes one with those of the left."""

    def filtered(self, right: Scope) -> Scope:
        """Return the right side, narrowed by the conditions on it alone."""
        return right.with_relation(filtered(right.relation, [*map(Reader(right).condition, self.on_right)]))


def filtered(relation: Relation, conditions: Sequence[Expression]) -> Relation:
    """Return the rows for which all conditions hold."""
    if not conditions:
        return relation
    return Filter(relation, conditions[0] if len(conditions) == 1 else call("and", *conditions))


def read_condition(left: Scope, right: Scope, node: exp.Join) -> JoinCondition:
    """Return the join's condition, taken apart; its equalities are checked for kinds."""
    if node.args.get("using"):
        named = [exp.Column(this=identifier) for identifier in node.args["using"]]
        pairs = [(left.find(column).column, right.find(column).column) for column in named]
        condition = JoinCondition(tuple(pairs), merged=frozenset(pair[1] for pair in pairs))
    else:
        condition = _read_on(left, right, node.args["on"])
    if not condition.pairs:
        _refuse_unknown(chain(node.args["on"], exp.And), left, right)
        raise refuse(
            "a join needs an equality between a column of each side",
            "write ON a.x = b.x; compute expressions in a subquery first",
        )
    for pair in condition.pairs:
        check_pair(left.relation, right.relation, pair)
    return condition


def _read_on(left: Scope, right: Scope, on: exp.Expr) -> JoinCondition:
    pairs: list[Pair] = []
    on_right: list[exp.Expr] = []
    remaining: list[exp.Expr] = []
    for part in chain(on, exp.And):
        pair = equality(left, right, part)
        if pair is not None:
            pairs.append(pair)
        elif all(not left.matching(column) for column in part.find_all(exp.Column)):
            on_right.append(part)
        else:
            remaining.append(part)
    return JoinCondition(tuple(pairs), tuple(on_right), tuple(remaining))


def equality(left: Scope, right: Scope, node: exp.Expr) -> Pair | None:
    """Return the pair (column of left, column of right) if the node says that they are equal; else None."""
    for one, other in equal_columns(node):
        on_left, on_right = left.matching(one), right.matching(other)
        if on_left and on_right and not right.matching(one) and not left.matching(other):
            return left.find(one).column, right.find(other).column
    return None


def equal_columns(node: exp.Expr) -> list[tuple[exp.Column, exp.Column]]:
    """Return the two columns that the node says are equal, either one first; nothing if it says anything else."""
    node = node.unnest()
    if not isinstance(node, exp.EQ):
        return []
    one, other = node.this, node.expression
    both = isinstance(one, exp.Column) and isinstance(other, exp.Column)
    return [(one, other), (other, one)] if both else []


def _refuse_unknown(parts: Sequence[exp.Expr], *scopes: Scope) -> None:
    """Refuse equalities with a column that its table has not; a table that is not here may come later in FROM."""
    everything = Scope(scopes[0].relation, tuple(seen for scope in scopes for seen in scope.visible))
    for column in (pair[0] for part in parts for pair in equal_columns(part)):
        if column.table.lower() in everything.qualifiers:
            everything.find(column)


def check_pair(left: Relation, right: Relation, pair: Pair) -> None:
    """Refuse columns that cannot be compared with one meaning on all engines."""
    one, other = left.columns[pair[0]].kind, right.columns[pair[1]].kind
    if one is not other or one is Kind.REAL:
        raise QuestionError(
            f"columns of kind {one.value} and {other.value} cannot be matched; cast them in a subquery to one kind, "
            "and not to reals",
            "SRD-Q104",
        )


def _joined_relations(
    left: Scope, right: Scope, pairs: tuple[Pair, ...], how: How, schema: Schema
) -> tuple[Relation, dict[str, str], bool]:
    """Return the join, what the second side's columns are called in it, and whether the sides were swapped."""
    if left.relation.is_public and not right.relation.is_public:
        if how == "left":
            raise refuse(
                "a public table LEFT JOIN a private one has rows that belong to nobody",
                "write private LEFT JOIN public; or, for keys from a public table: SELECT k.x, COUNT(p.y) "
                "FROM keys AS k LEFT JOIN private AS p ON k.x = p.x GROUP BY k.x",
                "SRD-Q105",
            )
        mirrored = tuple((there, here) for here, there in pairs)
        return *join_relations(right.relation, left.relation, mirrored, how, schema), True
    return *join_relations(left.relation, right.relation, pairs, how, schema), False


def join_relations(
    left: Relation, right: Relation, pairs: tuple[Pair, ...], how: How, schema: Schema
) -> tuple[Relation, dict[str, str]]:
    """Return the join, and what the columns of the right side are called in it."""
    names: dict[str, str] = {}
    for column in right.columns:
        names[column] = unique_name(column, {*left.columns, *names.values()})
    right_names = tuple(names.items())
    if right.is_public:
        single = schema.by_row and not left.is_public
        return Join(left, right, pairs, how, right_names, single=single), names
    matched = owner_matched(left, right, pairs, schema, "a join of two private tables")
    return Join(left, right, matched, how, right_names, on_owner=True), names


def owner_matched(
    left: Relation, right: Relation, pairs: tuple[Pair, ...], schema: Schema, what: str
) -> tuple[Pair, ...]:
    """Return the pairs besides the owners' equality; refuse if the pairs do not say that owners are equal."""
    refuse_where_days_are_units(schema, what)
    if schema.by_row:
        raise refuse(
            f"{what} is not possible where single rows are protected",
            "rows of others would decide about a row; declare the table that it needs public, or a unit of people",
            "SRD-Q105",
        )
    left_owners, right_owners = owners(left, schema), owners(right, schema)
    if not any(same_owner(left, one, right, other, schema) for one, other in pairs):
        one, other = (min(each, default=schema.unit.name) for each in (left_owners, right_owners))
        raise refuse(
            f"{what} must be keyed by the person",
            f"write ON a.{one} = b.{other} AND … with the person's column of each side, so "
            "that only rows of one person meet",
            "SRD-Q105",
        )
    return tuple((one, other) for one, other in pairs if not (one in left_owners and other in right_owners))


def both_sides(
    left: Scope, right: Scope, names: dict[str, str], swapped: bool, merged: frozenset[str]
) -> tuple[Visible, ...]:
    """Return what is seen of a join; `names` is what the right side (the left, if swapped) is called in it."""
    on_left = [replace(seen, column=names[seen.column]) if swapped else seen for seen in left.visible]
    on_right = [
        replace(
            seen, column=seen.column if swapped else names[seen.column], merged=seen.merged or seen.column in merged
        )
        for seen in right.visible
    ]
    return (*on_left, *on_right)


# ---- FROM a, b WHERE a.x = b.x: the equalities in WHERE that join the tables are taken out of it, as if after ON -----

Joined = tuple[Scope, list[exp.Expr]]
"""Rows, and the conditions that are still to be met by them."""


def is_comma(join: exp.Join) -> bool:
    """Whether the join says nothing about how: a comma, or CROSS JOIN."""
    said = {name for name, value in join.args.items() if value and name != "this"}
    return not said or (said == {"kind"} and str(join.args["kind"]).upper() == "CROSS")


def crossed(left: Scope, right: Scope, schema: Schema) -> Scope:
    """Return each row with each public row: joined on a column that is 1 everywhere, so cut like every join."""
    if not left.relation.is_public and not right.relation.is_public:
        here, there = (min(side.qualifiers, default="a")[:60] for side in (left, right))
        raise refuse(
            f"two private tables are joined person by person, and nothing leads from {here!r} to {there!r}",
            f"write FROM {here} JOIN {there} ON {here}.x = {there}.x with the person's column of each side",
        )
    if schema.by_row and not (left.relation.is_public and right.relation.is_public):
        raise refuse(
            "a CROSS JOIN makes many rows of one, which is not possible where single rows are protected",
            "join on a column, or ask once for each public row",
            "SRD-Q105",
        )
    name = unique_name("one", {*left.relation.columns, *right.relation.columns})
    sides = [side.with_relation(_with_one(side.relation, name)) for side in (left, right)]
    relation, names, swapped = _joined_relations(sides[0], sides[1], ((name, name),), "inner", schema)
    return Scope(relation, both_sides(sides[0], sides[1], names, swapped, frozenset()))


def _with_one(relation: Relation, name: str) -> Relation:
    kept: list[Expression] = [ColumnRef(column.kind, each) for each, column in relation.columns.items()]
    return computed(relation, [*relation.columns, name], [*kept, literal(1)])


def comma_joined(scope: Scope, waiting: list[Scope], conditions: list[exp.Expr], schema: Schema) -> Joined:
    """Join the tables that wait to the rows, each as soon as an equality leads to it."""
    while waiting:
        found = _next(scope, waiting, conditions)
        if found is None:
            scope, waiting = crossed(scope, waiting[0], schema), waiting[1:]
            continue
        source, equalities = found
        on = reduce(lambda left, right: exp.And(this=left, expression=right), (each.copy() for each in equalities))
        scope = joined(scope, source, exp.Join(on=on), schema)
        waiting = [other for other in waiting if other is not source]
        conditions = [part for part in conditions if part not in equalities]
    return scope, conditions


def _next(scope: Scope, waiting: list[Scope], conditions: list[exp.Expr]) -> tuple[Scope, list[exp.Expr]] | None:
    """Return the first table that equalities join to the rows, and these; None if none does."""
    for source in waiting:
        equalities = [part for part in conditions if equality(scope, source, part) is not None]
        if equalities:
            return source, equalities
    _refuse_unknown(conditions, scope, *waiting)
    return None
