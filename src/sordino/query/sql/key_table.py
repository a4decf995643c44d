"""Keys from a public table: ``FROM keys AS k LEFT JOIN private AS p ON k.x = p.x GROUP BY k.x``.

The question is about the private side; its groups are those that the public side lists, all of them, always. In SQL a
key that is listed twice would count twice; here each counts once.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sordino.query.model.expression import ColumnRef, Expression
from sordino.query.model.question import KeyTable
from sordino.query.model.relation import Relation

from .context import Context
from .expression import chain
from .join import JoinCondition, how_of, read_condition
from .predicate import narrowed
from .refusals import refuse
from .relation import read_source
from .scope import Scope, Visible


@dataclass(frozen=True)
class KeyedSources:
    """The private side, in which the public side's names for the join columns mean the private side's columns."""

    scope: Scope
    keys: Relation
    columns: dict[str, str]
    """Column of the private side → column of the public side."""

    def table_for(self, keys: list[Expression]) -> KeyTable:
        """Return the public keys, in the order of the question's keys."""
        wanted = [key.name for key in keys if isinstance(key, ColumnRef)]
        if len(wanted) != len(keys) or set(wanted) != set(self.columns):
            raise refuse(
                "keys from a public table are the columns that it is joined by, all of them and no others",
                "write SELECT k.x, COUNT(p.y) FROM keys AS k LEFT JOIN private AS p ON k.x = p.x GROUP BY k.x",
                "SRD-Q106",
            )
        return KeyTable(self.keys, tuple(self.columns[name] for name in wanted))


def keyed_sources(select: exp.Select, context: Context) -> KeyedSources | None:
    """Return the two sides if the query has this form; None if it has any other."""
    joins = select.args.get("joins") or []
    clause = select.args.get("from_")
    if clause is None or len(joins) != 1 or str(joins[0].args.get("side") or "").upper() != "LEFT":
        return None
    left, right = read_source(clause.this, context), read_source(joins[0].this, context)
    if not left.relation.is_public or right.relation.is_public:
        return None
    how_of(joins[0])
    condition = read_condition(left, right, joins[0])
    if condition.remaining:
        raise refuse("the keys' table is joined by equalities", "put conditions on it into a subquery")
    right = condition.filtered(right)
    left = _narrowed_keys(left, select, context)
    columns = {there: here for here, there in condition.pairs}
    if len(columns) < len(condition.pairs) or len(set(columns.values())) < len(columns):
        raise refuse(
            "each column of the keys' table is joined with one of the private table", "write k.x = p.x AND k.y = p.y"
        )
    return KeyedSources(Scope(right.relation, _visible(left, right, condition)), left.relation, columns)


def _narrowed_keys(left: Scope, select: exp.Select, context: Context) -> Scope:
    where = select.args.get("where")
    if where is None:
        return left
    parts = chain(where.this, exp.And)
    if not all(left.matching(column) for part in parts for column in part.find_all(exp.Column)):
        raise refuse(
            "a condition in WHERE on the private side would drop keys that have no rows", "move it to ON", "SRD-Q106"
        )
    return narrowed(left, parts, context)


def _visible(left: Scope, right: Scope, condition: JoinCondition) -> tuple[Visible, ...]:
    joined = dict(condition.pairs)
    on_left = [
        Visible(seen.qualifier, seen.name, joined[seen.column]) for seen in left.visible if seen.column in joined
    ]
    on_right = [
        Visible(seen.qualifier, seen.name, seen.column, merged=seen.column in condition.merged)
        for seen in right.visible
    ]
    return (*on_left, *on_right)
