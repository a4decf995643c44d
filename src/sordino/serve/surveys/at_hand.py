"""Rounds that are open, by the survey's name, as far as this process has them at hand. The ledger says which are.

**Guarantee**: a report is taken only for a survey whose round the ledger holds charged and open, seen at most a second
ago; what another process closed meanwhile the intake itself refuses (``collect.intake``).
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, ref

from sordino.collect.round import work_of
from sordino.collect.shuffle.arrival import Arrival
from sordino.collect.surveys import SHUFFLED, TWO_SERVERS
from sordino.collect.two_servers.helping import Helper
from sordino.collect.two_servers.helping import refused as said_nothing
from sordino.collect.two_servers.messages import LEADER, role_of
from sordino.collect.wire import STALE, refused
from sordino.errors import ArgumentError, SordinoError
from sordino.ledger.ledger import Ledger
from sordino.serve.asking.premises import Premises
from sordino.serve.refusals import UnknownError

from .codes import Codes
from .declared import CODES, Declared
from .rounds import open_charge, settled, work_at

if TYPE_CHECKING:
    from sordino.collect.intake import Intake

_SECONDS = 1.0
OTHER = "SRD-C713"


@dataclass
class AtHand:
    """A round that is open: what is asked, where reports arrive, and which rounds were before."""

    declared: Declared
    version: int | None
    """How often the survey was declared anew."""
    intake: Intake
    codes: Codes | None
    former: frozenset[bytes]
    seen: float

    def check_takes(self) -> None:
        """Refuse reports that go elsewhere under this survey's trust."""
        survey = self.declared.survey
        if survey.trust == SHUFFLED:
            raise ArgumentError(
                "reports of this survey go to its shuffler, sealed; use a client of this version", OTHER
            )
        if survey.trust == TWO_SERVERS and role_of(survey, self.declared.key) != LEADER:
            raise ArgumentError("reports of this survey go to its other server; use a client of this version", OTHER)

    @property
    def arrival(self) -> Arrival:
        """Where the batch of a shuffler arrives."""
        return Arrival(self.declared.survey, self.declared.key, self.declared.folder)

    def helper(self, ledger: Ledger) -> Helper:
        """Return what answers the other one of two servers."""
        survey, key = self.declared.survey, self.declared.key
        if survey.trust != TWO_SERVERS or role_of(survey, key) == LEADER:
            raise said_nothing()
        return Helper(survey, key, self.declared.folder, work_at(ledger, survey))

    def end(self) -> None:
        """Give files back."""
        self.intake.end()
        if self.codes is not None:
            self.codes.close()


class Rounds:
    """What intake, pages and commands know of rounds."""

    def __init__(self, house: Premises) -> None:
        self._held = ref(house)  # who holds the service holds its rounds, not the other way round
        self._found: dict[str, AtHand] = {}
        self._lock = threading.Lock()

    def known(self, name: str, within: float = _SECONDS) -> AtHand | None:
        """Return a round that was seen to be open so few seconds ago; None if it must be looked for (`look`)."""
        found = self._found.get(name)
        return found if found is not None and time.monotonic() - found.seen < within else None

    def look(self, name: str, within: float = _SECONDS) -> AtHand:
        """Return a round that is open, or raise if there is none; may wait for the ledger."""
        with self._lock:
            if (found := self.known(name, within)) is not None:
                return found
            row, before = self._house.registry.dataset(name), self._found.get(name)
            version = None if row is None else row.version
            if before is not None and before.version == version and not before.intake.closed:
                before.seen = time.monotonic()
                return before
            self._drop(name)
            self._found[name] = found = self._opened(declared_as(self._house, name), version)
            return found

    def close(self) -> None:
        """Give all files back; rounds stay open."""
        with self._lock:
            for name in list(self._found):
                self._drop(name)

    @property
    def _house(self) -> Premises:
        house = self._held()
        assert house is not None  # noqa: S101  (whoever asks has it)
        return house

    def _opened(self, declared: Declared, version: int | None) -> AtHand:
        from sordino.collect.intake import Intake, is_closed

        survey, folder = declared.survey, declared.folder
        if open_charge(self._house.ledger, survey) is None or is_closed(folder):
            raise refused(STALE)
        former = frozenset(
            bytes.fromhex(each.name) for each in folder.parent.glob("*") if work_of(each) and each != folder
        )
        codes = Codes(declared.codes) if declared.intake == CODES else None
        intake = Intake(folder, survey.digest, survey.randomizer)
        return AtHand(declared, version, intake, codes, former, time.monotonic())

    def _drop(self, name: str) -> None:
        found = self._found.pop(name, None)
        if found is not None:
            found.end()


def closed_helper(house: Premises, name: str) -> Helper:
    """Return what answers the other one of two servers once the round is over here: as before, and nothing else."""
    declared = declared_as(house, name)
    survey, key, folder = declared.survey, declared.key, declared.folder
    if survey.trust != TWO_SERVERS or role_of(survey, key) == LEADER or work_of(folder) is None:
        raise refused(STALE)
    return Helper(survey, key, folder, None, settled(house.ledger, folder))


_OF_HOUSE: WeakKeyDictionary[Premises, Rounds] = WeakKeyDictionary()


def rounds_of(house: Premises) -> Rounds:
    """Return the rounds at hand of a service: one set of them a process, whoever asks."""
    return _OF_HOUSE.setdefault(house, Rounds(house))


def declared_as(house: Premises, name: str) -> Declared:
    """Return what is declared about a survey; anybody may know of one whose name they know."""
    row = house.registry.dataset(name)
    try:
        found = None if row is None or row.sort != "survey" else house.read(row.declarations).said
    except SordinoError:
        found = None
    if not isinstance(found, Declared):
        raise UnknownError("there is no such survey here")
    return found
