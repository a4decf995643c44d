"""Choosing among candidates, exactly: the exponential race, and permutations.

**The race.** Give candidate i the key E_i·e^(-rate·score_i) with independent standard exponentials E_i. The least key
belongs to i with probability ∝ e^(rate·score_i), and, by the exponential's lack of memory, the next ones are drawn the
same way among those left (Plackett–Luce). Minus the logarithms of the keys are the scores plus Gumbel noise.
**Source**: Gumbel 1954; Yellott 1977; for the mechanism, Durfee & Rogers 2019.

**Exactness.** E_i = -ln(1 - U_i) for a uniform real U_i whose bits are revealed as needed. Logarithms of keys are
compared as intervals; those that touch are narrowed (more bits of U_i, more digits) until they part, which happens
with probability one. So the order is that of the infinitely precise keys.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import cmp_to_key

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sordino.arguments import Number, rational, whole
from sordino.errors import ArgumentError

from .coins import LARGEST_RATE, integers
from .enclosure import context, digits_for, ln_exponential
from .keystream import SOURCE, BitSource, Words
from .partition import Unfolding

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_FIRST_BITS = 128


def choose(scores: ArrayLike, rate: Number) -> int:
    """Return one index i, with probability ∝ e^(rate·scores[i]), exactly."""
    return int(race(scores, rate, 1)[0])


def race(scores: ArrayLike, rate: Number, count: int) -> Integers:
    """Return `count` indices as drawn, each with probability ∝ e^(rate·score) among those left, exactly.

    Args:
        scores: integers that fit into int64, one per candidate.
        rate: a nonnegative exact number, at most 2**64.
        count: from 1 to the number of candidates.
    """
    runners = integers("scores", scores)
    if runners.ndim != 1 or not len(runners):
        raise ArgumentError(
            f"scores must be one row of at least one integer, not an array of shape {runners.shape}", "SRD-A001"
        )
    speed = rational("rate", rate, least=0, most=LARGEST_RATE)
    return _race(runners, speed, whole("count", count, least=1, most=len(runners)), SOURCE)


def _race(scores: Integers, rate: Fraction, count: int, source: BitSource) -> Integers:
    words = source.words(len(scores))
    # Two's complement makes the difference of int64s exact as an unsigned number.
    gaps = scores.max().view(np.uint64) - scores.view(np.uint64)
    low, high = _float_bounds(words, gaps, rate)
    contenders = np.flatnonzero(low <= np.partition(high, count - 1)[count - 1])
    contenders = contenders[low[contenders].argsort()]
    # A new cluster starts where everything before it is certainly smaller.
    reached = np.maximum.accumulate(high[contenders])
    starts = (low[contenders][1:] > reached[:-1]).nonzero()[0] + 1
    if len(starts) == len(contenders) - 1:
        return contenders[:count]
    finish: list[int] = []
    for cluster in np.split(contenders, starts):
        finish.extend(_order(cluster.tolist(), words, gaps, rate, source))
    return np.array(finish[:count], dtype=np.int64)


def _float_bounds(words: Words, gaps: Words, rate: Fraction) -> tuple[Floats, Floats]:
    """Return bounds for ln E + rate·gap in float64.

    U is known to within d = 2**-64 + U·2**-53, and d/dU of ln E is 1/((1-U)·E); where 1-U ≥ 2**-51 that at most doubles
    within d. Logarithms add 2**-45 and the product rate·gap 2**-51 of itself. Words at the ends get infinite bounds.
    """
    u = np.maximum(words, np.uint64(1)).astype(np.float64) * 2.0**-64
    rest = np.maximum(~words, np.uint64(1)).astype(np.float64) * 2.0**-64
    exponential = -np.log1p(-np.minimum(u, 1 - 2.0**-53))
    distance = gaps.astype(np.float64) * float(rate)
    key = np.log(exponential) + distance
    error = 2 * (2.0**-63 + u * 2.0**-52) / (rest * exponential) + 2.0**-44 + distance * 2.0**-49
    low, high = key - error, key + error
    low[words == 0] = -np.inf
    high[rest < 2.0**-50] = np.inf
    return low, high


def _order(cluster: list[int], words: Words, gaps: Words, rate: Fraction, source: BitSource) -> list[int]:
    """Return the candidates of a cluster in the order of their keys. Exact."""
    if len(cluster) == 1:
        return cluster
    keys = {i: _Key(Unfolding(int(words[i]), 64, source), int(gaps[i]) * rate) for i in cluster}

    def compare(i: int, j: int) -> int:
        bits = _FIRST_BITS
        while True:
            (low, high), (other_low, other_high) = keys[i].bounds(bits), keys[j].bounds(bits)
            if high < other_low:
                return -1
            if low > other_high:
                return 1
            bits *= 2

    return sorted(cluster, key=cmp_to_key(compare))


class _Key:
    """The logarithm of one candidate's key, as bounds that narrow on demand."""

    def __init__(self, uniform: Unfolding, distance: Fraction) -> None:
        self._uniform, self._distance = uniform, distance

    def bounds(self, bits: int) -> tuple[Decimal, Decimal]:
        low, high = ln_exponential(self._uniform.first(bits), bits)
        digits = digits_for(bits)
        local = context(2 * digits + len(str(int(self._distance))) + 4)
        slack = Decimal((0, (1,), -digits))
        distance = local.divide(Decimal(self._distance.numerator), Decimal(self._distance.denominator))
        return local.subtract(local.add(low, distance), slack), local.add(local.add(high, distance), slack)


def permutation(size: int) -> Integers:
    """Return the numbers 0, …, size - 1 in uniformly random order."""
    return _permutation(whole("size", size, least=0, most=2**31), SOURCE)


def _permutation(size: int, source: BitSource) -> Integers:
    """Sort by independent uniform keys: given that no two are equal, all orders are equally likely, by symmetry."""
    while True:
        keys = source.words(size)
        order = np.argsort(keys).astype(np.int64, copy=False)
        ordered = keys[order]
        if not np.any(ordered[1:] == ordered[:-1]):
            return order
