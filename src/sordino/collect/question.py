"""What a survey asks for: the values that people can name, and the way to answer that turns one into a payload.

What people see (texts, numbers) becomes a *code* here. A randomizer by itself will do where values are codes already.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

from sordino.errors import ArgumentError

from .randomizer import Randomizer

MOST_VALUES = 1_000_000
_LONGEST_VALUE = 200


@runtime_checkable
class Question(Protocol):
    """What is asked. Frozen: all of it is public, and part of the survey's digest."""

    @property
    def randomizer(self) -> Randomizer:
        """The way to answer."""
        ...

    @property
    def values(self) -> tuple[str, ...] | None:
        """What people can name, in the order of codes; None where they name a number."""
        ...

    def code(self, value: Any) -> int:
        """Return the code of a value; refuse what is none, without showing it."""
        ...

    def public(self) -> Mapping[str, Any]:
        """Return what people can name and how it is answered, as JSON can hold it; no floats."""
        ...


@dataclass(frozen=True)
class Named:
    """Texts that people can name, and a randomizer of as many codes; texts are alike if their NFC is."""

    values: tuple[str, ...]
    randomizer: Randomizer

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(_text(each) for each in self.values))
        if len(set(self.values)) < len(self.values) or len(self.values) != getattr(self.randomizer, "domain", None):
            raise ArgumentError(
                "values must be different texts, as many as the randomizer's domain; name each once", "SRD-C714"
            )
        object.__setattr__(self, "_codes", {value: code for code, value in enumerate(self.values)})

    def code(self, value: Any) -> int:
        """Return the place of a value."""
        codes: dict[str, int] = self.__dict__["_codes"]
        found = codes.get(unicodedata.normalize("NFC", value)) if isinstance(value, str) else None
        if found is None:
            raise not_a_value("one of the survey's values")
        return found

    def public(self) -> Mapping[str, Any]:
        """Return the values and the randomizer."""
        return {"values": list(self.values), "randomizer": dict(self.randomizer.public())}


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
            raise not_a_value(f"a whole number from 0 to {domain - 1}")
        return int(value)

    def public(self) -> Mapping[str, Any]:
        """Return the randomizer alone."""
        return {"values": None, "randomizer": dict(self.randomizer.public())}


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


def _text(given: Any) -> str:
    if not isinstance(given, str) or not 0 < len(given) <= _LONGEST_VALUE:
        raise ArgumentError(f"each value must be a text of 1 to {_LONGEST_VALUE} characters", "SRD-C714")
    return unicodedata.normalize("NFC", given)
