"""INTERSECT and EXCEPT in SQL: each person's different rows that are (or are not) among that person's other rows."""

from __future__ import annotations

from sqlglot import exp

from sordino.query.model.lineage import owners

from .context import Context
from .person import distinct_rows
from .predicate import members_only
from .refusals import only, refuse
from .scope import Scope, Visible


def in_both(query: exp.Intersect | exp.Except, context: Context) -> Scope:
    """Return the rows of the left side that are among those of the right side, or that are not; each once."""
    word = type(query).__name__.upper()
    only(query, "this", "expression", "with_", "distinct")
    if query.args.get("distinct") is False:
        raise refuse(f"{word} ALL is not possible", f"write {word}, which gives each row once")
    left, right = context.subquery(query.this), context.subquery(query.expression)
    if len(left.visible) != len(right.visible):
        raise refuse(f"both sides of {word} need as many columns", "list them in the same order", "SRD-Q104")
    relation = left.relation
    held = owners(relation, context.schema)
    for seen in left.visible:
        if relation.columns[seen.column].nullable and seen.column not in held and not relation.is_public:
            raise refuse(
                f"{word} takes NULL for equal to NULL, and {seen.name[:60]!r} may be NULL",
                "select the person alone, or write EXISTS or NOT EXISTS (SELECT 1 FROM … WHERE …)",
            )
    pairs = tuple((here.column, there.column) for here, there in zip(left.visible, right.visible, strict=True))
    found = members_only(relation, right.relation, pairs, isinstance(query, exp.Except), context)
    visible = tuple(Visible("", seen.name, seen.column) for seen in left.visible)
    return distinct_rows(Scope(found, visible), context)
