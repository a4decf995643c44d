"""What a survey asks for: the values that people can name, and the way to answer that turns one into a payload.

``choice.frequency`` makes one, and so do others. A randomizer by itself will do where values are codes already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

from sordino.errors import ArgumentError

from .randomizer import Randomizer


@runtime_checkable
class Question(Protocol):
    """What is asked. Frozen: all of it is public, and part of the survey's digest."""

    @property
    def randomizer(self) -> Randomizer:
        """The way to answer."""
        ...

    @property
    def values(self) -> tuple[str | int, ...] | None:
        """What people can name, in the order of codes; None where they name the code or a number."""
        ...

    def code(self, value: Any) -> int:
        """Return the code of a value; refuse what is none, without showing it."""
        ...


@dataclass(frozen=True)
class Coded:
    """A randomizer by itself: whoever answers names a code."""

    randomizer: Randomizer

    @property
    def values(self) -> None:
        """None: codes are numbers."""
        return

    def code(self, value: Any) -> int:
        """Return the value, if it is a code."""
        domain = int(getattr(self.randomizer, "domain", 0))
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < domain:
            raise ArgumentError(f"the answer must be a whole number from 0 to {domain - 1}; send one", "SRD-C104")
        return int(value)


def question_of(given: Any) -> Question:
    """Return a question as it is, and a randomizer as one that asks for codes."""
    if isinstance(given, Question):
        return given
    if all(hasattr(given, name) for name in ("protocol", "report", "count", "well_formed", "shuffled")):
        return Coded(cast("Randomizer", given))
    raise ArgumentError(
        f"a survey asks by frequency(…), mean(…) or another way to answer, not by a {type(given).__name__}", "SRD-C714"
    )
