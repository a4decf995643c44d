"""``FROM a, b WHERE a.x = b.x``: the equalities in WHERE that join the tables are taken out of it, as if after ON."""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from sordino.data.metadata import Schema

from .join import equality, joined
from .refusals import refuse
from .scope import Scope

Joined = tuple[Scope, list[exp.Expr]]
"""Rows, and the conditions that are still to be met by them."""


def is_comma(join: exp.Join) -> bool:
    """Whether the join says nothing about how."""
    return not any(value for name, value in join.args.items() if name != "this")


def comma_joined(scope: Scope, waiting: list[Scope], conditions: list[exp.Expr], schema: Schema) -> Joined:
    """Join the tables that wait to the rows, each as soon as an equality leads to it."""
    while waiting:
        source, equalities = _next(scope, waiting, conditions)
        on = reduce(lambda left, right: exp.And(this=left, expression=right), (each.copy() for each in equalities))
        scope = joined(scope, source, exp.Join(on=on), schema)
        waiting = [other for other in waiting if other is not source]
        conditions = [part for part in conditions if part not in equalities]
    return scope, conditions


def _next(scope: Scope, waiting: list[Scope], conditions: list[exp.Expr]) -> tuple[Scope, list[exp.Expr]]:
    """Return the first table that equalities join to the rows, and these."""
    for source in waiting:
        equalities = [part for part in conditions if equality(scope, source, part) is not None]
        if equalities:
            return source, equalities
    here, there = (min(side.qualifiers, default="a")[:60] for side in (scope, waiting[0]))
    raise refuse(
        f"tables after a comma in FROM are joined by equalities in WHERE, and none of them leads to {there!r}",
        f"write FROM {here} JOIN {there} ON {here}.x = {there}.x",
    )
