"""Scopes: who is charged. A data set, a group of data sets that hold the same people, an analyst, a project.

A scope's text is its kind and its name, ``dataset:trips``. A data set whose rule gives every day a budget of its own
has one *block* for each day: ``Scope("dataset", "trips").block("2026-11-03")``. Blocks are days of the calendar in one
spelling, so that no other name for the same day finds a fresh budget.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, lru_cache
from typing import Literal, get_args

from sordino.arguments import one_of
from sordino.errors import ArgumentError

Kind = Literal["dataset", "group", "analyst", "project"]
KINDS: tuple[str, ...] = get_args(Kind)

_LONGEST_NAME = 200


@dataclass(frozen=True, order=True)
class Scope:
    """One of those that a charge is counted against; `day` names a block of it, and is empty for the whole.

    >>> Scope("dataset", "trips").block("2026-11-03")
    Scope(dataset:trips, day 2026-11-03)
    """

    kind: Kind
    name: str
    day: str = ""

    def __post_init__(self) -> None:
        one_of("kind", self.kind, KINDS)
        checked_name("name", self.name)
        if self.day:
            checked_day(self.day)
            if self.kind != "dataset":
                raise ArgumentError(f"only a data set has days; {self.kind} {self.name!r} has none", "SRD-A003")

    @cached_property
    def text(self) -> str:
        """The one spelling in entries, without the day."""
        return f"{self.kind}:{self.name}"

    @property
    def protects(self) -> bool:
        """Whether somebody is protected by its budget; analysts and projects are capped by policy alone."""
        return self.kind in ("dataset", "group")

    @property
    def whole(self) -> Scope:
        """The scope that this one is a block of, or itself."""
        return replace(self, day="") if self.day else self

    def block(self, day: str) -> Scope:
        """Return the block of this data set that holds one day, written as 2026-11-03."""
        return replace(self, day=checked_day(day))

    @staticmethod
    def parse(text: str) -> Scope:
        """Return the scope that `text` spells; ``Scope.parse(scope.text) == scope.whole``."""
        return _parsed(text)

    def __str__(self) -> str:
        words = {"dataset": "data set"}.get(self.kind, self.kind)
        return f"{words} {self.name!r}" + (f" on {self.day}" if self.day else "")

    def __repr__(self) -> str:
        return f"Scope({self.text}{f', day {self.day}' if self.day else ''})"


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Scope:
    kind, colon, name = text.partition(":")
    if not colon:
        raise ArgumentError(
            f"a scope is a kind, a colon and a name, as in dataset:trips, not {text[:60]!r}", "SRD-A001"
        )
    return Scope(kind, name)  # type: ignore[arg-type]  # checked there


def checked_name(what: str, name: object) -> str:
    """Return `name` if it is 1 to 200 printable characters in one spelling (Unicode NFC, no space at either end)."""
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
        raise ArgumentError(f"{what} must be a text of 1 to {_LONGEST_NAME} characters", "SRD-A001")
    if not name.isprintable() or name != name.strip() or name != unicodedata.normalize("NFC", name):
        raise ArgumentError(
            f"{what} must be printable, in Unicode's composed form (NFC) and without a space at either end, "
            f"not {name!a}",
            "SRD-A001",
        )
    return name


@lru_cache(maxsize=65536)
def checked_day(day: str) -> str:
    """Return `day` if it is a day of the calendar, spelled as 2026-11-03."""
    try:
        spelled = date.fromisoformat(day).isoformat()
    except (TypeError, ValueError):
        spelled = ""
    if not spelled or spelled != day:
        raise ArgumentError(f"a day is written as 2026-11-03, not {str(day)[:40]!r}", "SRD-A001")
    return day
