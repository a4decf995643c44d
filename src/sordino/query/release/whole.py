"""Everything that one question runs, once for its grant: what is found first, its passes, and what bounding cut off.

**Guarantee**: `run_whole` uses the grant up for this very plan before data is touched. Each mechanism then runs under a
grant of its own, for an event that is part of the plan's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from sordino import noise
from sordino.accounting.grant import Grant
from sordino.data.kinds import Range
from sordino.data.metadata import Limits
from sordino.mechanisms.grouped_choice import GroupedHistogram
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import Expression
from sordino.query.model.relation import Relation
from sordino.query.model.task import Histogram, Monomial, Task
from sordino.query.model.wording import describe
from sordino.query.plan.discovery import Discovery, Found, usable
from sordino.query.plan.plan import QueryPlan
from sordino.query.plan.reading import Released
from sordino.query.plan.truncation import Truncation, beyond_limits, outside
from sordino.query.plan.whole import WholePlan, passes_of, with_found

from .run import Compute, measure, mute


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came out: what was found, and for each pass its plan and its noisy answer."""

    found: Found | None
    passes: tuple[tuple[QueryPlan, Released], ...]
    truncation: tuple[str, ...] = ()
    """What bounding cut off, in words."""


def run_whole(whole: WholePlan, grant: Grant, compute: Compute) -> Outcome:
    """Run everything once for the grant."""
    grant.use_for(whole)
    return mute(lambda: _run(whole, compute))


def _run(whole: WholePlan, compute: Compute) -> Outcome:
    found, passes = None, whole.passes
    if whole.discovery is not None:
        found = discover(whole.discovery, compute, noise.uniform(2**62))
        passes = passes_of(whole.question, whole.rest, with_found(whole.question, whole.wishes, found))
    released = tuple((each, measure(each, compute)) for each in passes)
    lost = () if whole.truncation is None else tuple(_estimate(whole.truncation, passes[0], compute))
    return Outcome(found, released, lost)


def discover(discovery: Discovery, compute: Compute, salt: int) -> Found:
    """Run the searches, one pass each; whoever calls has used the grant that covers them."""
    limits: Limits | None = None
    ends: dict[Expression, list[Fraction]] = {}
    for search in discovery.searches:
        histogram = Histogram(search.expression, None, len(search.edges) - 1, edges=search.edges)
        task = Task(search.relation, (), discovery.bounding, histograms=(histogram,))
        exact = compute(task, salt)
        grant = Grant(search.mechanism.event(discovery.bound), discovery.bound)
        rows = exact.histograms[0].reshape(-1, 3)
        place = int(search.mechanism.release(GroupedHistogram(rows, 1), grant)[0])
        edge = search.edges[place + search.upper]
        if search.subject is None:
            limits = Limits(rows=int(edge) - 1 if place + 1 < len(search.edges) - 1 else int(edge))
        else:
            ends.setdefault(search.subject, []).append(edge)
    ranges = {expression: Range(min(pair), max(pair)) for expression, pair in ends.items()}
    return Found(limits, {expression: usable(expression, found) for expression, found in ranges.items()})


def _estimate(truncation: Truncation, plan: QueryPlan, compute: Compute) -> list[str]:
    """Return what was cut off, in words, with intervals; whoever calls has used the grant that covers it."""
    unit = plan.question.schema.unit.name
    reach = math.ceil(truncation.mechanism.error(0.95))
    texts = []
    if truncation.limits:
        number = _release(truncation, beyond_limits(plan), compute)
        texts.append(f"about {number:,} ± {reach:,} {unit}s have more than the limits let through")
    ranges = {each.expression: each.range for each in plan.task.histograms if each.range is not None}
    ranges |= {each.expression: each.range for each in plan.task.measures}
    for expression in truncation.values:
        number = _release(truncation, outside(plan, expression, ranges[expression]), compute)
        name = describe(expression, plan.question.relation)
        texts.append(f"about {number:,} ± {reach:,} {unit}s have values of {name} outside of its bounds")
    return texts


def _release(truncation: Truncation, relation: Relation, compute: Compute) -> int:
    if not truncation.limits:  # under row-level privacy
        task = Task(relation, (), Bounding("row", rows=int(truncation.bound.l1)), monomials=(Monomial(()),))
        exact = int(compute(task, 0).sums[0, 0])
    else:
        people = compute(Task(relation, (), Bounding("groups", groups=1, rows_per_group=1), people=True), 0).people
        exact = 0 if people is None else int(people[0])
    grant = Grant(truncation.mechanism.event(truncation.bound), truncation.bound)
    return max(0, int(truncation.mechanism.release(exact, grant)))
