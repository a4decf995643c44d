"""Checking a report offline, with public keys alone: who signed it, where its charges stand, whether its sums hold.

**Guarantee.** *holds* means: the key that the caller trusts signed exactly this content; the checkpoint in it is the
ledger's; every entry and receipt that is enclosed is in the tree that the checkpoint signs and says what the report
says; every charge covers the price of its event, computed again from the event; every stand-alone price does; no charge
exceeded the caps of its time; the totals are the sums of the charges. What the file does not hold is *not checked*.
**Assumes.** The keys came by another way than the report. That the report leaves no charge out is not proven by it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any

from sordino.accounting.columns import Vector
from sordino.accounting.event import Event
from sordino.errors import ArgumentError, LedgerError, SordinoError
from sordino.ledger.canonical import from_base64
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.entries import Budgeted, Failed, Opened, Reserved, Restored, Settled, from_bytes
from sordino.ledger.keys import VerifyingKey
from sordino.ledger.note import open_note
from sordino.ledger.periods import moment
from sordino.ledger.receipt import Receipt, verify_receipt
from sordino.ledger.rule import Rule
from sordino.ledger.tree import leaf_hash, verify_inclusion
from sordino.ledger.vectors import read_vector, vector_text

from .arithmetic import Spending, Step, covers, leaves, replay
from .checks import Check, Checked, judged, unchecked
from .content import rounded
from .released import LAWS
from .report import Report

Content = Mapping[str, Any]


def check_report(told: Report, key: str, *, signer: str | None = None, release: bytes | None = None) -> Checked:
    """Return what holds of a report.

    Args:
        told: the report.
        key: the text of the ledger's public key, known from elsewhere.
        signer: the public key of whoever signed the report, where that is not the ledger's own.
        release: what is said to have been released, where the report is of one release.
    """
    content = told.content
    checks: list[Callable[[], Check | Iterable[Check]]] = [
        lambda: _signature(told, signer or key),
        lambda: _checkpoint(content, key),
        lambda: _entries(content, key),
        lambda: _receipt(content, key, release),
        lambda: _charges(content),
        lambda: _prices(content),
        lambda: _noises(content),
        lambda: _totals(content),
    ]
    found: list[Check] = []
    for check in checks:
        made = _made(check)
        found += [made] if isinstance(made, Check) else made
    return Checked(f"the transparency report of {_dataset(content)}", tuple(found))


def _dataset(content: Content) -> str:
    match content.get("subject"):
        case {"dataset": str(name)}:
            return name
    return "nobody knows what"


def _made(check: Callable[[], Check | Iterable[Check]]) -> Check | list[Check]:
    """Return the findings of a check; what cannot even be read is broken."""
    try:
        made = check()
        return made if isinstance(made, Check) else list(made)
    except LedgerError as error:
        return Check("the ledger's signatures", "broken", error.message)
    except (SordinoError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        return Check("the form of the report", "broken", f"a part is missing or malformed ({type(error).__name__})")


def _signature(told: Report, signer: str) -> Check:
    name = "signature"
    if told.note is None:
        return Check(name, "broken", "nobody has signed this report")
    try:
        signed = open_note(told.note, (VerifyingKey.parse(signer),))
    except LedgerError as error:
        return Check(name, "broken", error.message)
    if signed != told.statement:
        return Check(name, "broken", "the signature is of another content: the report was changed after it was signed")
    return Check(name, "holds", f"signed by {VerifyingKey.parse(signer).name}, byte for byte")


def _checkpoint(content: Content, key: str) -> Check:
    ledger, verifier = content["ledger"], VerifyingKey.parse(key)
    if ledger["key"] != verifier.text:
        return Check("checkpoint", "broken", f"the report is of the ledger with the key {ledger['key']:.200}")
    checkpoint = Checkpoint.open(ledger["checkpoint"], verifier)
    wrong = [] if checkpoint.size == ledger["size"] else ["the report says another size than its checkpoint"]
    return judged("checkpoint", wrong, f"the ledger signed {checkpoint.size} entries")


def _entries(content: Content, key: str) -> Iterable[Check]:
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


def _receipt(content: Content, key: str, release: bytes | None) -> Check:
    name = "receipt"
    if content["receipt"] is None:
        if release is not None:
            raise ArgumentError("a report of a whole data set has no single release to compare", "SRD-A003")
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


def _rule_at(content: Content, position: int) -> Rule | None:
    rules = [each for each in content["budget"]["rules"] if each["position"] < position]
    return Rule.from_plain(rules[-1]["rule"]) if rules else None


def _charges(content: Content) -> Iterable[Check]:
    name = "charges"
    if not content["budget"]["rules"]:
        yield unchecked(name, "the report holds no rule to price events by")
        return
    wrong, unit = [], content["protected"]["unit"]
    for row in content["releases"]:
        rule = _rule_at(content, row["position"])
        event = Event.from_json(row["event"])
        if rule is None or (row["unit"], row["neighbours"]) != (unit, content["protected"]["neighbours"]):
            wrong.append(f"the charge at {row['position']} is for other units than the data set protects")
        elif not _covered(rule.filter.charge(event), read_vector(row["charge"])):
            wrong.append(f"the charge at {row['position']} is less than what its event costs")
    yield judged(name, wrong, f"{len(content['releases'])} charges cover their events, priced again from the events")
    if content["subject"]["kind"] == "dataset":
        exceeded = [f"the charge at {position} exceeded its caps" for position in _spending(content).exceeded]
        yield judged("caps", exceeded, "no charge exceeded the caps of its time")


def _covered(price: Vector, charge: Vector) -> bool:
    return len(price) == len(charge) and all(map(int.__le__, price, charge))


def _prices(content: Content) -> Check:
    name, wrong, counted = "prices", [], 0
    for row in content["releases"]:
        if row["price"] is None:
            continue
        covered = covers(row["price"], Event.from_json(row["event"]))
        counted += covered is not None
        if covered is False:
            wrong.append(f"the release at {row['position']} costs more than the price that it names")
    if not counted:
        return unchecked(name, "no release names a price of its own")
    return judged(name, wrong, f"{counted} stand-alone prices cover their events")


def _noises(content: Content) -> Check:
    """Every noise that a release names must be among the noises of the event that was charged."""
    wrong, counted = [], 0
    for row in content["releases"]:
        parts = leaves(json.loads(row["event"]))
        for noise in row["noise"]:
            parameter = LAWS.get(noise["law"])
            if parameter is None:
                continue
            counted += 1
            width = Fraction(noise[parameter])
            if not any(parameter in leaf and Fraction(leaf[parameter]) == width for leaf in parts):
                wrong.append(f"the release at {row['position']} names a noise that was not priced")
    if not counted:
        return unchecked("noise", "no release names the law of its noise")
    return judged("noise", wrong, f"{counted} noises are as wide as the events that were priced say")


def _totals(content: Content) -> Check:
    name, said = "totals", content["spent"]
    if said["lifetime"] is None or content["subject"]["kind"] != "dataset":
        return unchecked(name, "the charges of the other releases are not in this report")
    spending = _spending(content)
    wrong = []
    if vector_text(spending.lifetime) != said["lifetime"]:
        wrong.append("the total is not the sum of the charges")
    if said["charges"] != len(content["releases"]):
        wrong.append("the report counts other charges than it lists")
    loss = spending.loss
    true = None if loss is None else {"epsilon": rounded(loss[0]), "delta": rounded(loss[1])}
    if true != said["loss"]:
        wrong.append("the loss in all is not what the charges add up to")
    return judged(name, wrong, f"{said['charges']} charges add up to what the report says")


def _spending(content: Content) -> Spending:
    steps = [
        Step(each["position"], _time(each["time"]), rule=Rule.from_plain(each["rule"]))
        for each in content["budget"]["rules"]
    ]
    steps += [
        Step(row["position"], _time(row["time"]), amount=read_vector(row["charge"]), days=tuple(row["days"]))
        for row in content["releases"]
    ]
    steps += [
        Step(each["position"], _time(each["time"]), amount=read_vector(each["amount"]), burns=True)
        for each in content["burnt"]
    ]
    return replay(steps, _time(content["made"]))


def _time(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp()) * 1000
