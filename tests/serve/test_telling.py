"""What the service tells of budgets over time, and browsers' sessions and forms."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI, Form, Request, Response
from fastapi.testclient import TestClient

from serve.places import ANALYST, DECLARATIONS, OWNER, count, opened, settings_at, write_trips
from sordino.accounting.bound import Bound
from sordino.accounting.events import Pure
from sordino.errors import GrantError, LedgerError
from sordino.ledger.witness import FileWitness
from sordino.serve.app import create_app
from sordino.serve.browsing import COOKIE, begin_session, end_session, form_session_of, session_of
from sordino.serve.quoting import Quote
from sordino.serve.service import Service


def test_a_budget_begins_anew_and_its_lifetime_does_not(tmp_path: Path) -> None:
    write_trips(tmp_path)
    with Service.open(settings_at(tmp_path)) as service:
        service.register(OWNER, DECLARATIONS, {"epsilon": 1, "refresh": 3600})
        ledger = service.ledger._session  # the clock of this process, which tests may set
        begun = ledger.clock()
        service.run(ANALYST, count("0.75"))
        ledger.clock = lambda: begun + 2 * 3_600_000
        assert service.budget(OWNER, "trips")["used"] == 0
        assert service.price(ANALYST, count("0.75"))["fits"]
        service.run(ANALYST, count("0.5"))
        told = service.budget(OWNER, "trips")
        assert (told["used"], told["lifetime"], told["refresh"]) == (0.5, "1.25", 3600)
        assert [part for _, part in told["points"]] == [0.75, 0.0, 0.5]
        assert "nothing is promised for a lifetime" in told["promise"]


def test_a_restored_ledger_shows_what_was_burnt(tmp_path: Path) -> None:
    with opened(tmp_path) as service:
        service.run(ANALYST, count("0.25"))
        _, gate = service.house.asking(ANALYST, service.house.asked(ANALYST, "trips"))
        gate.reserve(Pure("0.25"), Bound.scalar(neighbours=gate.protects[1], unit=gate.protects[0]))  # type: ignore[index]
        service.ledger.freeze("SRD-L068")
        service.ledger.restore("olga", "put back")
        told = service.releases(OWNER)
        assert [each["outcome"] for each in told] == ["failed", "settled"]
        assert service.budget(OWNER, "trips")["used"] == 0.5


def test_days_with_budgets_of_their_own(tmp_path: Path) -> None:
    write_trips(tmp_path)
    with Service.open(settings_at(tmp_path)) as service:
        service.register(OWNER, DECLARATIONS, {"epsilon": 1, "blocks": "owner-in-one-block"})
        for ask in (service.price, service.run):
            with pytest.raises(LedgerError) as refused:
                ask(ANALYST, count())
            assert refused.value.code == "SRD-L029"
        service.run(ANALYST, count("0.75", days=["2026-11-01"]))
        assert not service.price(ANALYST, count("0.75", days=["2026-11-01", "2026-11-02"]))["fits"]
        assert service.price(ANALYST, count("0.75", days=["2026-11-02"]))["fits"]


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
        service.run(ANALYST, count())
    before = (tmp_path / "budget.db").read_bytes()
    with Service.open(settings_at(tmp_path)) as service:
        service.run(ANALYST, count())
    for path in tmp_path.glob("budget.db-*"):
        path.unlink()
    (tmp_path / "budget.db").write_bytes(before)
    assert FileWitness(tmp_path / "budget.db.witness").recall() is not None
    with Service.open(settings_at(tmp_path)) as service:
        assert service.frozen is not None
        with TestClient(create_app(service)) as client:
            token = service.identities.issue("olga", "ann", "analyst", None, 1)
            refused = client.post("/api/v1/run", json=count(), headers={"Authorization": f"Bearer {token}"})
            assert refused.status_code == 503
            assert client.get("/healthz").status_code == 503
