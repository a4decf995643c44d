"""zCDP: sums, and the conversion against published forms and peers."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from dp_accounting import dp_event
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting import gaussian, zcdp
from sordino.accounting.events import (
    Approximate,
    Composed,
    Concentrated,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Laplace,
    Pure,
    RandomizedResponse,
    Repeated,
)
from sordino.errors import ArgumentError

rhos = st.fractions(Fraction(1, 1000), 10, max_denominator=1000)


def test_sums_are_exact() -> None:
    event = Composed((Repeated(Gaussian(10, 3), 7), DiscreteGaussian(2), Concentrated("0.01"), Exponential(1)))
    assert zcdp.rho(event) == Fraction(21, 20) + Fraction(1, 4) + Fraction(1, 100) + Fraction(1, 8)


@given(rho=rhos, delta=st.sampled_from(["1e-2", "1e-5", "1e-9", "1e-15"]))
@settings(max_examples=40)
def test_conversion_is_between_the_truth_and_the_textbook(rho: Fraction, delta: str) -> None:
    ours = zcdp.epsilon(Concentrated(rho), delta)
    textbook = float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / float(delta)))  # Bun, Steinke 2016, Prop. 1.3
    truth = gaussian.epsilon(Gaussian(1 / (2 * rho)), delta)
    assert truth < ours < textbook


def test_conversion_agrees_with_a_fine_search_by_google() -> None:
    orders = [1 + 10 ** (power / 400) for power in range(-1200, 1600)]
    for rho in (0.001, 0.1, 2.0):
        accountant = RdpAccountant(orders)
        accountant.compose(dp_event.ZCDpEvent(rho))
        ours = zcdp.epsilon(Concentrated(rho), 1e-6)
        assert ours == pytest.approx(accountant.get_epsilon(1e-6), rel=1e-4)
        assert ours <= accountant.get_epsilon(1e-6) * (1 + 1e-9)


@given(rho=rhos)
@settings(max_examples=20)
def test_delta_undoes_epsilon(rho: Fraction) -> None:
    event = Concentrated(rho)
    assert zcdp.delta(event, zcdp.epsilon(event, "1e-7")) == pytest.approx(1e-7, rel=1e-5)


def test_own_failures_and_delta_zero() -> None:
    event = Composed((Gaussian(1), Approximate("0.1", "1e-6")))
    rest = Composed((Gaussian(1), Pure("0.1")))
    assert zcdp.epsilon(event, "3e-6") == pytest.approx(zcdp.epsilon(rest, "2e-6"), rel=1e-12)
    assert zcdp.delta(event, 3) == pytest.approx(1e-6 + zcdp.delta(rest, 3), rel=1e-12)
    with pytest.raises(ArgumentError, match="zCDP gives no pure guarantee"):
        zcdp.epsilon(event, "1e-6")


def test_randomized_response_with_many_values_falls_back() -> None:
    few, many = RandomizedResponse(1, 3), RandomizedResponse(1, 100)
    assert float(zcdp.rho(few)) == pytest.approx(math.expm1(1) / (math.e + 2), rel=1e-12)
    assert zcdp.rho(many) == zcdp.rho(Pure(1))


def test_huge_epsilons_cost_at_most_themselves() -> None:
    for event in (Laplace("0.0001"), RandomizedResponse(5000), Exponential(5000)):
        assert zcdp.rho(event) <= 10_000
