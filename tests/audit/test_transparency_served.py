"""Reports from a running service: what an owner may read of the ledger, what an analyst is told, and receipts."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from fastapi.testclient import TestClient

import sordino as so
from serve.conftest import Caller
from serve.places import CANARY_NUMBER, CANARY_TEXT, opened
from sordino.accounting.budget import Budget, budget
from sordino.accounting.columns import Columns
from sordino.accounting.event import Event
from sordino.accounting.events import Gaussian, Laplace
from sordino.accounting.filter import Filter
from sordino.accounting.neighbours import Neighbours
from sordino.audit.transparency.receipts import check_receipt
from sordino.audit.transparency.report import Report
from sordino.errors import ArgumentError, LedgerError
from sordino.ledger.canonical import encode
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.entries import Charge, Opened, Reserved, Settled, to_bytes
from sordino.ledger.keys import SigningKey
from sordino.ledger.receipt import Placed, Receipt, release_digest
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope
from sordino.ledger.tree import Frontier, leaf_hash, node_hash
from sordino.serve.afar.client import Connection
from sordino.serve.app import create_app

CITIES = "SELECT city, COUNT(*) AS rides, AVG(fare) AS fare FROM trips GROUP BY city"


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    """A service at which an analyst has asked two questions."""
    with opened(tmp_path_factory.mktemp("served")) as service, TestClient(create_app(service)) as client:
        caller = Caller(service, client)
        ann = connection(caller, "analyst")
        ann.sql(CITIES).run(epsilon="0.25")
        ann.sql("SELECT COUNT(*) AS n FROM trips").run(epsilon="0.125")
        yield caller


def connection(call: Caller, who: str, key: str | None = None) -> Connection:
    call.client.headers["Authorization"] = f"Bearer {call.tokens[who]}"
    return Connection(call.client, key=key, pause=lambda _: None)


def without_time(content: dict[str, Any]) -> dict[str, Any]:
    told = {name: value for name, value in content.items() if name != "made"}
    told["registry"] = {**told["registry"]["deployment"], "administrative": None}
    return told


def test_an_owner_reads_the_same_by_the_service_as_from_the_ledger(call: Caller) -> None:
    ledger = call.service.ledger
    for words in ({}, {"named": True}):
        here = so.audit.report(ledger, "trips", **words)
        there = so.audit.report(connection(call, "owner", ledger.key.text), "trips", **words)
        assert without_time(there.content) == without_time(here.content)


def test_an_auditor_signs_with_a_key_of_her_own(call: Caller) -> None:
    ada = SigningKey.generate("ada.example")
    told = so.audit.report(connection(call, "auditor"), "trips", named=True).sign(ada)
    public = call.service.ledger.key.text
    assert told.check(public, signer=ada.verifier.text).holds
    assert not told.check(public).holds


def test_an_analyst_is_told_less_and_what_is_told_is_right(call: Caller) -> None:
    ada = SigningKey.generate("ada.example")
    told = so.audit.report(connection(call, "analyst"), "trips").sign(ada)
    assert told.content["budget"]["rules"] == []
    checked = told.check(call.service.ledger.key.text, signer=ada.verifier.text)
    outcomes = {check.name: check.outcome for check in checked.checks}
    assert outcomes["charges"] == outcomes["totals"] == "not checked"
    assert outcomes["prices"] == outcomes["noise"] == "holds"
    owner = so.audit.report(call.service.ledger, "trips").content
    for name in ("protected", "composition"):
        assert told.content[name] == owner[name]
    assert [row["event"] for row in told.content["releases"]] == [row["event"] for row in owner["releases"]]
    for text in (told.to_json(), told.to_html()):
        assert CANARY_TEXT not in text
        assert str(CANARY_NUMBER) not in text
        assert "SELECT" not in text


def test_an_analyst_reports_on_her_own_release(call: Caller) -> None:
    ann = connection(call, "analyst")
    newest = ann.account("trips").history[0]
    told = so.audit.report(ann, "trips", release=newest["id"])
    public = call.service.ledger.key.text
    ada = SigningKey.generate("ada.example")
    checked = told.sign(ada).check(public, signer=ada.verifier.text)
    assert {check.name: check.outcome for check in checked.checks}["receipt"] == "holds"
    assert checked.holds
    assert "SELECT COUNT(*)" in told.to_html()


def test_a_service_that_leaves_an_entry_out_is_found(call: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = connection(call, "owner")
    get = owner.remote.get

    def without_the_last(path: str, **words: Any) -> dict[str, Any]:
        found = get(path, **words)
        if path == "/ledger/entries" and found["entries"]:
            found["entries"].pop()
        return found

    monkeypatch.setattr(owner.remote, "get", without_the_last)
    with pytest.raises(LedgerError, match="not those that its checkpoint signs"):
        so.audit.report(owner, "trips")
    with pytest.raises(LedgerError, match="another ledger"):
        so.audit.report(connection(call, "owner", SigningKey.generate("x").verifier.text), "trips")


def test_a_receipt_of_the_service_holds(call: Caller) -> None:
    ann = connection(call, "analyst")
    text = ann.remote.receipt(ann.account("trips").history[0]["id"])
    public = call.service.ledger.key.text
    assert check_receipt(text, public).holds
    assert check_receipt(text + "\n", public).holds
    assert not check_receipt(text.replace("query", "queri"), public).holds
    with pytest.raises(ArgumentError, match="SRD-V060"):
        Report.from_json(text)


# ---- receipts that a dishonest ledger would sign --------------------------------------------------------------------


def receipt_for(
    event: Event, amount: tuple[int, ...], told: dict[str, Any] | None = None, cap: Budget | None = None
) -> tuple[str, str]:
    """Return a receipt, signed as it must be, for a charge of any amount; and the key."""
    key = SigningKey.generate("somebody.example")
    body = encode({"details": told})
    identifier, digest = "1-0123456789abcdef", "0" * 64
    rule = Rule.open(cap or budget(epsilon=9), unit="rider", neighbours=Neighbours.ADD_REMOVE)
    opened = Opened(0, 1, Scope("dataset", "trips"), rule, "owner")
    reserved = Reserved(
        1,
        1,
        identifier,
        (Charge(Scope("dataset", "trips"), (), amount),),
        event.to_json(),
        "rider",
        "add-remove",
        "1 1 1 1",
        "ann",
        None,
        "query",
        digest,
        None,
        digest,
    )
    settled = Settled(2, 2, identifier, release_digest(body))
    bodies = [to_bytes(each) for each in (opened, reserved, settled)]
    first, second, third = map(leaf_hash, bodies)
    note = Checkpoint("somebody.example", 3, Frontier().extend([first, second, third]).root).sign(key)
    rules = (Placed(bodies[0], (second, third)),)
    receipt = Receipt(
        bodies[1], (first, third), bodies[2], (node_hash(first, second),), note, key.verifier.text, body, rules
    )
    return receipt.to_json(), key.verifier.text


NOISE = Laplace(scale=2)
FACTS = {"event": NOISE.to_json(), "unit": "rider", "neighbours": "add-remove", "price": {"epsilon": "1/2"}}
CAPS = {"pure": budget(epsilon=9), "zcdp": budget(rho=9), "renyi": budget(epsilon=9, delta="1e-6")}


@pytest.mark.parametrize("cap", CAPS.values(), ids=CAPS)
def test_a_charge_must_cover_its_event(cap: Budget) -> None:
    due = Filter.open(cap).charge(NOISE)
    checked = check_receipt(*receipt_for(NOISE, due, FACTS, cap))
    assert checked.holds
    assert {check.name: check.outcome for check in checked.checks}["caps"] == "not checked"
    for place in range(1, len(due)):
        short = (*due[:place], due[place] - 1, *due[place + 1 :])
        checks = check_receipt(*receipt_for(NOISE, short, FACTS, cap)).checks
        assert {check.name: check.outcome for check in checks}["charges"] == "broken"
    assert not check_receipt(*receipt_for(NOISE, due[:-1], FACTS, cap)).holds


def test_gaussian_noise_has_no_pure_price() -> None:
    event, cap = Gaussian(variance=9), CAPS["renyi"]
    due = Filter.open(cap).charge(event)
    assert check_receipt(*receipt_for(event, due, cap=cap)).holds
    assert not check_receipt(*receipt_for(event, (*due[:-1], 10**12), cap=cap)).holds
    assert not check_receipt(*receipt_for(event, (0, 10**15))).holds


@pytest.mark.parametrize(
    "lie", [{"price": {"epsilon": "2/5"}}, {"unit": "family"}, {"event": Laplace(scale=3).to_json()}], ids=str
)
def test_a_release_that_says_otherwise_is_found(lie: dict[str, Any]) -> None:
    checked = check_receipt(*receipt_for(NOISE, Columns("pure").charge(NOISE), FACTS | lie))
    assert {check.name: check.outcome for check in checked.checks}["words"] == "broken"


def test_without_its_release_only_the_charge_is_checked() -> None:
    text, key = receipt_for(NOISE, Columns("pure").charge(NOISE), FACTS)
    alone = replace(Receipt.from_json(text), release=None).to_json()
    checked = check_receipt(alone, key)
    assert checked.holds
    assert {check.name: check.outcome for check in checked.checks}["release"] == "not checked"


def test_reports_by_day_add_up(tmp_path: Path) -> None:
    days = [datetime.date(2026, 1, 1 + number % 3) for number in range(30)]
    table = pa.table({"who": list(range(30)), "day": days})
    visits = so.dataset(
        "visits",
        table,
        unit="who",
        limits=so.limits(rows=1),
        blocks=so.days("day", protects="person-day", first="2026-01-01"),
    )
    with so.open(tmp_path / "b.db") as house:
        account = house.account(visits, so.budget(epsilon=1))
        for day in ("2026-01-01", "2026-01-02"):
            account.table("visits").filter(so.col("day") == day).agg(n=so.count()).run(epsilon=1)
        told = so.audit.report(account, named=True).sign(tmp_path / "b.db.key")
        checked = told.check(house.ledger.key.text)
        assert checked.holds, str(checked)
        assert [row["days"] for row in told.content["releases"]] == [["2026-01-01"], ["2026-01-02"]]
