"""Poisson samples that are cut to a size: against all samples and all cuts, one by one, under every relation."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting import approximate, pld, pure, renyi, zcdp
from sordino.accounting.event import Event
from sordino.accounting.events import (
    Approximate,
    DiscreteLaplace,
    Gaussian,
    PoissonSampled,
    RandomizedResponse,
    Repeated,
    Replaced,
    TruncatedPoissonSampled,
)
from sordino.accounting.truncated import _at_least
from sordino.errors import ArgumentError, UnsupportedError

SCALE = 2
POINTS = range(-40, 46)


def noise(centre: int) -> np.ndarray:
    return np.array([math.exp(-abs(x - centre) / SCALE) for x in POINTS]) * math.tanh(1 / (2 * SCALE))


def outputs(values: tuple[int, ...], rate: Fraction, most: int) -> np.ndarray:
    """Return the law of a noisy sum over a sample that is cut: every sample, and every way to cut it, in fractions."""
    sums: dict[int, Fraction] = {}
    for sample in itertools.product((False, True), repeat=len(values)):
        drawn = [value for value, there in zip(values, sample, strict=True) if there]
        chance = rate ** len(drawn) * (1 - rate) ** (len(values) - len(drawn))
        kept = list(itertools.combinations(drawn, min(most, len(drawn))))
        for each in kept:
            sums[sum(each)] = sums.get(sum(each), Fraction(0)) + chance / len(kept)
    return sum((float(chance) * noise(total) for total, chance in sums.items()), np.zeros(len(POINTS)))


def hockey_stick(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    return float(np.sum(np.maximum(p - math.exp(epsilon) * q, 0)))


def judge(event: Event, pairs: list[tuple[np.ndarray, np.ndarray]]) -> None:
    own = float(approximate.own_delta(event))
    for epsilon in (0.0, 0.05, 0.2, 0.5, 1.0):
        claimed = pld.delta(event, str(epsilon))
        assert max(hockey_stick(p, q, epsilon) for p, q in pairs) <= claimed * (1 + 1e-9)
    largest = float(pure.total(event))
    assert max(hockey_stick(p, q, largest) for p, q in pairs) <= own * (1 + 1e-9) + 1e-15


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_no_neighbours_tell_more_apart_than_is_claimed(rate: Fraction, most: int) -> None:
    """Up to four others that say −1, 0 or 1, in all ways, and a unit that says −1 or 1, comes, goes or is replaced."""
    event = TruncatedPoissonSampled(DiscreteLaplace(SCALE), rate, most, 5)
    come_and_go, replaced = [], []
    for size in (0, 2, 4):
        for others in itertools.combinations_with_replacement((-1, 0, 1), size):
            absent = outputs(others, rate, most)
            up, down = (outputs((*others, value), rate, most) for value in (1, -1))
            come_and_go += [(up, absent), (absent, up), (down, absent), (absent, down)]
            replaced += [(up, down), (down, up)]
    judge(event, come_and_go)
    if approximate.own_delta(event) < Fraction(1, 2):  # for a unit that is replaced, a failure counts twice
        judge(Replaced(event), replaced)


def test_a_sample_that_is_never_cut_is_a_sample() -> None:
    plain = PoissonSampled(Gaussian(4), "0.1")
    never = TruncatedPoissonSampled(Gaussian(4), "0.1", 50, 50)
    orders = np.array([2.0, 8.0])
    np.testing.assert_array_equal(renyi.curve(never, orders), renyi.curve(plain, orders))
    assert approximate.own_delta(never) == 0


def test_a_cut_to_almost_nothing_is_almost_a_failure() -> None:
    """Where the sample is always cut, a unit is kept with q·B/(B+1) at most, and nothing is said of what then shows."""
    event = TruncatedPoissonSampled(Gaussian(4), "0.9", 1, 10**6)
    assert approximate.own_delta(event) == Fraction(9, 20)


def test_a_training_run_pays_next_to_nothing_for_a_good_cut() -> None:
    run = Repeated(TruncatedPoissonSampled(Gaussian(1), Fraction(512, 60_000), 720, 60_000), 10_000)
    plain = Repeated(PoissonSampled(Gaussian(1), Fraction(512, 60_000)), 10_000)
    assert approximate.own_delta(run) < Fraction(1, 10**13)
    assert renyi.epsilon(run, "1e-5") == pytest.approx(renyi.epsilon(plain, "1e-5"), rel=1e-6)
    assert pld.epsilon(run, "1e-5") == pytest.approx(pld.epsilon(plain, "1e-5"), rel=1e-3)
    assert zcdp.rho(run) == zcdp.rho(plain)
    assert renyi.epsilon(Replaced(run), "1e-5") == pytest.approx(renyi.epsilon(Replaced(plain), "1e-5"), rel=1e-6)


@given(draws=st.integers(1, 120), share=st.fractions(0, 1), rate=st.fractions(Fraction(1, 1000), Fraction(999, 1000)))
@settings(max_examples=80, deadline=None)
def test_the_tail_is_rounded_up_and_close(draws: int, share: Fraction, rate: Fraction) -> None:
    least = max(1, math.ceil(share * draws))
    true = sum(math.comb(draws, k) * rate**k * (1 - rate) ** (draws - k) for k in range(least, draws + 1))
    claimed = _at_least(least, draws, rate)
    assert claimed >= true
    if least >= draws * rate + 3 * math.sqrt(draws * rate * (1 - rate)) + 1 and least < draws:
        assert claimed <= true * Fraction(3, 2) + Fraction(2, 10**300)


@pytest.mark.parametrize(
    ("least", "draws", "rate"), [(600, 59_999, Fraction(1, 120)), (10**6 + 10**4, 10**12, Fraction(1, 10**6))]
)
def test_the_tail_of_large_samples(least: int, draws: int, rate: Fraction) -> None:
    with mp.workdps(50):
        q = mp.mpf(rate.numerator) / rate.denominator
        log_term = mp.loggamma(draws + 1) - mp.loggamma(least + 1) - mp.loggamma(draws - least + 1)
        term = mp.exp(log_term + least * mp.log(q) + (draws - least) * mp.log(1 - q))
        claimed = _at_least(least, draws, rate)
        assert term <= mp.mpf(claimed.numerator) / claimed.denominator
        total = mp.betainc(least, draws - least + 1, 0, q, regularized=True) if draws < 10**6 else term
        assert total <= mp.mpf(claimed.numerator) / claimed.denominator


def test_what_is_run_inside_may_fail_by_itself() -> None:
    event = TruncatedPoissonSampled(Approximate(1, "0.01"), "0.1", 30, 100)
    assert approximate.own_delta(event) > Fraction(1, 1000)


def test_what_has_no_meaning_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="SRD-C002"):
        approximate.own_delta(TruncatedPoissonSampled(RandomizedResponse(1), "0.1", 3, 9))
    for arguments in ((0, 3, 9), (2, 3, 9), ("0.1", 0, 9), ("0.1", 3, 0), ("0.1", "3", 9)):
        with pytest.raises(ArgumentError):
            TruncatedPoissonSampled(Gaussian(1), *arguments)  # type: ignore[arg-type]
