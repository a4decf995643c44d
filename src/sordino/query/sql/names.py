"""The list of a SELECT: what stands in it, stars written out, and what its columns are called."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sordino.query.model.expression import ColumnRef

from .calls import aggregate_call
from .refusals import only, refuse
from .scope import Scope, unique_name

_MOST_COLUMNS = 1_000


@dataclass(frozen=True)
class Item:
    """One column of a SELECT: a piece of SQL with the name that it asks for, or one of the columns behind a star."""

    name: str | None
    node: exp.Expr
    starred: ColumnRef | None = None


def item(node: exp.Expr) -> Item:
    """Return the node without its alias, and the name that it has by alias, by itself, or not at all."""
    if isinstance(node, exp.Alias):
        only(node, "this", "alias")
        return Item(node.alias, node.this)
    return Item(node.name if isinstance(node, exp.Column) else None, node)


def items(select: exp.Select, scope: Scope) -> list[Item]:
    """Return the columns of a subquery's SELECT, with stars written out."""
    listed: list[Item] = []
    for node in select.expressions:
        if isinstance(node, exp.Star):
            only(node)
            seen_here = scope.starred()
        elif isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
            only(node, "this", "table")
            only(node.this)
            seen_here = scope.starred(node.table)
        else:
            listed.append(item(node))
            continue
        columns = scope.relation.columns
        listed += [Item(seen.name, node, ColumnRef(columns[seen.column].kind, seen.column)) for seen in seen_here]
    if len(listed) > _MOST_COLUMNS:
        raise refuse(f"a subquery has at most {_MOST_COLUMNS:,} columns", "list those that you need")
    return listed


def output_names(listed: list[Item]) -> list[str]:
    """Return a name for each column: the one asked for, or one made from what it is; all different."""
    names: list[str] = []
    for place, one in enumerate(listed):
        names.append(unique_name(one.name or _made_up(one.node, place), set(names)))
    return names


def _made_up(node: exp.Expr, place: int) -> str:
    called = aggregate_call(node)
    if called is None:
        return f"column_{place + 1}"
    columns = [argument.name for argument in called.arguments if isinstance(argument, exp.Column)]
    return "_".join([called.name.lower(), *(["distinct"] if called.distinct else []), *columns])
