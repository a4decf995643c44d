"""What a state took on trial it gives back to the last byte, whatever kinds of entries they were."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.books import ADA, DAY, NOON, TRIPS, Book, digest, policy, rule, wish
from sordino.errors import LedgerError
from sordino.ledger import decisions
from sordino.ledger.entries import Entry, Failed, Settled, position_of
from sordino.ledger.scope import Scope
from sordino.ledger.snapshot import snapshot
from sordino.ledger.undoing import Trial

DAYS = ("2026-11-03", "2026-11-04", "2026-11-05")
BY_DAY = Scope("dataset", "days")
KINDS = ("reserve", "by day", "keyed", "part", "settle", "fail", "open", "budget", "checkpoint", "next day", "freeze")


def book() -> Book:
    found = Book(
        dataset_trips=rule(100, refresh="day"),
        dataset_days=rule(100, blocks="unit-per-block", unit="(person, day)"),
        analyst_ada=policy(100),
    )
    found.reserve("0.5", key=digest("before"))
    return found


def wanted(kept: Book, kind: str, number: int) -> tuple[Entry, ...]:
    """Return what follows from a wish of some kind, as the state is now."""
    state, now = kept.state, kept.now
    newest = max(state.open, key=position_of, default="1-" + "0" * 16)
    last = next(iter(sorted(state.open)), "1-" + "0" * 16)
    made: dict[str, Any] = {
        "reserve": lambda: decisions.decide_reserve(state, replace(wish("0.1"), parts=9), now).entries,
        "part": lambda: decisions.decide_part(state, newest, number + 1, digest(number), (), now),
        "by day": lambda: (
            decisions.decide_reserve(
                state, wish("0.1", BY_DAY, days=DAYS[: number % 3 + 1], unit="(person, day)"), now
            ).entries
        ),
        "keyed": lambda: decisions.decide_reserve(state, wish("0.1", key=digest(number)), now).entries,
        "settle": lambda: (decisions.decide_settle(state, last, digest("release"), now),),
        "fail": lambda: (decisions.decide_fail(state, last, "SRD-R001", now),),
        "open": lambda: (decisions.decide_open(state, Scope("project", f"p{number}"), policy(), "olga", now),),
        "budget": lambda: (decisions.decide_budget(state, ADA, policy(200 + number).budget, "olga", "more", now),),
        "checkpoint": lambda: (decisions.decide_checkpoint(state, "note", now),),
        "next day": lambda: _tomorrow(kept),
        "freeze": lambda: (decisions.decide_freeze(state, "suspicion", now),),
    }
    found: tuple[Entry, ...] = made[kind]()
    return found


def _tomorrow(kept: Book) -> tuple[Entry, ...]:
    kept.now += DAY
    return decisions.decide_reserve(kept.state, wish("0.1"), kept.now).entries


@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=12), st.integers(0, 12))
@settings(deadline=None, max_examples=200)
def test_a_trial_that_is_undone_leaves_no_trace(kinds: list[str], kept_first: int) -> None:
    kept = book()
    images, trial = [snapshot(kept.state)], Trial(kept.state)
    steps = [0]
    for number, kind in enumerate(kinds):
        try:
            entries = wanted(kept, kind, number)
        except LedgerError:
            continue
        trial.take(entries)
        images.append(snapshot(kept.state))
        steps.append(steps[-1] + len(entries))
    back = min(kept_first, len(steps) - 1)
    assert trial.undo(steps[back])
    assert snapshot(kept.state) == images[back]
    assert trial.undo()
    assert snapshot(kept.state) == images[0]
    kept.reserve("0.1")  # and it goes on


def test_all_entries_of_a_wish_or_none() -> None:
    kept = book()
    before = snapshot(kept.state)
    (identifier,) = kept.state.open
    size = kept.state.size
    twice = (Settled(size, NOON, identifier, digest("a")), Failed(size + 1, NOON, identifier, "SRD-R001"))
    trial = Trial(kept.state)
    with pytest.raises(LedgerError, match="SRD-L024"):
        trial.take(twice)
    assert snapshot(kept.state) == before


def test_what_an_interrupt_left_half_done_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = book()
    before = snapshot(kept.state)
    entries = decisions.decide_reserve(kept.state, wish("0.1", key=digest("k")), kept.now).entries

    class Interrupting(dict[str, Any]):
        def __setitem__(self, key: str, value: Any) -> None:
            raise KeyboardInterrupt

    trial = Trial(kept.state)
    with monkeypatch.context() as patch:
        patch.setattr(kept.state, "last", Interrupting(kept.state.last))
        with pytest.raises(KeyboardInterrupt):
            trial.take(entries)
    assert snapshot(kept.state) == before


def test_a_restoration_cannot_be_undone() -> None:
    kept = book()
    restored = decisions.decide_restore(kept.state, kept.state.lifetimes(), kept.state.size, "olga", "why", NOON)
    trial = Trial(kept.state)
    trial.take((restored,))
    assert not trial.undo()
    assert TRIPS.text in kept.state.balances
