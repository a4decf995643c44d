"""A book for tests: a state with the entries that led to it, and wishes written in few words."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from itertools import count
from typing import Any

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.budget import Budget
from sordino.accounting.event import Event
from sordino.accounting.events import Pure
from sordino.accounting.neighbours import Neighbours
from sordino.ledger.decisions import (
    Decision,
    Request,
    decide_budget,
    decide_fail,
    decide_open,
    decide_reserve,
    decide_settle,
)
from sordino.ledger.entries import Entry, Reserved, from_bytes, to_bytes
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope
from sordino.ledger.state import State

NOON = 1_794_744_000_000  # 2026-11-15T12:00:00Z, a Sunday
DAY = 86_400_000
TRIPS, PEOPLE = Scope("dataset", "trips"), Scope("group", "people")
ADA, STUDY = Scope("analyst", "ada"), Scope("project", "study")

_tokens = count(16**15)


def digest(text: object) -> str:
    return hashlib.sha256(repr(text).encode()).hexdigest()


def rule(budget: Budget | int | str = 1, *, unit: str = "person", **settings: Any) -> Rule:
    """Return the rule of a data set or a group with ε = `budget`."""
    found = budget if isinstance(budget, Budget) else Budget(epsilon=Fraction(budget))
    return Rule.open(found, unit=unit, **({"neighbours": Neighbours.ADD_REMOVE} | settings))


def policy(budget: Budget | int | str = 1, **settings: Any) -> Rule:
    """Return the rule of an analyst or a project with ε = `budget`."""
    return Rule.open(budget if isinstance(budget, Budget) else Budget(epsilon=Fraction(budget)), **settings)


def wish(event: Event | str = "0.1", *datasets: Scope, **settings: Any) -> Request:
    """Return the wish to release `event`, or something of a pure ε, from `datasets`."""
    found = event if isinstance(event, Event) else Pure(Fraction(event))
    unit = Unit(settings.pop("unit", "person"))
    neighbours = settings.pop("neighbours", Neighbours.ADD_REMOVE)
    given = {
        "analyst": "ada",
        "what": "query",
        "plan": digest("plan"),
        "request": digest(found),
        "token": f"{next(_tokens):x}",
    }
    bound = Bound.scalar(1, unit=unit, neighbours=neighbours)
    return Request(found, bound, datasets or (TRIPS,), **(given | settings))


class Book:
    """A state and all entries so far."""

    def __init__(self, **rules: Rule) -> None:
        self.state = State()
        self.entries: list[Entry] = []
        self.now = NOON
        for text, each in rules.items():
            self.open(Scope.parse(text.replace("_", ":")), each)

    def add(self, *entries: Entry) -> None:
        for entry in entries:
            read = from_bytes(to_bytes(entry))
            assert read == entry
            self.state.apply(read)
            self.entries.append(entry)

    def open(self, scope: Scope, given: Rule) -> None:
        self.add(decide_open(self.state, scope, given, "olga", self.now))

    def ask(self, *arguments: Any, **settings: Any) -> Decision:
        """Decide a wish, and append what follows."""
        decision = decide_reserve(self.state, wish(*arguments, **settings), self.now)
        self.add(*decision.entries)
        return decision

    def reserve(self, *arguments: Any, **settings: Any) -> Reserved:
        """Decide a wish that must be granted."""
        decision = self.ask(*arguments, **settings)
        assert decision.reserved is not None, decision.refusal()
        return decision.reserved

    def settle(self, reserved: Reserved) -> None:
        self.add(decide_settle(self.state, reserved.id, digest("release"), self.now))

    def fail(self, reserved: Reserved) -> None:
        self.add(decide_fail(self.state, reserved.id, "SRD-R001", self.now))

    def budget(self, scope: Scope, budget: Budget | int | str) -> None:
        found = budget if isinstance(budget, Budget) else Budget(epsilon=Fraction(budget))
        self.add(decide_budget(self.state, scope, found, "olga", "more is needed", self.now))

    def again(self) -> State:
        """Return what the bytes of all entries add up to."""
        state = State()
        for entry in self.entries:
            state.apply(from_bytes(to_bytes(entry)))
        return state
