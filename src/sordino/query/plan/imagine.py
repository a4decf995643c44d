"""An imagined group of n rows with values spread evenly over their ranges: what its answer would look like.

The planner knows the noise, but the error of a mean, a variance or a quantile also depends on the group. So a price is
read from imagined groups of a few sizes, by the same code that reads real answers. No data is involved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sordino.mechanisms.grouped_choice import GroupedQuantile
from sordino.query.model.task import Monomial

from . import rungs
from .choices import CONFIDENCE
from .encoding import Statistic
from .plan import Choice, QueryPlan
from .reading import Released


def imagine(plan: QueryPlan, sizes: Sequence[float]) -> Released:
    """Return what groups of that many rows would give if the noise happened to be zero."""
    rows = np.asarray(sizes, dtype=np.float64)
    steps = plan.reading.steps
    vectors, laws, worth = [], [], []
    for part in plan.blocks:
        each = plan.worth_of(part)
        for feature in part.block.features:
            exact = sum(
                _expected(statistic, steps, plan.reading.weight_place) * coefficient
                for statistic, coefficient in feature
            )
            vectors.append(exact / each * rows)
            laws.append(part.mechanism.law)
            worth.append(each)
    buckets = [plan.task.histograms[part.histogram].buckets for part in plan.histograms]
    bins = tuple(np.repeat(rows[:, None] / count, count, axis=1) for count in buckets)
    chosen = tuple(_chosen(part, plan, rows) for part in plan.choices)
    keys = tuple([None] * len(rows) for _ in plan.question.keys)
    # A group that is shown has at least the least count that is.
    counts = None if plan.selection is None else np.maximum(np.floor(rows).astype(np.int64), plan.selection.least)
    features = np.array(vectors).reshape(-1, len(rows))
    return Released(keys, features, tuple(laws), np.array(worth), bins, chosen, counts)


def _expected(statistic: Statistic, steps: tuple[int, ...], full: int | None) -> float:
    """Return the mean of a statistic for values spread evenly over ± their steps: x^p has 1/(p + 1) for even p.

    The measure at `full` is the weight of a person's class, taken as 1.
    """
    if not isinstance(statistic, Monomial):
        return 1.0
    factors = [
        float(most) ** power if place == full else 0.0 if power % 2 else float(most) ** power / (power + 1)
        for place, (power, most) in enumerate(zip(statistic.powers, steps, strict=True))
    ]
    return math.prod(factors)


def _chosen(part: Choice, plan: QueryPlan, rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the buckets that would be chosen: a quantile's aim, and its ends where they are on the average.

    Without an interval the ends are as far off as the value itself may be: in ranks that are spread evenly its chance
    falls by e every 1/rate of them.
    """
    first = part.mechanisms[0]
    if not isinstance(first, GroupedQuantile):
        return (np.repeat(np.arange(first.count)[None, :], len(rows), axis=0),)
    level, weights = float(first.quantile), rows * plan.bounding.unit

    aims = np.array([float(first.aim(int(weight))) for weight in weights])

    def place(ranks: np.ndarray) -> np.ndarray:
        shares = np.clip(ranks / weights, 0.0, 1.0)
        places: np.ndarray = np.minimum(np.floor(shares * first.buckets).astype(np.int64), first.buckets - 1)
        return places

    value = place(aims)
    if part.without_interval:
        miss = -math.log(1 - CONFIDENCE) / float(first.fall(part.bound))
        # An extreme lies to one side of its aim: half of the width must be all of how far off it is.
        below, above = aims - miss, aims + miss
        below, above = (2 * below - weights if level == 1 else below), (2 * above if level == 0 else above)
        return value, place(below if level > 0 else 0 * aims), place(above if level < 1 else weights)

    def end(mechanism: GroupedQuantile) -> np.ndarray:
        ends = [_typical(mechanism, part, *each) for each in zip(value, weights, strict=True)]
        return np.array(ends, dtype=np.int64)

    return part.with_ends(value, end)


def _typical(end: GroupedQuantile, part: Choice, value: int, weight: float) -> int:
    """Return the rung that is chosen on the average around a value, in a group whose weight is spread evenly."""
    buckets = part.mechanisms[0].buckets  # type: ignore[union-attr]  # a quantile's
    reached = np.floor(rungs.starts(value, buckets) / buckets * weight).astype(np.int64)
    spread = np.diff(reached)
    taken = np.flatnonzero(spread)
    rows = np.column_stack((np.zeros_like(taken), taken, spread[taken]))
    places, chances = end.chances(rows, part.bound)
    at = rungs.to_buckets(places, np.full_like(places, value), buckets, upper=end.guard > 0)
    return int(rungs.to_rungs(np.array([round(float(at @ chances))]), np.array([value]), buckets)[0])
