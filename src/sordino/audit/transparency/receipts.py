"""Checking a receipt offline: its proofs, and that what was charged covers the price of the event in it.

A receipt holds amounts but not the rule of the budget, so the columns that every rule shares are computed again: the
events' own δ, and the last one, which is ρ or the pure ε. Rényi divergences in between must grow with the order and
not exceed the pure ε, as they do for any event.

**Guarantee.** *holds* means: `verify_receipt` accepts it; no scope was charged less than its event costs in those
columns; and what was released, where it is at hand, speaks of the same event, unit and neighbours and of a price that
covers the event.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from sordino.accounting.budget import Calculus
from sordino.accounting.columns import Columns, Vector
from sordino.accounting.event import Event
from sordino.accounting.units import SATURATED
from sordino.errors import ArgumentError, LedgerError, SordinoError
from sordino.ledger.receipt import Facts, Receipt, verify_receipt

from .arithmetic import covers
from .checks import Check, Checked, judged, unchecked

_PLAIN = 2
"""Columns of a budget without orders."""


def check_receipt(text: str, key: str, release: bytes | None = None) -> Checked:
    """Return what holds of the receipt that `text` spells, for somebody who trusts the ledger's public `key`."""
    try:
        facts = verify_receipt(Receipt.from_json(text.removesuffix("\n")), key, release)
    except LedgerError as error:
        return Checked("the receipt", (Check("proof", "broken", error.message),))
    subject = f"the receipt of the charge at {facts.reserved.sequence}"
    proof = Check("proof", "holds", f"signed by {facts.checkpoint.origin}, charged before it was settled")
    try:
        return Checked(subject, (proof, _charges(facts), *_released(facts)))
    except ArgumentError as error:
        return Checked(subject, (proof, Check("event", "broken", error.message)))


def _charges(facts: Facts) -> Check:
    event = facts.reserved.priced
    how = {str(charge.scope): _covered(event, charge.amount) for charge in facts.reserved.charges}
    wrong = [f"{scope} was charged less than the event costs" for scope, words in how.items() if words is None]
    words = "; ".join(f"{scope} {words}" for scope, words in how.items())
    return judged("charges", wrong, f"what was charged covers the event, priced again: {words}")


def _covered(event: Event, amount: Vector) -> str | None:
    """Return how an amount covers an event in the columns that can be computed without the rule; None if it does not.

    With two columns the last is ε or ρ, and which of them only the rule says: so it is told.
    """
    if len(amount) > _PLAIN:
        return "as Rényi divergences up to pure ε" if _covered_by_orders(event, amount) else None
    if _at_least(amount, event, "pure"):
        return "as pure ε"
    return "if its budget is one of ρ" if _at_least(amount, event, "zcdp") else None


def _covered_by_orders(event: Event, amount: Vector) -> bool:
    finite, pure = amount[1:-1], amount[-1]
    grows = all(lower <= upper for lower, upper in pairwise(finite))
    return grows and (not finite or finite[-1] <= pure) and _at_least((amount[0], pure), event, "renyi")


def _at_least(amount: Vector, event: Event, calculus: Calculus) -> bool:
    try:
        price = Columns(calculus).charge(event)
    except SordinoError:
        return amount[-1] >= SATURATED
    return amount[0] >= price[0] and amount[1] >= price[-1]


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
        told = json.loads(body)["receipt"]
    except (ValueError, KeyError, TypeError):
        return None
    return told if isinstance(told, dict) else None
