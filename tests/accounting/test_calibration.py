"""Calibration and the table of accountants: safe, least, tidy; every calculus above the truth."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from sordino.accounting import accountants, calibration, gaussian, renyi, zcdp
from sordino.accounting.event import Event
from sordino.accounting.events import (
    Approximate,
    Composed,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Laplace,
    PartitionSelection,
    Pure,
    RandomizedResponse,
    Repeated,
    Sensitive,
)
from sordino.accounting.pld import accountant as pld
from sordino.errors import ArgumentError, UnsupportedError

epsilons = st.decimals(min_value="0.01", max_value=20, places=2).map(str)


@given(epsilon=epsilons)
@settings(max_examples=30)
def test_pure_laplace_is_exact(epsilon: str) -> None:
    assert calibration.calibrate(Laplace, epsilon=epsilon, calculus="pure") == 1 / Fraction(epsilon)
    assert calibration.laplace(epsilon) == 1 / Fraction(epsilon)


@pytest.mark.parametrize("calculus", ["advanced", "optimal", "zcdp", "renyi"])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_within_the_target_and_not_wasteful(calculus: str, epsilon: str) -> None:
    def build(scale: Fraction) -> Event:
        return Repeated(Laplace(scale), 20)

    noise = calibration.calibrate(build, epsilon=epsilon, delta="1e-6", calculus=calculus)
    assert accountants.epsilon(build(noise), "1e-6", calculus) <= float(epsilon)
    assert accountants.epsilon(build(noise * (1 - Fraction(3, 10**6))), "1e-6", calculus) > float(epsilon)


@given(epsilon=st.floats(0.05, 10), delta=st.sampled_from(["1e-4", "1e-8"]))
@settings(max_examples=15)
def test_gaussian_meets_the_analytic_value(epsilon: float, delta: str) -> None:
    found = calibration.calibrate(lambda s: Gaussian(s**2), epsilon=epsilon, delta=delta, calculus="gaussian")
    assert float(found) == pytest.approx(gaussian.analytic_sigma(epsilon, delta), rel=2e-6)
    assert calibration.gaussian(epsilon, delta, 3) == 3 * Fraction(gaussian.analytic_sigma(epsilon, delta))


def test_rho_targets_are_exact() -> None:
    assert calibration.calibrate(Gaussian, rho="0.1") == 5
    assert calibration.discrete_gaussian(rho="0.1") == 5
    assert calibration.discrete_gaussian(rho="0.1", sensitivity=3) == 45


def test_discrete_gaussian_by_zcdp_or_better() -> None:
    variance = calibration.discrete_gaussian(epsilon=1, delta="1e-5")
    assert accountants.epsilon(DiscreteGaussian(variance), "1e-5") <= 1
    assert variance <= calibration.calibrate(DiscreteGaussian, epsilon=1, delta="1e-5", calculus="zcdp")


def test_training_by_renyi() -> None:
    sigma = calibration.sampled_gaussian("1.0355", "1e-5", rate="0.01", steps=10_000, calculus="renyi")
    assert float(sigma) == pytest.approx(4, rel=1e-3)


def test_a_price_that_falls_to_nothing_is_bisected() -> None:
    """At δ = 0.4 two Laplace answers cost nothing from some noise on, so there is no line to follow."""
    noise = calibration.calibrate(lambda s: Repeated(Laplace(s), 2), epsilon="0.001", delta="0.4", calculus="optimal")
    assert float(noise) == pytest.approx(1.18, abs=0.05)


def test_out_of_reach() -> None:
    def failing(noise: Fraction) -> Event:
        return Composed((Laplace(noise), Pure(2)))

    with pytest.raises(UnsupportedError, match=r"even the largest does not.*SRD-C006"):
        calibration.calibrate(failing, epsilon=1, calculus="pure")
    with pytest.raises(UnsupportedError, match=r"even the smallest does.*SRD-C006"):
        calibration.calibrate(lambda _: Pure(1), epsilon=2, calculus="pure")
    with pytest.raises(UnsupportedError, match="SRD-C001"):
        calibration.calibrate(Gaussian, epsilon=1, calculus="pure")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"epsilon": 1, "rho": 1},
        {"rho": 1, "delta": "1e-5"},
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": math.nan},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "calculus": "magic"},
        {"rho": True},
    ],
)
def test_bad_targets(arguments: dict[str, object]) -> None:
    with pytest.raises(ArgumentError):
        calibration.calibrate(Laplace, **arguments)  # type: ignore[arg-type]


def test_bad_training_arguments() -> None:
    for rate, steps in (("2", 10), ("0", 10), ("0.1", 0), ("0.1", 2.5)):
        with pytest.raises(ArgumentError, match=r"rate|steps"):
            calibration.sampled_gaussian(1, "1e-5", rate=rate, steps=steps)  # type: ignore[arg-type]


@given(low=st.fractions(0, 9, max_denominator=10**6), width=st.fractions(Fraction(1, 10**7), 1, max_denominator=10**7))
@settings(max_examples=60)
def test_the_simplest_fraction_lies_within(low: Fraction, width: Fraction) -> None:
    found = calibration._simplest(low, low + width)
    assert low < found <= low + width
    assert all(math.floor((low + width) * d) <= math.floor(low * d) for d in range(1, min(found.denominator, 40))), (
        "a smaller denominator would do"
    )


# ---- the table ------------------------------------------------------------------------------------------------------


def test_every_calculus_answers_or_says_why_not() -> None:
    quotes = {quote.calculus: quote for quote in accountants.side_by_side(Repeated(Laplace(10), 30), "1e-6")}
    assert list(quotes) == ["pure", "basic", "advanced", "optimal", "zcdp", "renyi", "gaussian", "pld"]
    assert quotes["pure"].epsilon == quotes["basic"].epsilon == 3.0
    assert quotes["gaussian"].epsilon is None
    assert "SRD-C001" in quotes["gaussian"].remark
    best = accountants.epsilon(Repeated(Laplace(10), 30), "1e-6")
    assert best == min(quote.epsilon for quote in quotes.values() if quote.epsilon is not None)


@pytest.mark.parametrize(
    "event",
    [
        Repeated(Laplace(2), 5),
        Composed((RandomizedResponse(1, 4), Gaussian(3), Laplace(1))),
        Repeated(DiscreteGaussian(4), 9),
        Composed((PartitionSelection(1, "1e-8"), Repeated(Laplace(5), 10))),
    ],
    ids=repr,
)
@pytest.mark.parametrize("delta", [1e-3, 1e-7])
def test_order_law(event: Event, delta: float) -> None:
    floor = pld.epsilon_bracket(event, delta).lower
    for quote in accountants.side_by_side(event, delta):
        assert quote.epsilon is None or quote.epsilon >= floor * (1 - 1e-9), quote


@pytest.mark.parametrize("delta", [1e-3, 1e-7])
def test_order_law_for_the_exponential_mechanism(delta: float) -> None:
    """The truth for twelve choices between two outcomes, at each split t of the range [t − ε, t] of the loss."""
    wide, count = 0.5, 12
    quotes = [quote for quote in accountants.side_by_side(Repeated(Exponential(wide), count), delta) if quote.epsilon]
    for t in np.linspace(0.02, 0.48, 12):
        chance = math.exp(t) * -math.expm1(t - wide) / (math.exp(t) - math.exp(t - wide))
        high = np.arange(count + 1)
        losses, masses = high * t + (count - high) * (t - wide), binom.pmf(high, count, chance)
        for quote in quotes:
            excess = float(np.sum(masses * np.maximum(0.0, -np.expm1(quote.epsilon - losses))))
            assert excess <= delta * (1 + 1e-9), (t, quote)


def test_without_delta_only_pure_answers() -> None:
    known = {quote.calculus: quote.epsilon for quote in accountants.side_by_side(Laplace(4))}
    assert known == {
        **dict.fromkeys(("pure", "basic", "advanced", "optimal", "renyi"), 0.25),
        **dict.fromkeys(("zcdp", "gaussian", "pld")),
    }


def test_a_failure_of_its_own_is_not_pure() -> None:
    quotes = {quote.calculus: quote for quote in accountants.side_by_side(Approximate(1, "1e-6"), "1e-5")}
    assert quotes["pure"].epsilon is None
    assert "see basic composition" in quotes["pure"].remark
    assert quotes["basic"].epsilon == 1.0
    too_small = accountants.side_by_side(Approximate(1, "1e-6"), "1e-7")
    assert all(quote.epsilon is None for quote in too_small)


def test_nothing_prices_sensitive_privacy() -> None:
    with pytest.raises(UnsupportedError, match="not differential privacy"):
        accountants.epsilon(Sensitive(1, "outliers"), "1e-5")


def test_named_accountants_are_the_calculi() -> None:
    event = Repeated(Gaussian(100), 10)
    assert accountants.epsilon(event, "1e-5", "zcdp") == zcdp.epsilon(event, "1e-5")
    assert accountants.epsilon(event, "1e-5", "renyi") == renyi.epsilon(event, "1e-5")
    assert accountants.epsilon(event, "1e-5", "gaussian") == gaussian.epsilon(event, "1e-5")
    assert accountants.epsilon(event, "1e-5", "pld") == pld.epsilon_bracket(event, "1e-5").upper
