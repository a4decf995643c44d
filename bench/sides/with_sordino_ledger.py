"""The ledger: pairs of charges and settlements, verification of long ledgers, and tampering."""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib.metadata import version
from itertools import count
from pathlib import Path
from time import perf_counter

from sides.with_bare_commits import Timing, timed
from sordino.accounting import Bound, Neighbours, Unit
from sordino.accounting.budget import Budget, budget
from sordino.accounting.event import Event
from sordino.accounting.events import Gaussian, Laplace, Pure
from sordino.ledger.decisions import Request, decide_reserve
from sordino.ledger.entries import Settled, to_bytes
from sordino.ledger.ledger import Ledger
from sordino.ledger.opening import token
from sordino.ledger.receipt import release_digest
from sordino.ledger.reservation import Reservation
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope
from sordino.ledger.store import Release
from sordino.ledger.verify import verify_store
from sordino.ledger.witness import NoWitness

TRIPS = Scope("dataset", "trips")
BOUND = Bound.scalar(1, unit=Unit("person"))
ANSWER = b"42" * 50
AT_ONCE = 4096
KINDS: dict[str, tuple[Budget, list[Event]]] = {
    "pure": (budget(epsilon=10**6), [Pure(Fraction(1, 10 + number)) for number in range(50)]),
    "renyi": (
        budget(epsilon=10**5, delta=Fraction(1, 10**6)),
        [Gaussian(variance=Fraction(400 + n)) if n % 2 else Laplace(scale=Fraction(40 + n)) for n in range(50)],
    ),
}

_numbers = count()
_home = tempfile.TemporaryDirectory(prefix="ledger", ignore_cleanup_errors=True)


def versions() -> dict[str, str]:
    return {"sordino": version("sordino"), "sqlite": sqlite3.sqlite_version}


def pairs(place: str, beside: str, threads: int, times: int) -> Timing:
    with _opened(place, Path(beside)) as ledger:

        def pair() -> None:
            reservation = ledger.reserve(_request(Pure(Fraction(1, 10))))
            assert isinstance(reservation, Reservation)
            ledger.settle(reservation, ANSWER)

        return timed(pair, threads, times)


def verification(kind: str, entries: int, replay: bool) -> Timing:
    ledger = _long(kind, entries)
    begun = perf_counter()
    report = verify_store(ledger._session.log.store, ledger.key, replay=replay)
    seconds = perf_counter() - begun
    assert report.sound, str(report)
    assert report.size >= entries
    return seconds, report.size, {}


def tampering() -> Timing:
    """Alter each byte of each entry in turn; count how many of these changes a verification finds."""
    path = Path(_home.name) / "small.db"
    ledger = _opened(str(path), Path(_home.name))
    for _ in range(3):
        reservation = ledger.reserve(_request(Pure(Fraction(1, 10))))
        assert isinstance(reservation, Reservation)
        ledger.settle(reservation, ANSWER)
    file, store = sqlite3.connect(path, isolation_level=None), ledger._session.log.store
    tried = found = 0
    begun = perf_counter()
    for position, body in file.execute("SELECT position, body FROM ledger_entries").fetchall():
        for place in range(len(body)):
            altered = body[:place] + bytes([body[place] ^ 1 << tried % 8]) + body[place + 1 :]
            file.execute("UPDATE ledger_entries SET body = ? WHERE position = ?", (altered, position))
            report = verify_store(store, ledger.key)
            tried, found = tried + 1, found + (not report.sound and report.problems[0].position == position)
        file.execute("UPDATE ledger_entries SET body = ? WHERE position = ?", (body, position))
    seconds = perf_counter() - begun
    assert verify_store(store, ledger.key).sound
    ledger.close()
    return seconds, tried, {"tried": tried, "found": found}


def _opened(place: str, beside: Path) -> Ledger:
    name = "server" if place.startswith("postgresql") else Path(place).name
    ledger = Ledger.open(place, key=beside / f"{name}.key", witness=beside / f"{name}.witness")
    if not ledger.size:
        ledger.open_scope(TRIPS, _rule(KINDS["pure"][0]), by="owner")
    return ledger


def _rule(cap: Budget) -> Rule:
    return Rule.open(cap, unit="person", neighbours=Neighbours.ADD_REMOVE)


def _request(event: Event) -> Request:
    digest = hashlib.sha256(str(next(_numbers)).encode()).hexdigest()
    return Request(event, BOUND, (TRIPS,), "ann", "query", plan=digest, request=digest, token=token())


@cache
def _long(kind: str, entries: int) -> Ledger:
    """Return a ledger of so many entries: pairs like those that are decided, in few commits."""
    cap, events = KINDS[kind]
    ledger = Ledger.open(Path(_home.name) / f"{kind}{entries}.db", witness=NoWitness("a benchmark"))
    ledger.open_scope(TRIPS, _rule(cap), by="owner")
    session, digest = ledger._session, release_digest(ANSWER)
    now = session.clock()
    models = [decide_reserve(session.state, _request(event), now).reserved for event in events]
    log, position = session.log, 1
    while position < entries:
        bodies, releases = [], []
        for _ in range(AT_ONCE // 2):
            model = models[position // 2 % len(models)]
            assert model is not None
            charge = replace(model, sequence=position, id=f"{position}-{'0' * 32}")
            settled = Settled(position + 1, charge.time, charge.id, digest)
            bodies += [to_bytes(charge), to_bytes(settled)]
            releases.append(Release(charge.id, settled.sequence, ANSWER))
            position += 2
        with log.store.writing() as writing:
            writing.lock_head()
            appended = log.append(writing, tuple(bodies))
            writing.put_releases(releases)
        log.accept(appended)
    return ledger
