"""What a survey asks for: the values that people can name, and the way to answer that turns one into a payload.

What people see (texts, numbers) becomes a *code* here, and counts become estimates of what they said. A randomizer by
itself will do where values are codes already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

from sordino.errors import ArgumentError

from .randomizer import Counts, Randomizer


@runtime_checkable
class Question(Protocol):
    """What is asked. Frozen: all of it is public, and part of the survey's digest."""

    @property
    def randomizer(self) -> Randomizer:
        """The way to answer."""
        ...

    def code(self, value: Any) -> int:
        """Return the code of a value; refuse what is none, without showing it."""
        ...

    def public(self) -> Mapping[str, Any]:
        """Return what people can name and how it is answered, as JSON can hold it; no floats."""
        ...

    def estimate(self, counts: Counts, reports: int) -> Any:
        """Return what counts of so many reports say: values, standard errors, intervals."""
        ...

    def error(self, people: int) -> Any:
        """Return the standard error to expect if so many people answer; before anything is spent."""
        ...

    def poison(self, people: int, colluding: int) -> Any:
        """Return how far so many of them can move an estimate together."""
        ...


@dataclass(frozen=True)
class Coded:
    """A randomizer by itself: whoever answers names a code."""

    randomizer: Randomizer

    def code(self, value: Any) -> int:
        """Return the value, if it is a code."""
        domain = int(getattr(self.randomizer, "domain", 0))
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < domain:
            raise not_a_value(f"a whole number from 0 to {domain - 1}")
        return int(value)

    def public(self) -> Mapping[str, Any]:
        """Return the randomizer alone."""
        return {"values": None, "randomizer": dict(self.randomizer.public())}

    def estimate(self, counts: Counts, reports: int) -> Any:
        """Return what the randomizer makes of counts."""
        return self._by("estimate")(counts, reports)

    def error(self, people: int) -> Any:
        """Return what the randomizer expects."""
        return self._by("error")(people)

    def poison(self, people: int, colluding: int) -> Any:
        """Return what the randomizer allows."""
        return self._by("poison")(people, colluding)

    def _by(self, name: str) -> Any:
        found = getattr(self.randomizer, name, None)
        if found is None:
            raise ArgumentError(
                f"{self.randomizer.protocol} by itself has no {name}; ask by frequency(…) or another question",
                "SRD-C714",
            )
        return found


def question_of(given: Any) -> Question:
    """Return a question as it is, and a randomizer as one that asks for codes."""
    if isinstance(given, Question):
        return given
    if all(hasattr(given, name) for name in ("protocol", "report", "count", "well_formed", "shuffled")):
        return Coded(cast("Randomizer", given))
    raise ArgumentError(
        f"a survey asks by frequency(…), mean(…) or another way to answer, not by a {type(given).__name__}", "SRD-C714"
    )


def not_a_value(wanted: str) -> ArgumentError:
    """Return the error for an answer that is none of a survey's values; it never shows the answer."""
    return ArgumentError(f"the answer must be {wanted}; it is not shown here, and nothing was sent", "SRD-C706")
