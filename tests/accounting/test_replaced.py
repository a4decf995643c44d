"""Replace-one prices of sampled events against 40-digit arithmetic, at ordinary and extreme parameters."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from sordino.accounting import approximate, pure, renyi
from sordino.accounting.events import (
    Approximate,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Gaussian,
    Laplace,
    PoissonSampled,
    Pure,
    Replaced,
)
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
