"""How much bounding cut off, estimated privately when asked for: in how many people, each counted once.

Truncation is what differential privacy libraries do most quietly. The bounds in force are said with every answer; how
many people they touch is a fact about the data, so it costs a small part of the price.

**Guarantee**: each estimate is a count of people (of rows, under row-level privacy) with Laplace noise, whose event
says what it costs; one person changes it by one (one row: as much as one row can become).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.grant import Grant
from sordino.mechanisms.laplace import Laplace
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import ColumnRef, Expression, Literal
from sordino.query.model.kinds import Kind, Range
from sordino.query.model.metadata import Column
from sordino.query.model.operations import call
from sordino.query.model.question import Question
from sordino.query.model.relation import Filter, PerPerson, Relation
from sordino.query.model.task import Monomial, Task
from sordino.query.plan.plan import QueryPlan

from .discovery import ranged_expressions
from .run import Compute
from .wording import describe

SHARE = 0.05
"""The part of a question's price that one estimate takes."""


@dataclass(frozen=True)
class Losses:
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


def plan_losses(question: Question, epsilon: Fraction) -> Losses:
    """Return estimates that each cost `epsilon`."""
    by_row = question.schema.by_row
    copies = max(question.relation.copies.values(), default=1) if by_row else 1
    bound = Bound.scalar(copies, unit=question.schema.unit)
    return Losses(not by_row, tuple(ranged_expressions(question)), Laplace.for_epsilon(epsilon, bound), bound)


def count_losses(question: Question) -> int:
    """Return how many estimates a question would get."""
    return (not question.schema.by_row) + len(ranged_expressions(question))


def estimate_losses(losses: Losses, plan: QueryPlan, compute: Compute) -> list[str]:
    """Return what was lost, in words, with intervals; whoever calls has used the grant that covers it."""
    unit = plan.question.schema.unit.name
    reach = math.ceil(losses.mechanism.error(0.95))
    texts = []
    if losses.limits:
        number = _release(losses, _beyond_limits(plan), compute)
        texts.append(f"about {number:,} ± {reach:,} {unit}s have more than the limits let through")
    ranges = {each.expression: each.range for each in plan.task.histograms if each.range is not None}
    ranges |= {each.expression: each.range for each in plan.task.measures}
    for expression in losses.values:
        number = _release(losses, _outside(plan, expression, ranges[expression]), compute)
        name = describe(expression, plan.question.relation)
        texts.append(f"about {number:,} ± {reach:,} {unit}s have values of {name} outside of its bounds")
    return texts


def _release(losses: Losses, relation: Relation, compute: Compute) -> int:
    by_row = not losses.limits
    if by_row:
        task = Task(relation, (), Bounding("row", rows=int(losses.bound.l1)), monomials=(Monomial(()),))
        exact = int(compute(task, 0).sums[0, 0])
    else:
        people = compute(Task(relation, (), Bounding("groups", groups=1, rows_per_group=1), people=True), 0).people
        exact = 0 if people is None else int(people[0])
    released = losses.mechanism.release(exact, Grant(losses.mechanism.event(losses.bound), losses.bound))
    return max(0, int(released))


def _beyond_limits(plan: QueryPlan) -> Relation:
    """Return one row for each person who has more rows, or more groups, than the bounding keeps whole."""
    bounding = plan.bounding
    rows = PerPerson(plan.task.relation, (), (("rows", "count", None, Column(Kind.INTEGER, nullable=False)),))
    most = bounding.l1 if bounding.method != "norm" else bounding.linf
    return Filter(rows, call("greater", ColumnRef(Kind.INTEGER, "rows"), Literal(Kind.INTEGER, most)))


def _outside(plan: QueryPlan, expression: Expression, spread: Range) -> Relation:
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
