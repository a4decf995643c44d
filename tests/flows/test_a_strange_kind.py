"""A kind that nobody has heard of (``tides.py``), through a real service: from its price to its page, over a dead body.

Nothing under ``src`` names it. It is priced, reserved, run in a process of its own, killed, stopped, gone on with,
settled, and its receipt verified; its pages are there also where nobody knows the kind any more.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

import sordino.serve
from serve.places import ANALYST, OWNER, opened, settings_at
from serve.visits import Visit
from sordino.ledger.receipt import Receipt, verify_receipt
from sordino.serve.app import create_app
from sordino.serve.kinds.kind import Kind
from sordino.serve.kinds.table import Kinds
from sordino.serve.refusals import SettingsError
from sordino.serve.service import Service

HERE = Path(__file__).parent
SOURCE = Path(sordino.serve.__file__).parents[2]
MANY = {"tides": 12, "epsilon": "0.01", "seconds": 0.2}


class Place:
    """A service in a process of its own, with a token for it, and the command line."""

    kind, datasets = "flows.tides:TIDES", ("trips",)

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        with opened(directory, kinds=(self.kind,)) as service:
            self.prepare(service)
            self.key = service.checkpoint(OWNER)["key"]
            self.token = service.issue_token(OWNER, "ann", "analyst", self.datasets)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"http://127.0.0.1:{free.getsockname()[1]}"
        settings = ["database: budget.db", "data: .", f'kinds: ["{self.kind}"]', "heartbeat_seconds: 0.2"]
        settings.append(f"port: {self.address.rpartition(':')[2]}")
        (directory / "sordino.yaml").write_text("\n".join(settings))
        self.environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), str(HERE.parent)])}
        words = [sys.executable, "-m", "sordino", "serve", "-C", str(directory)]
        self.process = subprocess.Popen(words, env=self.environ, stderr=subprocess.DEVNULL)  # noqa: S603
        self.http = httpx.Client(base_url=self.address, headers={"Authorization": f"Bearer {self.token}"}, timeout=60)
        self.until(self._ready)

    def prepare(self, service: Service) -> None:
        """Register what is asked about."""

    def _ready(self) -> bool:
        assert self.process.poll() is None
        try:
            return self.http.get("/healthz").status_code == 200
        except httpx.TransportError:
            return False

    def until(self, true: Callable[[], Any]) -> Any:
        for _ in range(1800):
            if found := true():
                return found
            time.sleep(0.1)
        raise AssertionError("it did not come about")

    def post(self, path: str, asked: dict[str, Any] | None = None) -> dict[str, Any]:
        answered = self.http.post(f"/api/v1{path}", json=asked)
        assert answered.status_code in (200, 202), answered.text
        return dict(answered.json())

    def job(self, identifier: str) -> dict[str, Any]:
        return dict(self.http.get(f"/api/v1/jobs/{identifier}").json())

    def at(self, job: str, *stages: str) -> dict[str, Any]:
        return dict(self.until(lambda: (found := self.job(job))["stage"] in stages and found))

    def told(self, job: str, tide: int) -> dict[str, Any]:
        """Wait until a job has come to a tide."""
        return dict(self.until(lambda: ((found := self.job(job))["progress"] or {"tide": 0})["tide"] >= tide and found))

    def command(self, *words: str) -> str:
        environ = self.environ | {"SORDINO_URL": self.address, "SORDINO_TOKEN": self.token}
        whole = [sys.executable, "-m", "sordino", *words]
        found = subprocess.run(whole, env=environ, capture_output=True, text=True, timeout=120)  # noqa: S603
        assert found.returncode == 0, found.stderr
        return found.stdout

    def close(self) -> None:
        self.http.close()
        self.process.terminate()
        assert self.process.wait(60) == 0


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    found = Place(tmp_path)
    try:
        yield found
    finally:
        found.close()


@pytest.mark.service
def test_from_its_price_to_its_page_over_a_dead_body(place: Place) -> None:
    asked = {"dataset": "trips", **MANY}
    priced = place.post("/tides/price", asked)
    assert priced["part"] == pytest.approx(0.12)
    assert (priced["fits"], priced["tides"]) == (True, 12)

    job = place.post("/tides/run", asked)["job"]["id"]
    killed = place.told(job, 2)["progress"]["process"]
    os.kill(killed, signal.SIGKILL)
    assert place.at(job, "interrupted")["release"] is None
    place.post(f"/jobs/{job}/resume")
    went_on = place.told(job, 4)["progress"]
    assert went_on["process"] != killed

    place.post(f"/jobs/{job}/stop")
    place.at(job, "stopped")
    assert job in place.command("jobs")
    place.command("job", "resume", job)
    release = place.at(job, "settled")["release"]

    body = place.http.get(f"/api/v1/releases/{release}").json()["answer"]
    assert len(body["riders"]) == 12
    assert place.http.get("/api/v1/budgets/dataset/trips").json()["used"] == pytest.approx(0.12)  # charged once
    text = place.http.get(f"/api/v1/receipts/{release}").text
    verify_receipt(Receipt.from_json(text), place.key, json.dumps(body).encode())
    (place.directory / "receipt.json").write_text(text)
    assert "holds" in place.command("receipt", "verify", str(place.directory / "receipt.json"), "--key", place.key)

    words = ("run", "tides", "tides=2", "epsilon=0.1", "--dataset", "trips")
    assert "0.2" in place.command(*words, "--dry-run")
    again = json.loads(place.command(*words, "--key", "once", "--json"))
    assert (again["kind"], len(again["answer"]["riders"])) == ("tides", 2)
    assert json.loads(place.command(*words, "--key", "once", "--json"))["id"] == again["id"]
    assert place.http.get("/api/v1/budgets/dataset/trips").json()["used"] == pytest.approx(0.32)


PAGES = (
    "/",
    "/datasets/trips",
    "/releases",
    "/releases/{release}",
    "/jobs",
    "/jobs/{job}",
    "/ledger",
    "/transparency/trips",
)


@pytest.mark.parametrize("kinds", [(), ("flows.tides:TIDES",)])
def test_its_pages_are_there_whether_or_not_its_kind_is_known(
    tmp_path: Path, kinds: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(SOURCE), str(HERE.parent)]))  # for the process of its own
    asked = {"dataset": "trips", "tides": 2, "epsilon": "0.1"}
    with opened(tmp_path, kinds=("flows.tides:TIDES",), heartbeat_seconds=1) as service:
        released = service.run(ANALYST, "tides", asked)
        job = service.jobs.jobs(ANALYST)[0]["id"]
    with Service.open(settings_at(tmp_path, kinds=kinds)) as service, TestClient(create_app(service)) as client:
        owner = Visit(service, client, service.issue_token(OWNER, "olga", "owner"))
        for path in PAGES:
            assert owner.see(path.format(release=released["id"], job=job)).status_code == 200, path
        page = owner.see(f"/releases/{released['id']}").text
        assert "Laplace noise" in page
        assert "This receipt holds" in page
        assert str(released["answer"]["riders"][0]) in page
        assert owner.see(f"/releases/{released['id']}/receipt.json").status_code == 200
        for position in range(service.checkpoint(OWNER)["size"]):
            assert owner.see(f"/ledger/{position}").status_code == 200, position


@pytest.mark.parametrize(
    "body", [b"7", b"[]", b'"text"', b"no JSON", b'{"receipt": 5}', b'{"receipt": {}, "columns": 3}']
)
def test_whatever_was_released_has_a_page(tmp_path: Path, body: bytes) -> None:
    with opened(tmp_path, kinds=("flows.tides:TIDES",)) as service, TestClient(create_app(service)) as client:
        data = service.house.asking(ANALYST, service.house.asked(ANALYST, "trips"))
        plan = data.sql("SELECT COUNT(*) AS rides FROM trips").plan(epsilon="0.1")
        work = data.begin(plan)
        service.ledger.settle(work.id, body)
        owner = Visit(service, client, service.issue_token(OWNER, "olga", "owner"))
        for path in ("/releases", f"/releases/{work.id}", "/transparency/trips"):
            assert owner.see(path).status_code == 200, path
        assert service.releases(OWNER)[0]["cost"] == "pure ε = 0.1"


def test_what_does_not_fit_the_table_is_refused_when_a_service_starts() -> None:
    for named in ("tides", "nowhere:TIDES", "flows.tides:NOTHING", "flows.tides:Tides", "flows.tides:BAD", "json:"):
        with pytest.raises(SettingsError) as refused:
            Kinds.load(settings_at(Path(), kinds=[named]).kinds)
        assert refused.value.code == "SRD-S010"
    assert isinstance(Kinds.load(["flows.tides:TIDES"])["tides"], Kind)


def test_a_kind_that_is_not_offered_is_unknown(tmp_path: Path) -> None:
    with opened(tmp_path) as service, TestClient(create_app(service)) as client:
        headers = {"Authorization": f"Bearer {service.issue_token(OWNER, 'ann', 'analyst')}"}
        assert client.post("/api/v1/tides/price", json={}, headers=headers).status_code == 404
        assert client.post("/api/v1/price", json={}, headers=headers).status_code == 404
