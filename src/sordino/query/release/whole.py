"""Everything that one question runs, once for its grant: what is found first, its passes, and what bounding cut off.

**Guarantee**: `run_whole` uses the grant up for this very plan before data is touched. Each mechanism then runs under a
grant of its own, for an event that is part of the plan's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sordino import noise
from sordino.accounting.grant import Grant
from sordino.data.kinds import Range
from sordino.data.metadata import Limits
from sordino.query.model.expression import Expression
from sordino.query.model.task import Histogram, Task
from sordino.query.plan.discovery import Discovery, Found, Search, rows_found, usable
from sordino.query.plan.finding import Finding, Noisy, ends
from sordino.query.plan.plan import QueryPlan
from sordino.query.plan.reading import Released
from sordino.query.plan.truncation import Truncation, losses, pair_of, task_of
from sordino.query.plan.whole import WholePlan, passes_of, with_found

from .estimated import Estimated
from .run import Compute, measure, mute


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came out: what was found, and for each pass its plan and its noisy answer."""

    found: Found | None
    passes: tuple[tuple[QueryPlan, Released], ...]
    truncation: tuple[Estimated, ...] = ()
    """What bounding cut off."""


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
    seen: dict[Expression | None, list[Noisy]] = {}
    for search in discovery.searches:
        seen.setdefault(search.subject, []).append(_histogram(discovery, search, compute, salt))
    ranges: dict[Expression, Range] = {}
    findings: dict[Expression | None, tuple[Finding, ...]] = {}
    for subject, (lows, highs) in ((each, noisy) for each, noisy in seen.items() if each is not None):
        low, high = ends(lows, highs)
        findings[subject] = (low, high)
        ranges[subject] = usable(subject, Range(min(low.edge, high.edge), max(low.edge, high.edge)))
    if None not in seen:
        return Found(None, ranges, findings)
    rows = rows_found(discovery.searches[-1], seen[None][0])
    return Found(Limits(rows=max(1, int(rows.edge))), ranges, {**findings, None: (rows,)})


def _histogram(discovery: Discovery, search: Search, compute: Compute, salt: int) -> Noisy:
    """Return the noisy number of people in each bin of a search."""
    histogram = Histogram(search.expression, None, len(search.edges) - 1, edges=search.edges)
    exact = compute(Task(search.relation, (), discovery.bounding, histograms=(histogram,)), salt)
    counts = np.zeros(histogram.buckets, dtype=np.int64)
    rows = exact.histograms[0].reshape(-1, 3)
    counts[rows[:, 1]] = rows[:, 2]
    mechanism = search.mechanism
    noisy = mechanism.release(counts, Grant(mechanism.event(discovery.bound), discovery.bound))
    unit = discovery.bounding.unit
    return Noisy(search.edges, np.asarray(noisy, np.float64) / unit, mechanism.law, float(mechanism.grid.step) / unit)


def _estimate(truncation: Truncation, plan: QueryPlan, compute: Compute) -> list[Estimated]:
    """Return what was cut off; whoever calls has used the grant that covers it."""
    found = []
    for lost in losses(truncation, plan):
        exact = compute(task_of(lost, truncation), noise.uniform(2**62))
        sums = pair_of((int(exact.sums[0, 0]), int(exact.sums[1, 0]), int(exact.sums[2, 0])))
        grant = Grant(truncation.mechanism.event(truncation.bound), truncation.bound)
        steps, beyond = truncation.mechanism.release(np.array(sums, dtype=np.int64), grant)
        found.append(Estimated(lost, int(steps), int(beyond), truncation.mechanism.law))
    return found
