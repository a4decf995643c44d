"""What every entry is: a position, a time, and fields that each have one spelling. The kinds are in ``entries.py``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

from sordino.errors import ArgumentError

from .canonical import LARGEST_NUMBER
from .periods import LATEST
from .scope import Scope

LONGEST_REASON = 2000

_DIGEST = re.compile(r"[0-9a-f]{64}")
_WORD = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}", re.ASCII)


class Spelling(NamedTuple):
    """How a field is written into canonical JSON and read from it."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


@dataclass(frozen=True)
class Entry:
    """The root of all entries. `sequence` counts from 0; `time` is in milliseconds since 1970 and never goes back."""

    sequence: int
    time: int

    kind: ClassVar[str] = ""
    spelled: ClassVar[Mapping[str, Spelling]] = {}
    """How those fields are spelled that canonical JSON cannot hold as they are."""

    def __post_init__(self) -> None:
        require(is_count(self.sequence), "sequence must count from 0")
        require(type(self.time) is int and 0 <= self.time <= LATEST, "time must be in milliseconds since 1970")

    def body(self) -> dict[str, Any]:
        """Return all fields, as what canonical JSON can hold."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return values | {name: spelling.write(values[name]) for name, spelling in self.spelled.items()}

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> Self:
        """Return the entry whose `body` this is."""
        values = {each.name: body[each.name] for each in fields(cls)}
        return cls(**values | {name: spelling.read(values[name]) for name, spelling in cls.spelled.items()})

    @classmethod
    def trusted(cls, values: dict[str, Any]) -> Self:
        """Return the entry whose own `values` become, all its fields, checked as ``__post_init__`` would."""
        entry = object.__new__(cls)
        object.__setattr__(entry, "__dict__", values)
        return entry

    @classmethod
    def made(cls, values: dict[str, Any]) -> Self:
        """Return the same, checked here: a frozen class sets its fields one by one, slowly, while everybody waits."""
        entry = cls.trusted(values)
        entry.__post_init__()
        return entry


def require(holds: bool, otherwise: str) -> None:
    """Raise `ArgumentError` with the words `otherwise` unless `holds`."""
    if not holds:
        raise ArgumentError(otherwise, "SRD-A001")


def is_count(value: object) -> bool:
    """Return whether `value` is a whole number from 0 that canonical JSON can hold."""
    return type(value) is int and 0 <= value <= LARGEST_NUMBER


def whole_scope(scope: object) -> None:
    """Refuse what is not a scope, or is only a day of one."""
    require(isinstance(scope, Scope) and not scope.day, "scope must be a Scope, and not one day of it")


def checked_reason(text: object) -> None:
    """Refuse a reason that is not in printable words and lines, or in too many."""
    words = isinstance(text, str) and 0 < len(text.strip()) <= len(text) <= LONGEST_REASON
    require(words and str(text).replace("\n", " ").isprintable(), "reason must be in words, up to 2,000 characters")


def digests(*texts: str) -> None:
    """Refuse what is not a SHA-256 in hexadecimal."""
    require(all(map(_DIGEST.fullmatch, texts)), "a digest is a SHA-256 in 64 hexadecimal digits")


def word(text: str) -> None:
    """Refuse what is not a short word of ASCII letters, digits, dots, dashes and underscores."""
    require(bool(_WORD.fullmatch(text)), "a code or kind is a short word of letters, digits, dots and dashes")


def ascending(texts: Iterable[str], what: str) -> None:
    """Refuse texts that are not in order, or repeat."""
    given = list(texts)
    require(all(a < b for a, b in pairwise(given)), f"{what} must be ascending, each once")
