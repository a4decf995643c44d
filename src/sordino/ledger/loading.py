"""From a store to a state: every entry's hash is checked, and those since the last snapshot are replayed."""

from __future__ import annotations

import hashlib

from sordino.errors import FrozenError, LedgerError

from .canonical import to_base64
from .entries import from_bytes
from .keys import SigningKey, VerifyingKey
from .log import Log
from .note import open_note, sign
from .snapshot import from_snapshot, snapshot
from .state import State
from .store import Reading, Snapshot
from .tree import Frontier

_TITLE = "sordino ledger snapshot"  # no name of a key has spaces, so no checkpoint can pass for this


def load(log: Log, reading: Reading) -> tuple[State, int]:
    """Read the whole log and return what it adds up to, with the size of the snapshot that helped (0 if none did).

    **Guarantee**: `log` has checked the bytes of every entry against the signed head. A snapshot is taken only if the
    ledger's own key signed it for exactly these entries; the rest is judged entry by entry.
    """
    found = next(iter(reading.snapshots()), None)
    start = 0 if found is None else found.size
    state, trouble = State(), None
    for bodies in log.catch_up(reading, reading.head(), pause=start):
        if trouble is not None:
            continue  # that an entry was altered, which shows at the end, explains more
        try:
            if log.size > start:
                take_in(state, bodies)
            elif found is not None and log.size == start:
                state = opened(found, log.frontier, log.key.verifier)
        except FrozenError as error:
            trouble = error
    if trouble is not None:
        raise trouble
    if log.size < start:
        raise FrozenError(
            f"this ledger has {log.size} entries and a snapshot of {start}: its end was cut off", "SRD-L069"
        )
    return state, start


def take_in(state: State, bodies: list[bytes]) -> None:
    """Let `state` judge the next entries; freeze at one that breaks a rule."""
    for body in bodies:
        try:
            state.apply(from_bytes(body))
        except LedgerError as error:
            raise FrozenError(f"entry {state.size} must not be in this ledger: {error}", "SRD-L065") from error


def written(state: State, frontier: Frontier, key: SigningKey) -> Snapshot:
    """Return a signed snapshot of `state`, which is what the entries under `frontier` add up to."""
    body = snapshot(state)
    return Snapshot(frontier.size, body, sign(_text(key.verifier, frontier, body), key))


def opened(found: Snapshot, frontier: Frontier, verifier: VerifyingKey) -> State:
    """Return the state in a snapshot that was signed for exactly the entries under `frontier`."""
    try:
        if open_note(found.note, (verifier,)) == _text(verifier, frontier, found.body):
            return from_snapshot(found.body)
    except LedgerError:
        pass
    raise FrozenError(
        f"the snapshot at {found.size} entries is not one that this ledger signed: somebody altered it; delete it (it "
        "only makes opening fast) once you know who did",
        "SRD-L069",
    )


def _text(verifier: VerifyingKey, frontier: Frontier, body: bytes) -> str:
    digest = hashlib.sha256(body).hexdigest()
    return f"{_TITLE}\n{verifier.name}\n{frontier.size}\n{to_base64(frontier.root)}\n{digest}\n"
