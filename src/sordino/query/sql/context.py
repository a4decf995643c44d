"""What reading a query needs at every place: the schema, the names given by WITH, and how to read a subquery."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from sqlglot import exp

from sordino.data.metadata import Schema

from .refusals import only, refuse
from .scope import Scope

_MOST_RELATIONS = 500
_DEEPEST = 60


@dataclass(frozen=True)
class Context:
    """Frozen: a subquery sees what its surroundings name, and adds names for itself alone."""

    schema: Schema
    read_query: Callable[[exp.Expr, Context], Scope]
    read_from: Callable[[exp.Select, Context], tuple[Scope, list[exp.Expr]]]
    """Gives the rows of a SELECT's FROM, with its joins, and the conditions of its WHERE."""
    named: Mapping[str, Scope] = field(default_factory=dict)
    """What WITH names, by name in lower case."""

    def subquery(self, query: exp.Expr) -> Scope:
        """Return the rows of a subquery."""
        return measured(self.read_query(query, self))

    def naming(self, query: exp.Expr) -> Context:
        """Return the context in which the names of the query's own WITH are known."""
        clause = query.args.get("with_")
        if clause is None:
            return self
        if clause.args.get("recursive"):
            raise refuse("WITH RECURSIVE is not possible", "write the steps that you need as subqueries")
        only(clause, "expressions")
        context = self
        for one in clause.expressions:
            only(one, "this", "alias")
            scope = renamed(context.subquery(one.this), one.args["alias"])
            named = {**context.named, one.alias.lower(): scope}
            context = replace(context, named=MappingProxyType(named))
        return context


def measured(scope: Scope) -> Scope:
    """Return the rows if what they are made from is not absurdly large or deep: WITH can use a name many times."""
    stack, count = [(scope.relation, 1)], 0
    while stack:
        relation, depth = stack.pop()
        count += 1
        if count > _MOST_RELATIONS or depth > _DEEPEST:
            raise refuse("the question puts too many subqueries together", "ask in several questions", "SRD-Q101")
        stack.extend((below, depth + 1) for below in relation.inputs)
    return scope


def renamed(scope: Scope, alias: exp.Expr | None) -> Scope:
    """Return the scope under an alias: ``AS name`` or ``AS name(column, …)``."""
    if alias is None:
        return scope
    only(alias, "this", "columns")
    names = [column.name for column in alias.args.get("columns") or ()] or [seen.name for seen in scope.visible]
    if len(names) != len(scope.visible):
        raise refuse(
            f"{alias.name[:60]!r} names {len(names)} columns, but there are {len(scope.visible)}",
            "name them all",
            "SRD-Q103",
        )
    pairs = zip(scope.visible, names, strict=True)
    visible = tuple(replace(seen, qualifier=alias.name, name=name, merged=False) for seen, name in pairs)
    return replace(scope, visible=visible)
