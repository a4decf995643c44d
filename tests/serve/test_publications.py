"""Publications in a service: refused before any charge, priced without data, run as jobs, shown, fetched."""

from __future__ import annotations

import hashlib
import io
import json
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi.testclient import TestClient

import sordino as so
from serve.commanding import Commands, commands_in
from serve.movements import ANN, ASKED, CANARY, DECLARATIONS, opened, write_trips
from serve.places import OWNER
from serve.visits import Visit, hidden
from sordino.errors import SordinoError
from sordino.serve.app import create_app
from sordino.serve.asking.price_processes import PriceProcesses
from sordino.serve.service import Service


def changed(**words: Any) -> dict[str, Any]:
    return {name: value for name, value in {**ASKED, **words}.items() if value is not None}


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service in which nothing may be charged."""
    with opened(tmp_path_factory.mktemp("trips")) as found:
        yield found
        assert found.checkpoint(OWNER)["size"] == 1


WRONG = [
    changed(recipe="nothing"),
    changed(recipe=None),
    changed(recipe=["mobility"]),
    changed(dataset=None),
    changed(dataset="other"),
    changed(parameters="all"),
    changed(parameters={"region": "region"}),
    changed(parameters={**ASKED["parameters"], "surprise": 1}),
    changed(parameters={**ASKED["parameters"], "day": "nothing"}),
    changed(parameters={**ASKED["parameters"], "days": ["2026-01-05"]}),
    changed(epsilon=None),
    changed(epsilon=-1),
    changed(epsilon="nan"),
    changed(rho=1),
    changed(epsilon=None, rho=1),
    changed(delta="2"),
    changed(confidence=2),
    changed(surprise=1),
    changed(project=5),
    changed(epsilon=None, error={"within": 1, "of": "nothing"}),
    changed(epsilon=None, error={"within": 1, "off": "people"}),
]


@pytest.mark.parametrize("asked", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_refused_before_a_charge(quiet: Service, asked: dict[str, Any]) -> None:
    for ask in (quiet.price, quiet.run):
        with pytest.raises(SordinoError) as refused:
            ask(ANN, "publication", asked)
        assert refused.value.code.startswith("SRD-")
    assert quiet.jobs.jobs(OWNER) == []


def test_a_price_needs_no_data(quiet: Service) -> None:
    priced = quiet.price(ANN, "publication", ASKED)
    assert (priced["fits"], priced["epsilon"], priced["recipe"]) == (True, 1, "mobility")
    assert [each["name"] for each in priced["errors"]] == ["people", "change_100", "change_1000", "change_10000"]
    quiet.house.price_processes = PriceProcesses(1)
    try:
        assert quiet.price(ANN, "publication", ASKED) == priced
    finally:
        quiet.house.price_processes.close()
        quiet.house.price_processes = None
    goal = changed(epsilon=None, error={"within": 60, "of": "people"})
    assert quiet.price(ANN, "publication", goal)["errors"][0]["amount"] <= 60


@pytest.mark.service
def test_pages_price_run_show_and_hand_out(tmp_path: Path) -> None:
    with opened(tmp_path) as service, TestClient(create_app(service)) as client:
        visit = Visit(service, client, service.issue_token(OWNER, "ann", "analyst", ["trips"]))
        assert "/publications/new?dataset=trips" in visit.see("/datasets/trips").text
        form = visit.see("/publications/new?dataset=trips&recipe=mobility").text
        assert "recipe: mobility" in form
        refused = visit.fill("/publications/price", asked=yaml.safe_dump(changed(recipe="nothing")))
        assert refused.status_code == 422
        assert "Nothing was charged" in refused.text
        priced = visit.fill("/publications/price", asked=yaml.safe_dump(ASKED))
        assert "change_1000" in priced.text
        sent = visit.send("/publications/run", **hidden(priced.text, "/publications/run"))
        assert sent.status_code == 303
        (shown,) = _ended(service)
        page = visit.see(f"/publications/{shown['id']}").text
        assert f"/publications/{shown['id']}/picture.png" in page
        picture = visit.see(f"/publications/{shown['id']}/picture.png")
        assert picture.headers["content-type"] == "image/png"
        release = visit.see(f"/releases/{shown['release']}").text
        assert "mobility.parquet" in release
        body = service.release(ANN, shown["release"])["answer"]
        archive = zipfile.ZipFile(io.BytesIO(visit.see(f"/jobs/{shown['id']}/files/publication.zip").content))
        archive.extractall(tmp_path / "fetched")
        for name, digest in body["files"].items():
            assert hashlib.sha256(archive.read(name)).hexdigest() == digest
        assert so.publish.load(tmp_path / "fetched").manifest == body
        other = Visit(service, client, service.issue_token(OWNER, "bob", "analyst", ["trips"]))
        assert other.see(f"/publications/{shown['id']}").status_code == 404
        assert CANARY not in json.dumps(body) + page + release
        assert CANARY.encode() not in picture.content


def _ended(service: Service) -> list[dict[str, Any]]:
    for _ in range(1200):
        found = service.jobs.jobs(OWNER)
        if all(each["finished"] is not None for each in found):
            assert all(each["error"] is None for each in found), found
            return found
        time.sleep(0.1)
    raise AssertionError("it did not end")


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    found = commands_in(tmp_path, monkeypatch)
    write_trips(tmp_path)
    (tmp_path / "sordino.yaml").write_text("database: budget.db\ndata: .\nheartbeat_seconds: 1\n")
    (tmp_path / "trips.yaml").write_text(DECLARATIONS)
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(ASKED))
    found("declare", "trips.yaml", "--epsilon", "5")
    return found


@pytest.mark.service
def test_the_command_prices_publishes_and_fetches(command: Commands, tmp_path: Path) -> None:
    told = command("publish", "recipe.yaml", "--dry-run")
    assert "price: ε = 1" in told
    assert "change_1000" in told
    assert command.json("publish", "recipe.yaml", "--dry-run", "--epsilon", "2")["epsilon"] == 2
    published = command.json("publish", "recipe.yaml", "--receipt", "receipt.json", "--key", "once")
    assert command.json("publish", "recipe.yaml", "--key", "once")["id"] == published["id"]
    (job,) = command.json("jobs")["jobs"]
    command("job", "fetch", job["id"], "publication.zip")
    with zipfile.ZipFile(tmp_path / "publication.zip") as archive:
        assert json.loads(archive.read("manifest.json")) == published["answer"]
    assert (tmp_path / "receipt.json").exists()
    command("ledger", "verify")
