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
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.keys import VerifyingKey
from sordino.ledger.note import open_note
from sordino.ledger.rule import Rule
from sordino.ledger.vectors import read_vector, vector_text

from .agreement import check_enclosed_receipt, check_entries
from .arithmetic import Spending, Step, covers, leaves, replay
from .checks import Check, Checked, judged, unchecked
from .content import rounded
from .released import LAWS
from .report import Report

Content = Mapping[str, Any]
_CLAIMED = frozenset({"pure", "approximate", "concentrated"})
"""Events that say what a step costs and not what it ran."""


def check_report(told: Report, key: str, *, signer: str | None = None, release: bytes | None = None) -> Checked:
    """Return what holds of a report.

    Args:
        told: the report.
        key: the text of the ledger's public key, known from elsewhere.
        signer: the public key of whoever signed the report, where that is not the ledger's own.
        release: what is said to have been released, where the report is of one release.
    """
    content = told.content
    if release is not None and content.get("receipt") is None:
        raise ArgumentError("a report of a whole data set has no single release to compare", "SRD-A003")
    checks: list[Callable[[], Check | Iterable[Check]]] = [
        lambda: _signature(told, signer or key),
        lambda: _checkpoint(content, key),
        lambda: check_entries(content, key),
        lambda: check_enclosed_receipt(content, key, release),
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
    except SordinoError as error:
        return Check("the form of the report", "broken", error.message)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
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
    """Every noise that a release names must be among the noises of the event that was charged.

    Where a part of the event was priced by its ε alone, because its noise depends on what an earlier part found, the
    event names no width, and there is nothing to compare.
    """
    wrong, counted = [], 0
    for row in content["releases"]:
        event = json.loads(row["event"])
        if any(leaf["kind"] in _CLAIMED for leaf in leaves(event)):
            continue
        widths = set(_widths(event))
        for noise in row["noise"]:
            parameter = LAWS.get(noise["law"])
            if parameter is None:
                continue
            counted += 1
            if (parameter, Fraction(noise[parameter])) not in widths:
                wrong.append(f"the release at {row['position']} names a noise that was not priced")
    if not counted:
        return unchecked("noise", "no release names the law of its noise")
    return judged("noise", wrong, f"{counted} noises are as wide as the events that were priced say")


def _widths(event: Any) -> Iterable[tuple[str, Fraction]]:
    """Yield how wide the noises of an event in JSON are, however deep they lie."""
    if isinstance(event, list):
        for each in event:
            yield from _widths(each)
    elif isinstance(event, dict):
        yield from ((name, Fraction(event[name])) for name in LAWS.values() if name in event)
        for each in event.values():
            yield from _widths(each)


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
