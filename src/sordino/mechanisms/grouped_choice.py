"""Choices in many groups at once: a quantile of each group's histogram, the most frequent categories of each group.

A value is a histogram: rows (group, bucket, weight), where the weights of one unit's contributions add up to at most
the bound's `l1` over all groups and buckets.

**Guarantee**: ε-bounded range for all groups together, and so pure ε, exactly.
**Proof.** In group g let one unit's weights add up to w_g, Σ_g w_g ≤ W = l1. Scores in g move by at most w_g·Δ, Δ being
the sensitivity for a weight of one, and the choice in g is drawn with probability ∝ exp(rate·score), so its log
probability moves within an interval of length 2·rate·w_g·Δ (rate·w_g·Δ where a unit moves all scores in one direction:
see below). Groups are drawn independently, so lengths add up: at most 2·rate·W·Δ = ε.
*Quantile q*: the score of a bucket that covers the ranks [b, e] of n is min(t − b, e − t), t = q·n + offset: how deep t
lies inside, or minus how far it lies outside. Add or remove a weight w, of which v lies below the bucket: t − b moves
by q·w − v, e − t by v' − q·w, 0 ≤ v, v' ≤ w: within w·max(q, 1−q), and a minimum moves by no more than its most mobile
term. Under the other relations what goes and what comes each adds between −q·w and (1−q)·w: within w.
A *guard* is one more bucket beyond the range, below it with the ranks (−∞, 0] or above it with [n, ∞): its score is −t
or t − n, which moves no further than the others. So some bucket has a score of zero or more wherever t lies.
*Extremes*, q = 0 with offset ≤ 0, under add/remove: t ≤ 0, so the score is t − b, or −t or t − n for a guard; what is
added can only lower these, by w at most, so log probabilities move within an interval of length rate·w. The same holds
upside down for q = 1 with offset ≥ 0. Half of the noise will do.
*Frequent categories*: a category's score is its weight. Under add/remove all scores move in one direction, each by at
most w_g, so log probabilities move within an interval of length rate·w_g (Dong, Durfee, Rogers 2020); the best k are k
such choices one after the other (``top_k.py``), each for ε/k.
**Assumes**: the histogram's weights obey the bound.
**Source**: McSherry, Talwar 2007, Theorem 6; Dong, Durfee, Rogers 2020; Durfee, Rogers 2019.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import numbers, probability, rational, rounded_up, whole
from sordino.errors import ArgumentError

from .grid import Steps
from .mechanism import remembered, use_grant
from .weighted_choice import choose_weighted

_FINEST_QUANTILE = 1000
_MOST_WEIGHT = 2**52
_LEAST_RATE = Fraction(1, 2**55)


class GroupedHistogram(NamedTuple):
    """Rows (group, bucket, weight) as an array of three columns, and the number of groups (also those without rows)."""

    rows: Any
    groups: int


@dataclass(frozen=True)
class GroupedQuantile:
    """For each group the bucket where the quantile lies: near rank `quantile`·n + `offset`, for `epsilon` in all.

    With a `guard` of −1 or 1 there is one more bucket below (chosen as −1) or above (chosen as `buckets`), for ranks
    that lie before the first or after the last.

    >>> GroupedQuantile("0.5", epsilon=1, buckets=100).event(Bound.scalar(1))
    Exponential(epsilon=Fraction(1, 1))
    """

    quantile: Fraction
    epsilon: Fraction
    buckets: int
    offset: int = 0
    guard: int = 0

    def __post_init__(self) -> None:
        level = rational("quantile", self.quantile, least=0, most=1)
        if level.denominator > _FINEST_QUANTILE:
            raise ArgumentError("quantile must have at most three decimals", "SRD-A002")
        object.__setattr__(self, "quantile", level)
        object.__setattr__(self, "epsilon", rational("epsilon", self.epsilon, least="1e-9", most="1e4"))
        object.__setattr__(self, "buckets", whole("buckets", self.buckets, least=1, most=2**31))
        object.__setattr__(self, "offset", whole("offset", self.offset, least=-_MOST_WEIGHT, most=_MOST_WEIGHT))
        object.__setattr__(self, "guard", whole("guard", self.guard, least=-1, most=1))

    @remembered
    def event(self, bound: Bound) -> Event:
        """Return what one release runs: one exponential mechanism, over all groups."""
        return events.Exponential(self._checked_epsilon(bound))

    def _checked_epsilon(self, bound: Bound) -> Fraction:
        if self.rate(bound) < _LEAST_RATE:
            raise ArgumentError("one unit weighs too much for this epsilon; bound it more tightly", "SRD-A002")
        return self.epsilon

    def release(self, value: GroupedHistogram, grant: Grant) -> NDArray[np.int64]:
        """Return the chosen bucket of each group."""
        rows, groups = _checked(value, self.buckets)
        rate = self.rate(use_grant(self, grant))
        chosen = [self._one(each, rate) for each in _by_group(rows, groups)]
        return np.array(chosen, dtype=np.int64)

    def error(self, confidence: float = 0.95) -> float:
        """Return how far off in rank (weight) a choice is, at most, with probability `confidence`, if a unit weighs 1.

        The exponential mechanism's bound ln(buckets/(1 − confidence))/rate; some bucket has a score of zero or more if
        the rank asked for lies within the data, or on the side of the guard.
        """
        return self.rank_error(Bound.scalar(1), confidence)

    def rank_error(self, bound: Bound, confidence: float = 0.95) -> float:
        """Return the same for units that weigh as much as `bound` says."""
        failure = 1 - probability("confidence", confidence)
        logarithm = math.log(self.buckets + 1) - math.log(failure)
        return rounded_up(Fraction(logarithm) / self.fall(bound))

    def fall(self, bound: Bound) -> Fraction:
        """Return by how much the logarithm of a bucket's chance falls with each rank that it is off."""
        return self.rate(bound) * self._scale

    def aim(self, every: int) -> Fraction:
        """Return the rank that is looked for in a group that weighs so much."""
        return self.quantile * every + self.offset

    @property
    def _scale(self) -> int:
        """What scores are multiplied by to be whole."""
        return self.quantile.denominator

    def rate(self, bound: Bound) -> Fraction:
        """Return ε/(2Δ), for an extreme ε/Δ, for scores multiplied by the quantile's denominator."""
        above, all_of_it = self.quantile.numerator, self.quantile.denominator
        if bound.neighbours is not Neighbours.ADD_REMOVE:
            return self.epsilon / (2 * bound.l1 * all_of_it)
        if (self.quantile == 0 and self.offset <= 0) or (self.quantile == 1 and self.offset >= 0):
            return self.epsilon / bound.l1
        return self.epsilon / (2 * bound.l1 * max(above, all_of_it - above))

    def chances(self, rows: Steps, bound: Bound) -> tuple[Steps, NDArray[np.float64]]:
        """Return all buckets and how likely each is chosen (to float accuracy) in one group, which must be public."""
        starts, counts, scores = self._runs(rows)
        places = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        weights = np.exp(float(self.rate(bound)) * (scores - scores.max()))
        return places, np.repeat(weights / (weights @ counts), counts)

    def _one(self, histogram: Steps, rate: Fraction) -> int:
        starts, counts, scores = self._runs(histogram)
        index, place = self._draw(counts, scores, rate)
        return int(starts[index]) + place

    @staticmethod
    def _draw(counts: Steps, scores: Steps, rate: Fraction) -> tuple[int, int]:
        """Return a run of buckets, and which of its buckets, drawn with probability ∝ exp(rate·score)."""
        index = choose_weighted(scores, counts, rate)
        return index, noise.uniform(int(counts[index]))

    def _runs(self, histogram: Steps) -> tuple[Steps, Steps, Steps]:
        """Return runs of buckets that have one score each: first buckets, numbers of buckets, whole scores."""
        taken, weights = histogram[:, 1], histogram[:, 2]
        starts = np.concatenate((np.array([0]), np.column_stack((taken, taken + 1)).ravel()))
        counts = np.diff(np.append(starts, self.buckets))
        reached = np.cumsum(weights)
        below = np.concatenate((np.array([0]), np.column_stack((reached - weights, reached)).ravel()))
        upto = np.concatenate((np.array([0]), np.column_stack((reached, reached)).ravel()))
        scale, every = self._scale, int(reached[-1]) if reached.size else 0
        target = int(scale * self.aim(every))
        scores = self._scores(target, scale * below, scale * upto)
        present = counts > 0
        starts, counts, scores = starts[present], counts[present], scores[present]
        if self.guard:
            starts = np.append(starts, -1 if self.guard < 0 else self.buckets)
            counts = np.append(counts, 1)
            scores = np.append(scores, -target if self.guard < 0 else target - scale * every)
        return starts, counts, scores

    def _scores(self, target: int, below: Steps, upto: Steps) -> Steps:
        """Return how deep the target lies in each run of ranks, or minus how far outside."""
        return np.minimum(target - below, upto - target)


@dataclass(frozen=True)
class GroupedTop:
    """For each group the `count` most frequent of `categories`, best first, for `epsilon` in all.

    >>> GroupedTop(2, epsilon=1, categories=5).event(Bound.scalar(1))
    Repeated(event=Exponential(epsilon=Fraction(1, 2)), count=2)
    """

    count: int
    epsilon: Fraction
    categories: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", whole("categories", self.categories, least=1, most=2**24))
        object.__setattr__(self, "count", whole("count", self.count, least=1, most=self.categories))
        object.__setattr__(self, "epsilon", rational("epsilon", self.epsilon, least="1e-9", most="1e4"))

    @remembered
    def event(self, bound: Bound) -> Event:
        """Return what one release runs: `count` exponential mechanisms, each over all groups."""
        if bound.neighbours is not Neighbours.ADD_REMOVE:
            raise ArgumentError("frequent categories need a bound for add/remove neighbours", "SRD-A003")
        if self.rate(bound) < _LEAST_RATE:
            raise ArgumentError("one unit weighs too much for this epsilon; bound it more tightly", "SRD-A002")
        return events.Repeated(events.Exponential(self.epsilon / self.count), self.count)

    def release(self, value: GroupedHistogram, grant: Grant) -> NDArray[np.int64]:
        """Return the chosen categories, groups × `count`."""
        rows, groups = _checked(value, self.categories)
        rate = self.rate(use_grant(self, grant))
        chosen = np.empty((groups, self.count), dtype=np.int64)
        for group, histogram in enumerate(_by_group(rows, groups)):
            scores = np.zeros(self.categories, dtype=np.int64)
            scores[histogram[:, 1]] = histogram[:, 2]
            chosen[group] = noise.race(scores, rate, self.count)
        return chosen

    def error(self, confidence: float = 0.95) -> float:
        """Return how far each place's weight is below the best left for it, at most, if a unit weighs 1."""
        failure = (1 - probability("confidence", confidence)) / self.count
        logarithm = math.log(self.categories) - math.log(failure)
        return rounded_up(Fraction(logarithm) / self.rate(Bound.scalar(1)))

    def rate(self, bound: Bound) -> Fraction:
        """Return (ε/count)/Δ: categories' weights move in one direction only."""
        return self.epsilon / (self.count * bound.l1)


def _checked(value: Any, buckets: int) -> tuple[Steps, int]:
    if not isinstance(value, GroupedHistogram):
        raise ArgumentError("the value must be a GroupedHistogram(rows, groups)", "SRD-A001")
    rows, groups = numbers("the histogram", value.rows, "iu"), whole("groups", value.groups, least=0)
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise ArgumentError("the histogram must have three columns: group, bucket, weight", "SRD-A003")
    steps = rows.astype(np.int64)
    limits = np.array([groups - 1, buckets - 1, _MOST_WEIGHT])
    if steps.size and (steps.min() < 0 or np.any(steps.max(axis=0) > limits) or _sum(steps[:, 2]) > _MOST_WEIGHT):
        raise ArgumentError("the histogram has groups, buckets or weights out of range", "SRD-A002")
    places, inverse = np.unique(steps[:, :2], axis=0, return_inverse=True)
    weights = np.zeros(len(places), dtype=np.int64)
    np.add.at(weights, inverse.reshape(-1), steps[:, 2])  # rows of one bucket count together
    return np.column_stack((places, weights)), groups


def _sum(weights: Steps) -> int:
    """Return the exact sum of weights below 2^53, which int64 alone may not hold."""
    return (int((weights >> 26).sum()) << 26) + int((weights & (2**26 - 1)).sum())


def _by_group(rows: Steps, groups: int) -> Iterator[Steps]:
    edges = np.searchsorted(rows[:, 0], np.arange(groups + 1))
    for group in range(groups):
        yield rows[edges[group] : edges[group + 1]]
