"""Composition of (ε, δ)'s: published values, exact enumeration, groups."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting import composition, group, optimal, pure, renyi
from sordino.accounting.events import Approximate, Composed, Gaussian, Laplace, PartitionSelection, Pure, Repeated
from sordino.errors import ArgumentError, UnsupportedError

small = st.fractions(Fraction(1, 20), 2, max_denominator=40)


def enumerated_delta(epsilons: list[float], epsilon: float) -> float:
    """Return the least δ at ε by summing over all signs (Kairouz, Oh, Viswanath 2015, Theorem 3.3)."""
    total = 0.0
    for signs in itertools.product((1, -1), repeat=len(epsilons)):
        loss = sum(sign * e for sign, e in zip(signs, epsilons, strict=True))
        weight = math.prod(1 / (1 + math.exp(-sign * e)) for sign, e in zip(signs, epsilons, strict=True))
        total += weight * max(0.0, -math.expm1(epsilon - loss))
    return total


def test_ten_thousand_small_epsilons() -> None:
    event = Repeated(Pure("0.01"), 10_000)
    assert composition.basic(event) == (100, 0)
    assert composition.advanced(event, "1e-6") == pytest.approx(6.26, abs=0.005)
    assert composition.kairouz(event, "1e-6") == pytest.approx(5.757, abs=0.001)
    best = composition.optimal(event, "1e-6")
    assert best < renyi.epsilon(event, "1e-6") < composition.kairouz(event, "1e-6")


@given(epsilons=st.lists(small, min_size=1, max_size=7), delta=st.sampled_from([1e-1, 1e-3, 1e-6, 1e-10]))
@settings(max_examples=25)
def test_optimal_against_enumeration(epsilons: list[Fraction], delta: float) -> None:
    floats = [float(epsilon) for epsilon in epsilons]
    ours = composition.optimal(Composed(tuple(map(Pure, epsilons))), delta)
    assert enumerated_delta(floats, ours) <= delta * (1 + 1e-9)
    if ours > 0:
        # what the lattice may add: at most its step for each event, by which δ shrinks too (see ``optimal.py``)
        rounding = len(floats) * 2 * sum(floats) / (2**19 - 64)
        assert enumerated_delta(floats, ours - rounding - 1e-9) > delta * math.exp(-rounding) * (1 - 1e-9)


def test_optimal_counts_like_repetition() -> None:
    one_by_one = Composed((Pure("0.1"),) * 40)
    at_once = Repeated(Pure("0.1"), 40)
    assert composition.optimal(one_by_one, "1e-5") == composition.optimal(at_once, "1e-5")
    nearly = Composed((Repeated(Pure("0.1"), 40), Pure("0.1000000001")))
    more = composition.optimal(Repeated(Pure("0.1"), 41), "1e-5")
    assert more * (1 - 1e-9) <= composition.optimal(nearly, "1e-5") <= more * (1 + 1e-4)


def test_optimal_by_fft_agrees_with_the_binomial() -> None:
    claims = [(Fraction(1, 100), 3000)]
    halves = [(Fraction(1, 100), 1000), (Fraction(1, 100), 2000)]
    exact = optimal.optimal_epsilon(claims, 1e-9, 30.0)
    assert optimal.optimal_epsilon(halves, 1e-9, 30.0) == pytest.approx(exact, rel=1e-7)


def test_a_lattice_that_is_too_fine_rounds_up() -> None:
    coarse = Composed(tuple(Pure(Fraction(i, 1000)) for i in range(1, 60)))
    fine = Composed(tuple(Pure(Fraction(i, 1000) - Fraction(1, 10**12 + i)) for i in range(1, 60)))
    below, above = composition.optimal(fine, "1e-6"), composition.optimal(coarse, "1e-6")
    assert below == pytest.approx(above, rel=1e-3)


@given(epsilons=st.lists(small, min_size=1, max_size=6), count=st.integers(1, 30))
@settings(max_examples=10)
def test_order_of_the_theorems(epsilons: list[Fraction], count: int) -> None:
    event = Repeated(Composed(tuple(map(Pure, epsilons))), count)
    best, middle, loose = (f(event, "1e-6") for f in (composition.optimal, composition.kairouz, composition.advanced))
    assert best <= middle * (1 + 1e-9)
    assert middle <= loose * (1 + 1e-9)
    assert loose <= float(pure.total(event)) * (1 + 1e-9)


def test_failures_come_off_first() -> None:
    event = Composed((Repeated(Pure("0.1"), 50), PartitionSelection("0.2", "4e-7"), Approximate(0, "1e-7")))
    assert composition.basic(event) == (Fraction(52, 10), Fraction(5, 10**7))
    rest = Composed((Repeated(Pure("0.1"), 50), Pure("0.2")))
    for theorem in (composition.advanced, composition.kairouz, composition.optimal):
        assert theorem(event, "1.5e-6") == pytest.approx(theorem(rest, "1e-6"), rel=1e-9)
        assert theorem(event, "5e-7") == pytest.approx(5.2)
        with pytest.raises(ArgumentError, match="SRD-A003"):
            theorem(event, "4e-7")
    assert composition.optimal(Approximate(0, "1e-7"), "1e-6") == 0.0


def test_extremes() -> None:
    assert composition.advanced(Repeated(Laplace("0.001"), 3), "1e-5") == 3000
    assert composition.optimal(Repeated(Pure("1e-9"), 5), "0.1") == 0.0
    assert composition.optimal(Pure(50), "1e-30") <= 50
    endless = Repeated(Pure("1e-9"), 10**20)
    assert composition.optimal(endless, "1e-6") == composition.kairouz(endless, "1e-6")
    many = Repeated(Pure(500), 10**9)
    assert composition.optimal(many, "1e-6") <= 500 * 10**9
    with pytest.raises(UnsupportedError, match="SRD-C001"):
        composition.optimal(Gaussian(1), "1e-5")


def test_groups() -> None:
    epsilon, delta = group.approximate("0.5", "1e-6", 5)
    assert epsilon == Fraction(5, 2)
    by_links = sum(1e-6 * math.exp(0.5 * link) for link in range(5))
    assert by_links <= delta == pytest.approx(by_links, rel=1e-9)
    assert group.approximate(1, 0, 3) == (3, 0.0)
    assert group.approximate(0, "1e-6", 3)[1] == pytest.approx(3e-6)
    assert group.approximate(1000, "1e-6", 3) == (3000, 1.0)
    assert group.approximate(5, "0.1", 3)[1] == 1.0
    assert group.concentrated("0.1", 3) == Fraction(9, 10)
    for bad in (0, -1, True, 1.5):
        with pytest.raises(ArgumentError, match="size"):
            group.concentrated(1, bad)  # type: ignore[arg-type]
