"""Prices at the edge of what floats hold: never below the truth, never a δ of 0 that is not, never a crash."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from sordino.accounting import accountants, composition, gaussian, group, optimal, renyi, rounding, shuffle, zcdp
from sordino.accounting.approximate import remaining, target
from sordino.accounting.event import Event
from sordino.accounting.events import (
    Approximate,
    Composed,
    DiscreteLaplace,
    FixedSizeSampled,
    Gaussian,
    Laplace,
    PoissonSampled,
    Pure,
    Repeated,
    Shuffled,
)
from sordino.accounting.optimal import _log_moment
from sordino.accounting.sampled_renyi import _log_binomial
from sordino.errors import ArgumentError, UnsupportedError

# ---- shuffling ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("local", [40, 100, 299, 301, 1000])
def test_reports_that_hardly_hide_are_not_said_to_hide(local: int) -> None:
    """A hundred reports with no clone among them: the local law itself, δ = (e^{ε₀} − e^ε)/(e^{ε₀} + 1)."""
    assert shuffle.epsilon(local, 100, "1e-6") > local - 1e-4
    assert shuffle.delta(local, 100, local - 1) >= -math.expm1(-1) * (1 - 1e-12)
    assert shuffle.epsilon(local, 100, "1e-6", categories=3) > local - 1e-4


@pytest.mark.parametrize("share", ["0", "0.5", "0.9", "0.999"])
@pytest.mark.parametrize("local", ["1e-12", "1e-6", "1e-3"])
def test_two_reports_that_hide_nearly_all_keep_their_digits(local: str, share: str) -> None:
    with mp.workdps(50):
        exact, at = mp.mpf(local), mp.mpf(float(Fraction(local) * Fraction(share)))
        truth, stays = mp.mpf(0), mp.exp(exact) / (mp.exp(exact) + 1)
        for clone, chance in ((0, 1 - mp.exp(-exact)), (1, mp.exp(-exact))):
            coins = [mp.binomial(clone, j) * mp.mpf(2) ** -clone if 0 <= j <= clone else 0 for j in range(-1, 3)]
            for j in range(clone + 2):
                first, second = coins[j], coins[j + 1]
                high, low = stays * first + (1 - stays) * second, (1 - stays) * first + stays * second
                truth += chance * max(high - mp.exp(at) * low, 0)
        claimed = mp.mpf(shuffle.delta(local, 2, float(at)))
        assert truth <= claimed <= truth * (1 + mp.mpf("1e-8")) + mp.mpf("1e-15") * exact


def test_shuffling_far_beyond_floats() -> None:
    assert shuffle.delta(1, 100, "1e350") == 0
    assert 999.9999 < accountants.epsilon(Shuffled(1000, 10, "1e-6"), "1e-5") <= 1000
    with pytest.raises(ArgumentError):
        shuffle.delta(1, 100, 1, categories=1)


# ---- conversions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("calculus", [gaussian, zcdp, renyi])
@pytest.mark.parametrize("epsilon", ["1e3", "1e5", "1e300", "1e390"])
def test_gaussian_noise_is_never_said_to_be_pure(calculus: object, epsilon: str) -> None:
    assert 0 < calculus.delta(Gaussian(1), epsilon) < 1e-300  # type: ignore[attr-defined]


def test_deltas_below_the_range_of_floats_are_refused() -> None:
    assert target("1e-300") == Fraction(1, 10**300)
    with pytest.raises(ArgumentError, match="1e-300"):
        gaussian.epsilon(Gaussian(1), "1e-350")
    with pytest.raises(ArgumentError, match="1e-300"):
        gaussian.analytic_sigma(1, "1e-350")
    nearly_all = Approximate(0, "0.1")
    assert remaining(nearly_all, Fraction(1, 10) + Fraction(1, 10**350)) == 0
    assert gaussian.epsilon_of(1.0, 0.0) == math.inf


def test_gaussian_epsilon_at_the_least_delta() -> None:
    claimed = gaussian.epsilon(Gaussian(1), "1e-300")
    with mp.workdps(60):
        e = mp.mpf(claimed)
        truth = mp.ncdf(mp.mpf(1) / 2 - e) - mp.exp(e) * mp.ncdf(-mp.mpf(1) / 2 - e)
        assert mp.mpf("0.999999") * mp.mpf("1e-300") < truth <= mp.mpf("1e-300")


@pytest.mark.parametrize("mu", [50.0, 3e3, 9e5])
def test_gaussian_delta_where_little_noise_meets_a_large_epsilon(mu: float) -> None:
    for place in (-4.0, 0.0, 6.0, 20.0):
        epsilon = mu * (place + mu / 2)
        with mp.workdps(60):
            m, e = mp.mpf(mu), mp.mpf(epsilon)
            truth = mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m)
            assert truth <= mp.mpf(gaussian.delta_of(mu, epsilon)) <= truth * (1 + mp.mpf("1e-6"))


def test_no_noise_and_nothing_at_all() -> None:
    assert gaussian.delta_of(0.0, 1.0) == 0
    assert gaussian.delta_of(1e7, 1.0) == 1
    assert gaussian.epsilon(Gaussian("1e-350"), "1e-5") == math.inf
    assert gaussian.epsilon(Composed(()), "1e-5") == 0


@pytest.mark.parametrize("excess", [20, 25, 29])
def test_orders_next_to_one_keep_their_digits(excess: int) -> None:
    """At ε = 0 the least ln δ over orders is −e^{−ρ} up to a part in 10⁸: see the sum near α = 1."""
    claimed = zcdp.delta(Gaussian(1, 2 * excess), 0)
    assert 1 - claimed <= math.exp(-excess) * (1 + 1e-6)


def test_logarithms_and_exponentials_round_as_they_say() -> None:
    for value in (Fraction(1), 1 - Fraction(1, 10**30), Fraction(1, 3), Fraction(1, 10**300), Fraction(7, 10**390)):
        with mp.workdps(60):
            truth = mp.log(mp.mpf(value.numerator) / value.denominator)
            assert rounding.log_rounded_down(value) <= truth
            assert rounding.log_rounded_down(value) >= truth * (1 + mp.mpf("1e-14")) - mp.mpf("1e-15")
    assert rounding.exp_rounded_up(-1e6) > 0
    assert rounding.exp_rounded_up(1.0) == 1
    assert rounding.deltas_rounded_up(0.5, 1e-300) > 0.5
    assert rounding.deltas_rounded_up(0.75, 0.75) == 1


@pytest.mark.parametrize("delta", ["0.9999999999999999", "0.99999999999999999999"])
def test_deltas_next_to_one(delta: str) -> None:
    event = Repeated(Pure("0.1"), 30)
    for theorem in (composition.advanced, composition.kairouz, composition.optimal):
        assert 0 <= theorem(event, delta) <= 3


# ---- many, huge and tiny events -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "event",
    [
        Repeated(Gaussian(1), 10**400),
        Repeated(Pure(1), 10**400),
        Gaussian("1e-350"),
        Gaussian("1e350"),
        Laplace("1e-350"),
        DiscreteLaplace("1e-350"),
        DiscreteLaplace("1e350"),
        Pure("1e390"),
        PoissonSampled(Laplace("1e-350"), "0.1"),
        PoissonSampled(Gaussian("1e-350"), "0.1"),
        PoissonSampled(Gaussian(1), "1e-390"),
        PoissonSampled(Composed(()), "0.1"),
        PoissonSampled(Approximate(0, "1e-7"), "0.1"),
        FixedSizeSampled(Composed(()), 1, 10),
        FixedSizeSampled(Gaussian("1e-350"), 1, 10),
        FixedSizeSampled(Gaussian(1), 1, 10**300),
        FixedSizeSampled(Approximate(0, "1e-7"), 1, 10),
    ],
    ids=lambda event: event.to_json()[:60],
)
def test_every_calculus_prices_or_refuses_what_is_absurd(event: Event) -> None:
    for name in accountants.ACCOUNTANTS:
        with contextlib.suppress(UnsupportedError, ArgumentError):
            assert accountants.epsilon(event, "1e-5", name) >= 0


@pytest.mark.parametrize("scale", [10**9, 10**40, 10**57, 10**70])
def test_rho_of_discrete_laplace_on_a_fine_grid_is_that_of_laplace(scale: int) -> None:
    for ratio in (10**2, 10**8):
        fine = zcdp.rho(DiscreteLaplace(Fraction(scale), scale // ratio))
        limit = zcdp.rho(Laplace(Fraction(scale), scale // ratio))
        assert limit * (1 - Fraction(1, 10**20)) <= fine <= limit * (1 + Fraction(1, 10**8))


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 0.1, 5.0, 50.0])
def test_moments_of_a_billion_small_losses_keep_their_digits(epsilon: float) -> None:
    tilts = np.array([1e-12, 1e-6, 0.1, 10.0, 1e3])
    ours = _log_moment(epsilon, tilts)
    with mp.workdps(60):
        for tilt, value in zip(tilts, ours, strict=True):
            e, t = mp.mpf(epsilon), mp.mpf(float(tilt))
            truth = mp.log((mp.exp((1 + t) * e) + mp.exp(-t * e)) / (1 + mp.exp(e)))
            assert abs(mp.mpf(float(value)) - truth) <= mp.mpf("1e-12") * truth


def test_optimal_composition_of_many_is_not_below_its_binomial_sum() -> None:
    count, epsilon, delta = 10**8, Fraction(1, 10**4), 1e-6
    claimed = optimal.optimal_epsilon([(epsilon, count)], delta, 1e4)
    # both tails of the law of the sum are Gaussian to four digits
    assert claimed == pytest.approx(gaussian.epsilon(Gaussian(1), "1e-6"), rel=1e-3)


@pytest.mark.parametrize("order", [4, 64, 1000, 4096])
def test_log_binomials_round_up(order: int) -> None:
    k = np.unique(np.linspace(2, order, 9).astype(int))
    for place, value in zip(k, _log_binomial(order, k.astype(float)), strict=True):
        with mp.workdps(40):
            truth = mp.log(mp.binomial(order, int(place)))
            assert truth <= mp.mpf(float(value)) <= truth + mp.mpf("1e-10")


def test_groups_beyond_floats() -> None:
    assert group.approximate(0, "1e-9", 10**400) == (0, 1.0)
    assert group.approximate("1e-3", "1e-9", 10**400)[1] == 1
