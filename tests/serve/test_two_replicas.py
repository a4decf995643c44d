"""Of 64 clients who ask two services at one moment for a tenth of a budget of one, exactly ten are answered."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from serve.places import COUNT, DECLARATIONS, OWNER, settings_at, write_trips
from serve.replicas import Replica
from sordino.serve.service import Service

pytestmark = pytest.mark.service

CLIENTS = 64
LOAD = {"workers": 16, "threshold_seconds": 60.0, "rate_per_minute": 10**6, "rate_burst": 10**6}


@pytest.fixture(params=["sqlite", "postgres"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """Return what the settings of two services on one database say."""
    beside = {"key": str(tmp_path / "ledger.key"), "witness": str(tmp_path / "ledger.witness")}
    if request.param == "sqlite":
        return beside
    return beside | {"database": request.getfixturevalue("postgres_place")()}


def outcomes(replicas: list[Replica], token: str, dataset: str) -> Counter[int]:
    """Return how many were answered in which way."""
    found: list[int] = []
    start = threading.Barrier(CLIENTS)
    question = {"dataset": dataset, "sql": COUNT.replace("trips", dataset), "epsilon": "0.1"}

    def ask(number: int) -> None:
        address = replicas[number % len(replicas)].address
        with httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=120) as client:
            start.wait()
            found.append(client.post(f"{address}/api/v1/query/run", json=question).status_code)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(180)
    return Counter(found)


def rounds_of(settings: dict[str, Any], directory: Path, rounds: int) -> list[Counter[int]]:
    write_trips(directory)
    told = settings_at(directory, **LOAD, **settings)
    replicas: list[Replica] = []
    with Service.open(told) as service:
        token = service.issue_token(OWNER, "ann", "analyst")
        try:
            for name in ("one", "two"):
                replicas.append(Replica(told, name))
                replicas[-1].wait()
            found = []
            for number in range(rounds):
                dataset = f"trips{number}"
                service.register(OWNER, DECLARATIONS.replace("name: trips", f"name: {dataset}"), {"epsilon": 1})
                found.append(outcomes(replicas, token, dataset))
                assert service.budget(OWNER, dataset)["used"] == 1
        finally:
            for replica in replicas:
                replica.stop()
        assert service.verify(OWNER)["sound"]
    return found


def test_exactly_ten_of_64_are_answered(places: dict[str, Any], tmp_path: Path) -> None:
    assert rounds_of(places, tmp_path, 2) == [{200: 10, 402: CLIENTS - 10}] * 2


@pytest.mark.long
def test_exactly_ten_of_64_are_answered_50_times(places: dict[str, Any], tmp_path: Path) -> None:
    assert rounds_of(places, tmp_path, 50) == [{200: 10, 402: CLIENTS - 10}] * 50
