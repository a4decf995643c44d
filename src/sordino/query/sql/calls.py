"""How an aggregate is called in SQL: its name, its arguments, DISTINCT, FILTER and WITHIN GROUP, taken apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from .refusals import only, refuse

AGGREGATE_NAMES = frozenset(
    {"COUNT", "SUM", "AVG", "MEAN", "VARIANCE", "VAR_POP", "STDDEV", "STDDEV_POP", "MIN", "MAX", "MEDIAN"}
    | {"QUANTILE", "QUANTILE_CONT", "APPROX_QUANTILE", "PERCENTILE_CONT", "HISTOGRAM", "MODE", "TOP", "COUNT_IF"}
    | {"COUNTIF", "COUNT_PEOPLE", "COVAR_POP", "CORR", "REGRESSION", "REGR_SLOPE", "REGR_INTERCEPT"}
)


@dataclass(frozen=True)
class AggregateCall:
    """One call of an aggregate, as it was written."""

    name: str
    arguments: tuple[exp.Expr, ...]
    distinct: bool = False
    where: exp.Expr | None = None


def aggregate_call(node: exp.Expr) -> AggregateCall | None:
    """Return the call if the node is one of an aggregate; None if it is anything else."""
    if isinstance(node, exp.Filter):
        only(node, "this", "expression")
        inner = aggregate_call(node.this)
        return None if inner is None else replace(inner, where=node.expression.this)
    if isinstance(node, exp.WithinGroup):
        return _within_group(node)
    if not isinstance(node, exp.Anonymous) or node.name.upper() not in AGGREGATE_NAMES:
        return None
    arguments = tuple(node.expressions)
    if len(arguments) == 1 and isinstance(arguments[0], exp.Distinct):
        only(arguments[0], "expressions")
        return AggregateCall(node.name.upper(), tuple(arguments[0].expressions), distinct=True)
    return AggregateCall(node.name.upper(), arguments)


def _within_group(node: exp.WithinGroup) -> AggregateCall:
    """PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x) is QUANTILE(x, q)."""
    inner, order = aggregate_call(node.this), node.expression
    if inner is None or inner.name != "PERCENTILE_CONT" or inner.distinct or len(order.expressions) != 1:
        raise refuse("WITHIN GROUP is not possible here", "write PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x)")
    (ordered,) = order.expressions
    only(ordered, "this", "nulls_first")
    return AggregateCall("QUANTILE", (ordered.this, *inner.arguments))


def has_aggregates(nodes: list[exp.Expr]) -> bool:
    """Whether there is an aggregate at or below a node: not in a subquery, and not that of a window."""
    stack = [*nodes]
    while stack:
        current = stack.pop()
        if isinstance(current, exp.Window):
            stack.extend(child for child in current.iter_expressions() if child is not current.this)
        elif isinstance(current, exp.Anonymous) and current.name.upper() in AGGREGATE_NAMES:
            return True
        elif not isinstance(current, exp.Query):
            stack.extend(current.iter_expressions())
    return False
