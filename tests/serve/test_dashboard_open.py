"""The transparency page, for whom it is open, and ε in plain words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from serve.conftest import Caller
from serve.places import ANALYST, CANARY_TEXT, COUNT, OTHER, OWNER, count, opened
from serve.visits import HTML, HTMX, Visit
from sordino.accounting.explain import explain
from sordino.serve.app import create_app
from sordino.serve.dashboard import openness

Who = Callable[[str | None], Visit]

OPEN = ("/transparency", "/transparency/trips", "/transparency/trips/report.json", "/epsilon")


@pytest.fixture
def public(tmp_path: Path) -> Iterator[Visit]:
    """Nobody, at a service whose transparency pages are public."""
    with opened(tmp_path, public_transparency=True) as service, TestClient(create_app(service)) as client:
        yield Visit(service, client)


def test_pages_are_for_those_who_are_known(visit: Who) -> None:
    for path in OPEN:
        answered = visit(None).see(path)
        assert (answered.status_code, answered.headers["location"]) == (303, f"/login?next={path}")
        for role in ("owner", "analyst", "auditor"):
            assert visit(role).see(path).status_code == 200
    stranger = visit("stranger")
    assert "/transparency/trips" not in stranger.see("/transparency").text
    for path in OPEN[1:3]:
        assert stranger.see(path).status_code == 404


def test_pages_are_for_everybody_where_the_owner_says_so(public: Visit) -> None:
    public.service.run(ANALYST, "query", count("0.2"))
    for path in OPEN:
        assert public.see(path).status_code == 200
    page = public.see("/transparency/trips").text
    for words in (
        "Each rider is protected under add-remove within ε = 1.",
        "one has all rows of one rider and the other none of them",
        "the ε of all releases add up, whoever asks and in whatever order",
        "discrete Laplace noise",
        "P[k] ∝ exp(−|k| / ",
        "All rows of one rider weigh 5 in all at most",
        "In rows of the data: a standard deviation of 35.36, in steps of 1/",
        "20 %",
    ):
        assert words in page
    told = public.see("/transparency/trips/report.json")
    assert told.headers["content-disposition"] == 'attachment; filename="transparency-trips.json"'
    assert told.json()["lifetime"]["loss"] == {"epsilon": 0.2, "delta": 0.0}
    for secret in ("ann", COUNT, CANARY_TEXT, "/releases/"):
        assert secret not in page
        assert secret not in told.text
    for path in ("/", "/releases", "/ledger", "/admin"):
        assert public.see(path).status_code == 303
    assert public.see("/transparency/nothing").status_code == 404


def test_a_budget_that_begins_anew_promises_nothing_for_a_lifetime(tmp_path: Path) -> None:
    with (
        opened(tmp_path, {"rho": 1, "refresh": "month"}, public_transparency=True) as service,
        TestClient(create_app(service)) as client,
    ):
        service.run(ANALYST, "query", {"dataset": "trips", "sql": COUNT, "rho": "0.1"})
        page = client.get("/transparency/trips", headers=HTML).text
        for words in ("nothing is promised for a lifetime", "losses of periods add up", "Gaussian noise", "ρ = 0.1"):
            assert words in page


def test_who_comes_back_with_an_old_cookie_is_nobody(public: Visit) -> None:
    token = public.service.issue_token(OWNER, "zoe", "owner")
    public.service.run(ANALYST, "query", count("0.2"))
    zoe = Visit(public.service, public.client, token)
    assert "by ann" in zoe.see("/transparency/trips").text
    public.service.revoke_token(OWNER, public.service.tokens(OWNER)[0]["id"])
    answered = zoe.see("/transparency/trips")
    assert (answered.status_code, "by ann" in answered.text) == (200, False)


def test_nobody_asks_too_often(tmp_path: Path) -> None:
    with (
        opened(tmp_path, public_transparency=True, rate_per_minute=1, rate_burst=2) as service,
        TestClient(create_app(service)) as client,
    ):
        assert [client.get("/epsilon", headers=HTML).status_code for _ in range(3)] == [200, 200, 429]


def test_names_and_questions_are_for_owners_and_auditors(visit: Who) -> None:
    released = visit("owner").service.run(OTHER, "query", count("0.2"))["id"]
    for role, named in (("owner", True), ("auditor", True), ("analyst", False)):
        page = visit(role).see("/transparency/trips").text
        assert (released in page, "by bob" in page) == (named, named)


def test_releases_come_page_by_page(call: Caller, visit: Who, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openness, "PAGE", 2)
    ids = [call.service.run(ANALYST, "query", count("0.1"))["id"] for _ in range(3)]
    owner = visit("owner")
    first, second = owner.see("/transparency/trips").text, owner.see("/transparency/trips?before=3").text
    assert [each in first for each in ids] == [False, True, True]
    assert 'href="?before=3#releases"' in first
    assert [each in second for each in ids] == [True, False, False]
    for page in (first, second):
        assert (
            '<th scope="row">discrete Laplace noise</th><td class="number">3</td><td class="number">30 %</td>' in page
        )


def test_epsilon_is_explained_by_the_words_of_the_command_line(quiet_visit: Who) -> None:
    ann = quiet_visit("analyst")
    page = unescape(ann.see("/epsilon?epsilon=1.5&delta=1e-6&people=100000").text).replace("\u00a0", " ")
    for line in str(explain("1.5", "1e-6", 100_000)).split("\n"):
        assert line.strip() in page or line.startswith("For ")
    belief = explain("1.5").person.beliefs[1]
    assert f'x="{round(1000 * belief.least, 1)}"' in page
    assert '<button type="submit"' in page.split('action="/epsilon"')[1]
    assert "hx-trigger" in page
    part = ann.see("/epsilon?epsilon=0.05&delta=0&people=", HTMX)
    assert "there is no chance of failure" in part.text


def test_what_cannot_be_explained_is_said_and_kept(quiet_visit: Who) -> None:
    ann = quiet_visit("analyst")
    for words in ("epsilon=lots", "epsilon=-1", "epsilon=101", "delta=1", "delta=nan", "people=many", "people=0"):
        refused = ann.see(f"/epsilon?{words}")
        assert refused.status_code == 422
        assert "This cannot be explained" in refused.text
    hostile = ann.see("/epsilon?epsilon=%3Cscript%3E&delta=%22%3E%3Cb%3E&people=%27").text
    assert "<script>" not in hostile
    assert '"><b>' not in hostile
    nothing = ann.see("/epsilon?epsilon=50&delta=1e-3").text
    assert 'max="50"' in nothing
    assert "nothing is promised to them as a group" in nothing
    assert "no result depends on their data at all" in ann.see("/epsilon?epsilon=0").text
