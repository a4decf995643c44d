"""How an aggregate is called in SQL: its name, its arguments, DISTINCT, FILTER and WITHIN GROUP, taken apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from .refusals import only, refuse

AGGREGATE_NAMES = frozenset(
    {"COUNT", "SUM", "AVG", "MEAN", "VARIANCE", "VAR_POP", "STDDEV", "STDDEV_POP", "MIN", "MAX", "MEDIAN"}
    | {"QUANTILE", "QUANTILE_CONT", "APPROX_QUANTILE", "PERCENTILE_CONT", "HISTOGRAM", "MODE", "TOP", "COUNT_IF"}
    | {"COUNTIF", "COUNT_PEOPLE", "COVAR_POP", "CORR", "REGRESSION", "REGR_SLOPE", "REGR_INTERCEPT"}
    | {"VAR_SAMP", "STDDEV_SAMP", "COVAR_SAMP", "APPROX_QUANTILES"}
)
SYNONYMS = {
    "COUNT_BIG": "COUNT",
    **dict.fromkeys(("VAR", "VARP", "VARPOP"), "VARIANCE"),
    **dict.fromkeys(("STD", "STDEV", "STDEVP"), "STDDEV"),
    **{f"ANON_{name}": name for name in ("COUNT", "SUM", "AVG", "VAR_POP", "STDDEV_POP")},
    "QUANTILE_DISC": "QUANTILE",
    "APPROX_PERCENTILE": "QUANTILE",
}
"""Other words for the same aggregates."""


def aggregate_name(node: exp.Expr) -> str | None:
    """Return what the aggregate is called here, if the node calls one."""
    if not isinstance(node, exp.Anonymous):
        return None
    name = SYNONYMS.get(node.name.upper(), node.name.upper())
    return name if name in AGGREGATE_NAMES else None


_BOUNDING = ("contribution_bounds_per_group", "contribution_bounds_per_row")


@dataclass(frozen=True)
class Bounds:
    """What BigQuery's ``contribution_bounds_per_… => (low, high)`` clips: a row, or what a person adds to a group."""

    low: exp.Expr
    high: exp.Expr
    per_group: bool


@dataclass(frozen=True)
class AggregateCall:
    """One call of an aggregate, as it was written."""

    name: str
    arguments: tuple[exp.Expr, ...]
    distinct: bool = False
    where: exp.Expr | None = None
    bounds: Bounds | None = None


def aggregate_call(node: exp.Expr) -> AggregateCall | None:
    """Return the call if the node is one of an aggregate; None if it is anything else."""
    if isinstance(node, exp.Filter):
        only(node, "this", "expression")
        inner = aggregate_call(node.this)
        return None if inner is None else replace(inner, where=node.expression.this)
    if isinstance(node, exp.WithinGroup):
        return _within_group(node)
    if isinstance(node, exp.Anonymous) and node.name.upper() == "APPROX_COUNT_DISTINCT":
        return AggregateCall("COUNT", tuple(node.expressions), distinct=True)
    name = aggregate_name(node)
    if name is None:
        return None
    arguments, bounds = _named(list(node.expressions))
    if len(arguments) == 1 and isinstance(arguments[0], exp.Distinct):
        only(arguments[0], "expressions")
        return AggregateCall(name, tuple(arguments[0].expressions), distinct=True, bounds=bounds)
    return AggregateCall(name, tuple(arguments), bounds=bounds)


def _named(arguments: list[exp.Expr]) -> tuple[list[exp.Expr], Bounds | None]:
    """Return the arguments without BigQuery's named ones, and the bounds of contributions that these set.

    Every answer has its intervals, so the format of a report says nothing more.
    """
    plain: list[exp.Expr] = []
    bounds: Bounds | None = None
    for argument in arguments:
        if not isinstance(argument, exp.Kwarg | exp.PropertyEQ):
            plain.append(argument)
            continue
        name = argument.this.name.lower()
        if name in _BOUNDING and bounds is None:
            bounds = _bounds(name, argument.expression)
        elif name != "report_format":
            known = ", ".join((*_BOUNDING, "report_format"))
            raise refuse(f"the argument {name[:60]!r} is not known, or given twice", f"there are {known}", "SRD-Q108")
    return plain, bounds


def _bounds(name: str, node: exp.Expr) -> Bounds | None:
    if isinstance(node, exp.Null):
        return None
    ends = tuple(node.expressions) if isinstance(node, exp.Tuple) else ()
    if len(ends) != 2:
        raise refuse(f"{name} takes two constants", f"write {name} => (0, 100)", "SRD-Q108")
    return Bounds(ends[0], ends[1], per_group=name.endswith("group"))


def _within_group(node: exp.WithinGroup) -> AggregateCall:
    """PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x) is QUANTILE(x, q)."""
    called, order = node.this, node.expression
    if isinstance(called, exp.Anonymous) and called.name.upper() == "PERCENTILE_DISC":
        called = exp.Anonymous(this="PERCENTILE_CONT", expressions=called.expressions)
    inner = aggregate_call(called)
    if inner is None or inner.name != "PERCENTILE_CONT" or inner.distinct or len(order.expressions) != 1:
        raise refuse("WITHIN GROUP is not possible here", "write PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x)")
    (ordered,) = order.expressions
    only(ordered, "this", "nulls_first")
    return AggregateCall("QUANTILE", (ordered.this, *inner.arguments))


def _is_approximate_count(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.upper() == "APPROX_COUNT_DISTINCT"


def has_aggregates(nodes: list[exp.Expr]) -> bool:
    """Whether there is an aggregate at or below a node: not in a subquery, and not that of a window."""
    stack = [*nodes]
    while stack:
        current = stack.pop()
        if isinstance(current, exp.Window):
            stack.extend(child for child in current.iter_expressions() if child is not current.this)
        elif aggregate_name(current) is not None or _is_approximate_count(current):
            return True
        elif not isinstance(current, exp.Query):
            stack.extend(current.iter_expressions())
    return False
