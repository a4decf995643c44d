"""The exact laws of mechanisms with few outcomes, by plain summation: what the samplers are judged against.

Nothing here draws, and nothing here is used by a mechanism. Sums over integers are cut where what is left is below the
precision of floats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

Law = Mapping[Any, float]
Pmf = dict[int, float]

_TAIL = 40.0  # e^−40 is below the precision of floats


def discrete_laplace(scale: float) -> Pmf:
    """Return P[k] ∝ e^(−|k|/scale)."""
    reach = math.ceil(_TAIL * scale) + 1
    return _normalised({k: math.exp(-abs(k) / scale) for k in range(-reach, reach + 1)})


def discrete_gaussian(variance: float) -> Pmf:
    """Return P[k] ∝ e^(−k²/(2·variance))."""
    reach = math.ceil(math.sqrt(2 * _TAIL * variance)) + 1
    return _normalised({k: math.exp(-k * k / (2 * variance)) for k in range(-reach, reach + 1)})


def rounded_gaussian(variance: float) -> Pmf:
    """Return the law of a Gaussian that is rounded to the nearest integer."""
    reach = math.ceil(math.sqrt(2 * _TAIL * variance)) + 1
    width = math.sqrt(2 * variance)
    return {k: (math.erf((k + 0.5) / width) - math.erf((k - 0.5) / width)) / 2 for k in range(-reach, reach + 1)}


def clamped(pmf: Pmf, shift: int, low: int, high: int) -> Law:
    """Return the law of shift + noise when all below `low` and above `high` is counted there."""
    law: dict[int, float] = {}
    for k, share in pmf.items():
        label = min(max(k + shift, low), high)
        law[label] = law.get(label, 0.0) + share
    return law


def exponential(scores: Sequence[float], scale: float) -> Law:
    """Return P[i] ∝ e^(scoreᵢ/scale)."""
    best = max(scores)
    return _normalised({i: math.exp((score - best) / scale) for i, score in enumerate(scores)})


def permute_and_flip(scores: Sequence[float], scale: float) -> Law:
    """Return the law of the first heads in a random order, by summing over all sets of heads."""
    coins = [math.exp((score - max(scores)) / scale) for score in scores]
    law = dict.fromkeys(range(len(scores)), 0.0)
    for heads in product((False, True), repeat=len(coins)):
        share = math.prod(coin if head else 1 - coin for coin, head in zip(coins, heads, strict=True))
        for i in np.flatnonzero(heads):
            law[int(i)] += share / sum(heads)
    return law


def laplace_max(scores: Sequence[int], scale: float) -> Law:
    """Return the law of the largest score after integer Laplace noise when the lower index wins ties."""
    noise = discrete_laplace(scale)
    below = cumulative(noise)
    law = {}
    for i, score in enumerate(scores):
        law[i] = sum(
            share * math.prod(below(score + k - rival - (j < i)) for j, rival in enumerate(scores) if j != i)
            for k, share in noise.items()
        )
    return law


def top_k(scores: Sequence[float], scale: float, count: int) -> Law:
    """Return the law of `count` rounds of the exponential mechanism, each without those taken before."""
    law = {}
    for order in permutations(range(len(scores)), count):
        left, share = list(range(len(scores))), 1.0
        for chosen in order:
            odds = exponential([scores[i] for i in left], scale)
            share *= odds[left.index(chosen)]
            left.remove(chosen)
        law[order] = share
    return law


def above_threshold(
    answers: Sequence[int], threshold: int, scale_threshold: float, scale_queries: float, positives: int
) -> Law:
    """Return the law of the list of comparisons, which ends with the last positive allowed."""
    noise, query = discrete_laplace(scale_threshold), discrete_laplace(scale_queries)
    shifts, shares = np.array(list(noise)), np.array(list(noise.values()))
    below = cumulative(query)
    likely = np.array([[1 - below(threshold + k - answer - 1) for answer in answers] for k in shifts.tolist()])
    law = {}
    for outcome in _comparisons(len(answers), positives):
        chances = [likely[:, j] if above else 1 - likely[:, j] for j, above in enumerate(outcome)]
        law[outcome] = float(shares @ np.prod(chances, axis=0))
    return law


def randomized_response(answer: int, epsilon: float, categories: int) -> Law:
    """Return the truth with e^ε/(e^ε+k−1), each other answer with 1/(e^ε+k−1)."""
    return _normalised({i: math.exp(epsilon * (i == answer)) for i in range(categories)})


def least_change(epsilons: Sequence[float], movable: Sequence[bool], needed: int) -> float:
    """Return the least total ε of `needed` units out of those that are `movable`, by trying all sets."""
    free = [epsilon for epsilon, may in zip(epsilons, movable, strict=True) if may]
    return min(sum(chosen) for chosen in combinations(free, needed))


def cumulative(pmf: Pmf) -> _Cumulative:
    """Return the function k ↦ P[noise ≤ k]."""
    return _Cumulative(min(pmf), np.cumsum([pmf[k] for k in sorted(pmf)]))


class _Cumulative:
    def __init__(self, first: int, sums: NDArray[np.float64]) -> None:
        self._first = first
        self._sums = sums

    def __call__(self, k: int) -> float:
        place = k - self._first
        if place < 0:
            return 0.0
        return float(self._sums[min(place, self._sums.size - 1)])


def _comparisons(length: int, positives: int) -> Iterator[tuple[bool, ...]]:
    """Yield every list of comparisons that can come out: it ends at the last positive, or runs to the end."""
    for outcome in product((False, True), repeat=length):
        if sum(outcome) < positives:
            yield outcome
    for end in range(positives, length + 1):
        for head in product((False, True), repeat=end - 1):
            if sum(head) == positives - 1:
                yield (*head, True)


def _normalised(weights: Mapping[int, float]) -> Pmf:
    total = math.fsum(weights.values())
    return {label: weight / total for label, weight in weights.items()}
