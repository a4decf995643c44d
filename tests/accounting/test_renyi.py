"""Rényi: published values, the conversion, and sampling in both directions against integrals, sums and peers."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.rdp import RdpAccountant
from dp_accounting.rdp.rdp_privacy_accountant import (
    _compute_rdp_poisson_subsampled_gaussian,
    compute_delta,
    compute_epsilon,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from sordino.accounting import pure, renyi, sampled_renyi
from sordino.accounting.curve import curve
from sordino.accounting.event import Event
from sordino.accounting.events import (
    Approximate,
    Composed,
    Concentrated,
    DiscreteGaussian,
    Exponential,
    FixedSizeSampled,
    Gaussian,
    Laplace,
    PartitionSelection,
    PoissonSampled,
    Pure,
    RandomizedResponse,
    Repeated,
    Shuffled,
)
from sordino.errors import ArgumentError, UnsupportedError

ORDERS = np.array([1.05, 1.5, 2.0, 2.5, 3.0, 6.3, 12.0, 40.5, 64.0])


def training(sigma: str, rate: str, steps: int) -> Event:
    return Repeated(PoissonSampled(Gaussian(Fraction(sigma) ** 2), Fraction(rate)), steps)


# ---- published values -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "published", "truth"),
    [
        ("4", "0.01", 10_000, 1.0355, 0.94687),
        ("4", "0.01", 40_000, 2.2098, 2.03307),
        ("0.8", "0.001", 100_000, 2.8251, 2.57496),
        ("1", "0.01", 1_000, 2.1014, 1.828237),
    ],
)
def test_moments_accountant_table(sigma: str, rate: str, steps: int, published: float, truth: float) -> None:
    epsilon = renyi.epsilon(training(sigma, rate, steps), "1e-5")
    assert truth < epsilon <= published
    assert epsilon == pytest.approx(published, rel=1e-3)


def test_low_orders_improve_on_the_published_value_for_little_noise() -> None:
    """38.280 comes from a series that adds the absolute values of its terms; the integral is exact, and lower."""
    event = training("0.6", "0.02", 5_000)
    ours = renyi.epsilon(event, "1e-5")
    assert 33.89336 < ours < 38.280
    # the same by plain integration at an order near the best
    x = np.linspace(-8, 12, 20_001)
    pair = (norm.logpdf(x, shift, 0.6) + math.log(0.001) for shift in (1.0, 0.0))
    log_delta = math.log(1e-5)
    by_hand = renyi.to_epsilon(np.array([1.8]), np.array([5_000 * both_directions(*pair, 0.02, 1.8)]), log_delta)[0]
    assert ours <= by_hand * (1 + 1e-6)
    assert ours == pytest.approx(by_hand, rel=0.05)


def test_an_accountant_with_the_same_orders_agrees() -> None:
    for sigma, rate, steps in ((4.0, 0.01, 10_000), (1.1, 0.004, 3_000), (0.7, 0.02, 50)):
        orders = renyi.ORDERS.tolist()
        accountant = RdpAccountant(orders)
        accountant.compose(dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(sigma)), steps)
        ours = renyi.epsilon(training(str(sigma), str(rate), steps), 1e-6)
        assert ours <= accountant.get_epsilon(1e-6) * (1 + 1e-6)
        assert ours >= accountant.get_epsilon(1e-6) * 0.98


# ---- conversion -----------------------------------------------------------------------------------------------------


@given(rho=st.floats(1e-4, 5), log_delta=st.floats(-40, -2))
@settings(max_examples=40)
def test_conversion_agrees_with_google(rho: float, log_delta: float) -> None:
    orders = renyi.ORDERS
    theirs, _ = compute_epsilon(orders, orders * rho, math.exp(log_delta))
    assert np.min(renyi.to_epsilon(orders, orders * rho, log_delta)) == pytest.approx(theirs, rel=1e-8, abs=1e-9)
    delta, _ = compute_delta(orders, orders * rho, 1.0)
    assert math.exp(min(0.0, np.min(renyi.to_log_delta(orders, orders * rho, 1.0)))) >= delta * (1 - 1e-6)


@given(sigma=st.fractions(Fraction(1, 2), 20, max_denominator=20), delta=st.sampled_from(["1e-3", "1e-6", "1e-12"]))
@settings(max_examples=30)
def test_delta_undoes_epsilon(sigma: Fraction, delta: str) -> None:
    event = Composed((Gaussian(sigma**2), Laplace(2)))
    epsilon = renyi.epsilon(event, delta)
    assert renyi.delta(event, epsilon) == pytest.approx(float(delta), rel=1e-4)


def test_order_infinity_counts_where_every_event_is_pure() -> None:
    event = Composed((Laplace(2), Repeated(Exponential("0.1"), 3)))
    assert renyi.epsilon(event, 0) == 0.8
    assert renyi.epsilon(event, "1e-30") == 0.8
    assert renyi.epsilon(Repeated(event, 1000), "1e-5") < 800
    assert renyi.delta(event, "0.8") == 0.0
    assert renyi.delta(event, "0.7") > 0.0


def test_own_failures_are_taken_off_first() -> None:
    event = Composed((Repeated(Laplace(10), 50), PartitionSelection("0.5", "9e-6"), Approximate(0, "1e-7")))
    rest = Composed((Repeated(Laplace(10), 50), Pure("0.5")))
    assert renyi.epsilon(event, "1e-5") == pytest.approx(renyi.epsilon(rest, "9e-7"), rel=1e-12)
    assert renyi.delta(event, 2) == pytest.approx(9.1e-6 + renyi.delta(rest, 2), rel=1e-12)
    assert renyi.epsilon(event, "9.1e-6") == pytest.approx(5.5)
    with pytest.raises(ArgumentError, match=r"bring along by themselves.*SRD-A003"):
        renyi.epsilon(event, "9e-6")


@pytest.mark.parametrize("delta", [-1, 1, 2, float("nan"), True, None, "x"])
def test_bad_deltas_are_refused(delta: object) -> None:
    with pytest.raises(ArgumentError, match="delta"):
        renyi.epsilon(Laplace(1), delta)  # type: ignore[arg-type]


def test_delta_zero_needs_a_pure_event() -> None:
    with pytest.raises(ArgumentError, match="not purely private"):
        renyi.epsilon(Gaussian(1), 0)


@pytest.mark.parametrize("orders", [[1.0], [0.5, 2.0], [math.inf], [math.nan], [[2.0]]])
def test_bad_orders_are_refused(orders: list[float]) -> None:
    with pytest.raises(ArgumentError, match="orders"):
        renyi.curve(Laplace(1), np.array(orders))


def test_the_grid_of_orders_is_frozen_and_reaches_4096() -> None:
    assert renyi.ORDERS[0] > 1
    assert renyi.ORDERS[-1] == 4096
    assert np.all(np.diff(renyi.ORDERS) > 0)
    with pytest.raises(ValueError, match="read-only"):
        renyi.ORDERS[0] = 2.0


# ---- Poisson sampling -----------------------------------------------------------------------------------------------


@given(
    sigma=st.fractions(Fraction(3, 10), 20, max_denominator=20),
    rate=st.fractions(Fraction(1, 10**5), Fraction(99, 100), max_denominator=10**5),
)
@settings(max_examples=40)
def test_sampled_gaussian_agrees_with_google(sigma: Fraction, rate: Fraction) -> None:
    event = PoissonSampled(Gaussian(sigma**2), rate)
    theirs = _compute_rdp_poisson_subsampled_gaussian(float(rate), float(sigma), ORDERS)
    ours = curve(event, "renyi")(event, ORDERS)
    whole = np.floor(ORDERS) == ORDERS
    np.testing.assert_allclose(ours[whole], theirs[whole], rtol=1e-6, atol=1e-13)
    # between whole orders they add the absolute values of an alternating series, or give up (infinity)
    assert np.all(ours <= theirs * (1 + 1e-6) + 1e-13)


@pytest.mark.parametrize(
    ("sigma", "rate", "order"),
    [
        ("0.3", "1e-5", "1.05"),
        ("0.6", "0.02", "1.7"),
        ("4", "0.01", "20.3"),
        ("1", "1e-7", "1.01"),
        ("1", "0.3", "8.5"),
    ],
)
def test_sampled_gaussian_between_whole_orders_in_forty_digits(sigma: str, rate: str, order: str) -> None:
    with mpmath.workdps(40):
        s, q, a = (mpmath.mpf(text) for text in (sigma, rate, order))
        middle = s * s * mpmath.log(1 / q - 1) + mpmath.mpf("0.5")
        nodes = sorted([*mpmath.linspace(-20 * s, a + 20 * s, 40), middle])
        moment = mpmath.quad(
            lambda z: mpmath.npdf(z, 0, s) * (1 - q + q * mpmath.exp((2 * z - 1) / (2 * s * s))) ** a, nodes
        )
        truth = float(mpmath.log(moment) / (a - 1))
    ours = sampled_renyi.sampled_gaussian(float(sigma) ** -2, float(rate), np.array([float(order)]))[0]
    assert truth * (1 - 1e-15) <= ours <= truth * (1 + 1e-5)


def both_directions(log_p: np.ndarray, log_q: np.ndarray, rate: float, order: float) -> float:
    """Return the larger divergence between (1−rate)q + rate·p and q, by a plain sum; both are normed first."""
    log_p, log_q = (side - np.logaddexp.reduce(side) for side in (log_p, log_q))
    mixed = np.logaddexp(np.log1p(-rate) + log_q, np.log(rate) + log_p) if rate < 1 else log_p
    forward = np.logaddexp.reduce(order * mixed + (1 - order) * log_q)
    backward = np.logaddexp.reduce(order * log_q + (1 - order) * mixed)
    return float(max(forward, backward) / (order - 1))


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("order", [1.5, 2.0, 3.0, 4.5, 10.0])
def test_sampled_noise_covers_both_directions(rate: float, order: float) -> None:
    """The truth by the trapezoidal rule, with the kinks of Laplace densities on the grid."""
    at = np.array([order])
    x = np.linspace(-15, 26, 4_101)
    gaussian = PoissonSampled(Gaussian(1), str(rate))
    truth = both_directions(*(norm.logpdf(x, shift) + math.log(0.01) for shift in (1.0, 0.0)), rate, order)
    assert curve(gaussian, "renyi")(gaussian, at)[0] == pytest.approx(truth, rel=1e-8)
    for scale in (0.5, 1.0, 3.0):
        laplace = PoissonSampled(Laplace(str(scale)), str(rate))
        x = np.arange(-40 * 500, 41 * 500 + 1) * (scale / 500) if scale == 1.0 else np.arange(-60_000, 60_501) / 500
        step = x[1] - x[0]
        pair = (math.log(step / 2 / scale) - np.abs(x - shift) / scale for shift in (1.0, 0.0))
        truth = both_directions(*pair, rate, order)
        ours = curve(laplace, "renyi")(laplace, at)[0]
        assert ours >= truth * (1 - 1e-5)
        if order == int(order):
            assert ours == pytest.approx(truth, rel=1e-5)


@given(epsilon=st.floats(0.01, 9), rate=st.floats(1e-6, 1), order=st.floats(1.01, 60))
@settings(max_examples=80)
def test_sampled_pure_is_sampled_randomized_response(epsilon: float, rate: float, order: float) -> None:
    down = 1 / (1 + math.exp(epsilon))
    truth = both_directions(np.log([1 - down, down]), np.log([down, 1 - down]), rate, order)
    ours = sampled_renyi.sampled_pure(epsilon, rate, np.array([order]))[0]
    assert ours >= truth - 1e-14 / (order - 1)
    assert ours <= truth * (1 + 1e-6) + 1e-12 / (order - 1)


def test_a_general_event_costs_more_than_a_symmetric_one_and_agrees_with_autodp() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from autodp import rdp_acct
    event = PoissonSampled(Concentrated("0.5"), "0.01")
    for order in (3, 4, 8, 20):
        ours = curve(event, "renyi")(event, np.array([float(order)]))[0]
        theirs = rdp_acct.general_upperbound(lambda a: a * 0.5, order, 0.01) / (order - 1)
        assert ours == pytest.approx(min(theirs, order * 0.5), rel=1e-6)
    symmetric = PoissonSampled(DiscreteGaussian(1), "0.01")
    assert np.all(curve(symmetric, "renyi")(symmetric, ORDERS) <= curve(event, "renyi")(event, ORDERS))


def test_discrete_gaussian_costs_what_gaussian_costs_at_whole_orders() -> None:
    whole = np.array([2.0, 3.0, 10.0, 64.0, 500.0])
    sampled = [PoissonSampled(kind(2), "0.05") for kind in (DiscreteGaussian, Gaussian)]
    np.testing.assert_allclose(*(curve(event, "renyi")(event, whole) for event in sampled), rtol=1e-9)


def test_gaussians_on_one_sample_are_one_gaussian() -> None:
    together = PoissonSampled(Composed((Gaussian(4), Repeated(Gaussian(8), 2))), "0.01")
    np.testing.assert_allclose(
        curve(together, "renyi")(together, ORDERS),
        curve(PoissonSampled(Gaussian(2), "0.01"), "renyi")(PoissonSampled(Gaussian(2), "0.01"), ORDERS),
        rtol=1e-12,
    )
    mixed = PoissonSampled(Composed((Gaussian(4), Laplace(2))), "0.01")
    assert np.all(curve(mixed, "renyi")(mixed, ORDERS) < renyi.curve(mixed.event, ORDERS))


@pytest.mark.parametrize(
    "event",
    [Gaussian(1), DiscreteGaussian(3), Laplace(1), Pure(2), RandomizedResponse(1, 4), Concentrated(1)],
    ids=repr,
)
def test_identity_law(event: Event) -> None:
    everyone = [PoissonSampled(event, 1), FixedSizeSampled(event, 30, 30)]
    for sampled in everyone:
        np.testing.assert_allclose(renyi.curve(sampled, ORDERS), renyi.curve(event, ORDERS), rtol=1e-9)
        assert renyi.epsilon(sampled, 1e-6) == pytest.approx(renyi.epsilon(event, 1e-6), rel=1e-9)


@given(low=st.fractions(Fraction(1, 1000), 1, max_denominator=1000), factor=st.fractions(Fraction(1, 9), 1))
@settings(max_examples=40)
def test_monotone_in_the_rate(low: Fraction, factor: Fraction) -> None:
    for inner in (Gaussian(2), Laplace(2), Exponential(1), Concentrated("0.2")):
        small, large = (renyi.curve(PoissonSampled(inner, rate), ORDERS) for rate in (low * factor, low))
        assert np.all(small <= large * (1 + 1e-9))


@pytest.mark.parametrize(
    ("sigma", "rate"), [("0.001", "0.01"), ("0.05", "0.5"), ("1000000", "0.001"), ("1e-150", "0.1")]
)
def test_absurd_noise_is_priced_without_fuss(sigma: str, rate: str) -> None:
    event = PoissonSampled(Gaussian(Fraction(sigma) ** 2), rate)
    values = curve(event, "renyi")(event, renyi.ORDERS)
    assert not np.any(np.isnan(values))
    assert np.all(np.diff(values) >= -1e-9 * values[:-1])


def test_nested_sampling_is_sound_and_mixed_relations_are_refused() -> None:
    twice = PoissonSampled(PoissonSampled(Gaussian(1), "0.1"), "0.1")
    once = PoissonSampled(Gaussian(1), "0.01")
    assert np.all(renyi.curve(twice, ORDERS) >= renyi.curve(once, ORDERS) * (1 - 1e-9))
    fixed = FixedSizeSampled(Laplace(1), 10, 100)
    for event in (
        PoissonSampled(fixed, "0.1"),
        FixedSizeSampled(once, 10, 100),
        Composed((once, fixed)),
        Composed((once, Shuffled(1, 100, "1e-6"))),
    ):
        with pytest.raises(UnsupportedError, match=r"(use one relation|describe it unsampled).*SRD-C002"):
            renyi.epsilon(event, "1e-5")


def test_failures_shrink_with_the_rate() -> None:
    event = PoissonSampled(Composed((Laplace(1), PartitionSelection(1, "1e-6"))), "0.25")
    assert curve(event, "own_delta")(event) == Fraction(1, 4 * 10**6)
    assert float(pure.total(event)) == pytest.approx(math.log1p(0.25 * math.expm1(2)), rel=1e-12)


# ---- fixed-size sampling --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.01, 0.2])
@pytest.mark.parametrize("order", [2.0, 3.0, 6.0])
def test_fixed_size_covers_the_worst_pair_and_is_not_absurd(share: float, order: float) -> None:
    """One unit replaced by its opposite: (1−q)N(0) + qN(½) against (1−q)N(0) + qN(−½), sensitivity 1 in replace-one."""

    def density(x: float, sign: float) -> float:
        return (1 - share) * norm.pdf(x, 0, 1) + share * norm.pdf(x, sign / 2, 1)

    truth = math.log(quad(lambda x: density(x, 1) ** order * density(x, -1) ** (1 - order), -12, 14)[0]) / (order - 1)
    event = FixedSizeSampled(Gaussian(1), int(1000 * share), 1000)
    ours = curve(event, "renyi")(event, np.array([order]))[0]
    assert truth <= ours <= order / 2


def test_fixed_size_is_the_theorem_of_wang_and_others() -> None:
    """Computed by hand from Theorem 9 for order 2: ln(1 + γ²·min(4(e^{ε(2)} − 1), 2e^{ε(2)}))."""
    event = FixedSizeSampled(Gaussian(4), 10, 1000)
    by_hand = math.log1p(1e-4 * min(4 * math.expm1(0.25), 2 * math.exp(0.25)))
    assert curve(event, "renyi")(event, np.array([2.0]))[0] == pytest.approx(by_hand, rel=1e-9)
    laplace = FixedSizeSampled(Laplace(5), 10, 1000)
    second = float(renyi.curve(Laplace(5), np.array([2.0]))[0])
    third = 2 * float(renyi.curve(Laplace(5), np.array([3.0]))[0])
    spread = math.expm1(0.2)
    by_hand = 3e-4 * min(4 * math.expm1(second), math.exp(second) * spread**2) + 1e-6 * math.exp(third) * spread**3
    assert curve(laplace, "renyi")(laplace, np.array([3.0]))[0] <= math.log1p(by_hand) / 2 * (1 + 1e-9)


def test_fixed_size_with_failures() -> None:
    event = FixedSizeSampled(PartitionSelection(1, "1e-6"), 10, 100)
    assert curve(event, "own_delta")(event) == Fraction(1, 10**7)
    amplified = math.log1p(0.1 * math.expm1(1))
    assert np.all(curve(event, "renyi")(event, ORDERS) <= amplified * (1 + 1e-9))
    assert curve(event, "zcdp")(event) == pure.rho(pure.sampled(Fraction(1), Fraction(1, 10)))
    mixed = FixedSizeSampled(Composed((Gaussian(1), PartitionSelection(1, "1e-6"))), 10, 100)
    for calculus, more in (("renyi", [ORDERS]), ("zcdp", [])):
        with pytest.raises(UnsupportedError, match=r"fixed-size sample.*SRD-C004"):
            curve(mixed, calculus)(mixed, *more)


def test_zcdp_of_samples_is_never_above_unsampled() -> None:
    gaussian = PoissonSampled(Gaussian(1), "0.01")
    assert curve(gaussian, "zcdp")(gaussian) == Fraction(1, 2)
    fixed = FixedSizeSampled(Gaussian(1), 1, 100)
    assert curve(fixed, "zcdp")(fixed) == Fraction(1, 2)
    laplace = PoissonSampled(Laplace(1), "0.01")
    assert float(curve(laplace, "zcdp")(laplace)) == pytest.approx(
        float(pure.rho(pure.sampled(Fraction(1), Fraction(1, 100)))), rel=1e-12
    )
