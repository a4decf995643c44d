"""Tampering: what a service proves is checked offline, and must no longer hold once a byte of it is changed.

The receipt of a release is verified under the ledger's key, its entries by their proofs, and the newest checkpoint must
extend the one that was taken when the audit began. Whoever may read entries has the whole tree hashed again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sordino.errors import SordinoError
from sordino.ledger.canonical import from_base64
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.keys import VerifyingKey
from sordino.ledger.receipt import Receipt, verify_receipt
from sordino.ledger.tree import leaf_hash, root_of, verify_consistency, verify_inclusion

from .finding import Notebook, Probed
from .line import Line

_PAGE = 1000


def checkpoint(line: Line) -> dict[str, Any] | None:
    """Return the newest signed checkpoint, or None where the service shows none."""
    seen = line.get("/ledger/checkpoint")
    return seen.body if seen.status == 200 and isinstance(seen.body, dict) and "note" in seen.body else None


def tamper(
    line: Line, question: dict[str, Any], begun: dict[str, Any] | None, auditor: str | None, key: str | None
) -> Probed:
    """Verify a fresh receipt, proofs of inclusion and of consistency; then change each and see that it fails.

    `begun` is the checkpoint from the beginning of the audit, `key` the ledger's public key as known from elsewhere.
    """
    note = Notebook("tampering")
    if begun is None:
        return note.probed("the service shows no checkpoint of a ledger")
    trusted = key or str(begun["key"])
    ran = line.run(question)
    if ran.status != 200:
        return note.probed(f"the question is not answered here (status {ran.status})")
    _receipts(note, str(ran.body["receipt"]), trusted, ran.request)
    new = checkpoint(line)
    note.check(new is not None, "the checkpoint is gone", "no checkpoint", "GET /api/v1/ledger/checkpoint")
    if new is None:
        return note.probed()
    _grown(note, line, begun, new, trusted)
    if auditor is not None:
        _whole_tree(note, line, auditor, trusted)
    return note.probed()


def _receipts(note: Notebook, text: str, key: str, request: str) -> None:
    note.check(_holds(text, key), "a receipt does not verify", "the receipt of a fresh release", request)
    for place, changed in _changes(text):
        words = f"a receipt with another {place} still verifies"
        note.check(not _holds(changed, key), "a changed receipt verifies", words, request)


def _holds(text: str, key: str) -> bool:
    try:
        verify_receipt(Receipt.from_json(text), key)
    except SordinoError:
        return False
    return True


def _changes(text: str) -> Iterator[tuple[str, str]]:
    """Yield receipts with one thing changed, in their canonical spelling."""
    try:
        plain = json.loads(text)
        charge, settled = json.loads(plain["reserved"]), json.loads(plain["settled"])
    except (TypeError, ValueError, KeyError):
        return
    for field in ("analyst", "event", "neighbours", "unit", "id"):
        yield (
            f"{field} of the charge",
            _spelt(plain | {"reserved": _spelt(charge | {field: _other(charge.get(field))})}),
        )
    yield "place of the charge", _spelt(plain | {"reserved": _spelt(charge | {"sequence": charge["sequence"] + 1})})
    yield "digest of the release", _spelt(plain | {"settled": _spelt(settled | {"release": "0" * 64})})
    if isinstance(plain.get("release"), dict) and isinstance(plain["release"].get("text"), str):
        longer = plain["release"]["text"].replace("1", "2").replace("7", "8")
        yield "release", _spelt(plain | {"release": {"text": longer + " "}})
    for proof in ("reserved_proof", "settled_proof"):
        if plain.get(proof):
            yield proof, _spelt(plain | {proof: plain[proof][::-1] if len(plain[proof]) > 1 else []})
    yield "checkpoint", _spelt(plain | {"checkpoint": _next_size(str(plain["checkpoint"]))})


def _other(value: Any) -> Any:
    return f"{value}-changed" if isinstance(value, str) else "changed"


def _next_size(signed: str) -> str:
    lines = signed.split("\n")
    return "\n".join([lines[0], str(int(lines[1]) + 1), *lines[2:]])


def _spelt(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _grown(note: Notebook, line: Line, begun: dict[str, Any], new: dict[str, Any], key: str) -> None:
    """Check that the ledger of now extends the one of the beginning, under the same key."""
    request = f"GET /api/v1/ledger/consistency?old={begun['size']}&new={new['size']}"
    try:
        verifier = VerifyingKey.parse(key)
        old_tree, new_tree = (Checkpoint.open(str(each["note"]), verifier) for each in (begun, new))
    except SordinoError as error:
        note.check(False, "a checkpoint is not signed by the ledger's key", error.code, "GET /api/v1/ledger/checkpoint")
        return
    seen = line.get("/ledger/consistency", params={"old": old_tree.size, "new": new_tree.size})
    proof = _hashes(seen.body)
    holds = proof is not None and verify_consistency(old_tree.size, old_tree.root, new_tree.size, new_tree.root, proof)
    words = f"from {old_tree.size} to {new_tree.size} entries, status {seen.status}"
    note.check(holds, "the ledger does not extend what it was", words, request)


def _whole_tree(note: Notebook, line: Line, auditor: str, key: str) -> None:
    """Hash all entries again; take the proof of the newest, and see that it fails for another entry."""
    now = checkpoint(line)
    if now is None:
        return
    tree = Checkpoint.open(str(now["note"]), VerifyingKey.parse(key))
    entries: list[bytes] = []
    while len(entries) < tree.size:
        where = {"start": len(entries), "end": min(len(entries) + _PAGE, tree.size)}
        seen = line.get("/ledger/entries", token=auditor, params=where)
        page = seen.body.get("entries", []) if isinstance(seen.body, dict) else []
        if not page:
            note.check(False, "entries are missing", f"status {seen.status} at {len(entries)}", seen.request)
            return
        entries += [str(each["canonical"]).encode() for each in page]
    request = f"GET /api/v1/ledger/entries?start=0&end={tree.size}"
    same = root_of([leaf_hash(each) for each in entries]) == tree.root
    note.check(same, "the entries are not those that were signed", f"{tree.size} entries", request)
    last = tree.size - 1
    seen = line.get("/ledger/inclusion", token=auditor, params={"position": last, "size": tree.size})
    proof = _hashes(seen.body) or []
    holds = verify_inclusion(leaf_hash(entries[last]), last, tree.size, proof, tree.root)
    note.check(holds, "a proof of inclusion does not hold", f"entry {last} of {tree.size}", seen.request)
    forged = verify_inclusion(leaf_hash(entries[last] + b" "), last, tree.size, proof, tree.root)
    note.check(not forged, "a proof holds for another entry", f"entry {last} of {tree.size}", seen.request)


def _hashes(body: Any) -> list[bytes] | None:
    match body:
        case {"proof": list(proof)}:
            return [from_base64(str(each)) for each in proof]
    return None
