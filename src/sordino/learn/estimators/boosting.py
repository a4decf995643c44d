"""Boosting one column at a time, by small trees whose splits are random and whose leaves hold noisy sums of residuals.

**Guarantee**: in each of rounds × columns steps a row adds its residual to one leaf, so one that comes or goes moves
the leaves by its residual alone: at most 1 in size for two classes or a target, √2 in the 2-norm and 2 in the 1-norm
for more classes (``logistic.py``). Splits are chosen before any row is looked at, and the weight of a leaf comes from
the noisy counts of its bins, which were released before. Scores of bins are whole multiples of 2⁻²⁰, so that a row's
total is exact and its residual depends on that row alone.
**Source**: Nori, Caruana, Bu, Shen, Kulkarni 2021 (DP-EBM), Algorithm 2. Unlike there a step is divided by the largest
curvature, as Newton's is, and leaves whose weight is in the noise move less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .binning import Binned
from .releases import Floats, Releases

Whole = NDArray[np.int64]
Residuals = Callable[[Whole], Floats]
"""From the totals of all rows, in steps of 2⁻²⁰, to their residuals in whole multiples of 1/ONE."""

SCORE_BITS = 20


@dataclass(frozen=True)
class Pace:
    """How fast a boosting learns: public."""

    rounds: int
    rate: float
    leaves: int
    curvature: float
    """The largest second derivative of the loss, by which a step is divided."""


@dataclass(frozen=True, eq=False)
class Shape:
    """What one column adds to the score: for each bin, and the standard deviation of the noise in it."""

    scores: Floats
    deviations: Floats


def boosted(
    columns: list[Binned],
    places: NDArray[np.intp],
    outputs: int,
    residuals: Residuals,
    pace: Pace,
    chance: Any,
    releases: Releases,
) -> list[Shape]:
    """Return the shapes of all columns after all rounds."""
    scores = [np.zeros((len(each.weights), outputs), dtype=np.int64) for each in columns]
    variances = [np.zeros(len(each.weights)) for each in columns]
    totals = np.zeros((len(places), outputs), dtype=np.int64)
    deviation = releases.deviation("leaves")
    for _ in range(pace.rounds):
        for column, each in enumerate(columns):
            leaf = _random_leaves(each, pace.leaves, chance)
            weight = np.bincount(leaf, weights=each.weights)
            own = leaf[places[:, column]]
            sums = _leaf_sums(own, residuals(totals), len(weight))
            step = pace.rate / (pace.curvature * (weight + deviation))
            moved = np.rint(releases.noisy("leaves", sums) * step[:, None] * 2**SCORE_BITS).astype(np.int64)
            scores[column] -= moved[leaf]
            totals -= moved[own]
            variances[column] += (deviation * step[leaf]) ** 2
    return [Shape(s / 2**SCORE_BITS, np.sqrt(v)) for s, v in zip(scores, variances, strict=True)]


def _leaf_sums(own: NDArray[np.intp], residuals: Floats, leaves: int) -> Whole:
    """Return the sum of residuals in each leaf; exact, as they are whole numbers."""
    return np.stack([np.bincount(own, weights=each, minlength=leaves) for each in residuals.T], axis=1).astype(np.int64)


def _random_leaves(column: Binned, leaves: int, chance: Any) -> NDArray[np.intp]:
    """Return the leaf of each bin of a random tree: stretches of bins, or of categories in random order."""
    count = len(column.weights) - 1
    order = np.arange(count) if column.ordered else chance.permutation(count)
    wanted = min(leaves, count) - 1
    cuts = np.sort(chance.choice(count - 1, size=wanted, replace=False)) if wanted else np.zeros(0, dtype=np.intp)
    ranks = np.searchsorted(cuts, np.arange(count), side="left")
    found = np.empty(count + 1, dtype=np.intp)
    found[order] = ranks
    found[count] = ranks.max(initial=0) + 1  # what is missing is a leaf of its own
    return found
