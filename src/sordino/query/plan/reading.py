"""What came out of the noise, and how each aggregate's estimate is read from it. All of it is post-processing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import Number, probability
from sordino.data.kinds import Kind, Range
from sordino.query.estimate.convolution import Floats
from sordino.query.estimate.estimate import Chosen, Derived, Estimate, Interval, Linear, Picked, Several
from sordino.query.estimate.ratio import Ratio
from sordino.query.estimate.shown import Shown
from sordino.query.estimate.tails import Noise
from sordino.query.model.question import Aggregate
from sordino.query.model.ranges import derive

from .choices import CONFIDENCE, bucket_values
from .plan import Choice, NoisyHistogram, QueryPlan

Read = Estimate | Several | Picked

_WITH_ENDS = 3
"""The choices of a quantile with its interval; without, the range of all values is what is sure."""


@dataclass(frozen=True, eq=False)
class Released:
    """The noisy features in steps of their noise, what a step is worth in rows, and everything that was chosen."""

    keys: tuple[list[Any], ...]
    vectors: Floats
    """Features × groups."""
    laws: tuple[Noise, ...]
    worth: Floats
    """For each feature: one step, in units of its block's features for one row."""
    bins: tuple[NDArray[Any], ...]
    """For each noisy histogram groups × bins, in rows."""
    chosen: tuple[tuple[NDArray[np.int64], ...], ...]
    """For each choice what each of its mechanisms chose."""
    counts: NDArray[np.int64] | None = None
    """The noisy counts by which private keys were selected, if the question asks for them."""

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.vectors.shape[1])


def read(plan: QueryPlan, released: Released) -> list[Read]:
    """Return the estimate of each aggregate of the plan's question."""
    return [_read_one(plan, released, place, each) for place, each in enumerate(plan.question.aggregates)]


def _read_one(plan: QueryPlan, released: Released, place: int, aggregate: Aggregate) -> Read:
    if plan.selection is not None and released.counts is not None and place in plan.selection.counted:
        return Shown(released.counts, plan.selection.least, plan.selection.mechanism)
    for histogram, bins in zip(plan.histograms, released.bins, strict=True):
        if histogram.aggregate == place:
            return _bins(plan, histogram, bins)
    picked = [
        _chosen(plan, choice, chosen, aggregate)
        for choice, chosen in zip(plan.choices, released.chosen, strict=True)
        if choice.aggregate == place
    ]
    if len(picked) > 1:
        parts = tuple(each for each in picked if isinstance(each, Estimate))
        return Several(parts, tuple(f"{float(level):g}" for level in aggregate.parameters))
    if picked:
        return picked[0]
    return _READERS[aggregate.function](_Moments(plan, released, place))


# ---- additive aggregates -------------------------------------------------------------------------------------------


class _Moments:
    """The targets of one aggregate as coefficients of the released vectors, and the scales of its measures."""

    def __init__(self, plan: QueryPlan, released: Released, place: int) -> None:
        self.released = released
        reading = plan.reading
        self.rows: Floats = reading.coefficients[list(reading.rows[place])] * released.worth
        distinct = plan.question.aggregates[place].function == "count_distinct"
        measures = [] if distinct else [plan.task.measures[each] for each in reading.places[place]]
        self.ranges: list[Range] = [measure.range for measure in measures]
        self.scales = [float(each.range.half) / each.steps for each in measures]

    def linear(self) -> Linear:
        row = self.rows[0]
        noises = [(law, float(weight)) for law, weight in zip(self.released.laws, row, strict=True) if weight]
        whole = len(noises) == 1 and noises[0][1] == 1.0
        return Linear(row @ self.released.vectors, noises, whole=whole)

    def derived(self, function: Callable[[Floats], Floats], low: float, high: float) -> Derived:
        used = np.flatnonzero(np.any(self.rows != 0, axis=0))
        rows = self.rows[:, used]

        def of_vectors(vectors: Floats) -> Floats:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                return function(np.tensordot(rows, vectors, axes=(1, 0)))

        laws = [self.released.laws[each] for each in used]
        return Derived(of_vectors, self.released.vectors[used], laws, low, high)


def _mean(moments: _Moments) -> Estimate:
    count, first = moments.rows
    spread, scale = moments.ranges[0], moments.scales[0]
    top = float(spread.middle) * count + scale * first
    used = np.flatnonzero((top != 0) | (count != 0))
    laws = [moments.released.laws[each] for each in used]
    vectors = moments.released.vectors[used]
    return Ratio(vectors, laws, list(top[used]), list(count[used]), float(spread.low), float(spread.high))


def _spread(statistics: Floats, scale: float) -> Floats:
    """Return the variance from (count, sum, sum of squares), NaN where the count is not positive."""
    count = np.where(statistics[0] > 0, statistics[0], np.nan)
    mean = statistics[1] / count
    return np.asarray(np.maximum(statistics[2] / count - mean**2, 0.0) * scale**2)


def _variance(moments: _Moments) -> Estimate:
    scale, half = moments.scales[0], float(moments.ranges[0].half)
    return moments.derived(lambda statistics: _spread(statistics, scale), 0.0, half**2)


def _deviation(moments: _Moments) -> Estimate:
    scale, half = moments.scales[0], float(moments.ranges[0].half)
    return moments.derived(lambda statistics: np.sqrt(_spread(statistics, scale)), 0.0, half)


def _covariance(moments: _Moments) -> Estimate:
    one, other = moments.scales

    def function(statistics: Floats) -> Floats:
        count = np.where(statistics[0] > 0, statistics[0], np.nan)
        first, second, product = statistics[1] / count, statistics[2] / count, statistics[3] / count
        return np.asarray((product - first * second) * (one * other))

    reach = float(moments.ranges[0].half * moments.ranges[1].half)
    return moments.derived(function, -reach, reach)


def _correlation(moments: _Moments) -> Estimate:
    def function(statistics: Floats) -> Floats:
        count = np.where(statistics[0] > 0, statistics[0], np.nan)
        first, second, one, other, product = (statistics[place] / count for place in range(1, 6))
        spread = np.sqrt(np.maximum(one - first**2, 0) * np.maximum(other - second**2, 0))
        return np.asarray((product - first * second) / np.where(spread > 0, spread, np.nan))

    return moments.derived(function, -1.0, 1.0)


def _regression(moments: _Moments) -> Several:
    """Ordinary least squares of the first measure on the others: intercept, then slopes."""
    return Several(
        tuple(moments.derived(_coefficient(moments, place), -np.inf, np.inf) for place in range(len(moments.ranges)))
    )


def _coefficient(moments: _Moments, wanted: int) -> Callable[[Floats], Floats]:
    size = len(moments.ranges)
    pairs = [(row, column) for row in range(size) for column in range(row + 1, size)]
    scales, middles = moments.scales, [float(each.middle) for each in moments.ranges]

    def function(statistics: Floats) -> Floats:
        count = np.where(statistics[0] > 0, statistics[0], np.nan)
        means = statistics[1 : 1 + size] / count
        matrix = np.empty((*count.shape, size, size))
        for place in range(size):
            matrix[..., place, place] = statistics[1 + size + place] / count - means[place] ** 2
        for index, (row, column) in enumerate(pairs):
            covariance = statistics[1 + 2 * size + index] / count - means[row] * means[column]
            matrix[..., row, column] = matrix[..., column, row] = covariance
        within, against = matrix[..., 1:, 1:], matrix[..., 1:, 0]
        usable = np.asarray(np.isfinite(matrix).all(axis=(-1, -2)))
        safe = np.where(usable[..., None, None], within, np.eye(size - 1))
        usable &= np.linalg.eigvalsh(safe)[..., 0] > 0
        safe = np.where(usable[..., None, None], safe, np.eye(size - 1))
        slopes = np.linalg.solve(safe, np.where(usable[..., None], against, np.nan)[..., None])[..., 0]
        slopes = slopes * scales[0] / np.array(scales[1:])
        if wanted:
            return np.asarray(slopes[..., wanted - 1])
        centres = [means[place] * scales[place] + middles[place] for place in range(size)]
        return np.asarray(centres[0] - sum(slopes[..., place - 1] * centres[place] for place in range(1, size)))

    return function


_READERS: dict[str, Callable[[_Moments], Estimate | Several]] = {
    "count_rows": _Moments.linear,
    "count": _Moments.linear,
    "count_people": _Moments.linear,
    "count_distinct": _Moments.linear,
    "sum": _Moments.linear,
    "mean": _mean,
    "variance": _variance,
    "deviation": _deviation,
    "covariance": _covariance,
    "correlation": _correlation,
    "regression": _regression,
}


# ---- histograms and choices ----------------------------------------------------------------------------------------


def _bins(plan: QueryPlan, histogram: NoisyHistogram, bins: NDArray[Any]) -> Several:
    worth = float(histogram.mechanism.grid.step) / plan.bounding.unit
    whole = worth == 1.0
    parts = (Linear(bins[:, place], [(histogram.mechanism.law, worth)], whole=whole) for place in range(bins.shape[1]))
    edges = [f"{float(edge):g}" for edge in plan.task.histograms[histogram.histogram].edges or ()]
    labels = [f"[{low}, {high})" for low, high in pairwise(edges[:-1])] + [f"[{edges[-2]}, {edges[-1]}]"]
    return Several(tuple(parts), tuple(labels))


def _at(low: float, width: float, buckets: NDArray[np.int64], place: float) -> Floats:
    return np.asarray(low + width * (buckets + place), dtype=np.float64)


def _chosen(plan: QueryPlan, choice: Choice, chosen: Sequence[NDArray[np.int64]], aggregate: Aggregate) -> Read:
    histogram = plan.task.histograms[choice.histogram]
    if aggregate.function == "top":
        categories = histogram.categories or ()
        rows = [[categories[each] for each in row] for row in chosen[0]]
        single = chosen[0].shape[1] == 1
        return Picked([row[0] for row in rows] if single else rows, lists=not single)
    kind = derive(aggregate.arguments[0], plan.question.relation.columns).kind
    whole = kind is Kind.INTEGER
    low, width, place = bucket_values(histogram, whole)
    value = _at(low, width, chosen[0], place)
    bottom, top = low, low + width * (histogram.buckets - (1 if whole else 0))
    everything = np.full(len(value), bottom), np.full(len(value), top)
    bought = everything
    if len(chosen) == _WITH_ENDS:
        under, over = _at(low, width, chosen[1], 0.0), _at(low, width, chosen[2], 0.0 if whole else 1.0)
        bought = np.maximum(under, bottom), np.minimum(over, top)  # a guard stands for the end of the range

    def ends(confidence: Number) -> Interval:
        return bought if probability("confidence", confidence) <= CONFIDENCE else everything

    return Chosen(value, ends, whole=whole)
