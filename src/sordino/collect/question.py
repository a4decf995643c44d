"""What a survey asks for: the values that people can name, and the way to answer that turns one into a payload.

``choice.frequency`` makes one, and so do others. A randomizer by itself will do where values are codes already.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

from sordino.accounting.event import Event
from sordino.errors import ArgumentError
from sordino.noise.keystream import BitSource

from .randomizer import Counts, Randomizer


@runtime_checkable
class Question(Protocol):
    """What is asked. Frozen: all of it is public, and part of the survey's digest."""

    @property
    def randomizer(self) -> Randomizer:
        """The way to answer."""
        ...

    def code(self, value: Any) -> Any:
        """Return the code of a value, as the randomizer takes it; refuse what is none, without showing it."""
        ...

    def public(self) -> Mapping[str, Any]:
        """Return what is asked and how it is answered, as JSON can hold it: all that another language needs."""
        ...

    def estimate(self, counts: Counts, reports: int) -> Any:
        """Return what counts of so many reports say, with standard errors and intervals."""
        ...

    def error(self, people: int) -> Any:
        """Return the standard error to expect if so many answer, of each thing that is estimated; None if unknown."""
        ...

    def poison(self, people: int, colluding: int) -> Any:
        """Return how far so many of the people can move an estimate if they lie together, of each thing."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """A question whose answers are kept on the device from one report to the next, and cost something in all."""

    def event(self) -> Event:
        """Return what all reports of a participant cost together, however many there are."""
        ...

    def code(self, value: Any) -> Any:
        """Return the code of a value."""
        ...

    def remembered(
        self, value: int, day: str, state: Mapping[str, Any] | None, source: BitSource
    ) -> tuple[bytes, Mapping[str, Any]]:
        """Return the payload of a day and what to keep for the next, as JSON can hold it; None is the first time."""
        ...


@dataclass(frozen=True)
class Coded:
    """A randomizer by itself: whoever answers names a code."""

    randomizer: Randomizer

    @property
    def values(self) -> None:
        """None: codes are numbers."""
        return

    def public(self) -> Mapping[str, Any]:
        """Return how it is answered."""
        return {"values": None, "randomizer": dict(self.randomizer.public())}

    def estimate(self, counts: Counts, reports: int) -> Any:
        """Return what the randomizer says of the counts."""
        return self.randomizer.estimate(counts, reports)

    def error(self, people: int) -> float | None:
        """Return the standard error for a value that nobody holds; None where it depends on what people hold."""
        variance = getattr(self.randomizer, "variance", None)
        return None if variance is None else math.sqrt(variance(people))

    def poison(self, people: int, colluding: int) -> float:  # noqa: ARG002  (a count moves alike among however many)
        """Return how far liars move a count."""
        return self.randomizer.poison().shift(colluding)

    def code(self, value: Any) -> int:
        """Return the value, if it is a code."""
        domain = int(getattr(self.randomizer, "domain", 0))
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < domain:
            raise ArgumentError(f"the answer must be a whole number from 0 to {domain - 1}; send one", "SRD-C104")
        return int(value)


def question_of(given: Any) -> Question:
    """Return a question as it is, and a randomizer as one that asks for codes, or for words if it is one for these."""
    if isinstance(given, Question):
        return given
    if all(hasattr(given, name) for name in ("protocol", "report", "count", "well_formed", "shuffled")):
        from .word_question import asks_for_words, words

        if asks_for_words(given):
            return words(way=given)
        return Coded(cast("Randomizer", given))
    raise ArgumentError(
        f"a survey asks by frequency(…), mean(…) or another way to answer, not by a {type(given).__name__}", "SRD-C714"
    )
