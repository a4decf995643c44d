"""How much bounding cut off, estimated privately when asked for: in how many people, each counted once.

Truncation is what differential privacy libraries do most quietly. The bounds in force are said with every answer; how
many people they touch is a fact about the data, so it costs a small part of the price.

**Guarantee**: each estimate is a count of people (of rows, under row-level privacy) with Laplace noise, whose event
says what it costs; one person changes it by one (one row: as much as one row can become).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column
from sordino.mechanisms.laplace import Laplace
from sordino.query.model.expression import ColumnRef, Expression, Literal
from sordino.query.model.operations import call
from sordino.query.model.question import Question
from sordino.query.model.relation import Filter, PerPerson, Relation

from .discovery import ranged_expressions
from .plan import QueryPlan

SHARE = 0.05
"""The part of a question's price that one estimate takes."""


@dataclass(frozen=True)
class Truncation:
    """The estimates that a question asks for: of the limits on contributions, and of each value's bounds."""

    limits: bool
    values: tuple[Expression, ...]
    mechanism: Laplace
    bound: Bound

    @property
    def count(self) -> int:
        """How many estimates there are."""
        return self.limits + len(self.values)

    def events(self) -> tuple[Event, ...]:
        """Return what all of them run."""
        return (self.mechanism.event(self.bound),) * self.count


def plan_truncation(question: Question, epsilon: Fraction) -> Truncation:
    """Return estimates that each cost `epsilon`."""
    by_row = question.schema.by_row
    copies = max(question.relation.copies.values(), default=1) if by_row else 1
    bound = Bound.scalar(copies, unit=question.schema.unit)
    return Truncation(not by_row, tuple(ranged_expressions(question)), Laplace.for_epsilon(epsilon, bound), bound)


def count_truncation(question: Question) -> int:
    """Return how many estimates a question would get."""
    return (not question.schema.by_row) + len(ranged_expressions(question))


def beyond_limits(plan: QueryPlan) -> Relation:
    """Return one row for each person who has more rows, or more groups, than the bounding keeps whole."""
    bounding = plan.bounding
    rows = PerPerson(plan.task.relation, (), (("rows", "count", None, Column(Kind.INTEGER, nullable=False)),))
    most = bounding.l1 if bounding.method != "norm" else bounding.linf
    return Filter(rows, call("greater", ColumnRef(Kind.INTEGER, "rows"), Literal(Kind.INTEGER, most)))


def outside(plan: QueryPlan, expression: Expression, spread: Range) -> Relation:
    """Return the rows, or one row for each person, with a value outside of its bounds."""
    low, high = (Literal(Kind.REAL, float(end)) for end in (spread.low, spread.high))
    relation = plan.task.relation
    if plan.question.schema.by_row:
        return Filter(relation, call("or", call("less", expression, low), call("greater", expression, high)))
    ends = PerPerson(
        relation, (), (("least", "min", expression, Column(Kind.REAL)), ("most", "max", expression, Column(Kind.REAL)))
    )
    below = call("less", ColumnRef(Kind.REAL, "least"), low)
    above = call("greater", ColumnRef(Kind.REAL, "most"), high)
    return Filter(ends, call("or", below, above))
