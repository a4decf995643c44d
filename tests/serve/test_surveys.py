"""Surveys in a service: defined, opened by a charge, answered without a login, looked at, closed once."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode

import numpy as np
import pytest
from fastapi.testclient import TestClient

from collect.surveys import TWO
from serve.places import AUDITOR, OWNER, opened
from serve.polls import POLL, polled, reports
from sordino.collect.wire import Report
from sordino.errors import ArgumentError, BudgetError, SordinoError
from sordino.serve.app import create_app
from sordino.serve.refusals import ForbiddenError, UnknownError
from sordino.serve.service import Service
from sordino.serve.settings import Settings
from sordino.serve.surveys import owners

TO = "/api/v1/surveys/pets/reports"
BYTES = {"content-type": "application/octet-stream"}


def reopened(directory):
    return Service.open(Settings(database=str(directory / "budget.db"), data=str(directory)))


def send(client, body, **headers):
    return client.post(TO, content=bytes(body), headers=BYTES | headers)


def test_the_way_of_a_survey_through_a_service(tmp_path):
    with opened(tmp_path) as service:
        found = owners.define(service, OWNER, POLL)
        assert (found["state"], found["estimate"]) == ("ready", None)
        assert service.budget(OWNER, "pets")["budget"] == "ε = 6"
        with TestClient(create_app(service)) as client:
            rows = reports(service, 300)
            assert send(client, rows[0]).status_code == 409  # nothing is accepted before the charge
            assert owners.begin(service, OWNER, "pets")["state"] == "open"
            assert owners.begin(service, OWNER, "pets")["state"] == "open"  # once
            assert service.budget(OWNER, "pets")["used"] == 1
            assert send(client, rows[:200].tobytes()).json() == {"taken": 200, "refused": []}
            assert send(client, rows[100:].tobytes()).json() == {"taken": 200, "refused": []}  # duplicates are, too
            seen = owners.show(service, OWNER, "pets")["estimate"]
            assert seen["reports"] == 300
            for row in seen["values"]:
                assert row["low"] <= row["estimate"] <= row["high"]
            closed = owners.close(service, OWNER, "pets")
            assert (closed["state"], closed["estimate"]["reports"]) == ("closed", 300)
            assert send(client, rows[0]).status_code == 409
            with pytest.raises(SordinoError):
                owners.begin(service, OWNER, "pets")
            size = service.ledger.size
            assert owners.show(service, OWNER, "pets") == closed
            assert service.ledger.size == size
        assert service.verify(OWNER)["sound"]


def test_a_restart_goes_on_and_a_next_round_is_charged_anew(tmp_path):
    with polled(tmp_path) as service, TestClient(create_app(service)) as client:
        first = reports(service, 50)
        send(client, first.tobytes())
    with reopened(tmp_path) as service, TestClient(create_app(service)) as client:
        assert send(client, first.tobytes()).json()["taken"] == 50
        assert owners.show(service, OWNER, "pets")["estimate"]["reports"] == 50
        owners.close(service, OWNER, "pets")
        owners.define(service, OWNER, POLL + "round: 2\n")
        with pytest.raises(BudgetError):
            owners.begin(service, OWNER, "pets")
        service.set_budget(OWNER, "pets", {"epsilon": 12}, "another round")
        owners.begin(service, OWNER, "pets")
        stale = send(client, first[0])
        assert (stale.status_code, stale.json()["error"]["code"]) == (409, "SRD-C705")
        assert send(client, reports(service, 5).tobytes()).json()["taken"] == 5


def test_what_is_no_report_is_refused_with_a_code_and_not_counted(tmp_path):
    with polled(tmp_path) as service, TestClient(create_app(service)) as client:
        rows = reports(service, 4)
        wrong = rows.copy()
        wrong[0, 0], wrong[1, 1], wrong[2, 49] = 9, wrong[1, 1] ^ 1, 200
        for row, code in zip(wrong[:3], ("SRD-C701", "SRD-C703", "SRD-C704"), strict=True):
            answer = send(client, row)
            assert (answer.status_code, answer.json()["error"]["code"]) == (422, code)
        for body in (b"", b"x", bytes(51)):
            assert send(client, body).json()["error"]["code"] == "SRD-C702"
        told = send(client, wrong.tobytes()).json()
        assert told == {"taken": 1, "refused": [[0, "SRD-C701"], [1, "SRD-C703"], [2, "SRD-C704"]]}
        plain = Report.from_bytes(bytes(rows[0])).to_plain()
        assert client.post(TO, json=plain).json()["taken"] == 1
        assert client.post(TO, json=[plain, {}]).json() == {"taken": 1, "refused": [[1, "SRD-C701"]]}
        for text in ("{", "[]", "null", "[" * 50_000):
            answer = client.post(TO, content=text, headers={"content-type": "application/json"})
            assert answer.status_code == 422
        assert send(client, bytes(2 << 20)).status_code == 413
        assert client.post("/api/v1/surveys/trips/reports", content=b"x").status_code == 404
        assert client.post("/api/v1/surveys/none/reports", content=b"x").status_code == 404
        assert owners.show(service, OWNER, "pets")["estimate"]["reports"] == 2


def test_one_time_codes_are_good_once(tmp_path):
    with polled(tmp_path, POLL + "intake: codes\n") as service, TestClient(create_app(service)) as client:
        codes = owners.new_codes(service, OWNER, "pets", 3)
        rows = reports(service, 6)
        for bad in ({}, {"sordino-code": "guess"}):
            answer = send(client, rows[0], **bad)
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "SRD-C712")
        good = {"sordino-code": codes[0]}
        assert send(client, rows[:2].tobytes(), **good).status_code == 422  # one by one
        assert send(client, rows[0], **good).status_code == 200
        assert send(client, rows[0], **good).status_code == 200  # sent again, as its acknowledgement was lost
        assert send(client, rows[1], **good).status_code == 403
        assert send(client, rows[1], **{"sordino-code": codes[1].upper()}).status_code == 200
        more = owners.new_codes(service, OWNER, "pets", 2)
        assert send(client, rows[2], **good).status_code == 403  # used codes stay used
        assert send(client, rows[2], **{"sordino-code": more[0]}).status_code == 200
        assert owners.show(service, OWNER, "pets")["estimate"]["reports"] == 3
        owners.close(service, OWNER, "pets")
    files = [each for each in tmp_path.rglob("*") if each.is_file()]
    for code in codes:
        assert not any(code.encode() in each.read_bytes() for each in files)
    kept = next(tmp_path.rglob("*.codes")).read_bytes() if next(tmp_path.rglob("*.codes")).is_file() else b""
    for row in rows[:3]:
        assert bytes(row[33:49]) not in kept


def test_codes_survive_a_restart(tmp_path):
    with polled(tmp_path, POLL + "intake: codes\n") as service, TestClient(create_app(service)) as client:
        (code,) = owners.new_codes(service, OWNER, "pets", 1)
        rows = reports(service, 2)
        assert send(client, rows[0], **{"sordino-code": code}).status_code == 200
    with reopened(tmp_path) as service, TestClient(create_app(service)) as client:
        assert send(client, rows[1], **{"sordino-code": code}).status_code == 403
        assert send(client, rows[0], **{"sordino-code": code}).status_code == 200


def test_nothing_is_logged_of_reports_and_no_address_is_kept(tmp_path, capfd):
    with polled(tmp_path) as service, TestClient(create_app(service)) as client:
        capfd.readouterr()
        send(client, reports(service, 10).tobytes())
        out, err = capfd.readouterr()
        assert "reports" not in out + err
    kept = b"".join(each.read_bytes() for each in (tmp_path / "surveys").rglob("*") if each.is_file())
    assert b"testclient" not in kept
    assert b"127.0.0.1" not in kept


def test_pages(visit, call):
    owner = visit("owner")
    assert "Define a survey" in owner.see("/surveys").text
    refused = owner.fill("/surveys", declarations=POLL.replace("epsilon: 2", "epsilon: 99"))
    assert refused.status_code == 422
    assert "SRD-A002" in refused.text
    assert owner.fill("/surveys", declarations=POLL).headers["location"] == "/surveys/pets"
    assert "Open round 1" in owner.see("/surveys/pets").text
    nobody = visit(None)
    asked = nobody.see("/s/pets")
    assert asked.status_code == 200
    assert "has not begun" in asked.text
    owner = visit("owner")
    assert owner.fill("/surveys/pets/open").status_code == 303
    assert "Nothing was said yet" in owner.see("/surveys/pets").text
    nobody = visit(None)
    asked = nobody.see("/s/pets")
    assert "Which pet do you have?" in asked.text
    assert "7.4-fold" in asked.text
    assert "<form" not in asked.text.split("<main")[1]  # nothing on it can send a raw value
    told = nobody.client.get("/api/v1/surveys/pets").json()
    assert told["survey"]["values"] == ["cat", "dog", "none"]
    assert nobody.see("/s/nothing").status_code == 404
    assert nobody.see("/surveys").status_code == 303
    send(nobody.client, reports(call.service, 30).tobytes())
    owner = visit("owner")
    page = owner.see("/surveys/pets").text
    assert "30 reports" in page
    assert owner.fill("/surveys/pets/close").status_code == 303
    assert "Round 1 is over" in owner.see("/surveys/pets").text
    assert owner.fill("/surveys/pets/open").status_code == 422
    assert "over" in visit(None).see("/s/pets").text
    assert visit("owner").see("/datasets/pets").status_code == 200
    assert visit("stranger").see("/surveys/pets").status_code == 404


def test_the_api_prices_opens_looks_and_closes(call):
    owners.define(call.service, OWNER, POLL)
    request = {"dataset": "pets"}
    priced = call("owner", "POST", "/survey/price", json=request).json()
    assert priced["fits"]
    assert "ε = 6" in priced["words"]
    opened_now = call("owner", "POST", "/survey/run", json=request).json()
    call.client.post(TO, content=reports(call.service, 9).tobytes())
    work = opened_now["id"]
    seen = call("owner", "POST", f"/survey/{work}/part", json={"request": request, "asked": {}}).json()
    assert seen["reports"] == 9
    assert call("analyst", "POST", f"/survey/{work}/part", json={"request": request, "asked": {}}).status_code == 404
    ended = call("owner", "POST", f"/survey/{work}/finish", json={"request": request}).json()
    assert json.loads(ended["answer"])["reports"] == 9
    assert call("owner", "POST", "/survey/run", json=request).status_code == 422
    assert call("owner", "POST", "/survey/run", json=request | {"epsilon": 1}).status_code == 422
    assert call("owner", "POST", "/survey/run", json={"dataset": "trips"}).status_code == 422


def test_mistakes_of_owners_have_remedies_and_cost_nothing(tmp_path):
    with opened(tmp_path) as service:
        for text in (
            POLL.replace("values: [cat, dog, none]", "values: [cat]"),
            POLL.replace("values: [cat, dog, none]", "values: [cat, cat]"),
            POLL.replace("values: [cat, dog, none]", "values: 7"),
            POLL.replace("epsilon: 2", "epsilon: .nan"),
            POLL.replace("epsilon: 2", "epsilon: 0"),
            POLL.replace("days: 3", "days: 0"),
            POLL + "trust: shuffled\n",
            POLL + "neighbours: add-remove\n",
            POLL + "colour: red\n",
            POLL + "intake: closed\n",
            POLL.replace("sort: survey", "sort: tables"),
        ):
            with pytest.raises(ArgumentError):
                owners.define(service, OWNER, text)
        with pytest.raises(ForbiddenError):
            owners.define(service, AUDITOR, POLL)
        with pytest.raises(UnknownError):
            owners.show(service, OWNER, "pets")
        assert service.ledger.size == 1


def test_rounds_that_are_not_for_this_service_are_refused_before_the_charge(tmp_path):
    own = POLL.replace("days: 3", "days: 1") + "trust: shuffled\nbatch: 1000\ndelta: 0.000001\n"
    two = POLL + "trust: two-servers\nservers:\n" + "".join(f"  - {json.dumps(each)}\n" for each in TWO)
    for place, (text, code) in enumerate(((own, "SRD-C713"), (two, "SRD-C718"))):
        (tmp_path / str(place)).mkdir()
        with opened(tmp_path / str(place)) as service, TestClient(create_app(service)) as client:
            owners.define(service, OWNER, text)
            with pytest.raises(ArgumentError, match=code):
                owners.begin(service, OWNER, "pets")
            assert service.budget(OWNER, "pets")["used"] == 0
            assert client.post(TO, content=b"x").status_code == 409


def test_the_client_is_served_with_its_integrity_hash(tmp_path):
    with polled(tmp_path) as service, TestClient(create_app(service)) as client:
        asked = client.get("/api/v1/surveys/pets").json()
        page = client.get("/s/pets").text
        assert len(asked["client"]) == 9
        for path, integrity in asked["client"].items():
            answer = client.get(path)
            digest = b64encode(hashlib.sha384(answer.content).digest()).decode()
            assert integrity == f"sha384-{digest}"
            assert f'src="{path}" integrity="{integrity}"' in page
            assert answer.headers["content-type"].startswith("text/javascript")
        assert client.get("/client/vectors.json").json()["shares"]
        assert hashlib.sha256(asked["spelled"].encode()).hexdigest() == asked["digest"]
        for path in ("/client/__init__.py", "/client/..%2Fwire.py", "/client/other.js"):
            assert client.get(path).status_code == 404


def test_surveys_by_commands(tmp_path, monkeypatch, capsys):
    from serve.commanding import Commands

    commands = Commands(tmp_path, monkeypatch)
    (tmp_path / "sordino.yaml").write_text("database: budget.db\ndata: .\n")
    (tmp_path / "pets.yaml").write_text(POLL)
    said = commands("survey", "new", tmp_path / "pets.yaml", "-C", tmp_path)
    assert "ε = 6" in said
    assert "no refunds" in commands("survey", "open", "pets", "-C", tmp_path, answer="y\n")
    with reopened(tmp_path) as service, TestClient(create_app(service)) as client:
        send(client, reports(service, 90).tobytes())
    assert commands.json("survey", "show", "pets", "-C", tmp_path)["estimate"]["reports"] == 90
    assert "90 reports" in commands("survey", "close", "pets", "-C", tmp_path)
    assert "SRD-C705" in commands.refused(capsys, "survey", "close", "pets", "-C", tmp_path)
    assert "SRD-C712" in commands.refused(capsys, "survey", "codes", "pets", 3, "-C", tmp_path)
    assert np.isfinite(commands.json("survey", "show", "pets", "-C", tmp_path)["estimate"]["values"][0]["estimate"])
