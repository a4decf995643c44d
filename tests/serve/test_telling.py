"""What the service tells of budgets over time, and browsers' sessions and forms."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi import FastAPI, Form, Request, Response
from fastapi.testclient import TestClient

from serve.commanding import commands_in
from serve.places import ANALYST, DECLARATIONS, OWNER, count, opened, settings_at, write_trips
from sordino.accounting.bound import Bound
from sordino.accounting.events import Pure
from sordino.errors import ArgumentError, BudgetError, GrantError, QuestionError
from sordino.ledger.witness import FileWitness
from sordino.serve.api.shapes import DatasetFull
from sordino.serve.app import create_app
from sordino.serve.asking.quoting import Quote
from sordino.serve.http.browsing import COOKIE, begin_session, end_session, form_session_of, session_of
from sordino.serve.keeping.identity import Principal
from sordino.serve.refusals import StateError
from sordino.serve.service import Service


def test_a_budget_begins_anew_and_its_lifetime_does_not(tmp_path: Path) -> None:
    write_trips(tmp_path)
    with Service.open(settings_at(tmp_path)) as service:
        service.register(OWNER, DECLARATIONS, {"epsilon": 1, "refresh": 3600})
        ledger = service.ledger._session  # the clock of this process, which tests may set
        begun = ledger.clock()
        service.run(ANALYST, "query", count("0.75"))
        ledger.clock = lambda: begun + 2 * 3_600_000
        assert service.budget(OWNER, "trips")["used"] == 0
        assert service.price(ANALYST, "query", count("0.75"))["fits"]
        service.run(ANALYST, "query", count("0.5"))
        told = service.budget(OWNER, "trips")
        assert (told["used"], told["lifetime"], told["refresh"]) == (0.5, "1.25", 3600)
        assert [part for _, part in told["points"]] == [0.75, 0.0, 0.5]
        assert "nothing is promised for a lifetime" in told["promise"]


def test_a_restored_ledger_shows_what_was_burnt(tmp_path: Path) -> None:
    with opened(tmp_path) as service:
        service.run(ANALYST, "query", count("0.25"))
        gate = service.house.asking(ANALYST, service.house.asked(ANALYST, "trips")).account
        gate.reserve(Pure("0.25"), Bound.scalar(neighbours=gate.protects[1], unit=gate.protects[0]))  # type: ignore[index]
        service.ledger.freeze("SRD-L068")
        service.ledger.restore("olga", "put back")
        told = service.releases(OWNER)
        assert [each["outcome"] for each in told] == ["failed", "settled"]
        assert service.budget(OWNER, "trips")["used"] == 0.5


BY_DAY = """
name: visits
unit: rider
source: visits.parquet
limits: {rows: 3}
blocks: {days: day, protects: person-day, first: 2026-11-01}
"""


def on_days(first: int, last: int, epsilon: str = "0.75", **more: Any) -> dict[str, Any]:
    where = f"day BETWEEN '2026-11-0{first}' AND '2026-11-0{last}'"
    sql = "SELECT COUNT(*) AS visits FROM visits WHERE {where}"
    return {"dataset": "visits", "sql": sql.format(where=where), "epsilon": epsilon, **more}


def test_days_with_budgets_of_their_own(tmp_path: Path) -> None:
    days = [date(2026, 11, 1 + place % 9) for place in range(90)]
    pq.write_table(pa.table({"rider": list(range(90)), "day": days, "end": days}), tmp_path / "visits.parquet")
    who = Principal("ann", "analyst", frozenset({"visits"}))
    with Service.open(settings_at(tmp_path)) as service:
        told = service.register(OWNER, BY_DAY, {"epsilon": 1})
        assert (told["unit"], told["blocks"]["days"]) == ("(rider, day)", "day")
        released = service.run(who, "query", on_days(1, 3))
        assert json.loads(json.loads(released["receipt"])["reserved"])["charges"][0][1] == [
            "2026-11-01",
            "2026-11-02",
            "2026-11-03",
        ]
        assert any("the unit is (rider, day)" in note for note in released["answer"]["notes"])
        price = service.price(who, "query", on_days(3, 4))
        assert (price["fits"], price["would_fit"], price["used"]) == (False, {"epsilon": "0.25"}, 0.75)
        assert service.price(who, "query", on_days(4, 9))["used"] == 0
        with pytest.raises(BudgetError, match=r"the busiest of 2026-11-03 to 2026-11-04, 75 % is used"):
            service.run(who, "query", on_days(3, 4))
        service.run(who, "query", on_days(4, 9))
        with pytest.raises(QuestionError, match="say which days you mean"):
            service.price(who, "query", {**on_days(1, 1), "sql": "SELECT COUNT(*) AS n FROM visits"})
        budget = service.budget(OWNER, "visits")
        assert (budget["used"], budget["lifetime"], budget["blocks"]) == (0.75, "1.5", "unit-per-block")
        assert "on each, not within that budget over all" in budget["promise"]
        assert [each["used"] for each in budget["by_day"]] == [0.75] * 9
        assert [part for _, part in budget["points"]] == [0.75, 0.75]
        service.ledger.freeze("SRD-L068")
        service.ledger.restore("olga", "put back")
        assert [part for _, part in service.budget(OWNER, "visits")["points"]][:2] == [0.75, 0.75]


def test_all_that_is_told_about_a_data_set_is_described(tmp_path: Path) -> None:
    days, fares = [date(2026, 11, 1)] * 3, [1.0, 2.0, 3.0]
    columns = {"rider": [1, 2, 3], "day": days, "fare": fares, "blob": [b"x"] * 3}
    pq.write_table(pa.table(columns), tmp_path / "visits.parquet")
    further = (
        "columns: {fare: {bounds: [0, 9], granularity: 0.5}}\nviews: {dear: SELECT fare FROM visits WHERE fare > 2}\n"
    )
    with Service.open(settings_at(tmp_path)) as service:
        told = service.register(OWNER, BY_DAY + further, {"epsilon": 1})
        assert all((told["tables"][0]["hidden"], told["views"], told["blocks"]))
        described = DatasetFull.model_validate(told).model_dump(exclude_unset=True)
        assert json.loads(json.dumps(described, default=str)) == told


def test_days_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = commands_in(tmp_path, monkeypatch)
    run("init", "trips.parquet", "--unit", "rider", "--epsilon", "1", "--yes")
    days = [date(2026, 11, 1 + place % 9) for place in range(90)]
    pq.write_table(pa.table({"rider": list(range(90)), "day": days}), tmp_path / "visits.parquet")
    (tmp_path / "visits.yaml").write_text(BY_DAY)
    assert "protects each (rider, day), ε = 1" in run("declare", "visits.yaml", "--epsilon", "1")
    sql = on_days(2, 4)["sql"]
    assert "3 days are read" in run("ask", sql, "--epsilon", "0.5", "--dataset", "visits", "--dry-run")
    assert "the unit is (rider, day)" in run("ask", sql, "--epsilon", "0.5", "--dataset", "visits")
    told = run("budget", "--dataset", "visits")
    assert "visits: ε = 1, protects each (rider, day)" in told
    assert "asked about, 2026-11-02 to 2026-11-04; each has a budget of its own:\n▄▄▄" in told


def test_nobody_says_by_the_way_which_days_are_charged(tmp_path: Path) -> None:
    with opened(tmp_path) as service:
        for ask in (service.price, service.run):
            with pytest.raises(ArgumentError, match="cannot be asked with days"):
                ask(ANALYST, "query", count(days=["2026-11-01"]))
        with pytest.raises(ArgumentError, match="no field 'blocks'"):
            service.register(OWNER, DECLARATIONS, {"epsilon": 1, "blocks": "owner-in-one-block"})


def test_days_stay_what_they_were_when_the_budget_was_opened(tmp_path: Path) -> None:
    days = [date(2026, 11, 1)] * 3
    pq.write_table(pa.table({"rider": [1, 2, 3], "day": days, "end": days}), tmp_path / "visits.parquet")
    with Service.open(settings_at(tmp_path)) as service:
        service.register(OWNER, BY_DAY, {"epsilon": 1})
        service.register(OWNER, BY_DAY.replace("first: 2026-11-01", "first: 2026-10-01"), None)
        for old, new in (("days: day", "days: end"), ("person-day", "person"), ("blocks:", "# blocks:")):
            with pytest.raises(StateError) as refused:
                service.register(OWNER, BY_DAY.replace(old, new), None)
            assert refused.value.code == "SRD-S015"


def test_a_quote_gives_nothing(quiet: Service) -> None:
    asked = quiet.house.asked(OWNER, "trips")
    data, quote = asked.quoted(quiet.house.held(OWNER, asked))
    with pytest.raises(GrantError):
        data.sql("SELECT COUNT(*) AS n FROM trips").run(epsilon=0.1)
    with pytest.raises(GrantError):
        quote.reserve(Pure("0.1"), Bound.scalar())
    assert isinstance(quote, Quote)
    assert repr(quote) == "Quote(ε = 1, 0 % used)"


def _pages(app: FastAPI) -> None:
    @app.post("/test/login")
    async def login(request: Request, response: Response, token: str = Form()) -> None:
        begin_session(request, response, app.state.desk.service.identities.begin_with_token(token, 1))

    @app.get("/test/page")
    async def page(request: Request) -> dict[str, str]:
        session = session_of(request)
        return {"subject": session.who.subject, "csrf": session.csrf}

    @app.post("/test/form")
    async def form(request: Request, csrf: str | None = Form(None)) -> str:
        return form_session_of(request, csrf).who.subject

    @app.post("/test/logout")
    async def logout(request: Request, response: Response) -> None:
        end_session(request, response)


def test_browsers_have_sessions_and_forms_have_tokens(quiet: Service) -> None:
    app = create_app(quiet)
    _pages(app)
    token = quiet.issue_token(OWNER, "ann", "analyst")
    with TestClient(app) as client:
        assert client.get("/test/page").json()["error"]["code"] == "SRD-S002"
        client.post("/test/login", data={"token": token})
        page = client.get("/test/page").json()
        assert page["subject"] == "ann"
        for csrf, status in ((page["csrf"], 200), ("wrong", 403), (None, 403)):
            answered = client.post("/test/form", data={} if csrf is None else {"csrf": csrf})
            assert answered.status_code == status
        cookie = client.cookies[COOKIE]
        client.post("/test/logout")
        client.cookies.set(COOKIE, cookie)  # the other side has forgotten it, too
        assert client.get("/test/page").status_code == 401


def test_a_rolled_back_ledger_answers_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as service:
        service.run(ANALYST, "query", count())
    before = (tmp_path / "budget.db").read_bytes()
    with Service.open(settings_at(tmp_path)) as service:
        service.run(ANALYST, "query", count())
    for path in tmp_path.glob("budget.db-*"):
        path.unlink()
    (tmp_path / "budget.db").write_bytes(before)
    assert FileWitness(tmp_path / "budget.db.witness").recall() is not None
    with Service.open(settings_at(tmp_path)) as service:
        assert service.frozen is not None
        with TestClient(create_app(service)) as client:
            token = service.identities.issue("olga", "ann", "analyst", None, 1)
            refused = client.post("/api/v1/query/run", json=count(), headers={"Authorization": f"Bearer {token}"})
            assert refused.status_code == 503
            assert client.get("/healthz").status_code == 503
