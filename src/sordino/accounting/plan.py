"""Plans and releases: what every room hands to a budget, and what comes of it. A plan has seen no data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from .bound import Bound
from .digest import digest_of
from .event import Event


@runtime_checkable
class Plan(Protocol):
    """Anything that can be priced before data is touched. All of it is public."""

    @property
    def kind(self) -> str:
        """What sort of plan it is, in one word: query, training, …"""
        ...

    @property
    def bound(self) -> Bound:
        """What one unit can change, of all that the plan releases."""
        ...

    @property
    def days(self) -> tuple[str, ...]:
        """All days that it reads, spelled as 2026-06-03: charged where days have budgets of their own, else empty."""
        ...

    @property
    def parts(self) -> int:
        """How many parts it may release before it is finished: 0 for what comes out at once.

        Work that stays open, and goes on after a restart, declares one at least.
        """
        ...

    @property
    def large(self) -> bool:
        """Whether it releases files: then there must be a place for them before anything is charged."""
        ...

    def event(self) -> Event:
        """Everything that the plan will run, as one (usually composed) event: a pure function of the plan."""
        ...

    def digest(self) -> str:
        """SHA-256, in hexadecimal, of all that is public about the plan (see ``digest.py``), and of nothing else.

        **Guarantee**, which each plan must keep: two plans that run different things have different digests; the same
        plan has the same digest in every process.
        """
        ...


Files = Mapping[str, bytes | Path]
"""What is too large for a text, by name: the bytes themselves, or where they lie."""


class Release(Protocol):
    """What a plan releases when it is run: noisy, public, and able to say itself in one text."""

    @property
    def files(self) -> Files:
        """What does not belong in the text: weights, tables, maps. Empty for most."""
        ...

    def to_json(self) -> str:
        """Return all that is released but the files, as JSON."""
        ...

    def with_receipt(self, receipt: Any) -> Self:
        """Return the same release with the ledger's receipt."""
        ...


@dataclass(frozen=True)
class Single:
    """The plan of a mechanism that is used by itself: one event under one bound."""

    run: Event
    bound: Bound
    days: tuple[str, ...] = ()

    kind: ClassVar[str] = "mechanism"
    parts: ClassVar[int] = 0
    large: ClassVar[bool] = False

    def event(self) -> Event:
        """Return the event."""
        return self.run

    def digest(self) -> str:
        """Return the digest of the event and the bound."""
        return digest_of((self.kind, self.run.to_json(), self.bound))
