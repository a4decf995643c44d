"""The journal: the ledger's charges by data set and by release, read on from where it was read last.

It is kept in memory and built from the ledger alone, so there is nothing here to be tampered with. The first reading of
a long ledger takes seconds, and reading on nothing to speak of.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from sordino.accounting.columns import Vector
from sordino.ledger.entries import Continued, Entry, Failed, Refreshed, Reserved, Restored, Settled
from sordino.ledger.ledger import Ledger
from sordino.ledger.rule import Rule

from .course import Course, Risen, Step


@dataclass(slots=True)
class Record:
    """One charge and what became of it."""

    entry: Reserved
    charges: dict[str, tuple[tuple[str, ...], Vector]]
    """By the scope's text: the days, and the amount."""
    places: dict[str, int] = field(default_factory=dict)
    """Which step of each scope it was."""
    settled: int | None = None
    """The position where it was settled."""
    code: str | None = None
    """The code with which it failed."""

    @property
    def dataset(self) -> str:
        """The data set that was asked."""
        return next(text.partition(":")[2] for text in self.charges if text.startswith("dataset:"))

    @property
    def outcome(self) -> str:
        """What became of it: open, settled or failed."""
        return "failed" if self.code is not None else "open" if self.settled is None else "settled"


@dataclass
class _Book:
    records: dict[str, Record] = field(default_factory=dict)
    order: list[Record] = field(default_factory=list)
    steps: dict[str, list[Step]] = field(default_factory=dict)
    courses: dict[str, Course] = field(default_factory=dict)


class Journal:
    """What the ledger's entries say about releases and scopes."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = threading.Lock()
        self._size = 0
        self._book = _Book()
        self._rules: dict[type[Entry], Callable[[Any], None]] = {
            Reserved: self._reserved,
            Settled: self._settled,
            Failed: self._failed,
            Refreshed: self._refreshed,
            Restored: self._restored,
            Continued: self._restored,
        }

    def read_on(self) -> None:
        """Take in what was appended since."""
        size = self._ledger.size
        with self._lock:
            if size > self._size:
                for entry in self._ledger.entries(self._size, size):
                    rule = self._rules.get(type(entry))
                    if rule is not None:
                        rule(entry)
                self._size = size

    def record(self, identifier: str) -> Record | None:
        """Return a charge by its id."""
        self.read_on()
        return self._book.records.get(identifier)

    def newest(self, before: int | None = None) -> Iterator[Record]:
        """Yield charges from the newest on, or from the one before a position."""
        self.read_on()
        order = self._book.order
        for place in range(len(order) - 1, -1, -1):
            if before is None or order[place].entry.sequence < before:
                yield order[place]

    def steps(self, scope: str) -> list[Step]:
        """Return what changed in a scope, in order."""
        self.read_on()
        return list(self._book.steps.get(scope, ()))

    def course(self, scope: str, rule: Rule) -> list[tuple[Step, Risen]]:
        """Return what changed in a scope, in order, with what it did to the used part of a budget under `rule`."""
        steps = self.steps(scope)
        return list(zip(steps, self._course(scope, rule).follow(steps), strict=False))

    def risen(self, record: Record, rule: Rule) -> Risen:
        """Return what a charge did to the used part of its data set's budget under `rule`."""
        scope = f"dataset:{record.dataset}"
        return self._course(scope, rule).follow(self._book.steps[scope])[record.places[scope]]

    def _course(self, scope: str, rule: Rule) -> Course:
        with self._lock:
            known = self._book.courses.get(scope)
            if known is None or known.rule != rule:
                known = self._book.courses[scope] = Course(rule)
        return known

    def _reserved(self, entry: Reserved) -> None:
        charges = {charge.scope.text: (charge.days, charge.amount) for charge in entry.charges}
        record = self._book.records[entry.id] = Record(entry, charges)
        self._book.order.append(record)
        for text, (days, amount) in charges.items():
            record.places[text] = len(self._book.steps.get(text, ()))
            self._step(text, Step(entry.time, entry.analyst, amount, days))

    def _settled(self, entry: Settled) -> None:
        self._book.records[entry.id].settled = entry.sequence

    def _failed(self, entry: Failed) -> None:
        self._book.records[entry.id].code = entry.code

    def _refreshed(self, entry: Refreshed) -> None:
        self._step(entry.scope.text, Step(entry.time, None, None))

    def _restored(self, entry: Restored) -> None:
        for scope, amount in entry.burnt:
            self._step(scope.text, Step(entry.time, None, amount))
        for record in self._book.order:
            if record.outcome == "open":
                record.code = "SRD-L071"

    def _step(self, text: str, step: Step) -> None:
        self._book.steps.setdefault(text, []).append(step)
