"""A report from what a service tells somebody who may not read the whole ledger: an analyst, or anybody.

It says as much as the service's transparency page: events, prices and parts of the budget, but no charges column by
column and no rule, so less of it can be computed again. The report of one release encloses that release's receipt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.accounting.event import Event
from sordino.ledger.entries import Reserved, Settled, from_bytes
from sordino.ledger.receipt import Receipt
from sordino.ledger.scope import Scope
from sordino.serve.afar.remote import part

from .book import Charged
from .content import COMPOSITION, completed, head, mechanisms, protected, rounded, without_answer
from .released import share_text, told_hiding, told_noise, told_parts, told_release
from .sources import released_body
from .statements import Statements

if TYPE_CHECKING:
    from sordino.serve.afar.client import Connection

Plain = Mapping[str, Any]


def told_content(connection: Connection, dataset: str, statements: Statements) -> dict[str, Any]:
    """Return what is to be said about a data set, by its transparency page."""
    found = connection.remote.get(f"/transparency/{part(dataset)}")
    rows = [_row(each) for each in reversed(found["releases"])]
    subject = {"kind": "dataset", "dataset": dataset}
    return completed(_content(connection, found, rows, subject) | {"evidence": None, "receipt": None}, statements)


def told_release_content(connection: Connection, identifier: str, statements: Statements) -> dict[str, Any]:
    """Return what is to be said about one release, by its receipt and the page of its data set."""
    receipt = Receipt.from_json(connection.remote.receipt(identifier))
    charged = _charged(receipt)
    dataset = next(each.scope.name for each in charged.reserved.charges if each.scope.kind == "dataset")
    found = connection.remote.get(f"/transparency/{part(dataset)}")
    row = told_release(charged, None, released_body(receipt), named=True)
    subject = {"kind": "release", "dataset": dataset, "release": identifier}
    whole = _content(connection, found, [row], subject)
    return completed(whole | {"evidence": None, "receipt": without_answer(receipt)}, statements)


def _charged(receipt: Receipt) -> Charged:
    reserved, settled = from_bytes(receipt.reserved), from_bytes(receipt.settled)
    assert isinstance(reserved, Reserved)  # noqa: S101  (a service's receipts are of charges)
    assert isinstance(settled, Settled)  # noqa: S101
    charge = next(each for each in reserved.charges if Scope.parse(each.scope.text).kind == "dataset")
    return Charged(reserved, settled, charge.days, charge.amount)


def _row(each: Plain) -> dict[str, Any]:
    event = json.dumps(each["event"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {
        "position": each["position"],
        "time": each["time"],
        "what": each["what"],
        "outcome": each["outcome"],
        "unit": each["unit"],
        "neighbours": each["neighbours"],
        "event": Event.from_json(event).to_json(),
        "days": [],
        "charge": None,
        "share": share_text(Fraction(str(each["part"]))),
        "price": each["price"],
        "parts": told_parts(each["event"], None, (), named=False),
        "noise": [told_noise(noise, named=False) for noise in each["noise"] or ()],
        "bounding": each["bounding"],
        "hides": told_hiding(each["bounding"], each["unit"]),
        "version": None,
    }


def _content(connection: Connection, found: Plain, rows: list[dict[str, Any]], subject: Plain) -> dict[str, Any]:
    signed, budget = connection.remote.get("/ledger/checkpoint"), found["budget"]
    return head(subject, signed["key"], signed["note"]) | {
        "protected": protected(found["unit"], found["neighbours"], found["promise"]),
        "budget": {
            "text": budget["budget"],
            "calculus": budget["calculus"],
            **{name: _exact(budget[name]) for name in ("epsilon", "delta", "rho")},
            "refresh": budget["refresh"],
            "blocks": None,
            "groups": list(found["groups"]),
            "rules": [],
        },
        "composition": COMPOSITION[budget["calculus"]],
        "spent": _spent(found),
        "burnt": [],
        "mechanisms": mechanisms(rows),
        "releases": rows,
    }


def _spent(found: Plain) -> dict[str, Any]:
    lifetime, outcomes = found["lifetime"], [each["outcome"] for each in found["releases"]]
    return {
        "charges": found["charges"],
        "settled": outcomes.count("settled"),
        "failed": found["failed"],
        "open": outcomes.count("open"),
        "used": share_text(Fraction(str(found["budget"]["used"]))),
        "counted_in": lifetime["counted_in"],
        "columns": [{"name": lifetime["counted_in"], "spent": lifetime["spent"], "cap": None}],
        "lifetime": None,
        "loss": lifetime["loss"] and {name: rounded(Fraction(str(value))) for name, value in lifetime["loss"].items()},
    }


def _exact(value: float | None) -> str | None:
    return None if value is None else str(Fraction(str(value)))
