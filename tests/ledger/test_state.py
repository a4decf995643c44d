"""The state: what every rule refuses, in a log that somebody wrote with the right signatures but the wrong content."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from ledger.books import ADA, DAY, NOON, PEOPLE, STUDY, TRIPS, Book, digest, policy, rule
from sordino.accounting.budget import Budget
from sordino.accounting.events import Gaussian, Laplace, Pure
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.units import SATURATED
from sordino.errors import LedgerError
from sordino.ledger.entries import Budgeted, Charge, Checkpointed, Failed, Frozen, Opened, Refreshed, Reserved, Settled
from sordino.ledger.scope import Scope
from sordino.ledger.snapshot import from_snapshot, snapshot
from sordino.ledger.state import State

RENYI = Budget(epsilon=1, delta=Fraction(1, 10**6))
TENTH = 10**11


def refused(book: Book, entry: Any, code: str, match: str) -> None:
    """Check that `entry` is refused with its position and a reason, and that nothing changed."""
    before = snapshot(book.state)
    for judge in (book.state.check, book.state.apply):
        with pytest.raises(LedgerError, match=match) as caught:
            judge(entry)
        assert caught.value.code == code
        assert f"entry {entry.sequence} ({entry.kind})" in caught.value.message
        assert snapshot(book.state) == before


@pytest.fixture
def book() -> Book:
    return Book(
        group_people=rule(2), dataset_trips=rule(groups=("people",)), analyst_ada=policy(), project_study=policy()
    )


def reserved(book: Book, **changes: Any) -> Reserved:
    """Return a reservation that the next position would take, but for `changes`."""
    at = book.state.size
    charges = tuple(Charge(scope, (), (0, TENTH)) for scope in (ADA, TRIPS, PEOPLE, STUDY))
    given = {
        "id": f"{at}-{at:016x}",
        "charges": charges,
        "event": Pure(Fraction(1, 10)).to_json(),
        "unit": "person",
        "neighbours": "add-remove",
        "norms": "1 1 1 1",
        "analyst": "ada",
        "project": "study",
        "what": "query",
        "plan": digest("plan"),
        "key": digest(at),
        "request": digest("request"),
    }
    return Reserved(at, NOON, **(given | changes))


def test_what_is_right_is_taken(book: Book) -> None:
    book.add(reserved(book))
    assert all(book.state.spent(scope) == (0, TENTH) for scope in (ADA, TRIPS, PEOPLE, STUDY))
    assert book.state.lifetimes() == dict.fromkeys((ADA, TRIPS, PEOPLE, STUDY), (0, TENTH))
    assert book.state.scopes == (ADA, TRIPS, PEOPLE, STUDY)


def test_what_was_checked_is_judged_again_once_something_else_was_taken(book: Book) -> None:
    first, other = reserved(book), reserved(book, key=digest("other"))
    book.state.check(first)
    book.state.apply(other)
    refused(book, first, "SRD-L021", "out of order")
    settled = Settled(book.state.size, NOON, other.id, digest("release"))
    book.state.check(settled)
    book.state.apply(settled)
    refused(book, settled, "SRD-L021", "out of order")
    assert not book.state.open


def test_the_order_of_entries(book: Book) -> None:
    right = reserved(book)
    for wrong in (right.sequence - 1, right.sequence + 1):
        refused(book, replace(right, sequence=wrong, id=f"{wrong}-{0:016x}"), "SRD-L021", "out of order")
    refused(book, replace(right, time=NOON - 1), "SRD-L021", "time")


@pytest.mark.parametrize("left_out", [ADA, TRIPS, PEOPLE, STUDY])
def test_every_scope_that_is_concerned_must_be_charged(book: Book, left_out: Scope) -> None:
    right = reserved(book)
    charges = tuple(charge for charge in right.charges if charge.scope != left_out)
    refused(book, replace(right, charges=charges), "SRD-L023", "no data set|exactly the scopes")


def test_no_other_scope_may_be_charged(book: Book) -> None:
    book.open(Scope("analyst", "bob"), policy())
    right = reserved(book)
    more = (right.charges[0], Charge(Scope("analyst", "bob"), (), (0, TENTH)), *right.charges[1:])
    refused(book, replace(right, charges=more), "SRD-L023", "exactly the scopes")
    refused(book, replace(right, analyst="bob"), "SRD-L023", "exactly the scopes")
    refused(book, replace(right, project=None), "SRD-L023", "exactly the scopes")
    unknown = (*right.charges, Charge(Scope("project", "zoo"), (), (0, 1)))
    refused(book, replace(right, charges=unknown), "SRD-L022", "has not been opened")


def test_a_budget_for_an_analyst_counts_from_when_it_is_opened(book: Book) -> None:
    bob = Scope("analyst", "bob")
    charges = reserved(book).charges[1:]
    book.add(reserved(book, analyst="bob", charges=charges))
    book.open(bob, policy())
    refused(book, reserved(book, analyst="bob", charges=charges), "SRD-L023", "exactly the scopes")
    book.add(reserved(book, analyst="bob", charges=(Charge(bob, (), (0, TENTH)), *charges)))
    assert book.state.spent(bob) == (0, TENTH)


def test_who_is_protected_must_agree(book: Book) -> None:
    refused(book, reserved(book, unit="household"), "SRD-L023", "another unit or relation")
    refused(book, reserved(book, neighbours="replace-one"), "SRD-L023", "another unit or relation")


@pytest.mark.parametrize("amount", [(TENTH,), (0, TENTH, 0), (0, 0)])
def test_a_price_has_the_columns_of_its_scope(book: Book, amount: tuple[int, ...]) -> None:
    right = reserved(book)
    charges = (*right.charges[:-1], Charge(STUDY, (), amount))
    refused(book, replace(right, charges=charges), "SRD-L023", "no amount in the columns")


@pytest.mark.parametrize("amount", [(0, 2 * 10**12 + 1), (1, TENTH), (0, SATURATED)])
@pytest.mark.parametrize("place", range(4))
def test_no_cap_is_exceeded_in_any_scope(book: Book, place: int, amount: tuple[int, int]) -> None:
    charges = [*reserved(book).charges]
    charges[place] = charges[place]._replace(amount=amount)
    refused(book, reserved(book, charges=tuple(charges)), "SRD-L023", "exceeds the caps")


def test_a_reservation_is_settled_or_fails_once(book: Book) -> None:
    first = reserved(book)
    book.add(first)
    second = reserved(book)
    book.add(second)
    book.settle(first)
    book.fail(second)
    assert not book.state.open
    at = book.state.size
    for identifier in (first.id, second.id, f"99-{0:016x}"):
        refused(book, Settled(at, NOON, identifier, digest("release")), "SRD-L024", "is not open")
        refused(book, Failed(at, NOON, identifier, "SRD-R001"), "SRD-L024", "is not open")
    assert book.state.spent(TRIPS) == (0, 2 * TENTH)
    assert book.state.keys[first.key or ""].outcome == first.sequence + 2
    assert not book.state.keys[first.key or ""].failed
    assert book.state.keys[second.key or ""].failed


def test_a_key_is_used_once(book: Book) -> None:
    first = reserved(book)
    book.add(first)
    refused(book, reserved(book, key=first.key), "SRD-L025", "used before")
    book.settle(first)
    refused(book, reserved(book, key=first.key), "SRD-L025", "used before")
    book.add(reserved(book, key=None))
    book.add(reserved(book, key=None))


def test_scopes_are_opened_once_and_groups_first(book: Book) -> None:
    at = book.state.size
    refused(book, Opened(at, NOON, TRIPS, rule(5), "olga"), "SRD-L022", "opened before")
    other = Scope("dataset", "rides")
    refused(book, Opened(at, NOON, other, rule(groups=("others",)), "olga"), "SRD-L022", "group 'others' has not")
    for settings in ({"unit": "household"}, {"neighbours": Neighbours.REPLACE_ONE}):
        refused(
            book, Opened(at, NOON, other, rule(groups=("people",), **settings), "olga"), "SRD-L022", "do not add up"
        )


def test_budgets_are_set_within_reason(book: Book) -> None:
    book.add(reserved(book))
    at = book.state.size

    def budgeted(scope: Scope, budget: Budget, *caps: int) -> Budgeted:
        return Budgeted(at, NOON, scope, budget, caps, "olga", "because")

    refused(book, budgeted(Scope("group", "x"), Budget(epsilon=2), 0, 2 * 10**12), "SRD-L022", "not been opened")
    refused(book, budgeted(TRIPS, Budget(epsilon=2), 0, 2 * 10**12 + 1), "SRD-L026", "promise more")
    refused(book, budgeted(TRIPS, Budget(rho=2), 0, 2 * 10**12), "SRD-L026", "another calculus")
    refused(book, budgeted(TRIPS, Budget(epsilon=2), 0, 0, 2 * 10**12), "SRD-L026", "one whole number")
    refused(book, budgeted(TRIPS, Budget(epsilon=Fraction(9, 100)), 0, 9 * 10**10), "SRD-L026", "has spent more")
    book.budget(TRIPS, "0.1")
    refused(book, reserved(book), "SRD-L023", "exceeds the caps of data set 'trips'")
    book.budget(TRIPS, "0.2")
    book.add(reserved(book))
    assert book.state.balance(TRIPS).used == 1
    assert book.state.balance(TRIPS).remaining.epsilon == 0


def test_a_frozen_ledger_takes_nothing(book: Book) -> None:
    right = reserved(book)
    book.add(right, Checkpointed(book.state.size + 1, NOON, "a note"), Frozen(book.state.size + 2, NOON, "SRD-L061"))
    assert book.state.frozen == "SRD-L061"
    refused(book, reserved(book), "SRD-L028", "frozen")
    refused(book, Settled(book.state.size, NOON, right.id, digest("release")), "SRD-L028", "frozen")


def test_periods_are_entered_once_and_in_time() -> None:
    book = Book(dataset_trips=rule(9), analyst_ada=policy("0.1", refresh="day"))
    charges = (Charge(ADA, (), (0, TENTH)), Charge(TRIPS, (), (0, TENTH)))

    def at(time: int) -> Reserved:
        return replace(reserved(book, charges=charges, project=None), time=time)

    def refresh(time: int, period: int) -> Refreshed:
        return Refreshed(book.state.size, time, ADA, period)

    today = NOON // DAY
    refused(book, refresh(NOON, today), "SRD-L027", "does not enter")
    refused(book, refresh(NOON, today + 1), "SRD-L027", "does not enter")
    book.add(at(NOON))
    refused(book, at(NOON), "SRD-L023", "exceeds")
    refused(book, at(NOON + DAY), "SRD-L027", "new period before")
    refused(book, refresh(NOON + DAY, today + 2), "SRD-L027", "does not enter")
    refused(book, Refreshed(book.state.size, NOON + DAY, TRIPS, today + 1), "SRD-L027", "does not enter")
    book.add(refresh(NOON + DAY, today + 1))
    refused(book, refresh(NOON + DAY, today + 1), "SRD-L027", "does not enter")
    book.add(at(NOON + DAY))
    assert book.state.spent(ADA) == (0, TENTH)
    assert book.state.lifetime(ADA) == (0, 2 * TENTH)
    assert book.state.balance(ADA).next_start(NOON) == (today + 2) * DAY


def test_days_are_named_exactly_where_they_have_budgets() -> None:
    book = Book(dataset_trips=rule(blocks="owner-in-one-block"))
    without = reserved(book, charges=(Charge(TRIPS, (), (0, TENTH)),), project=None)
    refused(book, without, "SRD-L023", "must name days")
    book.add(replace(without, charges=(Charge(TRIPS, ("2026-11-03", "2026-11-05"), (0, TENTH)),)))
    assert book.state.spent(TRIPS.block("2026-11-03")) == (0, TENTH)
    assert book.state.spent(TRIPS.block("2026-11-04")) == (0, 0)
    assert book.state.spent(TRIPS) == (0, TENTH)
    plain = Book(dataset_trips=rule())
    with_days = reserved(plain, charges=(Charge(TRIPS, ("2026-11-03",), (0, TENTH)),), project=None)
    refused(plain, with_days, "SRD-L023", "must name days")


def test_one_column_must_hold_for_both_days_of_a_replacement() -> None:
    """Noise that only pure ε can hold on one day, and noise that it cannot hold on another: alone each would fit."""
    budget = RENYI
    both = {
        relation: Book(dataset_trips=rule(budget, blocks="owner-in-one-block", neighbours=relation))
        for relation in (Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE)
    }
    gaussian, laplace = Gaussian(variance=Fraction(150)), Laplace(scale=Fraction(2))
    for relation, book in both.items():
        book.reserve(gaussian, days=("2026-11-03",), neighbours=relation)
        pure = rule(budget, blocks="owner-in-one-block", neighbours=relation).filter
        assert pure.fits(pure.columns.nothing, pure.charge(laplace)), "alone it would fit"
    added = both[Neighbours.ADD_REMOVE].ask(laplace, days=("2026-11-04",))
    replaced = both[Neighbours.REPLACE_ONE].ask(laplace, days=("2026-11-04",), neighbours=Neighbours.REPLACE_ONE)
    assert added.reserved
    assert replaced.shortfalls
    book = both[Neighbours.REPLACE_ONE]
    balance = book.state.balance(TRIPS)
    right = reserved(book, charges=(Charge(TRIPS, ("2026-11-04",), balance.rule.filter.charge(laplace)),), project=None)
    refused(book, replace(right, neighbours="replace-one"), "SRD-L023", "exceeds the caps")


def test_an_unknown_scope_has_no_balance() -> None:
    with pytest.raises(LedgerError, match="has not been opened") as caught:
        State().balance(TRIPS)
    assert caught.value.code == "SRD-L022"


def test_snapshots_hold_everything() -> None:
    book = Book(
        group_people=rule(RENYI),
        dataset_trips=rule(RENYI, groups=("people",)),
        dataset_rides=rule(5, blocks="owner-in-one-block"),
        analyst_ada=policy(refresh="month"),
    )
    book.settle(book.reserve("0.1", key=digest(1)))
    book.reserve("0.2", Scope("dataset", "rides"), days=("2026-11-03", "2026-11-04"), key=digest(2))
    book.now += 40 * DAY
    book.reserve("0.3", key=None)
    data = snapshot(book.state)
    again = from_snapshot(data)
    assert snapshot(again) == data == snapshot(book.again())
    for state in (book.state, again):
        other = Book()
        other.state, other.now = state, book.now + DAY
        other.reserve("0.05", key=digest(3), token="0" * 16)
    assert snapshot(again) == snapshot(book.state) != data


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"v":2', b'"v":1'),
        (b'"lost":[]', b'"lost":[1]'),
        (b'"size":', b'"size":[],"sizes":'),
        (b'"balances":[[', b'"balances":[[1,'),
        (b'"open":[', b'"open":[1,'),
        (b"dataset:trips", b"table:trips"),
    ],
)
def test_other_snapshots_are_refused(book: Book, old: bytes, new: bytes) -> None:
    book.reserve("0.1")
    data = snapshot(book.state)
    assert old in data
    with pytest.raises(LedgerError) as caught:
        from_snapshot(data.replace(old, new))
    assert caught.value.code in ("SRD-L031", "SRD-L001")
