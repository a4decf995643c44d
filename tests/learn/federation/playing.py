"""One masked sum played in one process: who is silent from which phase on, and who meddles with which message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sordino.errors import RunError
from sordino.learn.federation.collector import masked_sum
from sordino.learn.federation.keys import Identity
from sordino.learn.federation.member import PHASES, Member
from sordino.learn.federation.roster import Roster, Terms

IDENTITIES = tuple(Identity() for _ in range(8))
SESSION = bytes(range(32))
Meddle = Callable[[int, bytes], bytes]


def terms_of(
    members: int, threshold: int, *, colluding: int = 0, length: int = 5, bits: int = 32, session: bytes = SESSION
) -> Terms:
    roster = Roster.of([each.public for each in IDENTITIES[:members]], threshold=threshold, colluding=colluding)
    return Terms(roster, session, length, bits, "a plan")


def members_of(terms: Terms) -> dict[int, Member]:
    return {number: Member(terms, number, IDENTITIES[number]) for number in range(len(terms.roster))}


@dataclass
class Play:
    """Runs the phases; `silent` gives the phase from which on a member says nothing."""

    terms: Terms
    numbers: Mapping[int, NDArray[np.int64]]
    silent: Mapping[int, int] = field(default_factory=dict)
    meddle: Mapping[str, Meddle] = field(default_factory=dict)
    said: dict[str, dict[int, bytes]] = field(default_factory=dict)

    def run(self) -> NDArray[np.int64]:
        self._members = members_of(self.terms)
        return masked_sum(self.terms, self._members, self._ask)

    def _ask(self, phase: str, messages: Mapping[int, bytes]) -> dict[int, bytes]:
        place, change = PHASES.index(phase), self.meddle.get(phase, lambda _, message: message)
        said: dict[int, bytes] = {}
        for number, message in messages.items():
            if self.silent.get(number, len(PHASES)) > place:
                with suppress(RunError):  # who refuses says nothing
                    said[number] = change(
                        number, self._members[number].answer(phase, message, lambda n=number: self.numbers[n])
                    )
        self.said[phase] = said
        return said
