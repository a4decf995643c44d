"""Decisions: all scopes or none, keys that replay, refusals that help, clocks that jump, copies that are restored."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from ledger.books import ADA, DAY, NOON, PEOPLE, TRIPS, Book, digest, policy, rule, wish
from sordino.accounting.budget import Budget, budget
from sordino.accounting.events import Gaussian, Laplace, PoissonSampled, Pure, Repeated
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.units import SATURATED
from sordino.errors import ArgumentError, BudgetError, ConflictError, FrozenError, LedgerError, UnsupportedError
from sordino.ledger.decisions import (
    charges_of,
    decide_checkpoint,
    decide_freeze,
    decide_open,
    decide_reserve,
    decide_restore,
    decide_settle,
)
from sordino.ledger.entries import Refreshed
from sordino.ledger.periods import LATEST
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope
from sordino.ledger.snapshot import snapshot

RENYI = Budget(epsilon=1, delta=Fraction(1, 10**6))
RIDES = Scope("dataset", "rides")
TENTH = 10**11
HOUR = 3_600_000


def test_ten_times_a_tenth_is_one() -> None:
    book = Book(dataset_trips=rule())
    assert [book.ask("0.1").reserved is not None for _ in range(64)].count(True) == 10


def test_all_scopes_or_none() -> None:
    book = Book(group_people=rule(), dataset_trips=rule(groups=("people",)), dataset_rides=rule(groups=("people",)))
    book.reserve("0.7")
    decision = book.ask("0.7", RIDES)
    assert [each.scope for each in decision.shortfalls] == [PEOPLE]
    assert book.state.spent(RIDES) == (0, 0)
    book.reserve("0.3", RIDES)
    assert book.state.spent(PEOPLE) == (0, 10**12)


def test_a_question_over_two_data_sets_charges_both_and_their_group_once() -> None:
    book = Book(group_people=rule(), dataset_trips=rule(groups=("people",)), dataset_rides=rule(groups=("people",)))
    reserved = book.reserve("0.1", TRIPS, RIDES)
    assert [charge.scope for charge in reserved.charges] == [RIDES, TRIPS, PEOPLE]
    assert book.state.spent(PEOPLE) == (0, TENTH)


def test_each_scope_is_charged_in_its_own_calculus() -> None:
    book = Book(dataset_trips=rule(RENYI), analyst_ada=policy(Budget(rho=1)), project_study=policy(2))
    charges = book.reserve(Laplace(scale=Fraction(10)), project="study").charges
    assert [len(charge.amount) for charge in charges] == [2, len(rule(RENYI).caps), 2]
    assert charges[0].amount < charges[2].amount


def test_a_refusal_says_what_remains_what_fits_and_when() -> None:
    book = Book(dataset_trips=rule(5), analyst_ada=policy("0.5", refresh="month"))
    book.reserve("0.4")
    with pytest.raises(BudgetError) as caught:
        raise book.ask(Laplace(scale=Fraction(4))).refusal()
    assert caught.value.code == "SRD-B001"
    for part in (
        "analyst 'ada': ",
        "80 % is used",
        "what still fits is ε up to 0.1",
        "the same with scale at least 10 would fit",
        "this budget begins anew at 2026-12-01T00:00:00Z",
    ):
        assert part in caught.value.message
    assert "trips" not in caught.value.message


def test_a_refusal_speaks_of_every_scope_that_falls_short_but_not_forever() -> None:
    book = Book(dataset_trips=rule(blocks="owner-in-one-block"), analyst_ada=policy())
    days = tuple(f"2026-11-{day:02d}" for day in range(1, 9))
    book.reserve("0.9", days=days)
    decision = book.ask(Repeated(Pure(Fraction(1, 20)), 4), days=days)
    assert len(decision.shortfalls) == 9
    said = decision.refusal().message
    assert "analyst 'ada'" in said
    assert "data set 'trips' on 2026-11-01" in said
    assert "2 of its 4 runs would fit" in said
    assert said.endswith("and 6 more fall short")


def test_what_a_refusal_offers_fits() -> None:
    for relation in (Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE):
        book = Book(dataset_trips=rule(RENYI, blocks="owner-in-one-block", neighbours=relation))
        here = {"days": ("2026-11-03", "2026-11-04"), "neighbours": relation}
        book.reserve(Gaussian(variance=Fraction(1000)), **here)
        said = book.ask(Gaussian(variance=Fraction(1)), **here).refusal().message
        offered = said.partition("variance at least ")[2].partition(" ")[0]
        assert book.ask(Gaussian(variance=Fraction(offered)), **here).reserved
        assert book.ask(Gaussian(variance=Fraction(offered)), **here).shortfalls


def test_a_query_charges_the_days_that_it_reads() -> None:
    book = Book(dataset_trips=rule(blocks="owner-in-one-block"))
    week = tuple(f"2026-11-{day:02d}" for day in range(3, 10))
    book.reserve("1", days=week)
    assert book.ask("0.1", days=week[-1:]).shortfalls
    assert book.ask("0.1", days=("2026-11-10", week[0])).shortfalls
    assert book.state.spent(TRIPS.block("2026-11-10")) == (0, 0)
    book.reserve("1", days=("2026-11-10",))
    assert book.state.lifetime(TRIPS) == (0, 2 * 10**12)
    assert book.state.balance(TRIPS).busiest == (0, 10**12)
    with pytest.raises(LedgerError, match="which days it reads") as caught:
        book.ask("0.1")
    assert caught.value.code == "SRD-L029"


def test_days_are_charged_once_each_in_whatever_order_they_are_named() -> None:
    book = Book(dataset_trips=rule(blocks="owner-in-one-block"))
    reserved = book.reserve("0.1", days=("2026-11-09", "2026-11-03", "2026-11-09"))
    assert reserved.charges[0].days == ("2026-11-03", "2026-11-09")
    with pytest.raises(ArgumentError):
        book.ask("0.1", days=("2026-11-3",))


def test_under_replacement_a_day_has_half() -> None:
    book = Book(dataset_trips=rule(blocks="owner-in-one-block", neighbours=Neighbours.REPLACE_ONE))
    here = {"days": ("2026-11-03",), "neighbours": Neighbours.REPLACE_ONE}
    assert [book.ask("0.1", **here).reserved is not None for _ in range(7)].count(True) == 5


def test_a_person_over_all_days_is_charged_the_sum() -> None:
    book = Book(dataset_trips=rule())
    for day in ("2026-11-03", "2026-11-04"):
        assert book.reserve("0.5", days=(day,)).charges[0].days == ()
    assert book.ask("0.1", days=("2026-11-05",)).shortfalls


def test_a_person_day_is_said_in_every_reservation() -> None:
    book = Book(dataset_trips=rule(blocks="unit-per-block", unit="(person, day)"))
    assert book.reserve("0.1", days=("2026-11-03",), unit="(person, day)").unit == "(person, day)"
    with pytest.raises(ArgumentError, match="do not add up"):
        book.ask("0.1", days=("2026-11-03",), unit="person")


def test_the_same_key_replays_and_another_request_conflicts() -> None:
    book = Book(dataset_trips=rule())
    key = digest("key")
    first = book.reserve("0.1", key=key)
    open_again = book.ask("0.1", key=key)
    assert open_again.earlier is not None
    assert (open_again.earlier.id, open_again.earlier.outcome, open_again.entries) == (first.id, None, ())
    book.settle(first)
    settled_again = book.ask("0.1", key=key).earlier
    assert settled_again is not None
    assert settled_again.outcome == book.state.size - 1
    with pytest.raises(ConflictError) as caught:
        book.ask("0.2", key=key)
    assert caught.value.code == "SRD-L030"
    assert book.state.spent(TRIPS) == (0, TENTH)


def test_a_key_replays_even_when_nothing_is_left() -> None:
    book = Book(dataset_trips=rule())
    book.reserve("1", key=digest("key"))
    assert book.ask("1", key=digest("key")).earlier
    assert book.ask("1", key=digest("other")).shortfalls


def test_a_clock_that_jumps_ahead_and_back_refreshes_once() -> None:
    book = Book(dataset_trips=rule(99), analyst_ada=policy(refresh="day"))
    book.reserve("1")
    book.now += 3 * DAY
    decision = book.ask("1")
    assert [type(entry) for entry in decision.entries[:-1]] == [Refreshed]
    for back in (0, DAY, 2 * DAY, 3 * DAY):
        book.now = NOON + back
        assert book.ask("0.1").shortfalls, "time stands still until the clock has caught up"
        assert book.state.next_time(book.now) == NOON + 3 * DAY
    book.now = NOON + 4 * DAY
    book.reserve("1")
    assert book.state.lifetime(ADA) == (0, 3 * 10**12)
    assert sum(isinstance(entry, Refreshed) for entry in book.entries) == 2


def test_a_refusal_after_midnight_counts_the_new_day() -> None:
    book = Book(dataset_trips=rule(99), analyst_ada=policy(refresh="day"))
    book.reserve("1")
    book.now += 12 * HOUR
    decision = book.ask("1.1")
    assert "0 % is used" in decision.refusal().message
    assert "2026-11-17T00:00:00Z" in decision.refusal().message
    assert book.state.spent(ADA) == (0, 10**12), "a refusal writes nothing, not even the refresh"


@pytest.mark.parametrize("now", [-1, LATEST + 1, 1.5, True])
def test_a_clock_must_be_a_clock(now: int) -> None:
    book = Book(dataset_trips=rule())
    with pytest.raises(ArgumentError, match="milliseconds"):
        decide_reserve(book.state, wish("0.1"), now)


def test_who_is_protected_must_agree() -> None:
    book = Book(dataset_trips=rule())
    for other in ({"unit": "household"}, {"neighbours": Neighbours.REPLACE_ONE}):
        with pytest.raises(ArgumentError, match="do not add up"):
            book.ask("0.1", **other)
    sampled = PoissonSampled(Gaussian(variance=Fraction(9)), Fraction(1, 10))
    replacing = Book(dataset_trips=rule(RENYI, neighbours=Neighbours.REPLACE_ONE))
    with pytest.raises(ArgumentError, match="is priced for neighbours"):
        replacing.ask(sampled, neighbours=Neighbours.REPLACE_ONE)


def test_only_data_sets_that_were_opened_can_be_asked() -> None:
    book = Book(dataset_trips=rule())
    with pytest.raises(LedgerError, match="has not been opened"):
        book.ask("0.1", RIDES)
    for wrong in (ADA, TRIPS.block("2026-11-03")):
        with pytest.raises(ArgumentError, match="whole data sets"):
            book.ask("0.1", wrong)
    with pytest.raises(ArgumentError, match="whole data sets"):
        charges_of(book.state, replace(wish(), datasets=()))


def test_an_event_that_a_scope_cannot_count_is_refused_by_its_name() -> None:
    book = Book(dataset_trips=rule(RENYI), analyst_ada=policy())
    with pytest.raises(UnsupportedError, match="analyst 'ada' is counted in pure") as caught:
        book.ask(Gaussian(variance=Fraction(9)))
    assert caught.value.code == "SRD-C001"


def test_a_raise_admits_more_and_dead_columns_count_on() -> None:
    book = Book(dataset_trips=rule(RENYI))
    noise = Gaussian(variance=Fraction(1000))
    while book.ask(noise).reserved:
        pass
    before = book.state.spent(TRIPS)
    book.budget(TRIPS, Budget(epsilon=2, delta=Fraction(1, 10**6)))
    assert book.state.spent(TRIPS) == before
    more = 0
    while book.ask(noise).reserved:
        more += 1
    assert more > 10
    assert book.state.balance(TRIPS).used <= 1
    assert snapshot(book.again()) == snapshot(book.state)


def test_a_frozen_ledger_decides_nothing_but_its_restoration() -> None:
    book = Book(dataset_trips=rule())
    first = book.reserve("0.1", key=digest("key"))
    book.add(decide_checkpoint(book.state, "a note", NOON), decide_freeze_after(book))
    for decide in (
        lambda: book.ask("0.1"),
        lambda: book.ask("0.1", key=digest("key")),
        lambda: decide_settle(book.state, first.id, digest("x"), NOON),
        lambda: decide_open(book.state, RIDES, rule(), "olga", NOON),
    ):
        with pytest.raises(FrozenError) as caught:
            decide()
        assert caught.value.code == "SRD-L028"
    witnessed = book.state.lifetimes() | {TRIPS: (0, 3 * TENTH)}
    book.add(decide_restore(book.state, witnessed, book.state.size + 9, "olga", "the disk broke", NOON))
    assert book.state.frozen is None
    assert book.state.spent(TRIPS) == book.state.lifetime(TRIPS) == (0, 3 * TENTH)
    assert not book.state.open
    assert book.state.keys[digest("key")].failed


def decide_freeze_after(book: Book) -> object:
    """Return the freezing that follows one more entry."""
    return replace(decide_freeze(book.state, "SRD-L061", NOON), sequence=book.state.size + 1)


def test_what_the_witness_does_not_know_is_gone() -> None:
    book = Book(dataset_trips=rule(), dataset_rides=rule(RENYI), analyst_ada=policy(refresh="day"))
    book.reserve("0.1")
    book.add(decide_restore(book.state, {}, 9, "olga", "no witness", NOON))
    assert book.ask("0.000001").shortfalls
    book.budget(TRIPS, "1.5")
    assert book.state.spent(TRIPS) == (0, 11 * TENTH), "a single column cannot have passed its cap in what was lost"
    assert set(book.state.spent(RIDES)) == {SATURATED}, "nobody knows which column the lost entries kept"
    with pytest.raises(LedgerError, match="spent more"):
        book.budget(RIDES, Budget(epsilon=100, delta=Fraction(1, 10**6)))


def test_what_was_lost_is_burnt_on_every_day() -> None:
    for relation in (Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE):
        book = Book(dataset_trips=rule(2, blocks="owner-in-one-block", neighbours=relation))
        here = {"neighbours": relation}
        book.reserve("0.2", days=("2026-11-03",), **here)
        book.add(decide_restore(book.state, {TRIPS: (0, 10 * TENTH)}, 9, "olga", "the disk broke", NOON))
        assert book.state.lifetime(TRIPS) == (0, 10 * TENTH)
        assert book.state.spent(TRIPS.block("2026-11-03")) == (0, 10 * TENTH)
        assert book.state.spent(TRIPS.block("2027-01-01")) == (0, 8 * TENTH)
        left, more = ("1.2", "1.21") if relation is Neighbours.ADD_REMOVE else ("0.2", "0.21")
        assert book.ask(more, days=("2027-01-01",), **here).shortfalls
        book.reserve(left, days=("2027-01-01",), **here)
        assert snapshot(book.again()) == snapshot(book.state)


def test_a_scope_that_only_lost_entries_knew_cannot_begin_afresh() -> None:
    book = Book(dataset_trips=rule())
    book.add(decide_restore(book.state, {TRIPS: (0, 0), RIDES: (0, TENTH)}, 9, "olga", "the disk broke", NOON))
    with pytest.raises(LedgerError, match="entries that are lost") as caught:
        book.open(RIDES, rule())
    assert caught.value.code == "SRD-L022"
    assert snapshot(book.again()) == snapshot(book.state)


def test_a_restoration_must_speak_of_every_scope() -> None:
    book = Book(dataset_trips=rule(), dataset_rides=rule())
    entry = decide_restore(book.state, {}, 9, "olga", "the disk broke", NOON)
    for burnt in (entry.burnt[:1], (entry.burnt[0], (TRIPS, (0, 1, 2)))):
        with pytest.raises(LedgerError) as caught:
            book.state.apply(replace(entry, burnt=burnt))
        assert caught.value.code == "SRD-L023"


def test_a_saturated_total_burns_whatever_is_left() -> None:
    book = Book(dataset_trips=rule(RENYI))
    book.reserve(Gaussian(variance=Fraction(1000)))
    here = book.state.lifetime(TRIPS)
    assert here[-1] == SATURATED, "Gaussian noise has no pure ε"
    book.add(decide_restore(book.state, book.state.lifetimes(), 9, "olga", "nothing is missing", NOON))
    assert book.state.lifetime(TRIPS) == here
    book.reserve(Gaussian(variance=Fraction(1000)))


def test_a_saturated_total_saturates_every_day() -> None:
    book = Book(dataset_trips=rule(RENYI, blocks="owner-in-one-block"))
    book.reserve(Laplace(scale=Fraction(10)), days=("2026-11-03",))
    seen = (*book.state.lifetime(TRIPS)[:-1], SATURATED)
    book.add(decide_restore(book.state, {TRIPS: seen}, 9, "olga", "the disk broke", NOON))
    assert book.state.spent(TRIPS.block("2027-01-01"))[-1] == SATURATED, "how much was lost in that column is unknown"
    assert book.state.spent(TRIPS.block("2027-01-01"))[1] == 0


def test_a_remembered_price_is_that_of_its_own_filter() -> None:
    """What was priced before the lock counts only for the rule that it was priced under."""
    asked = wish()
    pure, renyi = Rule.open(budget(epsilon=3)), Rule.open(budget(epsilon=3, delta="1e-6"))
    ran = asked.bound.neighbours
    for _ in range(2):
        assert asked.price_in(pure, ran) == pure.filter.charge(asked.event)
        assert asked.price_in(renyi, ran) == renyi.filter.charge(asked.event)
    assert asked.price_in(pure, ran) != asked.price_in(renyi, ran)
