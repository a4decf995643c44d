"""Summaries of one person's rows, in a subquery or a window: which there are, and what is known about their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from sqlglot import exp

from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column
from sordino.errors import QuestionError
from sordino.query.model.expression import Expression, Literal
from sordino.query.model.literals import literal
from sordino.query.model.operations import call, is_numeric
from sordino.query.model.ranges import derive
from sordino.query.model.relation import Filter, Join, PerPerson, Project, Relation, Scan, SemiJoin, Windowed

from .arguments import taking
from .calls import AggregateCall
from .expression import Reader
from .refusals import only, refuse

Summarised = tuple[str, Expression | None]


def argument_of(called: AggregateCall, rows: Reader) -> Expression:
    """Return the one argument of the call, NULL where the call's FILTER does not hold."""
    if called.distinct and len(called.arguments) > 1:
        return where(called, rows, as_one(rows.read(node) for node in called.arguments))
    (node,) = taking(called.name, list(called.arguments), 1, 1)
    return where(called, rows, rows.read(node))


def as_one(values: Iterable[Expression]) -> Expression:
    """Return several values as one text that says which they are, NULL where any is: for COUNT(DISTINCT a, b).

    Each text but the last comes with its length, so that no two lists look alike.
    """
    texts = [value if value.kind is Kind.TEXT else call("to_text", value) for value in values]
    parts: list[Expression] = []
    for text in texts[:-1]:
        parts += [call("to_text", call("length", text)), literal(":"), text]
    return call("concat", *parts, texts[-1])


def where(called: AggregateCall, rows: Reader, value: Expression) -> Expression:
    """Return the value, NULL where the call's FILTER does not hold."""
    return value if called.where is None else call("case", rows.condition(called.where), value, literal(None))


def bounded(called: AggregateCall, rows: Reader, value: Expression, *, by_row: bool = False) -> Expression:
    """Return a row's value, clipped if the call says ``contribution_bounds_per_row``; each row may be a person."""
    if called.bounds is None:
        return value
    if called.bounds.per_group and not by_row:
        raise refuse(
            "contribution_bounds_per_group is not possible here",
            "clip each row: contribution_bounds_per_row => (low, high), or CLIP(x, low, high)",
            "SRD-Q108",
        )
    return rows.clipped(value, rows.read(called.bounds.low), rows.read(called.bounds.high))


def unbounded(called: AggregateCall) -> None:
    """Refuse bounds of contributions where nothing is added up."""
    if called.bounds is not None:
        raise refuse(f"{called.name} takes no bounds of contributions", "leave them out", "SRD-Q108")


def no_distinct(called: AggregateCall) -> None:
    """Refuse DISTINCT where it would matter."""
    if called.distinct:
        raise refuse(
            f"{called.name}(DISTINCT …) is not possible",
            "write COUNT(DISTINCT x), or group by x and add up the groups that are shown",
        )


def counts_all(called: AggregateCall, rows: Reader) -> bool:
    """Whether the call counts rows whatever they hold: COUNT(*), COUNT(1)."""
    if called.distinct:
        if any(isinstance(node, exp.Star) for node in called.arguments):
            no_distinct(called)
        return False
    (node,) = taking(called.name, list(called.arguments), 1, 1)
    if isinstance(node, exp.Star):
        only(node)
        return True
    value = rows.read(node)
    return isinstance(value, Literal) and value.value is not None


def condition_of(called: AggregateCall, rows: Reader) -> Expression:
    """Return, for COUNT_IF(x), what is counted: 1 where it holds, else NULL."""
    no_distinct(called)
    (node,) = taking(called.name, list(called.arguments), 1, 1)
    return where(called, rows, call("case", rows.condition(node), literal(1), literal(None)))


def _count(called: AggregateCall, rows: Reader) -> Summarised:
    if counts_all(called, rows):
        return "count", None if called.where is None else where(called, rows, literal(1))
    return ("count_distinct" if called.distinct else "count"), argument_of(called, rows)


def _number(function: str) -> Callable[[AggregateCall, Reader], Summarised]:
    def read(called: AggregateCall, rows: Reader) -> Summarised:
        no_distinct(called)
        argument = number_of(bounded(called, rows, argument_of(called, rows)))
        is_numeric(argument.kind, called.name)
        return function, argument

    return read


def number_of(value: Expression) -> Expression:
    """Return a value to add up: what is true or false counts as 1 or 0."""
    return call("to_integer", value) if value.kind is Kind.BOOLEAN else value


def _extreme(function: str) -> Callable[[AggregateCall, Reader], Summarised]:
    def read(called: AggregateCall, rows: Reader) -> Summarised:
        argument = argument_of(called, rows)
        if argument.kind is Kind.BOOLEAN:
            raise QuestionError(
                f"{called.name} of true and false; write {called.name}(CASE WHEN … THEN 1 ELSE 0 END)", "SRD-Q104"
            )
        return function, argument

    return read


FUNCTIONS: dict[str, Callable[[AggregateCall, Reader], Summarised]] = {
    "COUNT": _count,
    "COUNT_IF": lambda called, rows: ("count", condition_of(called, rows)),
    "COUNTIF": lambda called, rows: ("count", condition_of(called, rows)),
    "SUM": _number("sum"),
    "AVG": _number("mean"),
    "MEAN": _number("mean"),
    "MIN": _extreme("min"),
    "MAX": _extreme("max"),
}


def summary_column(function: str, argument: Expression | None, source: Relation) -> Column:
    """Return what is known about a summary of at most so many rows as the tables below declare for one person."""
    rows = most_rows(source)
    if argument is None or function in ("count", "count_distinct"):
        return row_count(rows, least=0)
    known = derive(argument, source.columns)
    if function == "sum":
        return Column(known.kind, _sum_range(known.range, rows), nullable=known.nullable)
    kind = Kind.REAL if function == "mean" else known.kind
    keys = known.keys if function in ("min", "max") else None
    return Column(kind, known.range, keys=keys, nullable=known.nullable)


def row_count(rows: int | None, least: int = 1) -> Column:
    """Return what is known about a number of rows."""
    known = None if rows is None else Range(Fraction(least), Fraction(max(rows, least)))
    return Column(Kind.INTEGER, known, nullable=False)


def _sum_range(known: Range | None, rows: int | None) -> Range | None:
    if known is None or rows is None:
        return None
    return Range(min(known.low, known.low * rows), max(known.high, known.high * rows))


def most_rows(relation: Relation) -> int | None:
    """Return how many rows one person has at most by declaration, where no join or union can have added any."""
    if isinstance(relation, Scan):
        return relation.table.limits.rows
    if isinstance(relation, Filter | Project | SemiJoin | PerPerson | Windowed):
        return most_rows(relation.source)
    if isinstance(relation, Join) and relation.single:
        return most_rows(relation.left)
    return None
