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
from sordino.query.plan import rungs
from sordino.query.plan.choices import CONFIDENCE
from sordino.query.plan.encoding import Statistic
from sordino.query.plan.plan import Choice, QueryPlan

from .released import Released
from .run import worth_of


def imagine(plan: QueryPlan, sizes: Sequence[float]) -> Released:
    """Return what groups of that many rows would give if the noise happened to be zero."""
    rows = np.asarray(sizes, dtype=np.float64)
    steps = plan.reading.steps
    vectors, laws, worth = [], [], []
    for part in plan.blocks:
        each = worth_of(part, plan)
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
    """Return the buckets that would be chosen: a quantile's own, and its ends as far off as they may be.

    Without an interval the ends are as far off as the value itself may be.
    """
    first = part.mechanisms[0]
    if not isinstance(first, GroupedQuantile):
        return (np.repeat(np.arange(first.count)[None, :], len(rows), axis=0),)

    def place(ranks: float) -> np.ndarray:
        shares = np.clip(float(first.quantile) + ranks / plan.bounding.unit / rows, 0.0, 1.0)
        return np.minimum(np.floor(shares * first.buckets).astype(np.int64), first.buckets - 1)

    value = place(0.0)
    if part.without_interval:
        miss = first.rank_error(part.bound, float(CONFIDENCE))
        return value, place(-miss), place(miss)
    _, *ends = part.mechanisms
    # An end aims one reach away and may miss by another.
    found = [rungs.to_rungs(place(2.0 * end.offset), value, first.buckets) for end in ends]
    low, high = (
        rungs.to_buckets(each, value, first.buckets, upper=upper)
        for each, upper in zip(found, (False, True), strict=True)
    )
    return value, low, high
