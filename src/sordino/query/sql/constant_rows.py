"""Rows of constants in SQL: ``UNNEST(['a', 'b']) AS k``, ``(SELECT UNNEST([…]) AS k)``, ``(VALUES ('a')) AS t(k)``."""

from __future__ import annotations

from sqlglot import exp

from sordino.data.metadata import Column
from sordino.query.model.expression import Literal
from sordino.query.model.literals import literal
from sordino.query.model.operations import MOST_VALUES
from sordino.query.model.relation import Constants

from .expression import Reader
from .refusals import only, refuse
from .scope import Scope, Visible

_LISTS = (exp.Array, exp.Tuple, exp.Bracket)


def is_constant(select: exp.Select) -> bool:
    """Whether a subquery is nothing but a list of constants: SELECT UNNEST([…]) AS k."""
    return (
        select.args.get("from_") is None and len(select.expressions) == 1 and _listed(select.expressions[0]) is not None
    )


def constant_select(select: exp.Select) -> Scope:
    """Return the rows of ``SELECT UNNEST([…]) AS k``."""
    only(select, "expressions")
    (node,) = select.expressions
    listed = _listed(node)
    assert listed is not None  # noqa: S101  (`is_constant` was asked)
    return _rows(listed, node.alias or "unnest", "")


def constant_source(source: exp.Unnest | exp.Values) -> Scope:
    """Return the rows of UNNEST or VALUES in FROM."""
    alias = source.args.get("alias")
    name = alias.name if alias is not None and alias.this is not None else ""
    columns = [column.name for column in (alias.args.get("columns") or ())] if alias is not None else []
    if isinstance(source, exp.Values):
        only(source, "expressions", "alias")
        rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in source.expressions]
        if any(len(row) != 1 for row in rows):
            raise refuse("VALUES has rows of one constant", "add a public table for more", "SRD-Q104")
        listed, usual = [row[0] for row in rows], "col0"
    else:
        only(source, "expressions", "alias")
        found = _list_of(source.expressions[0]) if len(source.expressions) == 1 else None
        if found is None:
            raise refuse("UNNEST takes a list of constants", "write UNNEST(['a', 'b']) AS k", "SRD-Q104")
        listed, usual = found, name or "unnest"
    return _rows(listed, columns[0] if columns else usual, name or (columns[0] if columns else ""))


def _listed(node: exp.Expr) -> list[exp.Expr] | None:
    node = node.this if isinstance(node, exp.Alias) else node
    if isinstance(node, exp.Anonymous) and node.name.upper() == "UNNEST" and len(node.expressions) == 1:
        return _list_of(node.expressions[0])
    if isinstance(node, exp.Unnest) and len(node.expressions) == 1:
        return _list_of(node.expressions[0])
    return _list_of(node.this) if isinstance(node, exp.Explode) else None


def _list_of(node: exp.Expr) -> list[exp.Expr] | None:
    return list(node.expressions) if isinstance(node, _LISTS) else None


def _rows(nodes: list[exp.Expr], name: str, qualifier: str) -> Scope:
    reader = Reader(Scope(Constants("c0", Column(literal("").kind)), ()))
    values = [reader.read(node) for node in nodes]
    kinds = {value.kind for value in values}
    if not all(isinstance(value, Literal) and value.value is not None for value in values) or len(kinds) != 1:
        raise refuse("a list of rows holds constants of one kind, none of them NULL", "write ['a', 'b']", "SRD-Q104")
    listed = tuple(dict.fromkeys(value.value for value in values if isinstance(value, Literal)))
    (kind,) = kinds
    if len(listed) < len(values) or len(listed) > MOST_VALUES or not kind.can_be_key:
        raise refuse(
            f"a list of rows holds up to {MOST_VALUES:,} different constants, and no reals",
            "write each of them once",
            "SRD-Q104",
        )
    column = Column(kind, keys=listed, nullable=False)  # type: ignore[arg-type]
    return Scope(Constants("c0", column), (Visible(qualifier, name, "c0"),))
