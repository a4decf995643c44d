"""Pages without a browser: login, roles, forms, errors in words, and nothing of the data where it must not be."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient

from serve.conftest import Caller
from serve.places import ANALYST, CANARY_TEXT, COUNT, DECLARATIONS, OWNER, count, opened, settings_at
from serve.visits import HTML, HTMX, Visit, hidden
from sordino.errors import FrozenError
from sordino.serve.app import create_app
from sordino.serve.dashboard import pages
from sordino.serve.service import Service

BY_DAY = """
name: visits
unit: rider
source: visits.parquet
limits: {rows: 3}
blocks: {days: day, protects: person-day, first: 2026-11-01}
"""
THREE_DAYS = "SELECT COUNT(*) AS n FROM visits WHERE day BETWEEN '2026-11-01' AND '2026-11-03'"
Who = Callable[[str | None], Visit]

WRONG = "sordino_wrong"
HOSTILE = "<script>alert(1)</script>"
HOSTILE_SQL = 'SELECT city, COUNT(*) AS "<script>\'" FROM rides GROUP BY city'


def test_nobody_is_sent_to_the_login_and_back(quiet_visit: Who) -> None:
    nobody = quiet_visit(None)
    asked = nobody.see("/console?dataset=trips")
    assert (asked.status_code, asked.headers["location"]) == (303, "/login?next=/console%3Fdataset%3Dtrips")
    page = nobody.see(asked.headers["location"])
    assert page.status_code == 200
    assert hidden(page.text)["next"] == "/console?dataset=trips"
    assert "single sign-on" not in page.text
    refused = nobody.send("/login", token=WRONG)
    assert (refused.status_code, "unknown, expired or revoked" in refused.text) == (401, True)
    token = nobody.service.issue_token(OWNER, "zoe", "analyst", ["trips"])
    entered = nobody.send("/login", token=f" {token} ", next="/console?dataset=trips")
    assert (entered.status_code, entered.headers["location"]) == (303, "/console?dataset=trips")
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert token not in cookie


def test_single_sign_on_is_offered_where_there_is_one(tmp_path: Path) -> None:
    issuer = {"oidc_issuer": "https://issuer.example", "oidc_client": "client", "url": "http://testserver"}
    with opened(tmp_path, **issuer) as service, TestClient(create_app(service)) as client:
        nobody = Visit(service, client)
        assert 'href="/oidc/login"' in nobody.see("/login").text
        failed = nobody.see("/oidc/callback?state=x&code=y")
        assert (failed.status_code, "the login did not succeed" in failed.text) == (401, True)
        assert "<html" in failed.text


@pytest.mark.parametrize("elsewhere", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:x", ""])
def test_a_login_sends_nobody_elsewhere(quiet_visit: Who, elsewhere: str) -> None:
    nobody = quiet_visit(None)
    token = nobody.service.issue_token(OWNER, "zoe", "analyst")
    assert nobody.send("/login", token=token, next=elsewhere).headers["location"] == "/"


def test_a_login_begins_on_a_page_of_ours(quiet_visit: Who) -> None:
    nobody = quiet_visit(None)
    token = nobody.service.issue_token(OWNER, "zoe", "analyst")
    assert nobody.send("/login", {**HTML, "sec-fetch-site": "cross-site"}, token=token).status_code == 403
    assert nobody.send("/login", {**HTML, "sec-fetch-site": "same-origin"}, token=token).status_code == 303


def test_who_is_inside_is_not_sent_round_in_circles(quiet_visit: Who) -> None:
    ann = quiet_visit("analyst")
    assert ann.see("/login?next=/metrics").headers["location"] == "/metrics"
    refused = ann.see("/metrics")  # it takes tokens, and no sessions
    assert (refused.status_code, "Please log in" in refused.text) == (401, True)
    gone = quiet_visit(None).see("/console", {**HTMX, "hx-current-url": "http://testserver/console?x=1"})
    assert (gone.status_code, gone.headers["hx-redirect"]) == (200, "/login?next=/console")


def test_who_leaves_is_nobody(visit: Who) -> None:
    ann = visit("analyst")
    assert ann.send("/logout").status_code == 403
    assert ann.see("/").status_code == 200
    assert ann.fill("/logout").headers["location"] == "/login"
    assert ann.see("/").headers["location"] == "/login"


def test_the_navigation_is_by_role(quiet_visit: Who) -> None:
    def links(role: str) -> list[str]:
        navigation = quiet_visit(role).see("/").text.split('aria-label="Main"')[1].split("</nav>")[0]
        return re.findall(r'href="([^"]+)"', navigation)

    assert {"/", "/console", "/releases"} <= set(links("analyst"))
    assert not {"/ledger", "/admin"} & set(links("analyst"))
    assert "/console" not in links("auditor")
    assert {"/ledger", "/admin", "/approvals"} <= set(links("owner"))


def test_an_auditor_of_some_data_sets_is_not_sent_to_the_ledger(visit: Who) -> None:
    nobody = visit(None)
    token = nobody.service.issue_token(OWNER, "aude", "auditor", ["trips"])
    some = Visit(nobody.service, nobody.client, token)
    home = some.see("/").text
    assert 'href="/releases"' in home
    assert 'href="/ledger"' not in home
    assert some.see("/ledger").status_code == 403


def test_every_link_of_the_navigation_leads_somewhere(quiet_visit: Who) -> None:
    for role in ("owner", "analyst", "auditor"):
        somebody = quiet_visit(role)
        for link in pages.NAVIGATION:
            expected = 200 if role in link.roles else 403
            assert somebody.see(link.address).status_code == expected, (role, link.address)


@pytest.mark.parametrize(
    ("who", "path", "status", "words"),
    [
        ("auditor", "/console", 403, "This is not for you"),
        ("stranger", "/datasets/trips", 404, "There is nothing here"),
        ("analyst", "/datasets/unknown", 404, "There is nothing here"),
        ("analyst", "/nowhere", 404, "There is nothing here"),
        ("analyst", "/console/jobs/unknown", 404, "There is nothing here"),
        ("analyst", "/console/price", 405, "There is nothing here"),
    ],
)
def test_errors_are_pages_for_people_and_json_for_programs(
    quiet_visit: Who, who: str, path: str, status: int, words: str
) -> None:
    somebody = quiet_visit(who)
    page = somebody.see(path)
    assert (page.status_code, page.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert f"<h1>{words}</h1>" in page.text
    program = somebody.see(path, {"accept": "application/json"})
    assert program.status_code == status
    told = program.json()["error"]
    assert told["message"] in page.text.replace("&#39;", "'")
    assert told["code"] in page.text
    part = somebody.see(path, HTMX)
    assert (part.status_code, "<html" in part.text, told["code"] in part.text) == (200, False, True)


def test_a_form_without_the_sessions_token_does_nothing(quiet_visit: Who) -> None:
    ann, bob = quiet_visit("analyst"), quiet_visit("other")
    form = {"dataset": "trips", "sql": COUNT, "spend": "epsilon", "epsilon": "0.1"}
    for fields in (form, {**form, "csrf": "wrong"}, {**form, "csrf": bob.csrf}):
        for path in ("/console/run", "/console/price"):
            refused = ann.send(path, **fields)
            assert (refused.status_code, "SRD-S013" in refused.text) == (403, True)
    assert ann.service.budget(OWNER, "trips")["used"] == 0


def test_too_many_pages_are_too_many(tmp_path: Path) -> None:
    with opened(tmp_path, rate_burst=3, rate_per_minute=1) as service, TestClient(create_app(service)) as client:
        ann = Visit(service, client, service.issue_token(OWNER, "ann", "analyst", ["trips"]))
        pages = [ann.see("/") for _ in range(4)]
        assert [page.status_code for page in pages] == [200, 200, 200, 429]
        assert "A little slower, please" in pages[-1].text
        assert int(pages[-1].headers["retry-after"]) > 1
        tries = [ann.send("/login", token=WRONG).status_code for _ in range(4)]
        assert tries == [401, 401, 401, 429]


def test_a_frozen_ledger_is_said_on_every_page(visit: Who, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = visit("owner")
    csrf = owner.csrf
    assert "is frozen" not in owner.see("/").text
    monkeypatch.setattr(
        type(owner.service.ledger), "frozen", property(lambda _: FrozenError("it was <b>tampered</b> with", "SRD-L050"))
    )
    for path in ("/", "/datasets/trips", "/console", "/nowhere", "/login"):
        text = owner.see(path).text
        assert path == "/login" or ("The ledger is frozen." in text and "SRD-L050" in text)
        assert "<b>tampered" not in text

    def frozen(*_: object) -> None:
        raise FrozenError("it was tampered with", "SRD-L064")

    monkeypatch.setattr(owner.service.ledger, "look", frozen)
    form = {"dataset": "trips", "sql": COUNT, "epsilon": "0.1", "csrf": csrf}
    for path in ("/console/price", "/console/run"):
        refused = owner.send(path, **form)
        assert (refused.status_code, "SRD-L064" in refused.text) == (503, True)
        assert "<h1>The ledger is frozen or out of reach</h1>" in refused.text


def test_metrics_name_routes_and_nothing_that_visitors_typed(call: Caller) -> None:
    ann = Visit(call.service, call.client, call.tokens["analyst"])
    for path in (
        "/datasets/typed-1",
        "/datasets/typed-2/typed-3",
        "/static/typed-4",
        "/typed-5",
        "/console/jobs/typed-6",
    ):
        assert ann.see(path).status_code == 404
    told = call("owner", "GET", "/metrics").text
    assert 'route="/datasets/{name}"' in told
    assert 'route="/static"' in told
    assert "typed" not in told


def test_a_mistake_of_ours_is_a_mute_page(call: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = Visit(call.service, call.client, call.tokens["analyst"])

    def broken(*_: object) -> None:
        raise ZeroDivisionError(CANARY_TEXT)

    monkeypatch.setattr(call.service, "datasets", broken)
    page = ann.see("/")
    assert (page.status_code, "Something went wrong" in page.text) == (500, True)
    assert CANARY_TEXT not in page.text
    assert ann.see("/", {"accept": "application/json"}).json()["error"]["code"] == "SRD-S001"


def test_home_shows_budgets(visit: Who) -> None:
    ann = visit("analyst")
    ann.service.run(ANALYST, "query", count("0.25"))
    text = ann.see("/").text
    assert "25 % of ε = 1 used" in text
    assert "Your own budget" not in text
    ann.service.cap(OWNER, "analyst", "ann", {"epsilon": 2}, "day")
    assert "Your own budget" in ann.see("/").text
    assert "no data set here that you may see" in visit("stranger").see("/").text


def test_a_data_sets_page_says_all_that_is_public(visit: Who) -> None:
    ann = visit("analyst")
    ann.service.run(ANALYST, "query", count("0.25"))
    ann.service.run(OWNER, "query", count("0.125"))
    ann.service.set_policy(OWNER, "trips", {"most": "0.5", "approval": "0.3", "pause": 0, "degrade": True})
    text = ann.see("/datasets/trips").text
    for words in (
        "protects each <strong>rider</strong>",
        "all the rows of one rider and the other has none of them",
        "The column rider says to which rider a row belongs. At most 5 rows of each rider count in one question.",
        "from 0 to 100; what lies beyond counts as the nearer end",
        "one of Oslo, Rome, Bern",
        "37.5 %",
        "ε up to 0.625",
        "never: what is spent stays spent",
        "at most 50 % of the budget",
        "Above 30 % of the budget, the owner must approve first.",
        "answered with the noise that does",
        "others",
    ):
        assert words in text, words
    assert "olga" not in text.split("Who spent it")[1].split("</section>")[0]
    assert "olga" in visit("auditor").see("/datasets/trips").text.split("Who spent it")[1].split("</section>")[0]


def test_days_that_have_budgets_of_their_own_are_said(tmp_path: Path) -> None:
    days = [date(2026, 11, 1 + place % 9) for place in range(90)]
    pq.write_table(pa.table({"rider": list(range(90)), "day": days}), tmp_path / "visits.parquet")
    with Service.open(settings_at(tmp_path)) as service, TestClient(create_app(service)) as client:
        service.register(OWNER, BY_DAY, {"epsilon": 1})
        owner = Visit(service, client, service.issue_token(OWNER, "olga", "owner"))
        form = {"dataset": "visits", "epsilon": "0.75", "sql": THREE_DAYS}
        assert "Answer</h2>" in owner.fill("/console/run", **form).text
        text = owner.see("/datasets/visits").text
        for words in (
            "Every day of visits.day has a budget of its own from 2026-11-01",
            "protects each <strong>(rider, day)</strong>",
            "on each, not within that budget over all",
            "there is no one line to draw",
            "Parts of the budget of one day",
            "A row belongs to whoever rider names, on the row&#39;s day",
        ):
            assert words in text, words
        over = owner.fill("/console/price", **form).text
        assert "What would fit: ε = 0.25" in over
        assert "Left of visits" not in over


def test_hostile_words_are_only_text(visit: Who) -> None:
    owner = visit("owner")
    declared = DECLARATIONS.replace("name: trips", "name: rides").replace("[Oslo", f"['{HOSTILE}'")
    owner.service.register(OWNER, declared, {"epsilon": 1})
    evil = Visit(owner.service, owner.client, owner.service.issue_token(OWNER, HOSTILE, "analyst"))
    form = {"dataset": "rides", "spend": "epsilon", "epsilon": "0.5"}
    form["sql"] = HOSTILE_SQL
    priced = evil.fill("/console/price", **form)
    seen = [priced.text, evil.send("/console/run", **hidden(priced.text, "/console/run")).text]
    assert "Answer</h2>" in seen[-1]
    assert seen[-1].count("data-spec='") == 1
    form["sql"] = HOSTILE
    seen += [evil.fill("/console/price", **form).text, evil.fill("/console/price", HTMX, **form).text]
    seen += [evil.see(path).text for path in ("/", "/datasets/rides", f"/console?sql={HOSTILE}", f"/{HOSTILE}")]
    seen += [evil.see(f"/login?next=/{HOSTILE}").text, evil.send("/login", next=f"/{HOSTILE}", token=HOSTILE).text]
    for text in seen:
        assert "<script>" not in text
    assert sum("&lt;script&gt;" in text for text in seen) == len(seen) - 2


def test_the_pages_hold_no_script_and_no_style_of_their_own() -> None:
    templates = Path(pages.__file__).parent / "templates"
    for template in templates.glob("*.html"):
        text = template.read_text()
        assert not re.search(r"<style|style=|\bon[a-z]+=|javascript:|https?://", text), template.name
        ours = r"<script(?! src=\"/static/| type=\"module\" src=\"/client/[^>]* integrity=)"
        assert not re.search(ours, text), template.name
        assert not re.search(r"hx-on|hx-vals=['\"]js|\|safe(?!\s+if)", text), template.name
