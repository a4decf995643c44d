"""An account on a ledger: what works with one in memory works with this one, and what it grants lasts."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sordino as so
from ledger.samples import PERSON, TENTH, TRIPS, rule
from sordino.accounting.account import Account
from sordino.accounting.bound import Bound, Unit
from sordino.accounting.budget import budget
from sordino.accounting.event import Event
from sordino.accounting.events import Gaussian, Pure
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.plan import Single
from sordino.errors import ArgumentError, BudgetError, LedgerError
from sordino.ledger.account import LedgerAccount
from sordino.ledger.entries import Failed
from sordino.ledger.ledger import Ledger
from sordino.ledger.receipt import verify_receipt
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope
from sordino.query.ask import TableAccount
from works import Noisy


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.db") as found:
        found.open_scope(TRIPS, rule(budget(epsilon=1, delta="1e-6")), by="owner")
        yield found


@pytest.fixture
def account(ledger: Ledger) -> LedgerAccount:
    return LedgerAccount(ledger, TRIPS, "ann")


def test_it_says_the_same_as_an_account_in_memory(account: LedgerAccount) -> None:
    memory = Account(budget(epsilon=1, delta="1e-6"))
    events: list[Event] = [TENTH, Gaussian(variance=400), Pure(Fraction(1, 3))]
    for event in events:
        assert account.price(event) == memory.price(event)
        for each in (account, memory):
            each.reserve(event, PERSON).use(event)
        assert (account.spent, account.used, account.remaining) == (memory.spent, memory.used, memory.remaining)
        assert account.spent_as("1e-6") == memory.spent_as("1e-6")
        assert account.history == memory.history
    assert (account.budget, account.protects) == (memory.budget, memory.protects)
    assert account.lifetime == account.spent
    assert "LedgerAccount(dataset:trips, ε = 1" in repr(account)


def test_a_plan_is_reserved_settled_and_receipted(account: LedgerAccount, ledger: Ledger) -> None:
    work = account.begin(Single(TENTH, PERSON))
    receipt = work.finish(Noisy("42")).receipt
    assert verify_receipt(receipt, ledger.key.text).reserved.priced == TENTH
    other = account.begin(Single(TENTH, PERSON))
    other.fail(ValueError("with a value of the data"))
    with pytest.raises(LedgerError, match="SRD-L024"):
        other.finish(Noisy("43"))
    assert isinstance(failed := list(ledger.entries())[-1], Failed)
    assert failed.code == "SRD-R001"


def test_what_does_not_fit_is_refused_with_what_would(account: LedgerAccount) -> None:
    account.reserve(Pure(Fraction(4, 5)), PERSON)
    quote = account.price(Pure(Fraction(1, 2)))
    assert not quote.fits
    with pytest.raises(BudgetError, match=r"would fit.*SRD-B001"):
        account.reserve(Pure(Fraction(1, 2)), PERSON)
    assert account.price(TENTH).fits


def test_a_price_knows_of_every_scope(ledger: Ledger, account: LedgerAccount) -> None:
    ledger.open_scope(Scope("analyst", "ann"), Rule.open(budget(epsilon="0.05")), by="owner")
    assert not account.price(TENTH).fits
    assert LedgerAccount(ledger, TRIPS, "bob").price(TENTH).fits
    with pytest.raises(BudgetError, match="analyst 'ann'"):
        account.reserve(TENTH, PERSON)


def test_days_are_charged_where_they_have_budgets(ledger: Ledger) -> None:
    daily = Scope("dataset", "daily")
    ledger.open_scope(daily, rule(blocks="owner-in-one-block"), by="owner")
    days = ("2026-11-02", "2026-11-03")
    account = LedgerAccount(ledger, daily, "ann", days=days, project="p")
    for _ in range(10):
        account.reserve(TENTH, PERSON)
    with pytest.raises(BudgetError, match="SRD-B001"):
        account.reserve(TENTH, PERSON)
    LedgerAccount(ledger, daily, "ann", days=("2026-11-04",)).reserve(TENTH, PERSON)
    assert account.lifetime[-1] == 11 * 10**11
    assert ledger.verify().sound


def test_it_is_refused_for_what_is_not_a_data_set_or_protects_others(ledger: Ledger, account: LedgerAccount) -> None:
    with pytest.raises(ArgumentError, match="SRD-A003"):
        LedgerAccount(ledger, Scope("analyst", "ann"), "ann")
    with pytest.raises(LedgerError, match="SRD-L022"):
        LedgerAccount(ledger, Scope("dataset", "others"), "ann")
    with pytest.raises(ArgumentError, match="SRD-A003"):
        account.reserve(TENTH, Bound.scalar(1, unit=Unit("row")))
    with pytest.raises(ArgumentError, match="SRD-A003"):
        account.reserve(TENTH, Bound.scalar(1, unit=Unit("person"), neighbours=Neighbours.REPLACE_ONE))


def test_a_budget_that_is_raised_is_seen_at_once(ledger: Ledger, account: LedgerAccount) -> None:
    assert not account.price(Pure(2)).fits
    ledger.set_budget(TRIPS, budget(epsilon=3, delta="1e-6"), by="owner", reason="more questions")
    assert account.budget.epsilon == 3
    assert account.price(Pure(2)).fits


def test_questions_are_asked_on_it_unchanged(tmp_path: Path) -> None:
    table = pa.table({"rider": [1, 1, 2], "fare": [9.0, 5.0, 7.0]})
    limits: Any = so.limits(rows=2)
    rides = so.dataset("rides", table, unit="rider", columns={"fare": so.bounds(0, 100)}, limits=limits)
    with Ledger.open(tmp_path / "rides.db") as ledger:
        scope = Scope("dataset", "rides")
        found = so.account(rides, so.budget(epsilon=1)).sql("SELECT COUNT(*) AS rides FROM rides").plan(epsilon=0.5)
        ledger.open_scope(
            scope,
            Rule.open(so.budget(epsilon=1), unit=found.bound.unit.name, neighbours=found.bound.neighbours),
            "owner",
        )
        data = TableAccount(rides, LedgerAccount(ledger, scope, "ann"))
        ask = data.sql("SELECT COUNT(*) AS rides FROM rides")
        assert ask.price(epsilon=0.5).fits
        assert len(ask.run(epsilon=0.5)) == 1
        assert data.budget == so.budget(epsilon=1)
        assert len(data.history) == 1
        with pytest.raises(BudgetError, match=r"50 % is used; epsilon=0.* would fit.*SRD-B001"):
            ask.run(epsilon=0.6)
        assert ledger.verify().sound
