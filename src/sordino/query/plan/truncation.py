"""How much bounding cut off, estimated privately when asked for: the amount that each sum and count lacks.

Truncation is what differential privacy libraries do most quietly. The bounds in force are said with every answer; how
much they cut off is a fact about the data, so it costs a small part of the price.

Each estimate adds up one number for each person (under row-level privacy: for each row): what the plain answer has of
them, less what the bounded one has, on average over the choice of what is kept (``lost.py``). That number is capped at
`CAP` times what the limits let through. Whoever loses more counts with the cap, and is counted besides.

**Guarantee**: both numbers of an estimate are read from a pair (a, b) of whole numbers with Laplace noise, which one
person changes by at most `STEPS` in the 1-norm. The event says what that costs.
**Proof**: a person has one row in the estimate's relation, of which one is kept (`sample`, one row). It has a step s
within ±`STEPS` and a mark m that is 0 or 1 (``engine/measures.py``), and adds s − s·m to a and `STEPS`·m to b: one of
the two is 0, the other at most `STEPS`. Under row-level privacy one row becomes k rows at most, each of which does so,
and the bound is k times that. ∎ Nothing hangs on how `lost` was computed, nor on what was found before.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.data.kinds import Kind, Range
from sordino.mechanisms.laplace import Laplace
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import ColumnRef, Expression, Literal
from sordino.query.model.operations import call
from sordino.query.model.question import Question
from sordino.query.model.task import Measure, Monomial, Task

from .discovery import ranged_expressions
from .lost import LOST, Lost, lost_by_limits, lost_of_sum, outside
from .plan import QueryPlan

SHARE = 0.05
"""The part of a question's price that one estimate takes."""
STEPS = 2**16
"""The cap, in steps of what is added up."""
CAP = 16
"""What one person may lose in an estimate, in multiples of what the limits let through."""
_RANKED = frozenset({"quantile", "minimum", "maximum"})


@dataclass(frozen=True)
class Truncation:
    """The estimates that a question asks for: of rows cut off by limits, of sums, of people with values outside."""

    limits: bool
    sums: tuple[Expression, ...]
    ranked: tuple[Expression, ...]
    mechanism: Laplace
    bound: Bound

    @property
    def count(self) -> int:
        """How many estimates there are."""
        return self.limits + len(self.sums) + len(self.ranked)

    def events(self) -> tuple[Event, ...]:
        """Return what all of them run."""
        return (self.mechanism.event(self.bound),) * self.count


def plan_truncation(question: Question, epsilon: Fraction) -> Truncation:
    """Return estimates that each cost `epsilon`."""
    copies = max(question.relation.copies.values(), default=1) if question.schema.by_row else 1
    most = Fraction(copies * STEPS)
    bound = Bound(min(copies, 2), most, most**2, most, unit=question.schema.unit)
    sums = _summed(question)
    ranked = tuple(each for each in ranged_expressions(question) if each not in sums)
    return Truncation(_limits_cut(question), sums, ranked, Laplace.for_epsilon(epsilon, bound), bound)


def count_truncation(question: Question) -> int:
    """Return how many estimates a question would get."""
    return _limits_cut(question) + len(ranged_expressions(question))


def _limits_cut(question: Question) -> bool:
    """Return whether limits can cut anything off: not from rows that are units, nor from a count of people in all."""
    alone = {aggregate.function for aggregate in question.aggregates} == {"count_people"} and not question.keys
    return not question.schema.by_row and not alone


def _summed(question: Question) -> tuple[Expression, ...]:
    wanted = [
        argument
        for aggregate in question.aggregates
        if aggregate.function not in _RANKED
        for argument in aggregate.arguments
    ]
    return tuple(each for each in ranged_expressions(question) if each in wanted)


def losses(truncation: Truncation, plan: QueryPlan) -> list[Lost]:
    """Return what is to be estimated about a plan, in order: by its limits, and by each value's bounds."""
    ranges = {each.expression: each.range for each in plan.task.histograms if each.range is not None}
    ranges |= {each.expression: each.range for each in plan.task.measures}
    found = [lost_by_limits(plan.question, plan.bounding, CAP)] if truncation.limits else []
    found += [lost_of_sum(plan.question, plan.bounding, each, ranges[each], CAP) for each in truncation.sums]
    return found + [outside(plan.question, each, ranges[each]) for each in truncation.ranked]


def task_of(lost: Lost, truncation: Truncation) -> Task:
    """Return what the engine adds up for one estimate: Σs, Σs·m and Σm, over one row for each unit."""
    number = ColumnRef(Kind.REAL, LOST)
    cap = Literal(Kind.REAL, float(lost.cap))
    beyond = call(
        "case",
        call("or", call("greater", number, cap), call("less", number, call("negate", cap))),
        Literal(Kind.INTEGER, 1),
        Literal(Kind.INTEGER, 0),
    )
    measures = (
        Measure(number, Range(-lost.cap, lost.cap), STEPS, missing_is_middle=False),
        Measure(beyond, Range.of(-1, 1), 1, missing_is_middle=False),
    )
    both = frozenset({0, 1})
    monomials = (Monomial((1, 0), both), Monomial((1, 1), both), Monomial((0, 1), both))
    way = Bounding("row", rows=int(truncation.bound.l1) // STEPS) if lost.by_row else Bounding("sample", rows=1)
    return Task(lost.relation, (), way, measures, monomials)


def pair_of(sums: tuple[int, int, int]) -> tuple[int, int]:
    """Return the pair (a, b) that noise is added to, from what `task_of` asked for; exact, and secret."""
    steps, marked_steps, marks = sums
    return steps - marked_steps, STEPS * marks
