"""The PLD calculus against published values, closed forms and two other libraries, never against itself alone."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from fractions import Fraction

import dp_accounting
import mpmath
import numpy as np
import prv_accountant
import pytest
from dp_accounting.pld import privacy_loss_distribution as google

from sordino.accounting import accountants
from sordino.accounting.event import Event
from sordino.accounting.events import (
    Approximate,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    PoissonSampled,
    Pure,
    RandomizedResponse,
    Repeated,
    Replaced,
)
from sordino.accounting.pld import accountant as pld
from sordino.accounting.pld import compose
from sordino.accounting.pld.run import Run

TINY = Pure("1e-9")  # next to Gaussian noise it costs nothing and keeps the closed form from answering


def training(sigma: str, rate: object, steps: int) -> Event:
    return Repeated(PoissonSampled(Gaussian(Fraction(sigma) ** 2), rate), steps)


# ---- published values -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "truth", "digits"),
    [
        ("4", ".01", 10_000, 0.94687, 1e-5),
        ("4", ".01", 40_000, 2.03307, 1e-5),
        (".8", ".001", 100_000, 2.57496, 1e-5),
        ("1", ".01", 1_000, 1.828237, 1e-6),
        (".6", ".02", 5_000, 33.89336, 1e-5),
        ("1.1", Fraction(256, 60000), 14_062, 2.3817, 1e-4),
        (".7", Fraction(256, 60000), 10_546, 5.6394, 1e-4),
        ("4", Fraction(4096, 50000), 2_000, 4.0627, 1e-4),
        ("5", 1, 100, 9.997256, 1e-6),
    ],
)
def test_training_runs(sigma: str, rate: object, steps: int, truth: float, digits: float) -> None:
    bracket = pld.epsilon_bracket(training(sigma, rate, steps), 1e-5)
    assert bracket.lower < truth + digits
    assert bracket.upper > truth - digits
    assert bracket.upper < truth * 1.001
    assert bracket.lower > truth * 0.999


# ---- closed forms ---------------------------------------------------------------------------------------------------


def gaussian_delta(mu: float, epsilon: float) -> float:
    mpmath.mp.dps = 80
    m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
    return float(mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m))


def response_delta(epsilon0: float, count: int, epsilon: float, delta0: float = 0.0) -> float:
    """Kairouz, Oh, Viswanath 2015: what `count` (ε₀, δ₀)-private events cost together, at best."""
    mpmath.mp.dps = 60
    p = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon0)))
    q = 1 - p
    binomial = mpmath.fsum(
        mpmath.binomial(count, k)
        * max(mpmath.mpf(0), p**k * q ** (count - k) - mpmath.exp(epsilon) * q**k * p ** (count - k))
        for k in range(count + 1)
    )
    return float(1 - (1 - mpmath.mpf(delta0)) ** count * (1 - binomial))


def assert_brackets(bracket: pld.Bracket, truth: float, width: float) -> None:
    assert bracket.lower <= truth * (1 + 1e-12)
    assert bracket.upper >= truth * (1 - 1e-12)
    assert bracket.upper - bracket.lower <= width * truth


@pytest.mark.parametrize("count", [1, 2, 7, 60, 400])
@pytest.mark.parametrize("epsilon0", [0.05, 0.3, 1.0])
def test_randomized_response_is_binomial(count: int, epsilon0: float) -> None:
    for share in (0.1, 0.35, 0.9):
        epsilon = share * min(count * epsilon0, 4 * epsilon0 * math.sqrt(count))
        bracket = pld.delta_bracket(Repeated(RandomizedResponse(epsilon0), count), epsilon)
        assert_brackets(bracket, response_delta(epsilon0, count, epsilon), 1e-7)


@pytest.mark.parametrize("event", [Pure("0.2"), Approximate("0.2", "1e-7")])
def test_claims_compose_as_well_as_any_can(event: Pure | Approximate) -> None:
    own = float(getattr(event, "delta", 0))
    for epsilon in (0.5, 1.5, 3.0):
        truth = response_delta(0.2, 40, epsilon, own)
        assert_brackets(pld.delta_bracket(Repeated(event, 40), epsilon), truth, 1e-7)
        bracket = pld.epsilon_bracket(Repeated(event, 40), repr(truth))
        assert_brackets(bracket, epsilon, 1e-6)


@pytest.mark.parametrize("scale", ["0.1", "1", "20"])
def test_one_laplace_event(scale: str) -> None:
    epsilon0 = 1 / float(scale)
    for delta in (1e-12, 1e-5, 0.02):
        truth = epsilon0 + 2 * math.log1p(-delta)
        if truth > 0:
            assert_brackets(pld.epsilon_bracket(Laplace(scale), delta), truth, 3e-4)
    for share in (0.1, 0.5, 0.99):
        epsilon = share * epsilon0
        assert_brackets(pld.delta_bracket(Laplace(scale), epsilon), -math.expm1((epsilon - epsilon0) / 2), 3e-4)


def test_one_bounded_range_event() -> None:
    truth = (1 - math.exp((0.4 - 1) / 2)) ** 2 / -math.expm1(-1)
    assert_brackets(pld.delta_bracket(Exponential(1), 0.4), truth, 3e-4)


@pytest.mark.parametrize("delta", ["1e-5", "1e-12", "1e-20", "1e-50", "1e-200"])
@pytest.mark.parametrize("variance", [1, 100])
def test_gaussian_noise_by_formula_and_by_transform(delta: str, variance: int) -> None:
    exact = pld.epsilon_bracket(Repeated(Gaussian(variance), 9), delta)
    mu = 3 / math.sqrt(variance)
    assert math.isclose(gaussian_delta(mu, exact.upper), float(delta), rel_tol=1e-6)
    assert gaussian_delta(mu, exact.upper) <= float(delta) <= gaussian_delta(mu, exact.lower)
    assert exact.upper - exact.lower < 1e-8 * exact.upper
    transformed = pld.epsilon_bracket(Composed((Repeated(Gaussian(variance), 9), TINY)), delta)
    assert transformed.lower <= exact.upper + 1e-9
    assert transformed.upper >= exact.lower
    assert transformed.upper - transformed.lower <= 4e-4 * exact.upper


@pytest.mark.parametrize("epsilon", [0, "0.1", 2, 8, 30])
def test_gaussian_delta_by_formula_and_by_transform(epsilon: object) -> None:
    truth = gaussian_delta(0.9, float(epsilon))  # type: ignore[arg-type]
    exact = pld.delta_bracket(Gaussian(1, "0.81"), epsilon)  # type: ignore[arg-type]
    assert_brackets(exact, truth, 1e-8)
    assert_brackets(pld.delta_bracket(Composed((Gaussian(1, "0.81"), TINY)), epsilon), truth, 1e-3)  # type: ignore[arg-type]


def test_very_little_and_very_much_gaussian_noise() -> None:
    little = pld.epsilon_bracket(Gaussian("0.0004"), 1e-5)
    assert math.isclose(little.upper, 1462.285016, rel_tol=1e-8)
    transformed = pld.epsilon_bracket(Composed((Gaussian("0.0004"), TINY)), 1e-5)
    assert transformed.lower <= 1462.285017
    assert 1462.285015 <= transformed.upper <= 1462.3 * 1.001
    assert pld.epsilon_bracket(Gaussian(10**20), 1e-5) == pld.Bracket(0.0, 0.0)
    assert pld.delta_bracket(Gaussian("1e-6"), 0).upper == 1.0


def integer_delta(weights: dict[int, float], count: int, spacing: float, epsilon: float) -> float:
    """δ of integer noise that moves by one step, composed: all sums of losses, by plain convolution."""
    total = math.fsum(weights.values())
    p = np.array([weights[k] / total for k in sorted(weights)])
    law = p
    for _ in range(count - 1):
        law = np.convolve(law, p)
    losses = spacing * (np.arange(len(law)) - (len(p) // 2) * count) + count * spacing / 2
    return float(np.sum(law * np.maximum(0, -np.expm1(epsilon - losses))))


def test_discrete_gaussian_is_priced_as_discrete() -> None:
    variance, count = 2.0, 6
    weights = {k: math.exp(-k * k / (2 * variance)) for k in range(-40, 41)}
    for epsilon in (0.5, 2.0, 5.0):
        truth = integer_delta(weights, count, 1 / variance, epsilon)
        assert_brackets(pld.delta_bracket(Repeated(DiscreteGaussian(2), count), epsilon), truth, 1e-6)
    # at this scale the continuous curve understates
    assert (
        pld.delta_bracket(Repeated(DiscreteGaussian("0.1"), 1), 4).lower
        > pld.delta_bracket(Repeated(Gaussian("0.1"), 1), 4).upper
    )


def test_wide_discrete_noise_costs_as_much_as_continuous() -> None:
    discrete = pld.epsilon_bracket(Repeated(DiscreteGaussian(2**40, 2**34), 50), 1e-6)
    continuous = pld.epsilon_bracket(Repeated(Gaussian(2**40, 2**34), 50), 1e-6)
    assert discrete.lower <= continuous.upper * (1 + 1e-6)
    assert discrete.upper >= continuous.lower * (1 - 1e-6)
    discrete = pld.epsilon_bracket(Repeated(DiscreteLaplace(10 * 2**30, 2**30), 50), 1e-6)
    continuous = pld.epsilon_bracket(Repeated(Laplace(10), 50), 1e-6)
    assert discrete.lower <= continuous.upper
    assert discrete.upper >= continuous.lower


# ---- other libraries ------------------------------------------------------------------------------------------------


def google_pair(event: Event, pessimistic: bool) -> google.PrivacyLossDistribution:
    settings = {"pessimistic_estimate": pessimistic, "value_discretization_interval": 5e-4}
    match event:
        case Gaussian(variance, squared):
            return google.from_gaussian_mechanism(math.sqrt(variance / squared), **settings)
        case Laplace(scale, sensitivity):
            return google.from_laplace_mechanism(float(scale / sensitivity), **settings)
        case DiscreteLaplace(scale, sensitivity):
            return google.from_discrete_laplace_mechanism(1 / float(scale), sensitivity, **settings)
        case PoissonSampled(Gaussian(variance, squared), rate):
            return google.from_gaussian_mechanism(math.sqrt(variance / squared), sampling_prob=float(rate), **settings)
        case PoissonSampled(Laplace(scale, sensitivity), rate):
            return google.from_laplace_mechanism(float(scale / sensitivity), sampling_prob=float(rate), **settings)
        case Replaced(PoissonSampled(Gaussian(variance, squared), rate)):
            relation = dp_accounting.NeighboringRelation.REPLACE_ONE
            scale = math.sqrt(variance / squared)
            return google.from_gaussian_mechanism(
                scale, sampling_prob=float(rate), neighboring_relation=relation, **settings
            )
        case RandomizedResponse(epsilon, k):
            noise = k / (math.exp(epsilon) + k - 1)
            return google.from_randomized_response(noise, k, **settings)
    raise TypeError(event)


def google_epsilon(parts: list[tuple[Event, int]], delta: float, pessimistic: bool) -> float:
    laws = [google_pair(event, pessimistic).self_compose(count) for event, count in parts]
    return float(functools.reduce(lambda one, other: one.compose(other), laws).get_epsilon_for_delta(delta))


@pytest.mark.parametrize(
    ("parts", "delta"),
    [
        ([(Laplace("3.7"), 20)], 1e-6),
        ([(Laplace("0.8"), 3), (Gaussian("2.9"), 2)], 1e-5),
        ([(DiscreteLaplace("4.5", 2), 15)], 1e-7),
        ([(PoissonSampled(Gaussian("1.7"), "0.03"), 150)], 1e-6),
        ([(PoissonSampled(Laplace("1.3"), "0.05"), 100)], 1e-6),
        ([(PoissonSampled(Gaussian("0.9"), "0.3"), 7), (Laplace(5), 4)], 1e-4),
        ([(RandomizedResponse("0.9", 5), 12)], 1e-5),
        ([(DiscreteLaplace(2), 9), (PoissonSampled(Laplace("0.7"), "0.02"), 30), (Gaussian(30), 6)], 1e-5),
        ([(RandomizedResponse("0.5"), 9), (Replaced(PoissonSampled(Gaussian("0.7"), "0.02")), 30)], 1e-5),
        ([(Replaced(PoissonSampled(Gaussian(1), "0.95")), 8)], 1e-5),
    ],
    ids=str,
)
def test_brackets_overlap_those_of_dp_accounting(parts: list[tuple[Event, int]], delta: float) -> None:
    ours = pld.epsilon_bracket(Composed(tuple(Repeated(event, count) for event, count in parts)), delta)
    above, below = google_epsilon(parts, delta, True), google_epsilon(parts, delta, False)
    assert ours.lower <= above * (1 + 1e-9)
    assert ours.upper >= below * (1 - 1e-9)
    assert ours.upper - ours.lower <= 4e-4 * ours.upper
    assert ours.upper <= above * 1.001


def test_brackets_overlap_those_of_prv_accountant() -> None:
    accountant = prv_accountant.PRVAccountant(
        prvs=[prv_accountant.PoissonSubsampledGaussianMechanism(noise_multiplier=1.2, sampling_probability=0.01)],
        max_self_compositions=[500],
        eps_error=0.02,
        delta_error=1e-9,
    )
    low, _, high = accountant.compute_epsilon(delta=1e-6, num_self_compositions=[500])
    ours = pld.epsilon_bracket(training("1.2", ".01", 500), 1e-6)
    assert ours.lower <= high
    assert ours.upper >= low


def test_upper_is_below_renyi() -> None:
    orders = [1 + x / 10 for x in range(1, 100)] + list(range(12, 64))
    for sigma, rate, steps in (("1", ".01", 1_000), ("2", ".1", 200), ("4", ".5", 10)):
        renyi = dp_accounting.rdp.RdpAccountant(orders)
        sampled = dp_accounting.PoissonSampledDpEvent(float(rate), dp_accounting.GaussianDpEvent(float(sigma)))
        renyi.compose(dp_accounting.SelfComposedDpEvent(sampled, steps))
        assert pld.epsilon_bracket(training(sigma, rate, steps), 1e-5).upper <= renyi.get_epsilon(1e-5)


def test_many_different_events() -> None:
    """Two hundred laws, grouped before the transform, against dp_accounting's one by one."""
    scales = [20 + 1.7 * k for k in range(60)]
    parts: list[tuple[Event, int]] = [(Laplace(scale), 1) for scale in scales]
    parts += [(Gaussian(Fraction(scale) ** 2), 1) for scale in scales]
    parts += [(RandomizedResponse(Fraction(1, 30 + k)), 3) for k in range(20)]
    ours = pld.epsilon_bracket(Composed(tuple(Repeated(event, count) for event, count in parts)), 1e-5)
    assert ours.upper - ours.lower < 4e-4 * ours.upper
    gaussian = Gaussian(1, sum(Fraction(1) / Fraction(scale) ** 2 for scale in scales))
    rest = [part for part in parts if not isinstance(part[0], Gaussian)] + [(gaussian, 1)]
    assert ours.lower <= google_epsilon(rest, 1e-5, True)
    assert ours.upper >= google_epsilon(rest, 1e-5, False)


SPARSE = Repeated(PoissonSampled(Gaussian("0.5"), "1e-6"), 10**6)


@pytest.mark.slow
def test_a_sparse_sample_is_not_priced_many_times_over() -> None:
    """Rare large losses, which no tilt brings near: the round-off of doubles gave 0.0081 to 0.392."""
    bracket = pld.epsilon_bracket(SPARSE, "1e-9")
    assert bracket.lower > 0.01
    assert bracket.upper < (0.0176 if compose.EXTENDED else 0.4)


@pytest.mark.slow
def test_a_bracket_that_stays_wide_says_so_everywhere() -> None:
    bracket = pld.Bracket(0.94, 1.0)
    assert bracket.wide
    assert not pld.Bracket(0.96, 1.0).wide
    assert not pld.Bracket(0.0, math.inf).wide
    (quote,) = (quote for quote in accountants.side_by_side(SPARSE, "1e-9") if quote.calculus == "pld")
    assert quote.wide
    assert "wide" in quote.remark
    (narrow,) = (quote for quote in accountants.side_by_side(Laplace(1), "1e-9") if quote.calculus == "pld")
    assert not narrow.wide


@pytest.mark.skipif(not compose.EXTENDED, reason="long doubles have no more digits than doubles on this machine")
@pytest.mark.parametrize(("rate", "steps"), [("0.001", 300), ("0.01", 50)])
def test_long_doubles_agree_with_doubles_where_those_suffice(rate: str, steps: int) -> None:
    (group, *_) = pld._groups(Repeated(PoissonSampled(Gaussian(1), rate), steps))
    run = Run.for_delta(group, 1e-6)
    precise = replace(run, extended=True)
    assert precise.upper(run.step).epsilon(1e-6) == pytest.approx(run.upper(run.step).epsilon(1e-6), rel=1e-6)
    assert precise.lower(run.step).epsilon(1e-6) == pytest.approx(run.lower(run.step).epsilon(1e-6), rel=1e-6)
