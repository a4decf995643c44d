"""Figures that other libraries' own tests and papers state: ours are never below them, and at most 1 % above.

Each row names where its figure comes from, and how many of its digits are given: half of the last one is allowed.
"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from sordino.accounting import calibration, gaussian, pld, renyi, zcdp
from sordino.accounting.event import Event
from sordino.accounting.events import (
    Approximate,
    Composed,
    Concentrated,
    DiscreteGaussian,
    DiscreteLaplace,
    FixedSizeSampled,
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
    "prv_accountant, middle of its interval, tests/test_readme.py": (
        Composed((sampled("0.8", "0.005", 100), Repeated(Gaussian(64), 200), Repeated(Laplace(10), 100))),
        "1e-6", 11.14921, 1e-3,
    ),
    "prv_accountant, middle of its interval, its command line's example": (
        sampled("0.8", "0.005", 1000), "1e-6", 2.00411, 5e-4,
    ),
    "prv_accountant, middle of its interval, tests/test_accountant.py test_invariance_max_compositions": (
        sampled("0.9", Fraction(256, 100_000), 4900), "1e-5", 1.13992, 5e-4,
    ),
    "prv_accountant, middle of its interval, tests/…/test_laplace.py at 10,000": (
        Repeated(Laplace(100), 10_000), "1e-5", 4.3641, 5e-3,
    ),
    "prv_accountant, middle of its interval, tests/…/test_laplace.py at 100,000": (
        Repeated(Laplace(100), 100_000), "1e-6", 19.3786, 5e-3,
    ),
    "jax_privacy accounting.py, ε of DP-SGD": (sampled("3", "0.1", 512), "1e-6", 3.77, 5e-3),
    "jax_privacy accounting.py, noise of DP-SGD for ε = 1": (sampled("9.66", "0.1", 512), "1e-6", 1.0, 1e-3),
    "jax_privacy keras_api_test, batches of 10 of 1000": (sampled("1", "0.01", 100), "1e-5", 0.72, 5e-3),
    "jax_privacy keras_api_test, eight of them taken together": (sampled("1", "0.08", 100), "1e-5", 5.6, 5e-2),
    "dp_accounting's PLDAccountant, jax_privacy accounting_test.dpsgd_event": (
        sampled("1", "0.01", 128), "1e-6", 1.015215, 1e-4,
    ),
    "dp_accounting's PLDAccountant, jax_privacy accounting_test.amplified_bandmf_event": (
        sampled("1", "0.01", 8), "1e-6", 0.566819, 1e-4,
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


@pytest.mark.parametrize("compositions", [9_999, 10_000])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "10", "100"])
def test_many_gaussians(compositions: int, epsilon: str) -> None:
    """prv_accountant tests/test_accountant.py test_gaussian_mechanism_analytic_homogeneous: σ = 100, exact δ."""
    truth = _exact_delta(mp.sqrt(compositions) / 100, mp.mpf(epsilon))
    ours = pld.delta(Repeated(Gaussian(100**2), compositions), epsilon)
    assert truth <= ours <= truth * (1 + mp.mpf(ABOVE)) or truth < 1e-300


def test_two_kinds_of_gaussians() -> None:
    """prv_accountant tests/test_accountant.py test_gaussian_mechanism_analytic_heterogeneous: δ at ε = 4."""
    truth = _exact_delta(mp.sqrt(mp.mpf(50) / 100 + mp.mpf(50) / 25), mp.mpf(4))
    ours = pld.delta(Composed((Repeated(Gaussian(100), 50), Repeated(Gaussian(25), 50))), 4)
    assert truth <= ours <= truth * (1 + mp.mpf(ABOVE))


def _exact_delta(mu: mp.mpf, epsilon: mp.mpf) -> mp.mpf:
    with mp.workdps(60):
        return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize("delta", ["1e-7", "1e-8"])
@pytest.mark.parametrize("count", [10_000, 100_000])
def test_claims_that_only_fail(delta: str, count: int) -> None:
    """prv_accountant tests/…/test_approximate_dp.py test_zero_delta: 1 − (1 − δ)^n."""
    truth = float(-mp.expm1(count * mp.log1p(-mp.mpf(delta))))
    assert truth <= pld.delta(Repeated(Approximate(0, delta), count), 0) <= truth * (1 + ABOVE)


@pytest.mark.parametrize("delta", ["1e-7", "1e-8"])
@pytest.mark.parametrize("more", ["1e-5", "1e-6"])
@pytest.mark.parametrize("count", [10_000, 100_000])
def test_claims_keep_strong_composition(delta: str, more: str, count: int) -> None:
    """prv_accountant tests/…/test_approximate_dp.py test_advanced_composition, whose bound is wrong by a factor.

    It writes n²·ε·tanh(ε/2) for n·ε·tanh(ε/2), 10⁴ times too large; the right one is Kairouz et al. 2015, Theorem 3.4.
    """
    epsilon = 0.01
    right = epsilon * math.sqrt(2 * count * -math.log(float(more))) + count * epsilon * math.tanh(epsilon / 2)
    ours = pld.epsilon_bracket(Repeated(Approximate("0.01", delta), count), count * Fraction(delta) + Fraction(more))
    assert ours.upper <= right


@pytest.mark.parametrize(
    ("epsilon", "delta", "rate", "steps", "figure"),
    [
        (4, "1e-7", "0.002", 10_000, 0.676409),
        (10, "1e-5", Fraction(256, 50_000), 9765, 0.615715),
        (4, "0.00011448277499759097", "0.26058631921824105", 18_800, 34.492140),
    ],
)
def test_noise_that_is_published_too_large(
    epsilon: int, delta: str, rate: str | Fraction, steps: int, figure: float
) -> None:
    """prv_accountant tests/test_dpsgd.py: what its find_noise_multiplier returns is up to 1.4 % more than is needed."""
    ours = calibration.sampled_gaussian(epsilon, delta, rate=rate, steps=steps, calculus="pld")
    assert 0.98 * figure <= ours <= figure
    event = Repeated(PoissonSampled(Gaussian(ours**2), rate), steps)
    bracket = pld.epsilon_bracket(event, delta)
    assert bracket.upper <= epsilon <= bracket.lower * (1 + ABOVE)


def test_iterations_of_a_training() -> None:
    """jax_privacy accounting.py: 155 steps are the most within (2, 1e-6) at σ = 3 and rate 0.1."""
    assert pld.epsilon_bracket(sampled("3", "0.1", 155), "1e-6").upper <= 2
    assert pld.epsilon_bracket(sampled("3", "0.1", 156), "1e-6").lower > 2


def test_samples_of_one_size() -> None:
    """dp_accounting's RdpAccountant under REPLACE_ONE, jax_privacy accounting_test.fixed_dpsgd_event: 2.646102452."""
    event = Repeated(FixedSizeSampled(Gaussian(1), 16, 1000), 128)
    assert 2.646102451 <= renyi.epsilon(event, "1e-6") <= 2.646102452 * (1 + ABOVE)
    assert pld.epsilon_bracket(event, "1e-6").upper < 1.67


def test_zero_concentrated_claims_in_a_sample_are_not_gaussian_noise() -> None:
    """jax_privacy accounting_test.test_use_zcdp_matches_gaussian_privacy prices a sampled ρ as if it were noise.

    That bounds D(S‖Q) only: D(Q‖S) ≤ D(S‖Q) is proven for pairs that a reflection swaps (``sampled_renyi.py``), which
    discrete Gaussian noise has and a bare claim need not have. So the noise has that figure here, and the claim more.
    """
    noise = [Repeated(PoissonSampled(kind(25), "0.01"), 128) for kind in (Gaussian, DiscreteGaussian)]
    claim = Repeated(PoissonSampled(Concentrated("0.02"), "0.01"), 128)
    figures = [renyi.epsilon(event, "1e-6") for event in noise]
    assert figures == [pytest.approx(0.0932326, rel=1e-4)] * 2
    assert renyi.epsilon(claim, "1e-6") > figures[0]
