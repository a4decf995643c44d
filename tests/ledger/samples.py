"""Small ledgers and requests for the tests of this room, and a quick way to long ones."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from pathlib import Path
from typing import Any

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.budget import Budget, budget
from sordino.accounting.event import Event
from sordino.accounting.events import Pure
from sordino.accounting.neighbours import Neighbours
from sordino.ledger.decisions import Request, decide_reserve, decide_settle
from sordino.ledger.entries import Entry
from sordino.ledger.ledger import Ledger
from sordino.ledger.opening import token
from sordino.ledger.receipt import release_digest
from sordino.ledger.reservation import Reservation
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope
from sordino.ledger.snapshot import from_snapshot, snapshot
from sordino.ledger.state import State
from sordino.ledger.store import Release
from sordino.ledger.together import Wish

TRIPS = Scope("dataset", "trips")
PERSON = Bound.scalar(1, unit=Unit("person"))
TENTH = Pure(Fraction(1, 10))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def rule(cap: Budget | None = None, **words: Any) -> Rule:
    return Rule.open(cap or budget(epsilon=1), unit="person", neighbours=Neighbours.ADD_REMOVE, **words)


def request(event: Event = TENTH, *, key: str | None = None, asked: str = "how many?", **words: Any) -> Request:
    hashed = None if key is None else digest(key)
    given = {"datasets": (TRIPS,), "analyst": "ann", "what": "query"} | words
    return Request(event, PERSON, plan=digest(asked), request=digest(asked), token=token(), key=hashed, **given)


def files(place: str, directory: Path) -> dict[str, Path]:
    """Return where the key and the witness of a ledger are; beside it, or in `directory` for one on a server."""
    name = place.rpartition("%3D")[2] if place.startswith("postgresql") else Path(place).name
    return {"key": directory / f"{name}.key", "witness": directory / f"{name}.witness"}


def spent(ledger: Ledger, scope: Scope = TRIPS) -> Fraction:
    return Fraction(ledger.look(lambda state: state.spent(scope))[-1], 10**12)


def reserved(ledger: Ledger, *arguments: Any, **words: Any) -> Reservation:
    found = ledger.reserve(request(*arguments, **words))
    assert isinstance(found, Reservation)
    return found


def fill(ledger: Ledger, pairs: int, at_once: int = 500) -> None:
    """Append so many reservations with their settlements, many in one commit."""
    session = ledger._session
    for start in range(0, pairs, at_once):
        shadow = from_snapshot(snapshot(session.state))
        entries, releases = _pairs(shadow, min(at_once, pairs - start))
        session.append(Wish(lambda *_, found=entries: found))  # type: ignore[misc]
        with session.log.store.writing() as writing:
            writing.put_releases(releases)


def _pairs(shadow: State, pairs: int) -> tuple[tuple[Entry, ...], list[Release]]:
    entries: list[Entry] = []
    releases = []
    for _ in range(pairs):
        decision = decide_reserve(shadow, request(), shadow.time + 1)
        assert decision.reserved is not None, "the budget of the sample is too small"
        shadow.apply(decision.reserved)
        settled = decide_settle(shadow, decision.reserved.id, release_digest(b"answer"), shadow.time + 1)
        shadow.apply(settled)
        entries += [decision.reserved, settled]
        releases.append(Release(settled.id, settled.sequence, b"answer"))
    return tuple(entries), releases
