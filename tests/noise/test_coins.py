from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.errors import ArgumentError
from sordino.noise import bernoulli, coins, flip, logistic, uniform
from sordino.noise.coins import _below, _coins, _flip, _uniform, _uniform_one
from sordino.noise.partition import Unfolding

N = 60_000


def _heads(coin):
    heads = int(np.count_nonzero(coin))
    return [heads, coin.size - heads]


def _half(bits):
    return 1 << (bits - 1), 1 << (bits - 1)


@pytest.mark.parametrize("below", [1, 2, 3, 10, 1000])
def test_uniform_covers_its_range_evenly(below, fits):
    draws = uniform(below, N)
    assert draws.dtype == np.int64
    fits(np.bincount(draws, minlength=below), [1 / below] * below)
    singles = [uniform(below) for _ in range(3000)]
    assert type(singles[0]) is int
    fits(np.bincount(singles, minlength=below), [1 / below] * below)


def test_uniform_notices_a_missing_value(differs):
    differs(np.bincount(uniform(9, N), minlength=10), [0.1] * 10)


@pytest.mark.parametrize("below", [2**63, 2**63 - 1, 3 * 2**61])
def test_uniform_reaches_the_ends_of_int64(below, fits):
    draws = uniform(below, N)
    assert draws.min() >= 0
    fits(np.bincount((draws.astype(float) / below * 8).astype(int), minlength=8), [1 / 8] * 8)


def test_uniform_draws_again_what_would_be_biased(replay):
    """2**64 mod 3 is 1: only the largest word must be refused."""
    assert _uniform(3, 2, replay([2**64 - 1, 5, 7])).tolist() == [1, 2]
    assert _uniform_one(3, replay([2**64 - 1, 2**64 - 2])) == (2**64 - 2) % 3
    assert _uniform(4, 1, replay([2**64 - 1])).tolist() == [3]


@pytest.mark.parametrize("below", [0, -1, 2**63 + 1, 1.0, True, None, math.nan])
def test_bad_limits_are_refused(below):
    with pytest.raises(ArgumentError, match="below"):
        uniform(below)


@pytest.mark.parametrize("probability", ["0.3", Fraction(1, 7), 0.5, "0.01"])
def test_bernoulli(probability, fits, differs):
    chance = float(Fraction(probability))
    heads = _heads(bernoulli(probability, 4 * N))
    fits(heads, [chance, 1 - chance])
    differs(heads, [chance * 0.7, 1 - chance * 0.7])
    differs(heads, [chance * 1.3, 1 - chance * 1.3])
    assert type(bernoulli(probability)) is bool


def test_sure_coins():
    assert bernoulli(1) is True
    assert bernoulli(0) is False
    assert bernoulli(1, (3, 2)).all()
    assert not bernoulli(0, (3, 2)).any()
    assert bernoulli("0.5", 0).shape == (0,)
    assert bernoulli("0.5", (2, 3)).dtype == np.bool_


@pytest.mark.parametrize("probability", [-0.1, 1.1, math.nan, True, None, "x"])
def test_bad_probabilities_are_refused(probability):
    with pytest.raises(ArgumentError, match="probability"):
        bernoulli(probability)


def test_coins_on_the_edge_ask_for_more_bits(replay):
    third = 2**64 // 3  # the first 64 bits of 1/3, whose next ones are 0101…

    def chance(bits):
        return (1 << bits) // 3, (1 << bits) // 3 + 1

    source = replay([third, third - 1, third + 1, third, 0, 2**64 - 1])
    assert _coins(chance, 4, source).tolist() == [True, True, False, False]
    assert source.taken == 6
    # A probability that 64 bits hold exactly needs no more.
    assert _coins(_half, 3, replay([2**63 - 1, 2**63, 2**63 + 1])).tolist() == [True, False, False]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20), st.fractions(min_value=0, max_value=1))
def test_arrays_of_coins_agree_with_single_ones_on_the_same_bits(words, chance):
    def enclosed(bits):
        return (chance.numerator << bits) // chance.denominator, -(-(chance.numerator << bits) // chance.denominator)

    class Given:
        def words(self, count):
            return np.array(words[:count], dtype=np.uint64)

        def word(self):
            return 1

    together = _coins(enclosed, len(words), Given())
    assert together.tolist() == [_below(enclosed, Unfolding(word, 64, Given())) for word in words]


@pytest.mark.parametrize(("epsilon", "others"), [(0, 1), ("0.1", 1), (1, 1), (1, 9), (3, 1), (5, 1000)])
def test_logistic(epsilon, others, fits, differs):
    def chance(value):
        return math.exp(value) / (math.exp(value) + others)

    heads = _heads(logistic(epsilon, others, 4 * N))
    value = float(epsilon)
    fits(heads, [chance(value), 1 - chance(value)])
    if value >= 1:
        for wrong in (0.7 * value, 1.3 * value):
            differs(heads, [chance(wrong), 1 - chance(wrong)])


def test_logistic_shapes_and_extremes():
    assert type(logistic(1)) is bool
    assert logistic(1, size=(2, 3)).shape == (2, 3)
    assert logistic(10**6, 1, 1000).all()
    assert logistic(0, 2**62, 1000).sum() == 0


@pytest.mark.parametrize(
    ("epsilon", "others"), [(-1, 1), (math.inf, 1), (True, 1), (1, 0), (1, 1.0), (1, 2**64), (None, 1)]
)
def test_bad_logistic_arguments_are_refused(epsilon, others):
    with pytest.raises(ArgumentError, match=r"epsilon|others"):
        logistic(epsilon, others)


@pytest.mark.parametrize("rate", ["0.1", 1, Fraction(1, 3)])
def test_flip(rate, fits, differs):
    for exponent in (1, 2, 5):
        heads = _heads(flip(np.full(4 * N, exponent), rate))
        x = float(Fraction(rate)) * exponent
        fits(heads, [math.exp(-x), 1 - math.exp(-x)])
        if x > 0.2:
            for wrong in (0.7 * x, 1.3 * x):
                differs(heads, [math.exp(-wrong), 1 - math.exp(-wrong)])


def test_flip_of_extremes():
    assert flip([0, 0, 0]).all()
    assert flip([5, 2**63 - 1], 0).all()
    assert not flip(np.full(1000, 2**63 - 1)).any()
    assert not flip(np.full(1000, 1), 2**64).any()
    assert flip(np.full(1000, 1), "1e-300").all()
    assert flip([[1, 2], [3, 4]]).shape == (2, 2)
    assert flip([]).shape == (0,)
    assert flip(np.array([3], dtype=np.uint8)).shape == (1,)


def test_flip_agrees_with_the_exact_decision_on_the_same_bits(replay, monkeypatch):
    exponents = np.random.default_rng(1).integers(0, 40, 3000)
    fast = _flip(exponents, Fraction(1, 7), replay(then=2))
    exact = []
    decide = coins._flip_exactly

    def counted(*parts):
        exact.append(parts)
        return decide(*parts)

    monkeypatch.setattr(coins, "_MARGIN", 2.0)
    monkeypatch.setattr(coins, "_flip_exactly", counted)
    forced = _flip(exponents, Fraction(1, 7), replay(then=2))
    assert len(exact) == 3000
    assert fast.tolist() == forced.tolist()


def test_flip_on_the_edge_is_decided_exactly(replay):
    """The first 64 bits of e^-1, then bits below and above its next ones."""
    prefix = 6786177901268885274  # ⌊2**64/e⌋
    assert prefix == int(Fraction("0.36787944117144232159552377016146086744581113") * 2**64)
    assert _flip(np.array([1]), Fraction(1), replay([prefix, 0, 0])).tolist() == [True]
    assert _flip(np.array([1]), Fraction(1), replay([prefix, 2**64 - 1, 0])).tolist() == [False]


@pytest.mark.parametrize(
    ("exponents", "rate"),
    [([-1], 1), ([1.5], 1), ([True], 1), (["a"], 1), ([2**63], 1), ([None], 1), ([1], -1), ([1], "x"), ([1], 2**65)],
)
def test_bad_flips_are_refused(exponents, rate):
    with pytest.raises(ArgumentError, match=r"exponents|rate"):
        flip(exponents, rate)


@pytest.mark.parametrize("ragged", [[[1], [1, 2]], [1, [2]]])
def test_rows_of_different_lengths_are_refused_by_name(ragged):
    with pytest.raises(ArgumentError, match=r"exponents must be .*SRD-A001"):
        flip(ragged)


def test_masked_exponents_are_refused():
    with pytest.raises(ArgumentError, match=r"exponents must not be masked.*SRD-A001"):
        flip(np.ma.array([1, 2], mask=[False, True]))


def test_the_callers_floating_point_traps_never_see_an_exponent():
    """e^-10^6 underflows; an exception for large exponents alone would tell about data."""
    with np.errstate(all="raise"):
        assert not flip([10**6] * 100, 1).any()
