"""Gaussian DP: exact values in forty digits, calibration, refusals."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from dp_accounting import gaussian_mechanism
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting import gaussian
from sordino.accounting.events import Composed, DiscreteGaussian, Gaussian, Laplace, PoissonSampled, Repeated
from sordino.errors import ArgumentError, UnsupportedError


def exact_delta(mu: float, epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(60):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


@given(mu=st.floats(1e-3, 30), ratio=st.floats(0, 12))
@settings(max_examples=120)
def test_delta_keeps_its_digits_in_the_tail(mu: float, ratio: float) -> None:
    epsilon = max(0.0, ratio * mu + mu * mu / 2 - 3 * mu)
    truth = exact_delta(mu, epsilon)
    ours = gaussian.delta_of(mu, epsilon)
    assert truth <= ours <= truth * (1 + mpmath.mpf("1e-9"))


@pytest.mark.parametrize(("mu", "epsilon"), [(12.0, 0.0), (30.0, 100.0), (100.0, 1.0)])
def test_delta_of_hardly_any_noise(mu: float, epsilon: float) -> None:
    truth = exact_delta(mu, epsilon)
    assert truth <= gaussian.delta_of(mu, epsilon) <= min(1, truth * (1 + mpmath.mpf("1e-9")))


def test_published_composition() -> None:
    """A hundred Gaussians of σ = 5 at δ = 1e-5: ε = 9.997256, exactly."""
    event = Repeated(Gaussian(25), 100)
    assert gaussian.mu_squared(event) == 4
    assert gaussian.mu(event) == pytest.approx(2)
    assert gaussian.epsilon(event, "1e-5") == pytest.approx(9.997256, abs=1e-6)
    assert gaussian.delta(event, "9.997256") == pytest.approx(1e-5, rel=1e-4)


@given(epsilon=st.floats(0.01, 20), delta=st.floats(1e-12, 0.1))
@settings(max_examples=30)
def test_analytic_sigma_is_the_least(epsilon: float, delta: float) -> None:
    sigma = gaussian.analytic_sigma(epsilon, delta)
    assert exact_delta(1 / sigma, epsilon) <= delta
    assert exact_delta(1 / (sigma * (1 - 1e-9)), epsilon) > delta
    assert sigma == pytest.approx(gaussian_mechanism.get_sigma_gaussian(epsilon, delta), rel=1e-3)


def test_classic_sigma_is_loose_below_one_and_wrong_above() -> None:
    assert gaussian.classic_sigma(1, "1e-5") == pytest.approx(4.8448, abs=1e-4)
    assert gaussian.classic_sigma(1, "1e-5") > gaussian.analytic_sigma(1, "1e-5")
    assert gaussian.classic_sigma(20, "1e-5") < gaussian.analytic_sigma(20, "1e-5")


def test_epsilon_may_be_nothing() -> None:
    assert gaussian.epsilon(Gaussian(10**12), "0.01") == 0.0


def test_trade_off_curve() -> None:
    rates = np.array([0.0, 0.05, 0.5, 1.0])
    np.testing.assert_allclose(gaussian.trade_off(0.0, rates), 1 - rates)
    assert gaussian.trade_off(1.0, np.array([0.05]))[0] == pytest.approx(0.74049, abs=1e-5)


def test_only_unsampled_continuous_gaussians_are_priced() -> None:
    for event in (PoissonSampled(Gaussian(1), "0.1"), DiscreteGaussian(10**8), Laplace(1)):
        with pytest.raises(UnsupportedError, match="SRD-C001"):
            gaussian.epsilon(Composed((Gaussian(1), event)), "1e-5")
    with pytest.raises(ArgumentError, match="never purely private"):
        gaussian.epsilon(Gaussian(1), 0)


def test_mu_rounds_up() -> None:
    for variance in (3, Fraction(7, 3), 10**9):
        assert Fraction(gaussian.mu(Gaussian(variance))) ** 2 >= 1 / Fraction(variance)
        assert gaussian.mu(Gaussian(variance)) == pytest.approx(1 / math.sqrt(variance), rel=1e-14)
