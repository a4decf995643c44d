from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from sordino.errors import ArgumentError
from sordino.noise import choose, permutation, race, selection
from sordino.noise.selection import _order, _permutation, _race

N = 12_000


def _softmax(scores, rate):
    weights = np.exp(rate * (np.array(scores, dtype=float) - max(scores)))
    return weights / weights.sum()


@pytest.mark.parametrize("scores", [[0], [3, 1, 4, 1, 5], [2**63 - 1, 2**63 - 3, 2**63 - 2], [-(2**63), 2 - 2**63]])
def test_choose(scores, fits, differs):
    counts = np.bincount([choose(scores, "0.5") for _ in range(N)], minlength=len(scores))
    fits(counts, _softmax([score - max(scores) for score in scores], 0.5))
    if len(scores) > 2:
        for wrong in (0.35, 0.65):
            differs(counts, _softmax([score - max(scores) for score in scores], wrong))


def test_choose_among_many(fits):
    scores = np.repeat(np.arange(10), 1000)
    chosen = [scores[choose(scores, 1)] for _ in range(3000)]
    fits(np.bincount(chosen, minlength=10), _softmax(range(10), 1.0))


def _plackett_luce(scores, rate, count):
    weights = [math.exp(rate * score) for score in scores]
    chances = {}
    for order in permutations(range(len(scores)), count):
        left, chance = sum(weights), 1.0
        for index in order:
            chance *= weights[index] / left
            left -= weights[index]
        chances[order] = chance
    return chances


@pytest.mark.parametrize("count", [1, 2, 4])
def test_race_draws_successively_among_those_left(count, fits, differs):
    scores = [0, 2, 1, 3]
    seen = Counter(tuple(race(scores, "0.7", count).tolist()) for _ in range(N))
    chances = _plackett_luce(scores, 0.7, count)
    fits([seen[order] for order in chances], list(chances.values()))
    for wrong in (0.49, 0.91):
        other = _plackett_luce(scores, wrong, count)
        differs([seen[order] for order in other], list(other.values()))


def test_race_extremes():
    ends = [2**63 - 1, -(2**63), 0]
    assert race(ends, 1, 3).tolist() == [0, 2, 1]
    assert race(ends, 2**64, 3).tolist() == [0, 2, 1]
    assert race([5], 1, 1).tolist() == [0]
    assert sorted(race(np.zeros(50, dtype=np.int64), 1, 50).tolist()) == list(range(50))
    assert race(np.arange(1000), 3, 5).dtype == np.int64
    assert sorted(race([1, 2, 3], "1e-300", 3).tolist()) == [0, 1, 2]


def test_rate_zero_is_uniform(fits):
    counts = np.bincount([choose([100, 0, -100], 0) for _ in range(N)], minlength=3)
    fits(counts, [1 / 3] * 3)


def test_race_agrees_with_the_exact_order_on_the_same_bits(replay, monkeypatch):
    """With bounds that exclude nothing, every comparison is exact."""
    generator = np.random.default_rng(1)
    bounds = selection._float_bounds

    def hopeless(words, *_):
        return np.full(len(words), -np.inf), np.full(len(words), np.inf)

    for trial in range(40):
        scores = generator.integers(-5, 5, 12)
        monkeypatch.setattr(selection, "_float_bounds", bounds)
        fast = _race(scores, Fraction(1, 3), 7, replay(then=trial))
        monkeypatch.setattr(selection, "_float_bounds", hopeless)
        exact = _race(scores, Fraction(1, 3), 7, replay(then=trial))
        assert fast.tolist() == exact.tolist()


def test_float_bounds_hold_the_exact_keys(replay):
    generator = np.random.default_rng(2)
    words = generator.integers(0, 2**64, 40, dtype=np.uint64)
    words[:12] = [0, 1, 2, 3, 1000, 2**53 + 1, 2**63, 2**64 - 1, 2**64 - 2, 2**64 - 2**10, 2**64 - 2**14, 2**64 - 2**15]
    gaps = generator.integers(0, 2**64, 40, dtype=np.uint64) >> generator.integers(0, 64, 40).astype(np.uint64)
    for rate in (Fraction(1, 3), Fraction(2**64), Fraction(1, 10**300)):
        low, high = selection._float_bounds(words, gaps, rate)
        assert (low < high).all()
        for i in range(40):
            # The least and the greatest continuation of the word are both inside.
            for rest in (0, 2**64 - 1):
                key = selection._Key(selection.Unfolding(int(words[i]), 64, replay([rest] * 2)), int(gaps[i]) * rate)
                exact_low, exact_high = key.bounds(192)
                assert low[i] <= exact_high
                assert exact_low <= high[i]


def test_ties_in_the_known_bits_are_broken_by_more_bits(replay):
    words = np.array([7, 7, 7], dtype=np.uint64)
    gaps = np.zeros(3, dtype=np.uint64)
    # Each candidate reveals a word of its own, in the order in which they are first compared.
    first = _order([0, 1], words, gaps, Fraction(1), replay([2**20, 2**40]))
    other = _order([0, 1], words, gaps, Fraction(1), replay([2**40, 2**20]))
    assert sorted(first) == sorted(other) == [0, 1]
    assert first != other
    # Equal second words: a third one decides.
    source = replay([5, 5, 2**20, 2**40], then=1)
    assert sorted(_order([0, 1], words, gaps, Fraction(1), source)) == [0, 1]
    assert source.taken >= 4


def test_only_the_candidates_in_doubt_reveal_more_bits(replay):
    """Two keys are equal as far as known, a third is far behind, a fourth does not come into it."""
    source = replay([7, 7, 2**60, 2**63, 2**20, 2**40])
    drawn = _race(np.zeros(4, dtype=np.int64), Fraction(1), 3, source)
    assert sorted(drawn[:2].tolist()) == [0, 1]
    assert drawn[2] == 2
    assert source.taken == 6


@pytest.mark.parametrize(
    ("scores", "rate", "count"),
    [
        ([], 1, 1),
        ([[1, 2]], 1, 1),
        (5, 1, 1),
        ([1.0, 2.0], 1, 1),
        ([True, False], 1, 1),
        ([2**63], 1, 1),
        ([1, 2], -1, 1),
        ([1, 2], math.nan, 1),
        ([1, 2], 2**65, 1),
        ([1, 2], 1, 0),
        ([1, 2], 1, 3),
        ([1, 2], 1, 1.0),
    ],
)
def test_bad_races_are_refused(scores, rate, count):
    with pytest.raises(ArgumentError, match=r"scores|rate|count"):
        race(scores, rate, count)


def test_permutations_are_uniform(fits, differs):
    seen = Counter(tuple(permutation(4).tolist()) for _ in range(N))
    orders = list(permutations(range(4)))
    fits([seen[order] for order in orders], [1 / 24] * 24)
    biased = np.linspace(0.7, 1.3, 24)
    differs([seen[order] for order in orders], (biased / biased.sum()).tolist())


def test_large_permutations_have_each_number_once():
    order = permutation(50_000)
    assert order.dtype == np.int64
    assert np.array_equal(np.sort(order), np.arange(50_000))
    places = np.bincount(order[:10_000] // 5000, minlength=10)
    assert places.sum() == 10_000
    assert places.min() > 800
    assert places.max() < 1200


def test_equal_keys_are_drawn_again(replay):
    source = replay([5, 5, 1, 3, 2, 1])
    assert _permutation(3, source).tolist() == [2, 1, 0]
    assert source.taken == 6
    assert permutation(0).tolist() == []
    assert permutation(1).tolist() == [0]


@pytest.mark.parametrize("size", [-1, 1.0, True, None, 2**40])
def test_bad_permutation_sizes_are_refused(size):
    with pytest.raises(ArgumentError, match="size"):
        permutation(size)
