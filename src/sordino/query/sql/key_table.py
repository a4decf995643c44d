"""Keys from a public table: ``FROM keys AS k LEFT JOIN private AS p ON k.x = p.x GROUP BY k.x``.

So does ``FROM private RIGHT JOIN keys``, and a list of constants stands for such a table: ``UNNEST(['a', 'b']) AS k``.

The question is about the private side; its groups are those that the public side lists, all of them, always. In SQL a
key that is listed twice would count twice; here each counts once.

Groups may also be by other columns of the public side, or by expressions of them (``GROUP BY k.country``). Then private
rows are joined to the public ones as in any join, and groups are what those columns hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from sordino.data.metadata import Schema
from sordino.errors import QuestionError
from sordino.query.model.expression import Call, ColumnRef, Expression
from sordino.query.model.question import Aggregate, Key, KeyTable
from sordino.query.model.ranges import derive
from sordino.query.model.relation import Constants, Project, Relation

from .context import Context
from .grouped import group_keys
from .join import JoinCondition, both_sides, how_of, join_relations, read_condition, turned
from .predicate import conditions_of, narrowed
from .refusals import refuse
from .relation import read_source
from .scope import Scope

_FORM = "write SELECT k.x, COUNT(p.y) FROM keys AS k LEFT JOIN private AS p ON k.x = p.x GROUP BY k.x"


@dataclass(frozen=True)
class KeyedSources:
    """The private side, in which the public side's names mean columns of it that hold the same."""

    scope: Scope
    keys: Relation
    columns: dict[str, str]
    """Column of the rows → column of the public side that it holds."""
    on_columns: bool
    """Whether the public side's columns are in the rows by the join's equalities alone."""

    def known(self, named: tuple[Key, ...]) -> tuple[Key, ...]:
        """Return the question's keys; what stands in its own text is known of them."""
        if not isinstance(self.keys, Constants):
            return named
        known = self.keys.column.keys
        return tuple(replace(key, column=replace(key.column, keys=known)) for key in named)

    def table_for(self, keys: list[Expression]) -> KeyTable | None:
        """Return the public keys, in the order of the question's keys; None for constants, which the keys know."""
        if isinstance(self.keys, Constants) and self.on_columns and len(keys) == 1:
            return None
        if any(isinstance(below, Constants) for below in self.keys.walk()):
            raise refuse(
                "a list of keys stands by itself", "list the keys that you want, and group by them", "SRD-Q106"
            )
        if not keys or not all(key.columns <= set(self.columns) for key in keys):
            raise refuse("the keys are columns of the public table, or computed from them", _FORM, "SRD-Q106")
        if self.on_columns:
            return KeyTable(self.keys, tuple(self.columns[key.name] for key in keys if isinstance(key, ColumnRef)))
        outputs = tuple(
            (f"k{place}", expression, derive(expression, self.keys.columns))
            for place, expression in enumerate(self._of_keys(key) for key in keys)
        )
        return KeyTable(Project(self.keys, outputs), tuple(name for name, _, _ in outputs))

    def refuse_public(self, aggregates: list[Aggregate]) -> None:
        """Refuse aggregates of the public side, of which a key without rows has one row in SQL."""
        used = {name for each in aggregates for argument in each.arguments for name in argument.columns}
        if not self.on_columns and used & set(self.columns):
            raise refuse(
                "an aggregate of the keys' table would count a row for a key that has none",
                "aggregate columns of the private table: SUM(p.x)",
                "SRD-Q106",
            )

    def _of_keys(self, expression: Expression) -> Expression:
        """Return an expression over the rows as one over the public side."""
        if isinstance(expression, ColumnRef):
            return replace(expression, name=self.columns[expression.name])
        if isinstance(expression, Call):
            return replace(expression, arguments=tuple(map(self._of_keys, expression.arguments)))
        return expression


def keyed_sources(select: exp.Select, context: Context) -> KeyedSources | None:
    """Return the two sides if the query has this form; None if it has any other."""
    joins = select.args.get("joins") or []
    clause = select.args.get("from_")
    side = str(joins[0].args.get("side") or "").upper() if len(joins) == 1 else ""
    if clause is None or side not in ("LEFT", "RIGHT"):
        return None
    left, right = read_source(clause.this, context), read_source(joins[0].this, context)
    if side == "RIGHT":
        left, right = right, left
    if not left.relation.is_public or right.relation.is_public:
        return None
    node = turned(joins[0])
    how_of(node)
    condition = read_condition(left, right, node)
    if condition.remaining:
        raise refuse("the keys' table is joined by equalities", "put conditions on it into a subquery")
    right = condition.filtered(right)
    left = _narrowed_keys(left, select, context)
    columns = {there: here for here, there in condition.pairs}
    if len(columns) < len(condition.pairs) or len(set(columns.values())) < len(columns):
        raise refuse(
            "each column of the keys' table is joined with one of the private table", "write k.x = p.x AND k.y = p.y"
        )
    joined = dict(condition.pairs)
    keyed = Scope(left.relation, tuple(seen for seen in left.visible if seen.column in joined))
    on_columns = Scope(right.relation, both_sides(keyed, right, joined, swapped=True, merged=condition.merged))
    if _groups_by(select, on_columns, set(columns)):
        return KeyedSources(on_columns, left.relation, columns, on_columns=True)
    return _joined(left, right, condition, context.schema)


def _groups_by(select: exp.Select, scope: Scope, columns: set[str]) -> bool:
    """Whether the groups are by all columns of the join and by nothing else."""
    group = select.args.get("group")
    try:
        keys = group_keys(group.expressions, select, scope) if group is not None else []
    except QuestionError:
        return False
    names = [key.name for key in keys if isinstance(key, ColumnRef)]
    return len(names) == len(keys) and set(names) == columns


def _joined(left: Scope, right: Scope, condition: JoinCondition, schema: Schema) -> KeyedSources:
    """Return the private rows, joined to the public ones that their columns agree with."""
    mirrored = tuple((there, here) for here, there in condition.pairs)
    relation, names = join_relations(right.relation, left.relation, mirrored, "inner", schema)
    scope = Scope(relation, both_sides(left, right, names, swapped=True, merged=condition.merged))
    return KeyedSources(scope, left.relation, {new: old for old, new in names.items()}, on_columns=False)


def _narrowed_keys(left: Scope, select: exp.Select, context: Context) -> Scope:
    parts = conditions_of(select)
    if not all(left.matching(column) for part in parts for column in part.find_all(exp.Column)):
        raise refuse(
            "a condition in WHERE on the private side would drop keys that have no rows", "move it to ON", "SRD-Q106"
        )
    return narrowed(left, parts, context)
