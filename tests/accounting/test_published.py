"""Figures that other libraries' own tests and papers state: ours are never below them, and at most 1 % above.

Each row names where its figure comes from, and how many of its digits are given: half of the last one is allowed.
"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from sordino.accounting import gaussian, pld, renyi, zcdp
from sordino.accounting.event import Event
from sordino.accounting.events import (
    Approximate,
    Composed,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    PoissonSampled,
    Repeated,
)

ABOVE = 0.01

LAPLACE = Composed((Repeated(Laplace(1), 3), Repeated(Laplace(2), 2)))
DISCRETE = Composed((Repeated(DiscreteLaplace(1), 3), Repeated(DiscreteLaplace(2), 2)))


def sampled(deviation: str, rate: str | Fraction, steps: int) -> Event:
    return Repeated(PoissonSampled(Gaussian(Fraction(deviation) ** 2), rate), steps)


# event, δ, ε, half of the figure's last digit, where it stands
EPSILONS = {
    "dp_accounting pld_privacy_accountant_test.test_gaussian_basic": (
        Repeated(Gaussian(3), 3), "0.126936", 1.0, 1e-5,
    ),
    "dp_accounting pld_privacy_accountant_test.test_poisson_subsampled_gaussian": (
        sampled("0.5", "0.2", 3), "0.15594", 1.0, 1e-3,
    ),
    "dp_accounting pld_privacy_accountant_test.test_laplace_basic": (LAPLACE, "1e-14", 4.0, 1e-6),
    "dp_accounting pld_privacy_accountant_test.test_poisson_subsampled_laplace": (
        Repeated(PoissonSampled(Laplace("0.5"), "0.2"), 3), "1e-14", 2.46964, 1e-5,
    ),
    "dp_accounting pld_privacy_accountant_test.test_discrete_laplace_basic": (DISCRETE, "1e-14", 4.0, 1e-6),
    "prv_accountant, middle of its interval, σ = 4": (sampled("4", "0.01", 10_000), "1e-5", 0.94687, 1e-5),
    "prv_accountant, middle of its interval, four times as long": (
        sampled("4", "0.01", 40_000), "1e-5", 2.03307, 1e-5,
    ),
    "prv_accountant, middle of its interval, σ = 0.8": (sampled("0.8", "0.001", 100_000), "1e-5", 2.57496, 1e-5),
    "prv_accountant, middle of its interval, σ = 1": (sampled("1", "0.01", 1000), "1e-5", 1.828237, 2e-6),
    "prv_accountant, middle of its interval, σ = 0.6": (sampled("0.6", "0.02", 5000), "1e-5", 33.89336, 1e-5),
    "dp_accounting's PLDAccountant, σ = 1.1, batches of 256 of 60,000": (
        sampled("1.1", Fraction(256, 60_000), 14_062), "1e-5", 2.3817, 1e-3,
    ),
    "dp_accounting's PLDAccountant, the same with σ = 0.7": (
        sampled("0.7", Fraction(256, 60_000), 10_546), "1e-5", 5.6394, 2e-3,
    ),
    "dp_accounting's PLDAccountant, σ = 4, batches of 4096 of 50,000": (
        sampled("4", Fraction(4096, 50_000), 2000), "1e-5", 4.0627, 1e-3,
    ),
    "Balle, Wang 2018, Theorem 8, at μ = 2": (Repeated(Gaussian(25), 100), "1e-5", 9.997256, 1e-6),
}  # fmt: skip


@pytest.mark.parametrize("source", EPSILONS)
def test_epsilon_of_the_loss_distribution(source: str) -> None:
    event, delta, figure, off = EPSILONS[source]
    bracket = pld.epsilon_bracket(event, delta)
    assert figure - off <= bracket.upper <= figure * (1 + ABOVE)
    assert bracket.lower <= figure + off


def test_delta_of_two_claims() -> None:
    """dp_accounting pld_privacy_accountant_test.test_epsilon_delta_basic: 1 − 0.9·0.8 at ε = 3."""
    delta = pld.delta(Composed((Approximate(1, "0.1"), Approximate(2, "0.2"))), 3)
    assert 0.28 <= delta <= 0.28 * (1 + ABOVE)


@pytest.mark.parametrize(
    ("order", "figure"),
    [
        (2.5, 1.08548710e-03),
        (5.0, 2.18075656e-03),
        (50.0, 2.38460375e-02),
        (100.0, 1.67416308e02),
    ],
)
def test_renyi_divergence_of_sampled_noise(order: float, figure: float) -> None:
    """dp_accounting rdp_privacy_accountant_test.test_compute_rdp_poisson_sampled_gaussian, to its rtol of 1e-4."""
    ours = float(renyi.curve(sampled("2.5", "0.01", 50), np.array([order]))[0])
    assert figure * (1 - 1e-4) <= ours <= figure * (1 + ABOVE)


def test_a_renyi_divergence_that_is_published_too_large() -> None:
    """The same test of dp_accounting has 6.70579741e-04 at order 1.5, a chord between orders 1 and 2; we integrate."""
    q, s, a = mp.mpf("0.01"), mp.mpf("2.5"), mp.mpf("1.5")
    with mp.workdps(30):
        moment = mp.quad(
            lambda z: mp.npdf(z, 0, s) * (1 - q + q * mp.exp((2 * z - 1) / (2 * s * s))) ** a, [-40, -10, 0, 10, 40]
        )
        truth = 50 * mp.log(moment) / (a - 1)
    ours = float(renyi.curve(sampled("2.5", "0.01", 50), np.array([1.5]))[0])
    assert truth <= ours <= truth * (1 + mp.mpf(ABOVE))
    assert ours < 6.70579741e-04


@pytest.mark.parametrize("calculus", [renyi, zcdp])
def test_conversion_of_gaussian_noise(calculus: object) -> None:
    """dp_accounting rdp_privacy_accountant_test.test_compute_epsilon_delta_gaussian: σ = 4.530877117 for (1, 1e-6)."""
    event = Gaussian(Fraction("4.530877117") ** 2)
    assert 1 - 1e-7 <= calculus.epsilon(event, "1e-6") <= 1 + ABOVE  # type: ignore[attr-defined]
    assert 1e-6 * (1 - 1e-6) <= calculus.delta(event, 1) <= 1e-6 * (1 + ABOVE)  # type: ignore[attr-defined]


def test_conversion_at_one_order() -> None:
    """dp_accounting rdp_privacy_accountant_test.test_compute_epsilon_delta_pure_dp: a divergence of 1.1 at order 32."""
    ours = float(renyi.to_epsilon(np.array([32.0]), np.array([1.1]), math.log(1e-5))[0])
    assert ours == pytest.approx(1.32783806176, abs=1e-7)


def test_analytic_calibration() -> None:
    """Balle, Wang 2018: σ = 3.730631634816464 at (1, 1e-5), the figure of their reference implementation."""
    sigma = gaussian.analytic_sigma(1, "1e-5")
    assert 3.7306316348 <= sigma <= 3.7306316349 * (1 + 1e-9)
