"""What a report says, against what it encloses: entries with their proofs, and the receipt of a single release."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sordino.ledger.canonical import from_base64
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.entries import Budgeted, Failed, Opened, Reserved, Restored, Settled, from_bytes
from sordino.ledger.keys import VerifyingKey
from sordino.ledger.periods import moment
from sordino.ledger.receipt import Receipt, verify_receipt
from sordino.ledger.rule import Rule
from sordino.ledger.tree import leaf_hash, verify_inclusion
from sordino.ledger.vectors import vector_text

from .checks import Check, judged, unchecked

Content = Mapping[str, Any]


def check_entries(content: Content, key: str) -> Iterable[Check]:
    """Check that the enclosed entries stand in the ledger, and that the report says what they say."""
    enclosed = content["evidence"]
    if enclosed is None:
        yield unchecked("entries", "none are enclosed: that they stand in the ledger is the word of whoever signed")
        return
    checkpoint = Checkpoint.open(content["ledger"]["checkpoint"], VerifyingKey.parse(key))
    wrong, entries = [], []
    for each in enclosed:
        data = each["entry"].encode()
        entry = from_bytes(data)
        proof = [from_base64(text) for text in each["proof"]]
        placed = verify_inclusion(leaf_hash(data), entry.sequence, checkpoint.size, proof, checkpoint.root)
        if entry.sequence != each["position"] or not placed:
            wrong.append(f"entry {each['position']} is not in the ledger at its place")
        entries.append(entry)
    yield judged("entries", wrong, f"{len(entries)} enclosed entries stand in the ledger where they say")
    yield _agreement(content, entries)


def _agreement(content: Content, entries: list[Any]) -> Check:
    """Compare what the report says with the entries that it encloses."""
    whole = content["subject"]["kind"] == "dataset"
    scope = f"dataset:{content['subject']['dataset']}"
    rules = {each["position"]: each["rule"] for each in content["budget"]["rules"]}
    rows = {row["position"]: row for row in content["releases"]}
    ends = {each.id: each for each in entries if isinstance(each, Settled | Failed)}
    lost = any(isinstance(each, Restored) for each in entries)
    wrong = []
    for entry in entries:
        match entry:
            case Opened() if rules.get(entry.sequence) != entry.rule.to_plain():
                wrong.append(f"entry {entry.sequence} opens the data set with another rule")
            case Budgeted() if Rule.from_plain(rules[entry.sequence]).caps != entry.caps:
                wrong.append(f"entry {entry.sequence} sets another budget")
            case Reserved() if not _same(rows.get(entry.sequence), entry, scope, ends.get(entry.id), lost):
                wrong.append(f"the report tells the charge at {entry.sequence} otherwise, or leaves it out")
    reserved = {each.sequence for each in entries if isinstance(each, Reserved)}
    if whole and set(rows) != reserved:
        wrong.append("the report tells of charges whose entries are not enclosed")
    if set(rules) != {each.sequence for each in entries if isinstance(each, Opened | Budgeted)}:
        wrong.append("the report tells of rules whose entries are not enclosed")
    return judged("agreement", wrong, "what the report says is what the entries say")


def _same(row: Content | None, entry: Reserved, scope: str, end: Any, lost: bool) -> bool:
    if row is None:
        return False
    charge = next(each for each in entry.charges if each.scope.text == scope)
    outcome = "settled" if isinstance(end, Settled) else "failed" if end is not None else row["outcome"]
    said = (row["event"], row["unit"], row["neighbours"], row["time"], row["charge"], row["days"], row["outcome"])
    true = (
        entry.event,
        entry.unit,
        entry.neighbours,
        moment(entry.time),
        vector_text(charge.amount),
        list(charge.days),
        outcome,
    )
    return said == true and (end is not None or lost or row["outcome"] == "open")


def check_enclosed_receipt(content: Content, key: str, release: bytes | None) -> Check:
    """Check the receipt of the one release that a report is about, and that the report says what it says."""
    name = "receipt"
    if content["receipt"] is None:
        return unchecked(name, "a report of a whole data set encloses none")
    receipt = Receipt.from_json(
        json.dumps(content["receipt"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    )
    facts = verify_receipt(receipt, key, release)
    (row,) = content["releases"]
    scope = f"dataset:{content['subject']['dataset']}"
    wrong = []
    if not _same(row, facts.reserved, scope, facts.settled, lost=False):
        wrong.append("the receipt is of another charge than the report tells")
    if facts.reserved.id != content["subject"]["release"]:
        wrong.append("the receipt is of another release")
    compared = "what was released is what was settled" if release is not None else "no release was compared"
    return judged(name, wrong, f"charged at {facts.reserved.sequence}, settled at {facts.settled.sequence}; {compared}")
