"""A service that is killed at random moments under load: what it answered was charged, and the next one goes on."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import httpx
import pytest

from serve.places import OWNER, count, opened, settings_at
from serve.replicas import Replica
from sordino.ledger.entries import Reserved
from sordino.ledger.ledger import Ledger

pytestmark = pytest.mark.service

CLIENTS = 8


class Clients:
    """Clients that ask one question after the other, until the service is gone."""

    def __init__(self, address: str, token: str) -> None:
        self.answered: list[str] = []
        self.refused: list[int] = []
        self._asked = (f"{address}/api/v1/query/run", {"Authorization": f"Bearer {token}"})
        self._threads = [threading.Thread(target=self._ask) for _ in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    def _ask(self) -> None:
        address, headers = self._asked
        with httpx.Client(headers=headers, timeout=60) as client:
            while True:
                try:
                    response = client.post(address, json=count())
                except httpx.TransportError:
                    return
                if response.status_code == 200:
                    self.answered.append(response.json()["id"])
                else:
                    self.refused.append(response.status_code)

    def wait_for_an_answer(self) -> None:
        for _ in range(3000):
            if self.answered:
                return
            time.sleep(0.02)
        raise AssertionError("nobody was answered within a minute: is there a stuck lock?")

    def end(self) -> None:
        for thread in self._threads:
            thread.join(120)
            assert not thread.is_alive()


def killed_under_load(directory: Path, rounds: int) -> int:
    """Kill services at random moments; return how many questions were answered in all."""
    load = {"workers": CLIENTS, "threshold_seconds": 60.0, "rate_per_minute": 10**6, "rate_burst": 10**6}
    with opened(directory, {"epsilon": 10**6}) as service:
        token = service.issue_token(OWNER, "ann", "analyst", ["trips"])
    answered: set[str] = set()
    for _ in range(rounds):
        replica = Replica(settings_at(directory, **load))
        replica.wait()
        clients = Clients(replica.address, token)
        clients.wait_for_an_answer()
        time.sleep(random.uniform(0, 0.5))  # noqa: S311
        replica.kill()
        clients.end()
        assert not clients.refused
        answered |= set(clients.answered)
        _look(directory, answered)
    return len(answered)


def _look(directory: Path, answered: set[str]) -> None:
    with Ledger.open(directory / "budget.db") as ledger:
        assert ledger.frozen is None, str(ledger.frozen)
        report = ledger.verify()
        assert report.sound, str(report)
        assert answered <= {entry.id for entry in ledger.entries() if isinstance(entry, Reserved)}
        for identifier in answered:
            assert ledger.release(identifier)


def test_killed_under_load(tmp_path: Path) -> None:
    assert killed_under_load(tmp_path, rounds=2) >= 2


@pytest.mark.long
def test_killed_under_load_200_times(tmp_path: Path) -> None:
    assert killed_under_load(tmp_path, rounds=200) >= 200
