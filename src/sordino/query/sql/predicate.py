"""WHERE, to our `Filter` and `SemiJoin`: conditions on one row, and membership in public or in one's own rows."""

from __future__ import annotations

from sqlglot import exp

from sordino.query.model.expression import ColumnRef, Expression
from sordino.query.model.operations import call
from sordino.query.model.relation import Relation, SemiJoin

from .calls import has_aggregates
from .context import Context
from .expression import Reader, chain
from .join import Pair, check_pair, equal_columns, filtered, owner_matched
from .refusals import only, refuse
from .scope import Scope

_EXISTS = ("expressions", "from_", "joins", "where")


def conditions_of(select: exp.Select) -> list[exp.Expr]:
    """Return what WHERE asks of each row, in parts that must all hold."""
    where = select.args.get("where")
    if where is None:
        return []
    only(where, "this")
    return chain(where.this, exp.And)


def narrowed(scope: Scope, parts: list[exp.Expr], context: Context) -> Scope:
    """Return the rows for which all parts hold."""
    conditions: list[Expression] = []
    reader = Reader(scope)
    memberships: list[tuple[exp.Expr, bool]] = []
    for part in parts:
        membership = _membership(part)
        if membership is None:
            conditions.append(reader.condition(part))
        else:
            memberships.append(membership)
    relation = filtered(scope.relation, conditions)
    for node, negated in memberships:
        relation = _members_only(node, negated, scope.with_relation(relation), context)
    return scope.with_relation(relation)


def _membership(part: exp.Expr) -> tuple[exp.Expr, bool] | None:
    """Return ``IN (SELECT …)`` or ``EXISTS (SELECT …)``, and whether it is negated, if the part is one of them."""
    node, negated = part, False
    while isinstance(node, exp.Paren | exp.Not):
        negated ^= isinstance(node, exp.Not)
        node = node.this
    found = isinstance(node, exp.Exists) or (isinstance(node, exp.In) and node.args.get("query") is not None)
    return (node, negated) if found else None


def _members_only(node: exp.Expr, negated: bool, scope: Scope, context: Context) -> Relation:
    """Return the rows that are (or are not) members."""
    members, pairs = (_exists if isinstance(node, exp.Exists) else _in)(node, scope, context)
    source = scope.relation
    if negated and isinstance(node, exp.In):
        # NULL is not among any members, and not outside of them either.
        columns = source.columns
        present = [call("not", call("is_null", ColumnRef(columns[name].kind, name))) for name, _ in pairs]
        source = filtered(source, present)
    return members_only(source, members, pairs, negated, context)


def members_only(
    source: Relation, members: Relation, pairs: tuple[Pair, ...], negated: bool, context: Context
) -> Relation:
    """Return the rows that agree with some member on all pairs of columns, or with none."""
    for pair in pairs:
        check_pair(source, members, pair)
    if members.is_public:
        return SemiJoin(source, members, pairs, negated)
    if source.is_public:
        raise refuse(
            "a public table cannot be narrowed by private rows", "start from the private table and join", "SRD-Q105"
        )
    matched = owner_matched(source, members, pairs, context.schema, "a private subquery in WHERE")
    return SemiJoin(source, members, matched, negated, on_owner=True)


def _in(node: exp.Expr, scope: Scope, context: Context) -> tuple[Relation, tuple[Pair, ...]]:
    only(node, "this", "query")
    tested = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
    members = context.subquery(node.args["query"])
    if not all(isinstance(one, exp.Column) for one in tested):
        raise refuse("IN (SELECT …) tests columns", "compute the expression in a subquery first", "SRD-Q104")
    if len(tested) != len(members.visible):
        raise refuse(
            f"IN (SELECT …) tests {len(tested)} column(s), but the subquery selects {len(members.visible)}",
            "select as many",
            "SRD-Q104",
        )
    pairs = zip((scope.find(one).column for one in tested), (seen.column for seen in members.visible), strict=True)
    return members.relation, tuple(pairs)


def _exists(node: exp.Expr, scope: Scope, context: Context) -> tuple[Relation, tuple[Pair, ...]]:
    only(node, "this")
    select = node.this
    if not isinstance(select, exp.Select):
        raise refuse("EXISTS needs a plain SELECT", "write EXISTS (SELECT 1 FROM … WHERE …)")
    only(select, *_EXISTS)
    if has_aggregates(select.expressions):
        raise refuse("an aggregate always has a row, so EXISTS always holds", "write EXISTS (SELECT 1 FROM … WHERE …)")
    inner, conditions = context.read_from(select, context)
    pairs: list[Pair] = []
    inside: list[exp.Expr] = []
    for part in conditions:
        pair = _correlation(part, scope, inner)
        if pair is None:
            inside.append(part)
        else:
            pairs.append(pair)
    if not pairs:
        _refuse_unknown(conditions, scope, inner)
        raise refuse(
            "EXISTS must be joined to the rows outside by an equality; <> and < alone do not say whose rows meet",
            "write WHERE inner.x = outer.x AND …, with the person's column if its rows are private",
            "SRD-Q105",
        )
    return narrowed(inner, inside, context).relation, tuple(pairs)


def _refuse_unknown(parts: list[exp.Expr], outer: Scope, inner: Scope) -> None:
    for column in (column for part in parts for column in part.find_all(exp.Column)):
        if not outer.matching(column):
            inner.find(column)


def _correlation(part: exp.Expr, outer: Scope, inner: Scope) -> Pair | None:
    """Return (column outside, column inside) if the part says that they are equal. Names mean what is inside first."""
    for here, there in equal_columns(part):
        if inner.matching(here) and not inner.matching(there):
            return outer.find(there).column, inner.find(here).column
    return None
