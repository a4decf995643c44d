"""Checking a receipt offline: its proofs, and that what was charged covers the price of the event in it.

**Guarantee.** *holds* means: `verify_receipt` accepts it; no data set and no group was charged less than its event
costs, in any column of its budget; and what was released, where it is at hand, speaks of the same event, unit and
neighbours and of a price that covers the event. What a receipt cannot show is named as *not checked*.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sordino.errors import ArgumentError, LedgerError
from sordino.ledger.receipt import Facts, Receipt, verify_receipt
from sordino.ledger.repricing import repriced

from .arithmetic import covers
from .checks import Check, Checked, judged, unchecked


def check_receipt(text: str, key: str, release: bytes | None = None) -> Checked:
    """Return what holds of the receipt that `text` spells, for somebody who trusts the ledger's public `key`."""
    try:
        facts = verify_receipt(Receipt.from_json(text.removesuffix("\n")), key, release)
    except LedgerError as error:
        return Checked("the receipt", (Check("proof", "broken", error.message),))
    subject = f"the receipt of the charge at {facts.reserved.sequence}"
    proof = Check("proof", "holds", f"signed by {facts.checkpoint.origin}, charged before it was settled")
    try:
        return Checked(subject, (proof, *_charges(facts), *_released(facts)))
    except ArgumentError as error:
        return Checked(subject, (proof, Check("event", "broken", error.message)))


def _charges(facts: Facts) -> Iterable[Check]:
    covered, short, skipped = repriced(facts.reserved, facts.rules)
    yield judged("charges", short, f"what was charged covers the event, priced again: {'; '.join(covered)}")
    if skipped:
        yield unchecked("policy", f"the rules of {', '.join(skipped)} are in no receipt; they protect nobody")
    yield unchecked("caps", "that all charges together kept within the budget: verify the ledger, with --reprice")


def _released(facts: Facts) -> Iterable[Check]:
    if facts.release is None:
        yield unchecked("release", "only its digest is known; give what was released, to be compared")
        return
    yield Check("release", "holds", "what was released is what was settled")
    told = _told(facts.release)
    if told is None:
        yield unchecked("words", "what was released does not say what it was charged for")
        return
    same = {"event": facts.reserved.event, "unit": facts.reserved.unit, "neighbours": facts.reserved.neighbours}
    wrong = [
        f"what was released names another {name} than was charged" for name in same if told.get(name) != same[name]
    ]
    if covers(told.get("price") or {}, facts.reserved.priced) is False:
        wrong.append("what was released names a price that does not cover its event")
    yield judged("words", wrong, "what was released says of itself what was charged")


def _told(body: bytes) -> dict[str, Any] | None:
    try:
        told = json.loads(body)["details"]
    except (ValueError, KeyError, TypeError):
        return None
    return told if isinstance(told, dict) else None
