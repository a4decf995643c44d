"""The reference itself against formulas, and the fast samplers against the reference."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from sordino import noise
from sordino.noise import exact
from sordino.noise.keystream import SOURCE

N = 12000


def _counts(draws, low, high):
    clipped = np.clip(np.asarray(draws), low, high) - low
    return np.bincount(clipped, minlength=high - low + 1)


def _chances(weight, low, high, reach=400):
    support = np.arange(low - reach, high + reach + 1)
    weights = np.array([weight(int(k)) for k in support])
    shares = np.bincount(np.clip(support, low, high) - low, weights=weights)
    return shares / shares.sum()


def _tries(k, stopping, shape):
    """The truncated negative binomial law by gamma functions; at shape 0 by its limit."""
    if k < 1:
        return 0.0
    return math.exp(math.lgamma(k + shape) - math.lgamma(k + 1)) * (1 - stopping) ** k


CASES = [
    ("geometric", (Fraction(5, 2),), lambda k, f=1.0: math.exp(-k / (2.5 * f)) * (k >= 0), 0, 20),
    ("discrete_laplace", (Fraction(5, 2),), lambda k, f=1.0: math.exp(-abs(k) / (2.5 * f)), -15, 15),
    ("discrete_laplace", (Fraction(1, 3),), lambda k, f=1.0: math.exp(-abs(k) * 3 / f), -3, 3),
    ("discrete_gaussian", (Fraction(7),), lambda k, f=1.0: math.exp(-k * k / (14 * f * f)), -8, 8),
    ("discrete_gaussian", (Fraction(1, 2),), lambda k, f=1.0: math.exp(-k * k / (f * f)), -3, 3),
    ("poisson", (Fraction(13, 4),), lambda k, f=1.0: stats.poisson.pmf(k, 3.25 * f), 0, 12),
    ("binomial", (10, Fraction(3, 10)), lambda k, f=1.0: stats.binom.pmf(k, 10, 0.3 * f), 0, 10),
    ("skellam", (Fraction(4),), lambda k, f=1.0: stats.skellam.pmf(k, 2 * f, 2 * f), -8, 8),
    ("truncated_negative_binomial", (Fraction(1, 5), Fraction(1)), lambda k, f=1.0: _tries(k, 0.2 * f, 1), 1, 40),
    ("truncated_negative_binomial", (Fraction(1, 5), Fraction(0)), lambda k, f=1.0: _tries(k, 0.2 * f, 0), 1, 40),
    ("truncated_negative_binomial", (Fraction(1, 5), Fraction(1, 2)), lambda k, f=1.0: _tries(k, 0.2 * f, 0.5), 1, 40),
]
FAST = {
    "geometric": noise.Geometric,
    "discrete_laplace": noise.DiscreteLaplace,
    "discrete_gaussian": noise.DiscreteGaussian,
    "poisson": noise.Poisson,
    "binomial": noise.Binomial,
    "skellam": noise.Skellam,
    "truncated_negative_binomial": noise.TruncatedNegativeBinomial,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}{case[1]}")
def test_reference_law(case, fits, differs):
    name, parameters, weight, low, high = case
    draws = [getattr(exact, name)(*parameters, SOURCE) for _ in range(N)]
    counts = _counts(draws, low, high)
    fits(counts, _chances(weight, low, high))
    differs(counts, _chances(lambda k: weight(k, 0.7), low, high))
    differs(counts, _chances(lambda k: weight(k, 1.3), low, high))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}{case[1]}")
def test_fast_and_reference_draws_come_from_one_law(case):
    """A two-sample test: no formula is used, only the two samplers."""
    name, parameters, _, low, high = case
    reference = _counts([getattr(exact, name)(*parameters, SOURCE) for _ in range(N)], low, high)
    fast = _counts(FAST[name](*parameters).draw(20 * N), low, high)
    common = reference + fast >= 60
    table = np.array([reference[common], fast[common]])
    p = stats.chi2_contingency(table).pvalue
    assert p > 1e-7, f"n = {N}, k = {table.shape[1]}, p = {p}"


def test_uniform(fits):
    fits(np.bincount([exact.uniform(10, SOURCE) for _ in range(N)], minlength=10), [0.1] * 10)
    assert exact.uniform(1, SOURCE) == 0
    assert 0 <= exact.uniform(2**200, SOURCE) < 2**200


def test_uniform_draws_again_what_exceeds_it(replay):
    assert exact.uniform(3, replay([3 << 62, 2 << 62])) == 2


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 5), Fraction(1), Fraction(7, 2)])
def test_bernoulli_exp(x, fits):
    heads = sum(exact.bernoulli_exp(x, SOURCE) for _ in range(N))
    fits([heads, N - heads], [math.exp(-x), 1 - math.exp(-x)])


def test_bernoulli(fits):
    heads = sum(exact.bernoulli(Fraction(2, 7), SOURCE) for _ in range(N))
    fits([heads, N - heads], [2 / 7, 5 / 7])


def test_race_agrees_with_the_fast_one():
    scores = [0, 2, 1]
    orders = list(permutations(range(3), 2))
    reference = Counter(tuple(exact.race(scores, Fraction(1, 2), 2, SOURCE)) for _ in range(N))
    fast = Counter(tuple(noise.race(scores, "0.5", 2).tolist()) for _ in range(3 * N))
    p = stats.chi2_contingency([[reference[order] for order in orders], [fast[order] for order in orders]]).pvalue
    assert p > 1e-7, f"n = {N}, k = {len(orders)}, p = {p}"


def test_permutation(fits):
    seen = Counter(tuple(exact.permutation(3, SOURCE)) for _ in range(N))
    fits([seen[order] for order in permutations(range(3))], [1 / 6] * 6)
    assert exact.permutation(0, SOURCE) == []
