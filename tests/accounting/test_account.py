from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction

import pytest

from sordino.accounting.account import Account, SensitiveAccount, UnlimitedAccount, unlimited
from sordino.accounting.any_account import Entry
from sordino.accounting.bound import Bound, Unit
from sordino.accounting.budget import Budget, budget
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.events import (
    Approximate,
    Composed,
    Concentrated,
    DiscreteGaussian,
    FixedSizeSampled,
    Gaussian,
    Laplace,
    PoissonSampled,
    Pure,
    RandomizedResponse,
    Repeated,
    Sensitive,
    Shuffled,
    SparseVector,
)
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.tally import Tally
from sordino.errors import ArgumentError, BudgetError, GrantError, UnsupportedError

ONE = Bound.scalar(1)
IN_PLACE = Bound.scalar(1, neighbours=Neighbours.REPLACE_ONE)  # where randomized response has a meaning, too
TENTH = Pure("0.1")


@dataclass(frozen=True)
class TwoQueries:
    """A plan of two queries, as any room might hand in."""

    bound: Bound = ONE
    days: tuple[str, ...] = ()
    kind: str = "two"
    parts: int = 0
    large: bool = False

    def event(self) -> Event:
        return Composed((Laplace(10), Repeated(Laplace(20), 2)))

    def digest(self) -> str:
        return digest_of(self)


def race(account: Tally, event: Event, threads: int = 64) -> int:
    """Let many threads reserve `event` at the same moment, and return how many were granted."""
    barrier = threading.Barrier(threads)

    def spend(_: int) -> bool:
        barrier.wait()
        try:
            account.reserve(event, ONE)
        except BudgetError:
            return False
        return True

    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(spend, range(threads)))


@pytest.mark.parametrize("cap", [budget(1), budget(1, 1e-6, own_delta_share=1)])
def test_of_64_concurrent_spends_exactly_ten_fit(cap: Budget) -> None:
    account = Account(cap)
    assert race(account, TENTH) == 10
    assert account.spent[-1] == 10**12
    assert len(account.history) == 10


def test_concurrent_spends_of_other_calculi() -> None:
    assert race(Account(budget(rho=1)), Concentrated("0.1")) == 10
    assert race(SensitiveAccount("outliers", 1), Sensitive("0.1", "outliers")) == 10
    tally = unlimited("a test")
    assert race(tally, TENTH) == 64
    assert tally.spent[-1] == 64 * 10**11


def test_a_grant_is_good_for_the_event_that_was_charged_once() -> None:
    account = Account(budget(1))
    grant = account.reserve(TENTH, ONE)
    assert grant.bound is ONE
    with pytest.raises(GrantError):
        grant.use(Pure("0.2"))
    grant.use(TENTH)
    with pytest.raises(GrantError):
        grant.use(TENTH)
    assert account.history == (Entry(TENTH, ONE, (0, 10**11)),)


def test_failure_after_reserving_refunds_nothing() -> None:
    account = Account(budget(1))
    grant = account.reserve(TENTH, ONE)
    with pytest.raises(GrantError):
        grant.use(Laplace(1))
    assert account.spent == (0, 10**11)


def test_what_does_not_fit_charges_nothing() -> None:
    account = Account(budget(1))
    account.reserve(Pure("0.95"), ONE)
    before = account.spent, account.history
    with pytest.raises(BudgetError):
        account.reserve(TENTH, ONE)
    with pytest.raises(UnsupportedError):
        account.reserve(Gaussian(1), ONE)
    assert (account.spent, account.history) == before
    account.reserve(Pure("0.05"), ONE)
    assert account.remaining.epsilon == 0


def test_a_plan_is_charged_whole() -> None:
    account = Account(budget(1))
    grant = account.begin(TwoQueries()).grant
    grant.use(TwoQueries().event())
    assert account.spent == (0, 2 * 10**11)
    with pytest.raises(ArgumentError, match="plan"):
        account.begin(Laplace(1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cap", "event", "words"),
    [
        (budget(1), Laplace(1), "the same with scale at least 2 would fit"),
        (budget(1), RandomizedResponse(3, 5), "the same with epsilon at most 0.5 would fit"),
        (budget(1), Repeated(Laplace(10), 30), "5 of its 30 runs would fit"),
        (budget(1), Repeated(Laplace(1), 2), "ask for less"),
        (budget(1), SparseVector(1, 1), "ask for less"),
        (budget(1), Approximate("0.1", "1e-9"), "its own δ is more than what is left"),
        (budget(1, 1e-6), Gaussian(1), "the same with variance at least"),
        (budget(rho="0.5"), DiscreteGaussian(1), "the same with variance at least"),
        (budget(rho="0.5"), Concentrated(2), "the same with rho at most 0.3"),
        (budget(rho=1), Pure(4), "ε up to 1.4"),
    ],
)
def test_a_refusal_says_what_would_fit(cap: Budget, event: Event, words: str) -> None:
    account = Account(cap)
    account.reserve(Pure("0.5"), IN_PLACE)
    with pytest.raises(BudgetError) as caught:
        account.reserve(event, IN_PLACE)
    text = str(caught.value)
    assert caught.value.code == "SRD-B001"
    for part in (words, type(event).__name__, "what still fits is", str(cap), "% is used"):
        assert part in text


@pytest.mark.parametrize(
    ("event", "smaller"),
    [
        (Gaussian(1), lambda value: Gaussian(Fraction(value))),
        (Laplace("0.1"), lambda value: Laplace(Fraction(value))),
        (RandomizedResponse(9), lambda value: RandomizedResponse(Fraction(value))),
    ],
)
def test_what_is_said_to_fit_does_fit(event: Event, smaller: Callable[[str], Event]) -> None:
    account = Account(budget(1, 1e-6))
    account.reserve(Gaussian(200), IN_PLACE)
    with pytest.raises(BudgetError) as caught:
        account.reserve(event, IN_PLACE)
    value = str(caught.value).split(" would fit")[0].split()[-1]
    account.reserve(smaller(value), IN_PLACE)


def test_a_huge_event_is_not_printed_in_full() -> None:
    account = Account(budget("0.001"))
    with pytest.raises(BudgetError) as caught:
        account.reserve(Composed(tuple(Laplace(n) for n in range(1, 500))), ONE)
    assert len(str(caught.value)) < 600


def test_price_charges_nothing_and_says_whether_it_fits() -> None:
    account = Account(budget(1, 1e-6))
    assert str(account.price(Laplace(10))) == "pure ε = 0.1, 10 % of the budget"
    assert str(account.price(Gaussian(1000))).startswith("Rényi ε of order 24 = 0.012")
    assert str(account.price(Approximate("0.1", "1e-9"))) == "pure ε = 0.1, own δ = 0.000000001, 10 % of the budget"
    assert account.price(Laplace(10)).fits
    assert not account.price(Laplace("0.1")).fits
    assert set(account.spent) == {0}
    assert str(unlimited("a test").price(Gaussian(4))).startswith("Rényi ε of order 2 = 0.25")
    assert unlimited("a test").price(Laplace(4)).fits


def test_the_first_reservation_fixes_who_is_protected() -> None:
    account = Account(budget(1))
    assert account.protects is None
    account.reserve(TENTH, ONE)
    assert account.protects == (Unit("row"), Neighbours.ADD_REMOVE)
    with pytest.raises(ArgumentError, match="open another account") as caught:
        account.reserve(TENTH, Bound.scalar(1, neighbours=Neighbours.REPLACE_ONE))
    assert caught.value.code == "SRD-A003"
    with pytest.raises(ArgumentError, match="open another account"):
        account.reserve(TENTH, Bound.scalar(1, unit=Unit("user")))
    account.reserve(TENTH, Bound.scalar(7))
    assert len(account.history) == 2


@pytest.mark.parametrize(
    ("event", "neighbours"),
    [
        (PoissonSampled(Gaussian(4), "0.1"), Neighbours.REPLACE_ONE),
        (FixedSizeSampled(Gaussian(4), 1, 10), Neighbours.ADD_REMOVE),
        (Shuffled("0.5", 10**6, "1e-8"), Neighbours.ADD_REMOVE),
        (Repeated(Composed((Laplace(9), PoissonSampled(Laplace(4), "0.1"))), 2), Neighbours.REPLACE_ONE),
    ],
)
def test_an_event_priced_for_another_relation_is_refused(event: Event, neighbours: Neighbours) -> None:
    account = Account(budget(5, 1e-6))
    with pytest.raises(ArgumentError, match="priced for neighbours under"):
        account.reserve(event, Bound.scalar(1, neighbours=neighbours))
    assert account.history == ()


@pytest.mark.parametrize(("event", "bound"), [("laplace", ONE), (TENTH, 1), (None, ONE)])
def test_wrong_kinds_are_refused(event: object, bound: object) -> None:
    with pytest.raises(ArgumentError) as caught:
        Account(budget(1)).reserve(event, bound)  # type: ignore[arg-type]
    assert caught.value.code == "SRD-A001"


def test_an_account_needs_a_budget() -> None:
    with pytest.raises(ArgumentError, match="Budget"):
        Account(1)  # type: ignore[arg-type]


def test_accounts_show_what_is_used() -> None:
    account = Account(budget(1))
    account.reserve(Pure("0.25"), ONE)
    assert repr(account) == "Account(ε = 1, 25 % used)"
    assert account.used == 0.25
    assert account.budget == budget(1)
    assert account.spent_as() == (Fraction(1, 4), 0)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_an_account_cannot_be_copied(duplicate: Callable[[object], object]) -> None:
    for account in (Account(budget(1)), unlimited("a test"), SensitiveAccount("outliers", 1)):
        with pytest.raises(BudgetError, match="cannot be copied") as caught:
            duplicate(account)
        assert caught.value.code == "SRD-B002"


def test_a_fixed_order_goes_through_the_account() -> None:
    assert Account(budget(1, 1e-6), order=25).filter.orders == (25.0,)


def test_a_million_earlier_events_leave_a_vector() -> None:
    account = Account(budget(1, 1e-6))
    account.reserve(Repeated(Gaussian(10**10), 10**6), ONE)
    account.reserve(Gaussian(10**10), ONE)
    assert len(account.spent) == len(account.filter.caps)


# ---- without a cap ---------------------------------------------------------------------------------------------------


def test_unlimited_keeps_the_tally() -> None:
    account = unlimited("the data is public")
    for _ in range(3):
        account.reserve(Laplace("0.01"), ONE)
    assert isinstance(account, UnlimitedAccount)
    assert account.spent_as() == (300, 0)
    assert repr(account) == "unlimited('the data is public', 3 events)"
    account.begin(TwoQueries())
    with pytest.raises(UnsupportedError):
        account.reserve(Sensitive(1, "outliers"), ONE)


@pytest.mark.parametrize("reason", ["", "  ", None, 3])
def test_unlimited_wants_a_reason(reason: object) -> None:
    with pytest.raises(ArgumentError, match="reason"):
        unlimited(reason)  # type: ignore[arg-type]


def test_a_rule_of_ones_own_gets_a_plain_refusal() -> None:
    class Closed(UnlimitedAccount):
        def fits(self, spent: object, charge: object) -> bool:  # noqa: ARG002
            return False

    with pytest.raises(BudgetError, match="does not fit this account"):
        Closed("never").reserve(TENTH, ONE)


# ---- what is not differential privacy --------------------------------------------------------------------------------


def test_sensitive_privacy_has_an_account_of_its_own() -> None:
    account = SensitiveAccount("outliers", 1)
    account.reserve(Repeated(Sensitive("0.3", "outliers"), 3), ONE).use(Repeated(Sensitive("0.3", "outliers"), 3))
    assert account.remaining == Fraction(1, 10)
    assert "not differential privacy" in repr(account)
    with pytest.raises(BudgetError, match="not differential privacy") as caught:
        account.reserve(Sensitive("0.2", "outliers"), ONE)
    assert "only 0.1 is left" in str(caught.value)


@pytest.mark.parametrize("event", [Laplace(1), Sensitive(1, "another"), Composed((Sensitive(1, "outliers"), Pure(1)))])
def test_nothing_else_goes_into_it(event: Event) -> None:
    with pytest.raises(UnsupportedError, match="not differential privacy") as caught:
        SensitiveAccount("outliers", 5).reserve(event, ONE)
    assert caught.value.code == "SRD-C021"


def test_sensitive_accounts_check_their_arguments() -> None:
    for policy, epsilon in (("", 1), (None, 1), ("outliers", 0), ("outliers", float("nan")), ("outliers", True)):
        with pytest.raises(ArgumentError):
            SensitiveAccount(policy, epsilon)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="nothing to charge"):
        SensitiveAccount("outliers", 1).reserve(Composed(()), ONE)


@pytest.mark.parametrize("cap", [budget(1), budget(rho=1), budget(1, 1e-6)])
def test_no_other_account_admits_it(cap: Budget) -> None:
    for event in (Sensitive("0.1", "outliers"), Repeated(Sensitive("0.1", "outliers"), 2)):
        with pytest.raises(UnsupportedError, match="not differential privacy"):
            Account(cap).reserve(event, ONE)
