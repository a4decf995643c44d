"""The same question day after day: how often each of many values is held, or a word; one price for all days together.

A device draws a permanent answer for each period of days, and its reports from that (``memory.py``): so all reports
of a participant together cost the longitudinal ε for each period, however many days there are.

**Guarantee**: periods · longitudinal ε between *any* two histories of one participant, for all reports together.
Periods are counted from a device's first report, which is no secret: that somebody answers never is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from sordino.accounting.event import Event
from sordino.arguments import Number, whole
from sordino.errors import ArgumentError
from sordino.noise.keystream import BitSource

from .choice import LARGEST, Frequency, Value, named_values
from .frequencies.memoised_hashing import MemoisedHashing
from .frequencies.rappor import Rappor
from .memory import Memory, Renewed
from .randomizer import Counts
from .word_question import WordQuestion


@dataclass(frozen=True)
class EveryDay:
    """What `every_day` makes: values or words, and a way to answer that remembers."""

    once: Frequency | WordQuestion
    memory: Renewed

    @property
    def randomizer(self) -> Any:
        """How one report is made and counted."""
        return self.once.randomizer

    def code(self, value: Any) -> int:
        """Return the code of a value."""
        return self.once.code(value)

    def public(self) -> Mapping[str, Any]:
        """Return the values, the way to answer, and for how long permanent answers are kept."""
        return {**self.once.public(), "periods": self.memory.periods, "days_of_a_period": self.memory.days}

    def estimate(self, counts: Counts, reports: int) -> Any:
        """Return how many reports are about each value."""
        return self.once.estimate(counts, reports)

    def error(self, people: int) -> float:
        """Return the error to expect of one day's count, if so many answer on it."""
        return self.once.error(people)

    def poison(self, people: int, colluding: int) -> float:
        """Return how far so many liars can move one day's count."""
        return self.once.poison(people, colluding)

    def event(self) -> Event:
        """Return what all reports of a participant cost together."""
        return self.memory.event()

    def remembered(
        self, value: int, day: str, state: Mapping[str, Any] | None, source: BitSource
    ) -> tuple[bytes, Mapping[str, Any]]:
        """Return the payload of a day, spelled as 2026-06-03, and what a device keeps until the next."""
        first = day if state is None else str(state["first"])
        known = None if state is None else Memory.from_json(state["memory"])
        since = (date.fromisoformat(day) - date.fromisoformat(first)).days
        last = self.memory.periods * self.memory.days - 1
        payload, memory = self.memory.report(value, min(max(since, 0), last), known, source)
        return payload, {"first": first, "memory": dict(memory.to_json())}


def every_day(
    values: int | Iterable[Value] | Rappor,
    *,
    longitudinal: Number | None = None,
    epsilon: Number | None = None,
    periods: int = 1,
    days: int = 365,
) -> EveryDay:
    """Return how to ask day after day which of `values` each person holds.

    `epsilon` is what one report loses alone, `longitudinal` what all reports of a period of so many `days` lose
    together; there are so many `periods`, and a value that changes counts from the next one on. For words give a
    `Rappor`, which has both ε of its own.

    >>> asked = every_day(["tea", "coffee"], longitudinal=2, epsilon=1, periods=4, days=30)
    >>> asked.event()
    Repeated(event=Pure(epsilon=Fraction(2, 1)), count=4)
    """
    if isinstance(values, Rappor):
        if longitudinal is not None or epsilon is not None:
            raise ArgumentError("Rappor has both ε of its own; leave longitudinal and epsilon out", "SRD-A003")
        return EveryDay(WordQuestion(values), Renewed(values, periods, days))
    if longitudinal is None or epsilon is None:
        raise ArgumentError("say longitudinal, for all days of a period, and epsilon, for one report", "SRD-A003")
    named = named_values(values)
    domain = whole("values", values if named is None else len(named), least=2, most=LARGEST)
    way = MemoisedHashing(domain, longitudinal, epsilon)  # type: ignore[arg-type]  # exact numbers are read there
    return EveryDay(Frequency(named, way, "hashing that remembers: asked for"), Renewed(way, periods, days))
