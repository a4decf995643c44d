"""Noise of several parties: sums of discrete Gaussians and Skellam noise, against direct summation of their laws."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting import pld, renyi, zcdp
from sordino.accounting.event import Event
from sordino.accounting.events import (
    DiscreteGaussian,
    Gaussian,
    PoissonSampled,
    Repeated,
    Replaced,
    Skellam,
    SummedDiscreteGaussian,
)
from sordino.accounting.summed_gaussian import unevenness
from sordino.errors import UnsupportedError

ORDERS = np.array([1.01, 1.2, 1.5, 1.9, 2.0, 2.5, 3.0, 4.7, 8.0, 16.0, 64.0])
Masses = dict[int, mp.mpf]


def summed(parties: int, variance: Fraction) -> Masses:
    """Return the law of a sum of discrete Gaussians in 40 digits."""
    reach = math.ceil(14 * math.sqrt(parties * variance)) + 6
    with mp.workdps(40):
        half = mp.mpf(variance.denominator) / (2 * variance.numerator)
        one = {k: mp.exp(-k * k * half) for k in range(-reach, reach + 1)}
        total = mp.fsum(one.values())
        law = {0: mp.mpf(1)}
        for _ in range(parties):
            more: Masses = {}
            for (x, p), (y, q) in itertools.product(law.items(), one.items()):
                if abs(x + y) <= reach:
                    more[x + y] = more.get(x + y, mp.mpf(0)) + p * q / total
            law = more
        return law


def skellam(variance: Fraction, reach: int) -> Masses:
    with mp.workdps(40):
        mu = mp.mpf(variance.numerator) / variance.denominator
        return {k: mp.exp(-mu) * mp.besseli(abs(k), mu) for k in range(-reach, reach + 1)}


def divergence(law: Masses, distance: int, order: float) -> float:
    """Return D_α of the law against itself `distance` aside; what lies beyond the table only adds to it."""
    with mp.workdps(40):
        alpha = mp.mpf(order)
        terms = (law[x - distance] ** alpha * law[x] ** (1 - alpha) for x in law if x - distance in law)
        return float(mp.log(mp.fsum(terms)) / (alpha - 1))


def in_floats(p: np.ndarray, q: np.ndarray, order: float) -> float:
    seen = (p > 0) & (q > 0)
    exponents = order * np.log(p[seen]) + (1 - order) * np.log(q[seen])
    return float(np.logaddexp.reduce(exponents)) / (order - 1)


def hockey_stick(law: Masses, distance: int, epsilon: float) -> float:
    with mp.workdps(40):
        level = mp.exp(mp.mpf(epsilon))
        return float(mp.fsum(max(law.get(x - distance, 0) - level * law[x], 0) for x in law))


SUMS = [(2, Fraction(1, 4)), (3, Fraction(1, 2)), (4, Fraction(1)), (7, Fraction(7, 10))]
SKELLAMS = [Fraction(1, 10), Fraction(1), Fraction(5), Fraction(30)]


@pytest.mark.parametrize(("parties", "variance"), SUMS, ids=str)
def test_a_sum_never_costs_more_than_is_claimed(parties: int, variance: Fraction) -> None:
    law = summed(parties, variance)
    for distance in (1, 2, 3):
        event = SummedDiscreteGaussian(parties, variance, distance**2)
        claimed, rho = renyi.curve(event, ORDERS), float(zcdp.rho(event))
        for order, bound in zip(ORDERS, claimed, strict=True):
            true = divergence(law, distance, order)
            assert true <= bound
            assert true <= rho * order


@pytest.mark.parametrize(("parties", "variance"), SUMS, ids=str)
def test_the_factor_beside_the_gaussian_moves_by_no_more_than_the_lemma_says(parties: int, variance: Fraction) -> None:
    law = summed(parties, variance)
    with mp.workdps(40):
        half = mp.mpf(variance.denominator) / (2 * parties * variance.numerator)
        reach = 4 * math.sqrt(parties * variance)
        factors = [mp.log(mass) + k * k * half for k, mass in law.items() if abs(k) <= reach]
        moved = max(factors) - min(factors)
    assert moved <= mp.mpf(float(unevenness(parties, variance)))
    if parties == 2:
        assert moved >= mp.mpf(float(unevenness(parties, variance))) * mp.mpf("0.99")


def test_a_sum_is_not_a_discrete_gaussian() -> None:
    """Of two parties with σ = ½ each: what a discrete Gaussian of the same variance costs would be too little."""
    wrong = renyi.curve(DiscreteGaussian(Fraction(1, 2)), np.array([8.0]))[0]
    assert divergence(summed(2, Fraction(1, 4)), 1, 8.0) > wrong


@pytest.mark.parametrize("variance", SKELLAMS, ids=str)
def test_skellam_never_costs_more_than_is_claimed(variance: Fraction) -> None:
    law = skellam(variance, math.ceil(20 * math.sqrt(variance)) + 60)
    for distance in (1, 2, 5):
        event = Skellam(variance, distance, distance**2)
        claimed, rho = renyi.curve(event, ORDERS), float(zcdp.rho(event))
        for order, bound in zip(ORDERS, claimed, strict=True):
            true = divergence(law, distance, order)
            assert true <= bound
            assert true <= rho * order


def _direct(mu: float, distance: int, order: float) -> float:
    """Return D_α of Skellam noise in floats, for wide noise: ratios of Bessel functions, downwards."""
    reach = math.ceil(60 * math.sqrt(mu)) + 400
    ratio, logs = 0.0, np.zeros(reach + 1)
    for k in range(reach + 400 + 8 * math.isqrt(math.ceil(mu)), 0, -1):
        ratio = 1 / (2 * k / mu + ratio)
        if k <= reach:
            logs[k] = math.log(ratio)
    logs = np.cumsum(logs)
    logs -= math.log(2 * math.fsum(np.exp(logs)) - 1)
    x = np.arange(distance - reach, reach + 1)
    return float(np.logaddexp.reduce(order * logs[abs(x - distance)] + (1 - order) * logs[abs(x)])) / (order - 1)


@given(
    mu=st.floats(0.05, 3000), distance=st.integers(1, 60), order=st.one_of(st.integers(2, 200), st.floats(1.01, 50.0))
)
@settings(max_examples=80, deadline=None)
def test_the_published_bound_holds_at_random(mu: float, distance: int, order: float) -> None:
    event = Skellam(Fraction(mu), distance, distance**2)
    assert _direct(mu, distance, order) <= renyi.curve(event, np.array([float(order)]))[0] * (1 + 1e-9)


@pytest.mark.parametrize("moves", [(1, 1), (2, 1), (1, 1, 1), (3, 2, 1)], ids=str)
def test_coordinates_add_up(moves: tuple[int, ...]) -> None:
    """In two and three dimensions, the joint law summed directly over all outcomes."""
    small = skellam(Fraction(2), 24)
    sums = summed(3, Fraction(1, 2))
    square, longest = sum(move**2 for move in moves), sum(moves)
    cases: list[tuple[Event, Masses]] = [
        (Skellam(2, longest, square), small),
        (SummedDiscreteGaussian(3, "0.5", square, len(moves)), sums),
    ]
    for event, law in cases:
        points = np.array(sorted(law))
        masses = np.array([float(law[k]) for k in points])
        p, q = np.ones(1), np.ones(1)
        for move in moves:
            moved = np.array([float(law.get(int(k) - move, 0)) for k in points])
            p, q = np.outer(p, moved).ravel(), np.outer(q, masses).ravel()
        for order in (1.5, 2.0, 5.0):
            assert in_floats(p, q, order) <= renyi.curve(event, np.array([order]))[0] * (1 + 1e-9)


@pytest.mark.parametrize(
    ("event", "law", "distance"),
    [
        (SummedDiscreteGaussian(3, "0.5"), summed(3, Fraction(1, 2)), 1),
        (SummedDiscreteGaussian(2, "0.25", 9), summed(2, Fraction(1, 4)), 3),
        (SummedDiscreteGaussian(4, 1, "4.9"), summed(4, Fraction(1)), 2),
        (Skellam(1), skellam(Fraction(1), 80), 1),
        (Skellam(5, 3, 9), skellam(Fraction(5), 120), 3),
        (Skellam("0.1", 2, 2), skellam(Fraction(1, 10), 60), 2),
    ],
    ids=str,
)
def test_the_loss_distribution_is_exact(event: Event, law: Masses, distance: int) -> None:
    for epsilon in (0.0, 0.3, 1.0, 2.5):
        bracket = pld.delta_bracket(event, str(epsilon))
        true = hockey_stick(law, distance, epsilon)
        assert bracket.lower * (1 - 1e-9) - 1e-13 <= true <= bracket.upper * (1 + 1e-9)
        assert bracket.upper <= true * 1.001 + 1e-12


@pytest.mark.parametrize("event", [Skellam(6, 2, 4), SummedDiscreteGaussian(3, 2, 4)], ids=str)
def test_sampled_and_replaced(event: Event) -> None:
    """(1−q)N(0) + qN(±Δ), under add/remove and replace-one, summed directly."""
    law = skellam(Fraction(6), 120) if isinstance(event, Skellam) else summed(3, Fraction(2))
    rate = Fraction(1, 5)
    points = range(-50, 51) if isinstance(event, Skellam) else range(-30, 31)

    def mixed(distance: int) -> list[float]:
        return [float(0.8 * law.get(x, 0) + 0.2 * law.get(x - distance, 0)) for x in points]

    nothing, one, other = [float(law.get(x, 0)) for x in points], mixed(2), mixed(-2)
    sampled = PoissonSampled(event, rate)
    for priced, pairs in (
        (sampled, [(one, nothing), (nothing, one)]),
        (Replaced(sampled), [(one, other), (other, one)]),
    ):
        for epsilon in (0.0, 0.2, 0.7):
            true = max(
                math.fsum(max(p - math.exp(epsilon) * q, 0) for p, q in zip(*pair, strict=True)) for pair in pairs
            )
            bracket = pld.delta_bracket(priced, str(epsilon))
            assert bracket.lower - 1e-9 <= true <= bracket.upper * (1 + 1e-9) + 1e-12
            assert bracket.upper <= true * 1.001 + 1e-9
        for order in (1.5, 3.0, 10.0):
            p, q = (np.array(side) for side in pairs[0])
            assert in_floats(p, q, order) <= renyi.curve(priced, np.array([order]))[0] * (1 + 1e-9)


def test_wide_noise_costs_what_a_gaussian_costs() -> None:
    gaussian = renyi.epsilon(Repeated(Gaussian(10**6, 10**4), 100), "1e-6")
    for event in (SummedDiscreteGaussian(10, 10**5, 10**4, 10**6), Skellam(10**6, 10**4, 10**4)):
        assert renyi.epsilon(Repeated(event, 100), "1e-6") == pytest.approx(gaussian, rel=1e-3)


def test_one_party_is_a_discrete_gaussian() -> None:
    alone, plain = SummedDiscreteGaussian(1, "0.1", 4), DiscreteGaussian("0.1", 4)
    assert zcdp.rho(alone) == zcdp.rho(plain)
    np.testing.assert_allclose(renyi.curve(alone, ORDERS), renyi.curve(plain, ORDERS), rtol=1e-9)
    assert pld.epsilon(alone, "1e-6") == pytest.approx(pld.epsilon(plain, "1e-6"), rel=1e-3)


def test_many_parties_are_bounded_by_the_last_term_that_is_summed() -> None:
    assert unevenness(10**9, Fraction(4)) < Fraction(1, 1000)
    assert unevenness(1000, Fraction(1)) <= unevenness(10**6, Fraction(1))
    terms = [
        mp.log((1 + 2 * theta) / (1 - 2 * theta))
        for k in range(1, 1000)
        for theta in [mp.nsum(lambda m, k=k: mp.exp(-2 * mp.pi**2 * m * m * k / (k + 1)), [1, 5])]
    ]
    assert mp.mpf(float(unevenness(1000, Fraction(1)))) >= mp.fsum(terms)


def test_an_answer_that_cannot_move_costs_nothing_in_its_loss() -> None:
    for event in (Skellam(4, 3, "0.5"), SummedDiscreteGaussian(2, 1, "0.5")):
        assert pld.epsilon(event, "1e-6") == 0


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (SummedDiscreteGaussian(2, "0.2"), "SRD-C016"),
        (SummedDiscreteGaussian(2, 4, 4, 2), "SRD-C011"),
        (SummedDiscreteGaussian(10, 2000), "SRD-C017"),
        (Skellam(10**7), "SRD-C017"),
        (Skellam(4, 10**6, 10**12), "SRD-C017"),
    ],
    ids=str,
)
def test_what_is_not_proven_is_refused(event: Event, code: str) -> None:
    with pytest.raises(UnsupportedError, match=code):
        zcdp.rho(event) if code == "SRD-C016" else pld.epsilon(event, "1e-6")
