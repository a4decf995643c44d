"""A plan of a kind that nobody has heard of, and what it releases, for tests of what every kind goes through."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sordino.accounting.bound import Bound
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.events import Pure

TENTH = Pure("0.1")


@dataclass(frozen=True)
class Rehearsal:
    """A plan."""

    bound: Bound
    piece: str = "adagio"
    run: Event = TENTH
    parts: int = 0
    large: bool = False
    days: tuple[str, ...] = ()
    kind: str = "rehearsal"

    def event(self) -> Event:
        return self.run

    def digest(self) -> str:
        return digest_of(self)


@dataclass(frozen=True)
class Noisy:
    """A release."""

    said: str
    files: Mapping[str, bytes | Path] = field(default_factory=dict)
    receipt: Any = None

    def to_json(self) -> str:
        return json.dumps({"said": self.said})

    def with_receipt(self, receipt: Any) -> Noisy:
        return replace(self, receipt=receipt)
