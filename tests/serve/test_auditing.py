"""What an auditor asks the service for: the state of the ledger, newest entries, receipts, a watched verification."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from serve.places import ANALYST, AUDITOR, DECLARATIONS, OTHER, OWNER, STRANGER, count, opened
from serve.tampering import RENAMED, alter
from sordino.errors import ArgumentError, FrozenError, LedgerError
from sordino.ledger.receipt import verify_receipt
from sordino.serve.refusals import ForbiddenError, UnknownError
from sordino.serve.service import Service
from sordino.serve.telling import auditing, verifying
from sordino.serve.telling.verifying import Verifying


def awaited(service: Service) -> dict[str, Any]:
    """Return a verification when it has ended."""
    for _ in range(2000):
        found = service.verification(AUDITOR)
        if found["state"] != "running":
            return found
        time.sleep(0.01)
    raise AssertionError("it never ended")


def test_the_state_of_a_sound_ledger(service: Service) -> None:
    state = service.ledger_state(AUDITOR)
    assert (state["frozen"], state["size"]) == (None, 1)
    assert state["witness"] == {"watches": True, "seen": 1, "trouble": None}
    assert state["checkpoint"] == service.checkpoint(AUDITOR)
    for method in (service.ledger_state, service.verification, service.begin_verification, service.newest_entries):
        with pytest.raises(ForbiddenError):
            method(ANALYST)
    with pytest.raises(ForbiddenError):
        service.entry(ANALYST, 0)


def test_entries_from_the_newest_on(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    service.register(OWNER, DECLARATIONS.replace("name: trips", "name: rides"), {"epsilon": 1})
    for who in (ANALYST, OTHER):
        service.run(who, "query", count(0.1))
    places = [each["position"] for each in service.newest_entries(AUDITOR, limit=4)["entries"]]
    assert places == [5, 4, 3, 2]
    assert service.newest_entries(AUDITOR, limit=4)["before"] == 2
    rest = service.newest_entries(AUDITOR, 2, 4)
    assert ([each["position"] for each in rest["entries"]], rest["before"], rest["size"]) == ([1, 0], None, 6)
    kinds = service.newest_entries(AUDITOR, kind="settled")
    assert [each["position"] for each in kinds["entries"]] == [5, 3]
    of_trips = service.newest_entries(AUDITOR, scope="dataset:trips")
    assert [each["position"] for each in of_trips["entries"]] == [5, 4, 3, 2, 0]
    assert [each["position"] for each in service.newest_entries(AUDITOR, scope="dataset:rides")["entries"]] == [1]
    monkeypatch.setattr(auditing, "MOST_LOOKED_AT", 3)
    looked = service.newest_entries(AUDITOR, scope="dataset:rides")
    assert (looked["entries"], looked["before"]) == ([], 3)


def test_an_entry_and_its_proof(service: Service) -> None:
    service.run(ANALYST, "query", count(0.1))
    found = service.entry(AUDITOR, 1)
    assert found["proof"]["holds"]
    assert found["entry"]["analyst"] == "ann"
    assert found["canonical"] == service.entries(AUDITOR, 1, 2)[0]["canonical"]
    with pytest.raises(UnknownError):
        service.entry(AUDITOR, 3)


def test_receipts_hold_or_say_what_is_wrong(service: Service) -> None:
    text = service.run(ANALYST, "query", count(0.1))["receipt"]
    found = service.check_receipt(STRANGER, f"\n{text}\n")
    assert (found["holds"], found["extended"], found["analyst"], found["compared"]) == (True, True, "ann", True)
    service.run(ANALYST, "query", count(0.1))
    assert service.check_receipt(STRANGER, text)["extended"]
    for tampered, code, word in (
        (text.replace('\\"confidence\\":0.95', '\\"confidence\\":0.96'), "SRD-L010", "release was altered"),
        (text.replace("200000000000", "1").replace("100000000000", "1"), "SRD-L009", "the charge in this receipt"),
        (text.replace('settled_proof":["', 'settled_proof":["AAAA'), "SRD-L008", "not a receipt"),
        (text + "x", "SRD-L008", "not a receipt"),
        ("", "SRD-L008", "not a receipt"),
        ("[" * 100_000, "SRD-L008", "not a receipt"),
        ('{"\ud800": 1}', "SRD-L008", "not a receipt"),
    ):
        assert tampered != text
        found = service.check_receipt(STRANGER, tampered)
        assert (found["holds"], found["code"]) == (False, code)
        assert word in found["reason"]


def test_a_receipt_of_another_history_is_told(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    opened(first).close()
    shutil.copytree(first, second)
    with opened(first) as here, opened(second) as there:
        text = here.run(ANALYST, "query", count(0.1))["receipt"]
        assert verify_receipt(here.ledger.receipt(here.releases(ANALYST)[0]["id"]), there.ledger.key.text)
        found = there.check_receipt(ANALYST, text)
        assert (found["holds"], found["extended"]) == (True, False)
        there.run(ANALYST, "query", count(0.1))
        assert there.check_receipt(ANALYST, text)["extended"] is False
        assert here.check_receipt(ANALYST, text)["extended"] is True


def test_a_watched_verification(service: Service) -> None:
    assert service.verification(AUDITOR) == {"state": "never"}
    service.run(ANALYST, "query", count(0.1))
    assert service.begin_verification(AUDITOR)["state"] in ("running", "done")
    found = awaited(service)
    assert (found["state"], found["by"], found["read"], found["of"]) == ("done", "ada", 3, 3)
    assert (found["found"]["sound"], found["found"]["replayed"]) == (True, True)


def test_a_watched_verification_names_what_is_wrong(service: Service, tmp_path: Path) -> None:
    receipt = service.run(ANALYST, "query", count(0.1))["receipt"]
    alter(tmp_path, RENAMED)
    service.begin_verification(AUDITOR)
    found = awaited(service)
    assert not found["found"]["sound"]
    assert found["found"]["problems"][0]["position"] == 1
    state = service.ledger_state(AUDITOR)
    assert state["frozen"]["code"] == found["found"]["problems"][0]["code"]
    assert (state["checkpoint"], state["size"]) == (None, 3)
    assert [each["position"] for each in service.newest_entries(AUDITOR)["entries"]] == [2, 1, 0]
    assert service.entry(AUDITOR, 1)["proof"] is None
    assert service.check_receipt(ANALYST, receipt)["extended"] is None
    with pytest.raises(FrozenError):
        service.run(ANALYST, "query", count(0.1))


def test_bytes_that_are_no_entry_are_shown_as_they_are(service: Service, tmp_path: Path) -> None:
    alter(tmp_path, "UPDATE ledger_entries SET body = ? WHERE position = 0", b"\xff<b>")
    (found,) = service.newest_entries(AUDITOR, scope=None)["entries"]
    assert (found["kind"], found["canonical"]) == ("unreadable", "\ufffd<b>")
    assert service.newest_entries(AUDITOR, scope="dataset:trips")["entries"] == []


def test_a_damaged_row_does_not_hide_the_others(service: Service, tmp_path: Path) -> None:
    service.run(ANALYST, "query", count(0.1))
    alter(tmp_path, "UPDATE ledger_entries SET body = 'a text' WHERE position = 1")
    kinds = [each["kind"] for each in service.newest_entries(AUDITOR)["entries"]]
    assert kinds == ["settled", "unreadable", "opened"]
    assert service.entry(AUDITOR, 1)["canonical"] == ""


def test_one_verification_at_a_time_that_ends_with_the_service(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(_: object, told: Any) -> dict[str, Any]:
        begun.set()
        go_on.wait(10)
        told(1, 2)
        return {"sound": True}

    monkeypatch.setattr(verifying, "verify", slow)
    found = Verifying(service.ledger)
    found.begin("ada")
    assert begun.wait(10)
    assert found.begin("olga")["by"] == "ada"
    closing = threading.Thread(target=found.close)
    closing.start()
    while not found._closing:
        time.sleep(0.001)
    go_on.set()
    closing.join(10)
    assert (found.state()["state"], found.state()["code"]) == ("failed", "SRD-S001")


def test_a_verification_that_cannot_be_finished_says_why(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object) -> None:
        raise LedgerError("the database cannot be reached", "SRD-L050")

    monkeypatch.setattr(verifying, "verify", unreachable)
    service.begin_verification(AUDITOR)
    found = awaited(service)
    assert (found["state"], found["code"], found["message"]) == (
        "failed",
        "SRD-L050",
        "the database cannot be reached",
    )


def test_a_witness_in_trouble_is_told(service: Service, tmp_path: Path) -> None:
    (tmp_path / "budget.db.witness").write_bytes(b"not a memory\n")
    trouble = service.ledger_state(AUDITOR)["witness"]["trouble"]
    assert trouble is not None
    assert trouble["code"].startswith("SRD-L")


def test_proposals_come_from_names_and_types_alone(service: Service) -> None:
    text = service.propose(OWNER, "rides", "trips.parquet", "rider")
    assert "fare: {bounds: [low, high]}  # real" in text
    assert "48271" not in text
    assert "Oslo" not in text
    preview = service.preview(OWNER, text)
    assert (preview["name"], preview["known"], preview["budget"]) == ("rides", False, None)
    assert service.preview(OWNER, DECLARATIONS)["known"]
    assert service.declarations(OWNER, "trips") == DECLARATIONS
    assert [each["name"] for each in service.datasets(OWNER)] == ["trips"]
    with pytest.raises(ArgumentError, match="outside"):
        service.propose(OWNER, "passwords", "/etc/passwd.csv", "row")
    for call in (
        lambda: service.propose(ANALYST, "rides", "trips.parquet", "rider"),
        lambda: service.preview(AUDITOR, text),
        lambda: service.declarations(ANALYST, "trips"),
    ):
        with pytest.raises(ForbiddenError):
            call()


def test_parts_of_a_transparency_report_add_up(tmp_path: Path) -> None:
    with opened(tmp_path, {"epsilon": 3, "delta": "1e-6"}) as service:
        for epsilon in ("0.4", "0.05", "0.3"):
            service.run(ANALYST, "query", count(epsilon))
        found = service.transparency(OWNER, "trips")
        assert sum(each["part"] for each in found["releases"]) == pytest.approx(found["budget"]["used"])
        assert found["lifetime"]["loss"]["epsilon"] < 3
        assert service.transparent(STRANGER) == []
        assert service.transparent(OWNER) == ["trips"]
        with pytest.raises(ForbiddenError):
            service.transparent(None)


def test_an_entry_may_freeze_the_ledger(service: Service) -> None:
    service.ledger.freeze("drill")
    frozen = service.ledger_state(AUDITOR)["frozen"]
    assert (frozen["code"], "drill" in frozen["reason"]) == ("SRD-L028", True)
    service.ledger.restore("olga", "the drill is over")
    assert service.ledger_state(AUDITOR)["frozen"] is None
