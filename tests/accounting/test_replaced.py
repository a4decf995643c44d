"""Replace-one prices of sampled events against 40-digit arithmetic, at ordinary and extreme parameters."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from sordino.accounting import approximate, closed_forms, pld, pure, renyi
from sordino.accounting.events import (
    Approximate,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    FixedSizeSampled,
    Gaussian,
    Laplace,
    PoissonSampled,
    Pure,
    Repeated,
    Replaced,
)
from sordino.accounting.pair import Atoms
from sordino.accounting.pair_sampled import swapped_claim, swapped_range
from sordino.accounting.sampled_renyi import fixed_size
from sordino.accounting.sampled_replaced import swapped

mp = mpmath.mp


def moment(event: Event, rate: Fraction, order: float) -> mpmath.mpf:
    """Return E[b·h(r)] of the pair ((1−q)N(0) + qN(Δ), (1−q)N(0) + qN(−Δ)), from its definition."""
    q, alpha = mp.mpf(rate.numerator) / rate.denominator, mp.mpf(order)

    def term(mass: mpmath.mpf, up: mpmath.mpf, down: mpmath.mpf) -> mpmath.mpf:
        a, b = 1 + q * mp.expm1(up), 1 + q * mp.expm1(down)
        return mass * (a**alpha * b ** (1 - alpha) - b - alpha * (a - b))

    match event:
        case Gaussian(variance, squared):
            mu = mp.sqrt(mp.mpf(squared.numerator * variance.denominator) / (squared.denominator * variance.numerator))
            ends = [-mu - 25, -8, -mu, 0, mu, 8, (2 * alpha - 1) * mu, (2 * alpha - 1) * mu + 25]
            return mp.quad(lambda z: term(mp.npdf(z), mu * z - mu**2 / 2, -mu * z - mu**2 / 2), sorted(ends))
        case Laplace(scale, sensitivity):
            size = mp.mpf(sensitivity.numerator * scale.denominator) / (sensitivity.denominator * scale.numerator)
            inside = mp.quad(lambda x: term(mp.exp(-x) / 2, 2 * x - size, -size), [0, size])
            mirrored = mp.quad(lambda x: term(mp.exp(-x) / 2, -size, 2 * x - size), [0, size])
            tail = mp.exp(-size) / 2
            return inside + mirrored + term(tail, size, -size) + term(tail, -size, size)
        case DiscreteLaplace(scale, distance):
            s = mp.mpf(scale.numerator) / scale.denominator
            weights = {k: mp.exp(-abs(k) / s) for k in range(-int(110 * s) - distance, int(110 * s) + distance + 1)}
            losses = {k: ((abs(k) - abs(k - distance)) / s, (abs(k) - abs(k + distance)) / s) for k in weights}
        case DiscreteGaussian(variance, squared):
            v, d = mp.mpf(variance.numerator) / variance.denominator, int(mp.floor(mp.sqrt(int(squared))))
            reach = int((2 * alpha - 1) * d + 30 * mp.sqrt(v))
            weights = {k: mp.exp(-mp.mpf(k * k) / (2 * v)) for k in range(-reach, reach + 1)}
            losses = {k: ((2 * k * d - d * d) / (2 * v), (-2 * k * d - d * d) / (2 * v)) for k in weights}
    total = sum(weights.values())
    return sum(term(weight / total, *losses[k]) for k, weight in weights.items())


@pytest.mark.parametrize("rate", ["1e-9", "0.01", "0.5", "0.999"])
@pytest.mark.parametrize(
    ("event", "slack"),
    [
        (Gaussian(1), 1e-7),
        pytest.param(Gaussian("1e6"), 1e-6, marks=pytest.mark.slow),
        pytest.param(Gaussian("0.05"), 1e-9, marks=pytest.mark.slow),
        (Laplace(1), 2e-3),
        pytest.param(Laplace("0.1"), 1e-2, marks=pytest.mark.slow),
        (DiscreteLaplace(2, 3), 1e-7),
        (DiscreteGaussian(2, 4), 1e-7),
    ],
    ids=str,
)
def test_divergences_of_sampled_noise_are_those_of_the_pair(event: Event, slack: float, rate: str) -> None:
    orders = np.array([1.1, 2.5, 9.0])
    found = renyi.curve(Replaced(PoissonSampled(event, rate)), orders)
    for order, price in zip(orders, found, strict=True):
        with mp.workdps(40):
            true = mp.log1p(moment(event, Fraction(rate), float(order))) / (mp.mpf(float(order)) - 1)
            assert true <= price <= true * (1 + slack) + 2e-22


@pytest.mark.parametrize("rate", ["1e-70", "1e-9", "0.3", "0.999999"])
@pytest.mark.parametrize("epsilon", ["1e-40", "1e-12", "0.001", "1", "50", "900", "5000"])
def test_pure_prices_of_samples_are_those_of_the_odds(epsilon: str, rate: str) -> None:
    with mp.workdps(400):
        e, q = mp.mpf(epsilon), mp.mpf(rate)
        true = mp.log(1 + q * mp.expm1(e)) - mp.log(1 + q * mp.expm1(-e))
        found = swapped(Fraction(epsilon), Fraction(rate))
        claimed = mp.mpf(found.numerator) / found.denominator
        assert true <= claimed
        assert claimed <= 2 * e
        if epsilon != "5000":
            assert claimed <= true * (1 + mp.mpf("1e-11"))


def test_failures_of_samples_follow_the_odds() -> None:
    """(ε, δ) on all of the data becomes (2ε, (1 + e^ε)δ), on a sample less of both."""
    whole, sample = Replaced(Approximate(1, "1e-6")), Replaced(PoissonSampled(Approximate(1, "1e-6"), "0.1"))
    assert pure.total(whole) == 2
    assert float(approximate.own_delta(whole)) == pytest.approx(1e-6 * (1 + np.e))
    assert pure.total(sample) == pure.total(Replaced(PoissonSampled(Pure(1), "0.1")))
    shrunk = float(pure.total(sample)) - 1
    assert float(approximate.own_delta(sample)) == pytest.approx(1e-7 * (1 + np.exp(shrunk)))


def shares(
    power: Callable[[mpmath.mpf], mpmath.mpf], rate: mpmath.mpf, level: mpmath.mpf, *corners: mpmath.mpf
) -> mpmath.mpf:
    """Return the largest A(E) − α·B(E) of ``sampled_replaced.py``, over the false positive rate c."""

    def gain(c: mpmath.mpf) -> mpmath.mpf:
        return (1 - rate) * c + rate * power(c) - level * ((1 - rate) * c + rate * (1 - power(1 - c)))

    low, high = mp.mpf(0), mp.mpf(1)
    for _ in range(150):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        low, high = (first, high) if gain(first) < gain(second) else (low, second)
    return max(gain(c) for c in (low, mp.mpf(0), *corners))


def seen(pair: Atoms, loss: float) -> float:
    """Return P[L > x] − e^x·Q[L > x], from the losses of a pair of atoms."""
    above = pair.losses > loss
    with np.errstate(over="ignore"):
        return float(np.sum(pair.p[above] * -np.expm1(loss - pair.losses[above])))


@pytest.mark.parametrize("rate", ["1e-9", "0.01", "0.5", "0.999"])
@pytest.mark.parametrize("epsilon", ["1e-6", "0.1", "1", "4", "20"])
def test_a_range_in_a_sample_is_priced_by_its_power(epsilon: str, rate: str) -> None:
    """The densities of the pair over c are 1−q+qG′(c) and 1−q+qG′(1−c), G(c) = e^ε·c/(1 + c(e^ε − 1))."""
    with mp.workdps(40):
        e, q = mp.mpf(epsilon), mp.mpf(rate)
        pair, top = swapped_range(float(epsilon), Fraction(rate)), float(swapped(Fraction(epsilon), Fraction(rate)))
        for part in (0.0, 0.3, 0.9):
            true = shares(lambda c: mp.exp(e) * c / (1 + c * mp.expm1(e)), q, mp.exp(mp.mpf(part * top)))
            assert true * (1 - mp.mpf("1e-11")) <= seen(pair, part * top) <= true * (1 + mp.mpf("0.01"))
        orders = np.array([1.1, 2.5, 9.0])
        found = renyi.curve(Replaced(PoissonSampled(Exponential(epsilon), rate)), orders)
        for order, price in zip(orders, found, strict=True):
            assert price <= _range_divergence(e, q, mp.mpf(float(order))) * (1 + mp.mpf("0.01")) + mp.mpf("1e-22")


def _range_divergence(epsilon: mpmath.mpf, rate: mpmath.mpf, order: mpmath.mpf) -> mpmath.mpf:
    """Return D_α of that pair; with a = b = 1 on average, only a^α·b^{1−α} − b − α(a − b) is integrated."""
    least = mp.exp(-epsilon)

    def density(c: mpmath.mpf) -> mpmath.mpf:
        return 1 + rate * (least / (least + c * (1 - least)) ** 2 - 1)

    def excess(c: mpmath.mpf) -> mpmath.mpf:
        a, b = density(c), density(1 - c)
        return a**order * b ** (1 - order) - b - order * (a - b)

    inner = [least / 100, least, 10 * least, mp.mpf("0.5"), 1 - 10 * least, 1 - least, 1 - least / 100]
    return mp.log1p(mp.quad(excess, [0, *sorted(c for c in inner if 0 < c < 1), 1])) / (order - 1)


@pytest.mark.parametrize("rate", ["1e-6", "0.1", "0.9"])
@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1", "1e-6"), ("0", "0.1"), ("3", "0.2"), ("1e-3", "1e-50"), ("2", "0")]
)
def test_claims_with_a_failure_in_a_sample_are_priced_by_their_power(epsilon: str, delta: str, rate: str) -> None:
    """G(c) = min(δ + e^ε·c, 1 − e^{−ε}(1−δ−c), 1): the pair has its profile at every level, exactly."""
    with mp.workdps(60):
        e, d, q = mp.mpf(epsilon), mp.mpf(delta), mp.mpf(rate)
        pair = swapped_claim(float(epsilon), Fraction(rate), Fraction(delta))

        def power(c: mpmath.mpf) -> mpmath.mpf:
            return min(d + mp.exp(e) * c, 1 - mp.exp(-e) * (1 - d - c), mp.mpf(1))

        top = float(pair.losses[np.isfinite(pair.losses)].max())
        for loss in (0.0, 0.3 * top, 0.9 * top, 1.1 * top):
            true = shares(power, q, mp.exp(mp.mpf(loss)), d, (1 - d) / (1 + mp.exp(e)))
            assert abs(seen(pair, loss) - true) <= true * mp.mpf("1e-11") + mp.mpf("1e-300")
        assert float(np.sum(pair.p)) == pytest.approx(1, abs=1e-15)


def test_a_failure_and_three_losses_dominate_a_claim_in_a_sample() -> None:
    """Outside of δ′ = qδ(1 + e^{ε′−ε}) the Rényi curve speaks of the three losses of the pure claim."""
    rng = np.random.default_rng(5)
    for _ in range(300):
        epsilon, rate = (
            float(rng.uniform(0.01, 6)),
            Fraction(float(rng.choice([rng.uniform(), 10 ** rng.uniform(-6, 0)]))),
        )
        delta = Fraction(float(10 ** rng.uniform(-9, 0))) / Fraction(2 + np.exp(epsilon))
        whole, rest = swapped_claim(epsilon, rate, delta), swapped_claim(epsilon, rate)
        event = Replaced(PoissonSampled(Approximate(Fraction(epsilon), delta), rate))
        own = float(approximate.own_delta(event))
        for loss in np.linspace(0, 1.2, 13) * float(pure.total(event)):
            assert seen(whole, loss) <= (own + (1 - own) * seen(rest, loss)) * (1 + 1e-9)


def test_failures_in_a_sample_cost_less_by_a_loss_distribution_than_by_their_sums() -> None:
    event = Repeated(Replaced(PoissonSampled(Approximate("0.5", "1e-8"), "0.1")), 100)
    bracket = pld.epsilon_bracket(event, "1e-5")
    assert bracket.upper < renyi.epsilon(event, "1e-5")
    assert bracket.upper <= bracket.lower * 1.001


@pytest.mark.parametrize(
    "inner",
    [Gaussian(4), Laplace(2), DiscreteLaplace(3, 2), DiscreteGaussian(9), Exponential("0.5"), Pure(1)],
    ids=str,
)
def test_a_sample_of_a_sample_under_replacement(inner: Event) -> None:
    """Rényi prices it at some orders, with chords between; never below the pair, nor below whole orders one by one."""
    event = FixedSizeSampled(Replaced(PoissonSampled(inner, "0.1")), 10, 100)
    assert renyi.epsilon(Repeated(event, 50), "1e-6") >= pld.epsilon_bracket(Repeated(event, 50), "1e-6").lower
    orders = np.array([2.0, 17.0, 60.0, 300.0])
    one_by_one = [_each_order(event, order) for order in orders]
    found = renyi.curve(event, orders)
    assert np.all(found >= np.array(one_by_one) * (1 - 1e-12))
    assert np.all(found <= np.array(one_by_one) * (1 + 5e-3))


def _each_order(event: FixedSizeSampled, order: float) -> float:
    """Return D_α with the divergences of what is sampled at every whole order: no chords."""
    inside, share = event.event, event.size / event.population
    known = [float(pure.total(inside))] if not isinstance(inside.event.event, Gaussian | DiscreteGaussian) else []
    bounds = [renyi.curve(inside, np.array([order]))[0]]
    bounds.append(
        fixed_size(lambda k: renyi.curve(inside, k) * (k - 1), *(known or [np.inf]), share, np.array([order]))[0]
    )
    bounds += [closed_forms.randomized_response(np.log1p(share * np.expm1(e)), np.array([order]))[0] for e in known]
    return float(min(bounds))
