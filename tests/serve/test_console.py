"""The console without a browser: price first, then run; refusals say what to do; nothing of the data in any of them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from serve.places import CANARY_NUMBER, CANARY_TEXT, COUNT, OWNER, opened
from serve.visits import HTML, HTMX, Visit, hidden
from sordino.errors import QuestionError, SordinoError
from sordino.serve.app import create_app
from sordino.serve.asking import requests
from sordino.serve.dashboard.charts import MOST_ROWS, intervals, row_labels
from sordino.serve.questions.answers import shown_answer
from sordino.serve.questions.form import Place, place_of, typed
from sordino.serve.questions.vocabulary import vocabulary

Who = Callable[[str | None], Visit]

CITIES = "SELECT city, COUNT(*) AS rides, AVG(fare) AS fare FROM trips GROUP BY city"


def form(sql: str = COUNT, epsilon: str = "0.25", **more: str) -> dict[str, str]:
    return {"dataset": "trips", "sql": sql, "spend": "epsilon", "epsilon": epsilon, **more}


def used(visit: Visit) -> float:
    return float(visit.service.budget(OWNER, "trips")["used"])


@pytest.mark.parametrize("headers", [HTML, HTMX], ids=["page", "part"])
def test_a_question_is_priced_then_run(visit: Who, headers: dict[str, str]) -> None:
    ann = visit("analyst")
    assert '<button type="button" disabled>Run</button>' in ann.see("/console?dataset=trips").text
    priced = ann.fill("/console/price", headers, **form(CITIES.replace(" FROM", "\r\nFROM")))
    assert priced.status_code == 200
    assert ("<html" in priced.text) == (headers is HTML)
    for words in ("ε = 0.25", "25 %", "75 %", "± 99.", "Width of the interval", "10 000 rows", "weigh 5 in all"):
        assert words.replace(" ", "\u00a0") in priced.text.replace(" ", "\u00a0"), words
    assert used(ann) == 0
    sent = hidden(priced.text, "/console/run")
    answered = ann.send("/console/run", headers, **sent)
    assert answered.status_code == 200
    for words in (
        "Oslo",
        "Rome",
        "Bern",
        " to ",
        "data-spec=",
        "What was bounded",
        "/receipt",
        "25 % of ε = 1 is used",
    ):
        assert words in answered.text, words
    assert used(ann) == 0.25
    again = ann.send("/console/run", headers, **sent)
    assert "nothing more was charged" in again.text
    assert used(ann) == 0.25


def test_what_was_priced_is_what_is_run(visit: Who) -> None:
    ann = visit("analyst")
    priced = ann.fill("/console/price", **form(days="", project="", delta=""))
    sent = hidden(priced.text, "/console/run")
    key, csrf = sent.pop("key"), sent.pop("csrf")
    assert sent == form()
    changed = ann.send("/console/run", **{**sent, "csrf": csrf, "key": key, "epsilon": "0.3"})
    assert changed.status_code == 200
    while not used(ann):  # on a busy machine the page comes before the charge
        time.sleep(0.05)
    other = ann.send("/console/run", **{**sent, "csrf": csrf, "key": key})
    assert (other.status_code, "SRD-L030" in other.text) == (409, True)


def test_an_error_can_be_named_instead(visit: Who) -> None:
    ann = visit("analyst")
    priced = ann.fill("/console/price", **form(spend="error", of="rides", within="100"))
    assert "± 100" in priced.text or "± 99" in priced.text
    sent = hidden(priced.text, "/console/run")
    assert (sent["spend"], sent["of"], sent["within"]) == ("error", "rides", "100")
    assert "Answer</h2>" in ann.send("/console/run", **sent).text
    for missing in ({"spend": "error", "of": "rides"}, {"spend": "rho"}, {"epsilon": ""}):
        refused = ann.fill("/console/price", **form(**missing))
        assert (refused.status_code, "SRD-A003" in refused.text) == (422, True)


def test_what_does_not_fit_is_refused_with_what_would(visit: Who) -> None:
    ann = visit("analyst")
    priced = ann.fill("/console/price", **form(epsilon="1.5"))
    assert "This does not fit." in priced.text
    assert "ε up to 1" in priced.text
    assert "never begins anew" in priced.text
    assert 'action="/console/run"' in priced.text
    assert 'id="run"' not in priced.text
    fitting = hidden(priced.text.split("What falls short")[1], "/console/price")
    assert fitting["epsilon"] == "1"
    sent = hidden(ann.send("/console/price", **fitting).text, "/console/run")
    assert "Answer</h2>" in ann.send("/console/run", **sent).text
    over = ann.fill("/console/run", **form(epsilon="0.5"))
    assert (over.status_code, over.headers["x-sordino-code"]) == (402, "SRD-B001")
    assert "The budget does not cover this" in over.text
    assert "Nothing was charged" in over.text
    assert "No amount of it would fit." in ann.fill("/console/price", **form(epsilon="0.5")).text


def test_a_price_says_what_would_be_used_afterwards(tmp_path: Path) -> None:
    with opened(tmp_path, {"epsilon": 1, "delta": "1e-6"}) as service:
        service.run(OWNER, "query", {"dataset": "trips", "sql": CITIES, "epsilon": "0.2"})
        asked = {"dataset": "trips", "sql": COUNT, "epsilon": "0.3", "mechanism": "gaussian"}
        price = service.price(OWNER, "query", asked)
        assert price["short"] is None
        service.run(OWNER, "query", asked)
        assert service.budget(OWNER, "trips")["used"] == price["used_after"]
        assert price["used_after"] == pytest.approx(price["used"] + price["part"])
        over = service.price(OWNER, "query", {**asked, "epsilon": "3"})
        assert over["used_after"] > 1
        assert over["short"] == "the budget of data set 'trips'"


def test_a_refusal_says_when_the_budget_begins_anew(tmp_path: Path) -> None:
    with opened(tmp_path, {"epsilon": 1, "refresh": "month"}) as service, TestClient(create_app(service)) as client:
        ann = Visit(service, client, service.issue_token(OWNER, "ann", "analyst", ["trips"]))
        for text in (ann.fill(path, **form(epsilon="2")).text for path in ("/console/price", "/console/run")):
            assert "begins anew" in text
            assert "00:00 UTC" in text
            assert "never begins" not in text


def test_a_large_question_waits_for_the_owner(visit: Who) -> None:
    ann = visit("analyst")
    ann.service.set_policy(OWNER, "trips", {"approval": "0.2", "most": "0.5"})
    priced = ann.fill("/console/price", **form())
    assert "needs the owner&#39;s approval" in priced.text
    assert "Ask for approval" in priced.text
    asked = ann.send("/console/run", **hidden(priced.text, "/console/run"))
    assert (asked.status_code, "waits for the owner&#39;s approval" in asked.text) == (402, True)
    waiting = ann.fill("/console/price", **form()).text
    assert "waits for the owner&#39;s approval" in waiting
    assert 'id="run"' not in waiting
    (wish,) = ann.service.approvals(OWNER)
    ann.service.decide(OWNER, wish["id"], True, "for the yearbook")
    approved = ann.fill("/console/price", **form()).text
    assert "for the yearbook" in approved
    assert "Answer</h2>" in ann.send("/console/run", **hidden(approved, "/console/run")).text
    assert "policy does not allow this" in ann.fill("/console/price", **form(epsilon="0.75")).text


def test_an_owner_may_let_the_noise_grow_instead(visit: Who) -> None:
    ann = visit("analyst")
    ann.service.set_policy(OWNER, "trips", {"degrade": True})
    priced = ann.fill("/console/price", **form(epsilon="1.5")).text
    assert "Run with the noise that fits" in priced
    goal = ann.fill("/console/price", **form(spend="error", of="rides", within="5")).text
    assert "This does not fit." in goal
    assert 'id="run"' not in goal
    assert "answered for the 1 that is left" in ann.send("/console/run", **hidden(priced, "/console/run")).text
    assert used(ann) == pytest.approx(1)
    assert 'id="run"' not in ann.fill("/console/price", **form()).text


def test_a_long_run_shows_its_stage_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path, threshold_seconds=0) as service, TestClient(create_app(service)) as client:
        go, whole = threading.Event(), requests.run

        def slow(house: Any, who: Any, kind: Any, plain: Any, key: Any, running: Any) -> Any:
            running.stage("running")
            go.wait(60)
            return whole(house, who, kind, plain, key, running)

        monkeypatch.setattr(requests, "run", slow)
        ann = Visit(service, client, service.issue_token(OWNER, "ann", "analyst", ["trips"]))
        bob = Visit(service, client, service.issue_token(OWNER, "bob", "analyst", ["trips"]))
        begun = ann.fill("/console/run", HTMX, **form())
        path = begun.text.split('hx-get="')[1].split('"')[0]
        assert 'hx-trigger="load delay:1s"' in begun.text
        assert "running" in ann.see(path, HTMX).text
        assert bob.see(path).status_code == 404
        go.set()
        while "It takes a while" in (page := ann.see(path, HTMX).text):
            time.sleep(0.1)  # whoever asks without a pause is told to be slower
        assert "Answer</h2>" in page
        failing = ann.fill("/console/run", HTMX, **form(epsilon="0.9")).text.split('hx-get="')[1].split('"')[0]
        while "It takes a while" in (page := ann.see(failing).text):
            time.sleep(0.1)
        assert "Nothing came of this run" in page
        assert "SRD-B001" in page


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT COUNT(*)\nFROM tripz", ("did you mean trips?", "<mark>tripz</mark>", "line 2, from column 6")),
        ("SELECT AVG(fares) AS a FROM trips", ("did you mean fare?", "AVG(<mark>fares</mark>) AS a")),
        ("SELECT COUNT(* FROM trips", ("not SQL that can be read", "<mark>")),
        ("SELECT * FROM trips", ("ask for aggregates",)),
        ("DROP TABLE trips", ("SELECT",)),
    ],
)
def test_errors_of_sql_say_where_and_what_to_write(quiet_visit: Who, sql: str, words: tuple[str, ...]) -> None:
    refused = quiet_visit("analyst").fill("/console/price", **form(sql))
    assert refused.status_code == 422
    for each in words:
        assert each in refused.text
    assert "sqlglot" not in refused.text


def test_places_are_where_words_stand() -> None:
    error = QuestionError("not SQL: Expecting ). Line 2, Col: 9.\n  x", "SRD-Q101")
    assert place_of("SELECT a\nFROM b (cd ef", error) == Place(2, 9, "FROM b (", "c", "d ef")
    assert place_of("SELECT a", error) is None
    assert place_of("SELECT a", SordinoError("no 'a' here", "SRD-B001")) is None
    assert place_of("SELECT fare_a", QuestionError("there is no column 'fare'", "SRD-Q103")) is None


def test_no_value_of_the_data_is_in_any_page(visit: Who) -> None:
    ann = visit("analyst")
    questions = (
        COUNT,
        "SELECT SUM(note) FROM trips",
        "SELECT note, COUNT(*) AS n FROM trips GROUP BY note",
        "SELECT MAX(fare) AS top FROM trips",
        "SELECT city FROM trips",
        "SELECT CAST(note AS DOUBLE) FROM trips",
        "SELECT",
    )
    for sql in questions:
        for path in ("/console/price", "/console/run"):
            text = ann.fill(path, **form(sql, "0.01")).text
            assert CANARY_TEXT not in text
            assert str(CANARY_NUMBER) not in text
            assert "trips.parquet" not in text
    for path in ("/", "/console", "/datasets/trips", "/console/schema?dataset=trips", "/nowhere"):
        assert CANARY_TEXT not in ann.see(path).text


def test_another_data_set_is_unknown(quiet_visit: Who) -> None:
    eve = quiet_visit("stranger")
    for path in ("/console/price", "/console/run"):
        refused = eve.fill(path, **form())
        assert (refused.status_code, "SRD-S004" in refused.text) == (404, True)
    assert eve.see("/console/schema?dataset=trips").status_code == 404
    assert quiet_visit("auditor").fill("/console/run", **form()).status_code == 403
    assert "no data set here that you may ask about" in eve.see("/console").text


def test_the_words_to_complete_are_the_data_sets_own_first(quiet_visit: Who) -> None:
    found = vocabulary(quiet_visit("owner").service.dataset(OWNER, "trips"))
    assert found[:5] == ["trips", "rider", "fare", "city", "note"]
    assert {"SELECT", "COUNT", "MEDIAN", "DATE_TRUNC"} <= set(found)
    assert len(found) == len(set(found))
    assert "SELECT" in vocabulary(None)


def test_forms_are_read_as_they_are_typed() -> None:
    read = typed({"sql": " SELECT 1\r\nFROM t ", "spend": "everything", "epsilon": "1", "delta": "1e-9", "csrf": "x"})
    assert read.question == {"dataset": "", "sql": "SELECT 1\nFROM t", "epsilon": "1", "delta": "1e-9"}


def test_answers_are_drawn_and_shown_as_they_are() -> None:
    many = MOST_ROWS + 5
    numbers = {"values": [1.0] * many, "low": [None, *[0.5] * (many - 1)], "high": [2.0] * many}
    lists = {"values": [[1.0, 2.0]] * many, "low": [[0.0, 1.0]] * many, "high": [[2.0, 3.0]] * many}
    answer = {
        "columns": [
            {"name": "city", "kind": "text", "values": [None, "none", *map(str, range(many - 2))]},
            {"name": "a.b[0]", "kind": "real", **numbers},
            {"name": "list", "kind": "real", **lists},
        ],
        "confidence": 0.9,
        "notes": [],
        "details": {"price": {"epsilon": "1/3", "rho": None, "delta": "1/1000000000"}},
    }
    assert row_labels(answer)[:3] == ["none", "none (2)", "0"]
    ((name, spec),) = intervals(answer)
    assert name == "a.b[0]"
    assert "a.b" not in json.dumps(spec)
    assert [len(layer["data"]["values"]) for layer in spec["layer"]] == [MOST_ROWS - 1, MOST_ROWS]
    shown = shown_answer(answer)
    assert shown["price"] == "ε = 0.333334, δ = 1e-09"
    assert shown["rows"][0][1] == {"value": "1", "interval": "below to 2"}
    assert shown["rows"][1][1:] == [
        {"value": "1.000", "interval": "0.500 to 2.000"},
        {"value": "1.00, 2.00", "interval": "0.00 to 2.00; 1.00 to 3.00"},
    ]
