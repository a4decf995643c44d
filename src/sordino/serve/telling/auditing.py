"""What an auditor looks at: whether the ledger is frozen, entries from the newest on, and receipts that are shown.

All of it also works on a ledger that is frozen, for that is when somebody looks. Entries are then shown as they are
stored, and said to be judged by nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sordino.errors import FrozenError, LedgerError
from sordino.ledger.canonical import from_base64, to_base64
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.entries import from_bytes, position_of
from sordino.ledger.ledger import Ledger
from sordino.ledger.periods import moment
from sordino.ledger.receipt import Receipt, verify_receipt
from sordino.ledger.repricing import UNDERCHARGED, repriced
from sordino.ledger.tree import leaf_hash, verify_consistency, verify_inclusion
from sordino.serve.refusals import UnknownError

from . import proofs

MOST_SHOWN = 200
MOST_LOOKED_AT = 20_000
"""Entries that one page of a filtered list may cost."""
_BATCH = 1000
_DAMAGED, _BY_ENTRY = "SRD-L053", "SRD-L028"
UNREADABLE = "unreadable"
"""The kind of bytes that are no entry."""


def state(ledger: Ledger) -> dict[str, Any]:
    """Return whether a ledger is frozen and why, how many entries it has, and what its witness remembers."""
    found: dict[str, Any] = {"frozen": None, "size": ledger.stored_size, "key": ledger.key.text, "checkpoint": None}
    try:
        by_entry = ledger.look(lambda known: known.frozen)
        found["checkpoint"] = proofs.checkpoint(ledger)
        if by_entry is not None:
            found["frozen"] = {"code": _BY_ENTRY, "reason": f"an entry froze it, for this reason: {by_entry}"}
    except FrozenError as error:
        found["frozen"] = {"code": error.code, "reason": error.message}
    return found | {"witness": _witness(ledger)}


def _witness(ledger: Ledger) -> dict[str, Any]:
    watches = ledger.watched
    try:
        seen = ledger.seen()
    except LedgerError as error:
        return {"watches": watches, "seen": None, "trouble": {"code": error.code, "reason": error.message}}
    return {"watches": watches, "seen": None if seen is None else seen.size, "trouble": None}


def newest(
    ledger: Ledger, before: int | None, limit: int, kind: str | None = None, scope: str | None = None
) -> dict[str, Any]:
    """Return entries from the newest on, or from the one before a position: ``{entries, before, size}``.

    With a `kind` or a `scope` (as ``dataset:trips``) only those; then `before` says where to go on looking, for a page
    looks at so many entries and no more. It is None at the beginning of the ledger.
    """
    size = ledger.stored_size
    stop = size if before is None else max(0, min(before, size))
    last = max(0, stop - MOST_LOOKED_AT)
    found: list[dict[str, Any]] = []
    for position, body in _backwards(ledger, last, stop):
        entry = _shown(position, body)
        if kind in (None, entry["kind"]) and (scope is None or scope in _scopes(ledger, entry)):
            found.append(entry)
            if len(found) == min(limit, MOST_SHOWN):
                last = position
                break
    return {"entries": found, "before": last or None, "size": size}


def entry(ledger: Ledger, position: int) -> dict[str, Any]:
    """Return one entry with the proof that it is in the tree that the newest checkpoint signs; none while frozen."""
    rows = _stored(ledger, position, position + 1)
    if not rows:
        raise UnknownError("there is no entry at this position")
    found = _shown(*rows[0])
    leaf = leaf_hash(rows[0][1])
    try:
        signed = proofs.checkpoint(ledger)
        proof = ledger.inclusion(position, signed["size"])
    except FrozenError:
        return found | {"leaf": to_base64(leaf), "proof": None}
    holds = verify_inclusion(leaf, position, signed["size"], proof, from_base64(signed["root"]))
    said = {"size": signed["size"], "root": signed["root"], "path": [to_base64(each) for each in proof]}
    return found | {"leaf": to_base64(leaf), "proof": said | {"note": signed["note"], "holds": holds}}


def check_receipt(ledger: Ledger, text: str) -> dict[str, Any]:
    """Return whether a receipt holds under this ledger's key, what it proves, or which part of it is wrong.

    `extended` says whether the ledger of today extends the checkpoint of the receipt: False where it was rolled back or
    shows others another history, None where that cannot be said now.
    """
    try:
        facts = verify_receipt(Receipt.from_json(text.strip()), ledger.key.text)
        covered, short, _ = repriced(facts.reserved, facts.rules)
        if short:
            raise LedgerError("; ".join(short), UNDERCHARGED)
    except LedgerError as error:
        return {"holds": False, "code": error.code, "reason": error.message}
    return {
        "holds": True,
        "id": facts.settled.id,
        "analyst": facts.reserved.analyst,
        "scopes": [str(charge.scope) for charge in facts.reserved.charges],
        "unit": facts.reserved.unit,
        "neighbours": facts.reserved.neighbours,
        "event": facts.reserved.event,
        "charged": {"position": facts.reserved.sequence, "time": moment(facts.reserved.time)},
        "settled": {"position": facts.settled.sequence, "time": moment(facts.settled.time)},
        "size": facts.checkpoint.size,
        "origin": facts.checkpoint.origin,
        "priced_again": covered,
        "compared": facts.release is not None,
        "extended": _extended(ledger, facts.checkpoint),
    }


def _extended(ledger: Ledger, old: Checkpoint) -> bool | None:
    try:
        new = Checkpoint.open(ledger.checkpoint(), ledger.key)
        if old.size > new.size:
            return False
        return verify_consistency(old.size, old.root, new.size, new.root, list(ledger.consistency(old.size, new.size)))
    except FrozenError:
        return None


def _backwards(ledger: Ledger, start: int, stop: int) -> Iterator[tuple[int, bytes]]:
    for end in range(stop, start, -_BATCH):
        yield from reversed(_stored(ledger, max(start, end - _BATCH), end))


def _stored(ledger: Ledger, start: int, stop: int) -> list[tuple[int, bytes]]:
    """Return what is stored; a row that is damaged beyond being bytes is empty, and does not hide the others."""
    try:
        return ledger.stored(start, stop)
    except LedgerError as error:
        if error.code != _DAMAGED:
            raise
    if stop - start == 1:
        return [(start, b"")]
    middle = (start + stop) // 2
    return _stored(ledger, start, middle) + _stored(ledger, middle, stop)


def _shown(position: int, body: bytes) -> dict[str, Any]:
    try:
        return proofs.shown_entry(from_bytes(body)) | {"position": position}
    except LedgerError as error:
        text = body.decode(errors="replace")
        return {"position": position, "kind": UNREADABLE, "time": None, "canonical": text, "reason": error.message}


def _scopes(ledger: Ledger, shown: dict[str, Any]) -> set[str]:
    """Return the scopes that an entry is about; a settlement is about those that its reservation charged."""
    entry = shown.get("entry", {})
    if "charges" in entry:
        return {charge[0] for charge in entry["charges"]}
    if "burnt" in entry:
        return {scope for scope, _ in entry["burnt"]}
    if "scope" in entry:
        return {entry["scope"]}
    if shown["kind"] in ("settled", "failed"):
        rows = _stored(ledger, position_of(entry["id"]), position_of(entry["id"]) + 1)
        return _scopes(ledger, _shown(*rows[0])) if rows and shown["position"] > rows[0][0] else set()
    return set()
