"""A sort of data that nobody has heard of (``heights.py``), through a real service: declared, priced, run, shown."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import sordino as so
from flows.heights import HEIGHTS, Heights, Summed, Sums
from flows.test_a_strange_kind import HERE, PAGES, SOURCE, Place
from serve.conftest import Caller
from serve.places import AUDITOR, OWNER, count, opened, settings_at
from serve.visits import Visit
from sordino.accounting.grant import Grant
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError, SordinoError
from sordino.serve.app import create_app
from sordino.serve.asking.price_processes import PriceProcesses
from sordino.serve.keeping.identity import Principal
from sordino.serve.kinds.table import Kinds
from sordino.serve.refusals import SettingsError, StateError
from sordino.serve.service import Service

KIND = "flows.heights:SUMS"
DECLARATIONS = """
name: people
sort: heights
unit: person
neighbours: replace-one
file: people.json
tallest: 250
"""
TABLES = """
name: people
unit: person
neighbours: replace-one
tables: {trips: {source: trips.parquet, unit: rider}}
"""
ANALYST = Principal("ann", "analyst", frozenset({"people", "trips"}))
ASKED = {"dataset": "people", "parts": 2, "epsilon": "0.1"}
SECRET = 48271


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(SOURCE), str(HERE.parent)]))  # for processes of their own


def write_people(directory: Path) -> None:
    (directory / "people.json").write_text(json.dumps([170, 182, 168, 190, SECRET]))


def place(directory: Path, **changes: Any) -> Service:
    write_people(directory)
    service = opened(directory, kinds=(KIND,), heartbeat_seconds=1, **changes)
    service.register(OWNER, DECLARATIONS, {"epsilon": 2})
    return service


class PlaceOfPeople(Place):
    """The same, in a process of its own, with heights beside trips."""

    kind, datasets = KIND, ("people",)

    def prepare(self, service: Service) -> None:
        write_people(self.directory)
        service.register(OWNER, DECLARATIONS, {"epsilon": 2})


def test_declared_priced_run_apart_killed_and_gone_on_with(tmp_path: Path) -> None:
    here = PlaceOfPeople(tmp_path)
    try:
        asked = {**ASKED, "parts": 6, "seconds": 0.2}
        priced = here.post("/sums/price", asked)
        assert (priced["fits"], priced["part"]) == (True, pytest.approx(0.3))
        assert priced["charge"].startswith("pure ε = 0.6")
        job = here.post("/sums/run", asked)["job"]["id"]
        killed = here.until(lambda: ((found := here.job(job))["progress"] or {"part": 0})["part"] >= 2 and found)
        os.kill(killed["progress"]["process"], signal.SIGKILL)
        here.at(job, "interrupted")
        here.post(f"/jobs/{job}/resume")
        release = here.at(job, "settled")["release"]
        assert len(here.http.get(f"/api/v1/releases/{release}").json()["answer"]["sums"]) == 6
        assert here.http.get("/api/v1/budgets/dataset/people").json()["used"] == pytest.approx(0.3)  # charged once
        told = json.loads(here.command("run", "sums", "parts=1", "epsilon=0.1", "--dataset", "people", "--json"))
        assert len(told["answer"]["sums"]) == 1
    finally:
        here.close()


def test_what_is_told_of_it(tmp_path: Path) -> None:
    with place(tmp_path) as service, TestClient(create_app(service)) as client:
        call = Caller(service, client)
        told = call("owner", "GET", "/datasets/people").json()
        assert (told["sort"], told["unit"], told["neighbours"]) == ("heights", "person", "replace-one")
        assert (told["tallest"], told["declarations"]) == (250, DECLARATIONS)
        assert [each["sort"] for each in call("owner", "GET", "/datasets").json()["datasets"]] == ["heights", "tables"]
        assert service.transparency(AUDITOR, "people")["unit"] == "person"
        assert str(SECRET) not in json.dumps(told)
        preview = service.preview(OWNER, DECLARATIONS)
        assert (preview["known"], preview["tallest"]) == (True, 250)


def test_its_pages(tmp_path: Path) -> None:
    with place(tmp_path) as service, TestClient(create_app(service)) as client:
        released = service.run(ANALYST, "sums", ASKED)
        job = service.jobs.jobs(ANALYST)[0]["id"]
        owner = Visit(service, client, service.issue_token(OWNER, "olga", "owner"))
        pages = (
            *PAGES,
            "/admin",
            "/admin/datasets/people",
            "/admin/register?anew=people",
            "/console?dataset=people",
        )
        for path in pages:
            seen = owner.see(path.format(release=released["id"], job=job).replace("trips", "people"))
            assert seen.status_code == 200, path
            assert str(SECRET) not in seen.text
        shown = owner.see("/datasets/people").text
        assert "tallest" in shown
        assert "/console" not in shown.split("<h1>")[1].split("</div>")[0]  # SQL asks about tables
        assert 'value="people"' not in owner.see("/console").text
        assert owner.see("/console/schema?dataset=people").status_code == 200
        checked = owner.fill("/admin/check", declarations=DECLARATIONS)
        assert checked.status_code == 200
        assert "tallest" in checked.text


def test_prices_elsewhere_are_the_same(tmp_path: Path) -> None:
    with place(tmp_path) as service:
        here = service.price(ANALYST, "sums", ASKED)
        service.house.price_processes = PriceProcesses(1)
        try:
            assert service.price(ANALYST, "sums", ASKED) == here
            assert service.price(ANALYST, "query", count(0.1))["fits"]
        finally:
            service.house.price_processes.close()
            service.house.price_processes = None


def test_a_kind_is_asked_about_what_it_knows(tmp_path: Path) -> None:
    with place(tmp_path) as service, TestClient(create_app(service)) as client:
        token = service.issue_token(OWNER, "ann", "analyst")
        headers = {"Authorization": f"Bearer {token}"}
        question = {"dataset": "people", "sql": "SELECT COUNT(*) AS n FROM people", "epsilon": "0.1"}
        wrong = ({**ASKED, "dataset": "trips"}, "sums"), (question, "query")
        for asked, kind in wrong:
            for verb in ("price", "run"):
                refused = client.post(f"/api/v1/{kind}/{verb}", json=asked, headers=headers)
                assert (refused.status_code, refused.json()["error"]["code"]) == (422, "SRD-A003")
        assert service.checkpoint(OWNER)["size"] == 2  # two budgets were opened, and nothing was charged


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("sort: heights", "sort: depths", ArgumentError),
        ("sort: heights", "sort: [heights]", ArgumentError),
        ("sort: heights", "", ArgumentError),
        ("file: people.json", "file: ../people.json", ArgumentError),
        ("file: people.json", "file: none.json", ArgumentError),
        ("name: people", "name: 'two words'", ArgumentError),
        ("neighbours: replace-one", "neighbours: add-remove", StateError),
        ("unit: person", "unit: family", StateError),
        ("tallest: 250", "tallest: 260", StateError),
    ],
)
def test_what_is_wrong_with_declarations_is_refused(tmp_path: Path, old: str, new: str, error: type) -> None:
    with place(tmp_path) as service:
        with pytest.raises(error) as refused:
            service.register(OWNER, DECLARATIONS.replace(old, new))
        assert isinstance(refused.value, SordinoError)
        assert service.dataset(OWNER, "people")["version"] == 1


def test_a_budget_does_not_pass_from_one_sort_to_another(tmp_path: Path) -> None:
    with place(tmp_path) as service, pytest.raises(StateError, match="the sort of 'people' was heights"):
        service.register(OWNER, TABLES)


def test_where_its_kind_is_gone_everything_else_goes_on(tmp_path: Path) -> None:
    with place(tmp_path) as service:
        released = service.run(ANALYST, "sums", ASKED)
    with Service.open(settings_at(tmp_path)) as service, TestClient(create_app(service)) as client:
        owner = Visit(service, client, service.issue_token(OWNER, "olga", "owner"))
        for path in ("/", "/releases", f"/releases/{released['id']}", "/transparency/people", "/admin", "/ledger"):
            assert owner.see(path).status_code == 200, path
        assert owner.see("/datasets/people").status_code == 422
        assert service.run(ANALYST, "query", count(0.1))["answer"]


def test_two_kinds_may_not_bring_different_sorts_of_one_name() -> None:
    assert Kinds.load([KIND]).sorts["heights"] is HEIGHTS
    with pytest.raises(SettingsError) as refused:
        Kinds.load([KIND, "flows.heights:RIVAL"])
    assert refused.value.code == "SRD-S010"


def test_an_account_opens_for_anything_protected_without_a_service(tmp_path: Path) -> None:
    write_people(tmp_path)
    heights = Heights("people", so.Unit("person"), so.Neighbours.REPLACE_ONE, str(tmp_path / "people.json"), 250)
    plan = Sums("people", 1, "0.5", 0, bound=heights.bound)
    with so.open(tmp_path / "budget.db") as house:
        budget = house.account(heights.opened(), so.budget(epsilon=1))
        assert isinstance(budget, DataAccount)

        def release(_: Grant) -> Summed:
            return Summed(int(plan.mechanism.release(900, Grant(plan.mechanism.event(heights.bound), heights.bound))))

        summed = budget.carry_out(plan, release)
        assert summed.receipt is not None
        assert budget.account.used == pytest.approx(0.5)
        assert house.verify().sound
    with so.open(tmp_path / "budget.db") as house:
        assert house.account(heights).account.used == pytest.approx(0.5)
