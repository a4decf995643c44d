"""Declared runs: what is claimed is proven, charged exactly, and found anew for a unit that is replaced."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from dp_accounting.privacy_accountant import NeighboringRelation
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting import approximate, closed_forms, gaussian, pld, pure, renyi, zcdp
from sordino.accounting.account import Account
from sordino.accounting.bound import Bound
from sordino.accounting.budget import Budget
from sordino.accounting.columns import Columns
from sordino.accounting.curve import curve
from sordino.accounting.declared import declare
from sordino.accounting.event import Event
from sordino.accounting.events import (
    Approximate,
    Declared,
    DiscreteGaussian,
    Gaussian,
    PoissonSampled,
    Pure,
    RandomizedResponse,
    Repeated,
    Replaced,
    Sensitive,
)
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.relation import charged_as, relations
from sordino.errors import ArgumentError, BudgetError, UnsupportedError

RUN = Repeated(PoissonSampled(Gaussian(16), "0.01"), 1000)


@given(
    variance=st.fractions("0.3", 100),
    rate=st.sampled_from(("0.001", "0.05", "1")),
    count=st.sampled_from((1, 30, 2000)),
)
@settings(max_examples=15)
def test_the_claim_is_proven_and_close(variance: Fraction, rate: str, count: int) -> None:
    run = Repeated(PoissonSampled(Gaussian(variance), rate), count)
    declared = declare(run, "1e-6")
    bracket = pld.epsilon_bracket(run, "1e-6")
    assert (
        Fraction(bracket.upper)
        < declared.epsilon
        <= Fraction(bracket.upper) * Fraction(10007, 10000) + Fraction(1, 10**12)
    )
    assert declared.epsilon * Fraction(9996, 10000) > Fraction(bracket.upper) or bracket.upper < 1e-6
    # so a bracket as wide as one may be, found elsewhere, proves it too
    assert bracket.lower * (1 + 3e-4) <= declared.epsilon


@pytest.mark.parametrize("relation", [NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE])
def test_a_peer_finds_no_more(relation: NeighboringRelation) -> None:
    """The peer counts in grid steps of 1e-4, rounded up, so it is above the truth, and so are we: within 0.2 %."""
    accountant = PLDAccountant(relation)
    accountant.compose(dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(4.0)), 1000)
    replaced = relation is NeighboringRelation.REPLACE_ONE
    ours = declare(Replaced(RUN) if replaced else RUN, "1e-5").epsilon
    assert float(ours) == pytest.approx(accountant.get_epsilon(1e-5), rel=2e-3)


def test_it_costs_its_epsilon_and_delta_in_every_calculus() -> None:
    declared = Declared(RUN, "1e-5", "0.5")
    orders = np.array([1.5, 4.0, 64.0])
    assert pure.total(declared) == Fraction(1, 2)
    assert approximate.own_delta(declared) == Fraction(1, 10**5)
    assert zcdp.rho(declared) == pure.rho(Fraction(1, 2))
    np.testing.assert_array_equal(
        curve(declared, "renyi")(declared, orders), closed_forms.randomized_response(0.5, orders)
    )
    assert Columns("renyi", (2.0,)).charge(declared)[0] == 10**13
    same = Approximate("0.5", "1e-5")
    assert Columns("renyi", (2.0, 8.0)).charge(declared) == Columns("renyi", (2.0, 8.0)).charge(same)
    assert pld.delta(Repeated(declared, 3), 1) == pld.delta(Repeated(same, 3), 1)


@pytest.mark.parametrize("short", [Fraction(99, 100), Fraction(1, 2), Fraction(0)])
def test_a_claim_that_is_not_proven_has_no_price(short: Fraction) -> None:
    honest = declare(RUN, "1e-5")
    claimed = Declared(RUN, "1e-5", honest.epsilon * short)
    for price in (pure.total, zcdp.rho, lambda event: renyi.epsilon(event, "1e-4"), Columns("renyi", (2.0,)).charge):
        with pytest.raises(UnsupportedError, match="SRD-C015"):
            price(claimed)
    with pytest.raises(UnsupportedError, match="SRD-C015"):
        pld.epsilon(Repeated(claimed, 2), "1e-3")
    assert Event.from_json(claimed.to_json()) == claimed  # a text describes it; no account takes it


def test_more_than_is_needed_may_be_claimed() -> None:
    assert pure.total(Declared(RUN, "1e-5", 3)) == 3


def test_for_a_unit_that_is_replaced_it_is_found_anew() -> None:
    declared = declare(RUN, "1e-5")
    anew = declare(Replaced(RUN), "1e-5")
    held = charged_as(declared, Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE)
    assert pure.total(held) == anew.epsilon
    assert approximate.own_delta(held) == Fraction(1, 10**5)
    assert declared.epsilon < anew.epsilon
    assert anew.epsilon >= Fraction(pld.epsilon_bracket(Replaced(RUN), "1e-5").lower)
    doubled = approximate.own_delta(Replaced(Approximate(declared.epsilon, declared.delta)))
    assert approximate.own_delta(held) < doubled
    assert declare(Replaced(Gaussian(4)), "1e-5").epsilon == declare(Gaussian(1), "1e-5").epsilon


def test_gaussian_noise_is_declared_at_its_exact_curve() -> None:
    declared = declare(Gaussian(4), "1e-5")
    assert float(declared.epsilon) == pytest.approx(gaussian.epsilon(Gaussian(4), "1e-5"), rel=7e-4)


def test_what_the_loss_distribution_does_not_know_is_declared_by_orders() -> None:
    vector = DiscreteGaussian(9, 4, 3)
    declared = declare(vector, "1e-6")
    least = Fraction(renyi.epsilon(vector, "1e-6"))
    assert least < declared.epsilon < least * Fraction(1001, 1000)


def test_relations_are_those_of_the_run() -> None:
    assert relations(declare(RUN, "1e-5")) == {Neighbours.ADD_REMOVE}
    assert relations(Declared(Replaced(RUN), "1e-5", 1)) == {Neighbours.REPLACE_ONE, Neighbours.ZERO_OUT}
    assert relations(Declared(RandomizedResponse(1), "1e-5", 1)) == {Neighbours.REPLACE_ONE, Neighbours.ZERO_OUT}


def test_an_account_pays_from_its_delta_for_failures() -> None:
    account = Account(Budget(epsilon=1, delta="1e-5"))
    with pytest.raises(BudgetError):
        account.reserve(declare(RUN, "9e-6"), Bound.scalar(1))  # more than a quarter
    account.reserve(declare(RUN, "2e-6"), Bound.scalar(1))
    with pytest.raises(BudgetError):
        Account(Budget(epsilon=1)).reserve(declare(RUN, "2e-6"), Bound.scalar(1))


def test_it_admits_what_a_filter_of_orders_would_not() -> None:
    """At ε = 1 and δ = 10⁻⁵, with 10 % more noise than the run needs by its loss distribution."""
    run = Repeated(PoissonSampled(Gaussian(Fraction(18)), "0.01"), 10_000)
    bound = Bound.scalar(1)
    with pytest.raises(BudgetError):
        Account(Budget(epsilon=1, delta="1e-5")).reserve(run, bound)
    Account(Budget(epsilon=1, delta="1e-5")).reserve(declare(run, "2.5e-6"), bound)


def test_what_cannot_be_declared_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="SRD-C003"):
        declare(Sensitive(1, "policy"), "1e-5")
    with pytest.raises(ArgumentError, match="below what the events bring along"):
        declare(Approximate(1, "1e-4"), "1e-5")
    with pytest.raises(ArgumentError, match="delta"):
        declare(RUN, 0)
    with pytest.raises(ArgumentError, match="delta"):
        Declared(RUN, 1, 1)
    with pytest.raises(ArgumentError, match="epsilon"):
        Declared(RUN, "1e-5", -1)
    with pytest.raises(ArgumentError, match="event"):
        Declared("a run", "1e-5", 1)  # type: ignore[arg-type]


def test_what_is_pure_is_declared_at_no_more_than_its_sum() -> None:
    assert declare(Repeated(Pure("0.1"), 3), "1e-12").epsilon <= Fraction(3, 10) * Fraction(10007, 10000)
