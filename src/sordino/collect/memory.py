"""The same question every day: what a device remembers, and what it loses in all however often it answers.

Fresh coins every day wear off: after a thousand answers the average tells the value. So a device answers in two floors.
It draws a *permanent* answer once, by coins of the longitudinal ε∞, and keeps it; each day's report is drawn from the
permanent answer by fresh coins. Reports of all days together are post-processing of permanent answers, so each of these
costs ε∞ and the days cost nothing. What has to be counted is how many permanent answers there are: `draws`.

*By value*: one permanent answer for each value that comes up, as RAPPOR has it. **Guarantee**: `draws`·ε∞ between any
two histories *that change alike*: equal on the same days, whichever the values. **It does not hide when a value
changes, nor that it does**: from then on reports come from another permanent answer, which many days together show.
Papers that state a longitudinal ε for memoised answers mean this, and seldom say it.

*By period*: one permanent answer for each period of days that is fixed beforehand, drawn from the value at the first
answer in it and kept to its end. **Guarantee**: `draws`·ε∞ between *any* two histories: when a value changed shows
nowhere. What it costs is that a change counts from the next period on.

**Proof** of both: given which days share a permanent answer (public in the second, the same for both histories in the
first) permanent answers are drawn independently, each by an ε∞-private randomizer, and all reports are drawn from them
without looking at values. After `draws` permanent answers a device goes on with the last one: it never draws more, and
never falls silent.
**Source**: Erlingsson, Pihur, Korolova 2014; Ding, Kulkarni, Yekhanin 2017; Arcolezi et al. 2023 (LOLOHA).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from sordino.accounting import events
from sordino.accounting.event import Event
from sordino.arguments import whole
from sordino.errors import ArgumentError
from sordino.noise.keystream import BitSource


class TwoFloors(Protocol):
    """A way to answer with a permanent floor and a daily one."""

    @property
    def longitudinal(self) -> Fraction:
        """What a permanent answer, and so any number of reports from it, loses at most."""
        ...

    @property
    def epsilon(self) -> Fraction:
        """What one report alone loses at most."""
        ...

    def enrol(self, source: BitSource) -> int:
        """Return what a device draws once, without looking at a value: its cohort, its hash function."""
        ...

    def permanent(self, value: int, enrolled: int, source: BitSource) -> bytes:
        """Return a permanent answer for a value; it stays on the device."""
        ...

    def daily(self, permanent: bytes, enrolled: int, source: BitSource) -> bytes:
        """Return the payload of one report, from a permanent answer."""
        ...


@dataclass(frozen=True)
class Memory:
    """What a device keeps between days: what it drew once, and its permanent answers with what each is for.

    It never leaves the device. `kept` are pairs of a value or a period, and the permanent answer.
    """

    enrolled: int
    kept: tuple[tuple[int, bytes], ...] = field(default=(), repr=False)

    def to_json(self) -> Mapping[str, Any]:
        """Return it as JSON can hold it."""
        return {"enrolled": self.enrolled, "kept": [[str(key), answer.hex()] for key, answer in self.kept]}

    @classmethod
    def from_json(cls, given: Any) -> Memory:
        """Read what `to_json` wrote; refuse all else, without a word of it."""
        try:
            kept = tuple((int(key), bytes.fromhex(answer)) for key, answer in given["kept"])
            return cls(whole("enrolled", given["enrolled"], least=0), kept)
        except (TypeError, KeyError, ValueError):
            raise ArgumentError(
                "this is not a device's memory as it was written; enrol the device anew in another survey", "SRD-C150"
            ) from None


@dataclass(frozen=True)
class Memoised:
    """A permanent answer for each value, for at most `changes` changes; when a value changes is not hidden."""

    way: TwoFloors
    changes: int = 0

    def __post_init__(self) -> None:
        whole("changes", self.changes, least=0, most=10**6)

    @property
    def draws(self) -> int:
        """How many permanent answers a device draws at most."""
        return self.changes + 1

    def event(self) -> Event:
        """Return what all reports cost together, between histories that change alike."""
        return _all(self.way, self.draws)

    def report(self, value: int, memory: Memory | None, source: BitSource) -> tuple[bytes, Memory]:
        """Return today's payload and what to remember; words for enrolling come first, then permanent, then daily."""
        return _answer(self.way, self.draws, value, value, memory, source)


@dataclass(frozen=True)
class Renewed:
    """A permanent answer for each of `periods` periods of `days` days; changes are hidden, too."""

    way: TwoFloors
    periods: int
    days: int

    def __post_init__(self) -> None:
        whole("periods", self.periods, least=1, most=10**6)
        whole("days", self.days, least=1, most=10**6)

    @property
    def draws(self) -> int:
        """How many permanent answers a device draws at most."""
        return self.periods

    def event(self) -> Event:
        """Return what all reports cost together, between any two histories."""
        return _all(self.way, self.draws)

    def report(self, value: int, day: int, memory: Memory | None, source: BitSource) -> tuple[bytes, Memory]:
        """Return the payload of a day, counted from 0, and what to remember."""
        whole("day", day, least=0, most=self.periods * self.days - 1)
        return _answer(self.way, self.draws, value, day // self.days, memory, source)


def _all(way: TwoFloors, draws: int) -> Event:
    one = events.Pure(way.longitudinal)
    return one if draws == 1 else events.Repeated(one, draws)


def _answer(
    way: TwoFloors, draws: int, value: int, key: int, memory: Memory | None, source: BitSource
) -> tuple[bytes, Memory]:
    known = Memory(way.enrol(source)) if memory is None else memory
    answers = dict(known.kept)
    if key not in answers and len(known.kept) < draws:
        known = Memory(known.enrolled, (*known.kept, (key, way.permanent(value, known.enrolled, source))))
        answers = dict(known.kept)
    permanent = answers[key] if key in answers else known.kept[-1][1]
    return way.daily(permanent, known.enrolled, source), known
