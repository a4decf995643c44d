"""A service as a process of its own, and two of them on one PostgreSQL."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn

from serve.places import ANALYST, DECLARATIONS, OWNER, count, opened, settings_at, write_trips
from servers import needs
from sordino.errors import BudgetError
from sordino.serve import logs
from sordino.serve.keeping.identity import Principal
from sordino.serve.running import serve
from sordino.serve.service import Service

_START = "from sordino.serve.running import serve; from sordino.serve.settings import Settings; serve(Settings.load())"


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[str, str, Path]]:
    """The address of a service in another process, a token for it, and its log."""
    needs("service")
    with opened(tmp_path) as service:
        token = service.issue_token(OWNER, "ann", "analyst", ["trips"])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = settings_at(tmp_path)
    environ = {"SORDINO_DATABASE": settings.database, "SORDINO_DATA": settings.data, "SORDINO_PORT": str(port)}
    log = tmp_path / "log"
    with log.open("wb") as errors:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", _START], env={**os.environ, **environ}, stderr=errors
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(address, process)
            yield address, token, log
        finally:
            process.terminate()
            assert process.wait(30) == 0


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert process.poll() is None
        try:
            if httpx.get(f"{address}/healthz").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the service did not start")


def test_a_process_answers_and_stops(running: tuple[str, str, Path]) -> None:
    address, token, log = running
    headers = {"Authorization": f"Bearer {token}"}
    answered = httpx.post(f"{address}/api/v1/query/run", json=count(), headers=headers, timeout=60)
    assert answered.status_code == 200
    assert "server" not in answered.headers
    for _ in range(100):  # a request is written down once its answer has been sent
        lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
        if any(line.get("route") == "/api/v1/query/run" and line.get("subject") == "ann" for line in lines):
            break
        time.sleep(0.1)
    else:
        raise AssertionError("the request was not written down")
    assert "ready" in {line["what"] for line in lines}


def test_a_request_without_an_end_does_not_keep_a_service_from_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured: list[uvicorn.Config] = []

    class Ended:
        def __init__(self, config: uvicorn.Config) -> None:
            configured.append(config)

        def run(self) -> None:
            """End at once."""

    monkeypatch.setattr(uvicorn, "Server", Ended)
    monkeypatch.setattr(logs, "install", logging.NullHandler)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    switch = sys.getswitchinterval()
    try:
        serve(settings_at(tmp_path, threshold_seconds=2.5))
    finally:
        sys.setswitchinterval(switch)
    waits = configured[0].timeout_graceful_shutdown
    assert waits is not None
    assert 2.5 < waits < 60  # longer than any run that is waited for, and less than systemd or Docker wait


def test_replicas_on_postgres_share_one_budget(postgres_place: Callable[[], str], tmp_path: Path) -> None:
    write_trips(tmp_path)
    settings = settings_at(
        tmp_path, database=postgres_place(), key=str(tmp_path / "ledger.key"), witness=str(tmp_path / "ledger.witness")
    )
    with Service.open(settings) as one, Service.open(settings) as two:
        one.register(OWNER, DECLARATIONS, {"epsilon": 1})
        granted: list[str] = []
        refused: list[str] = []

        def spend(number: int) -> None:
            service = (one, two)[number % 2]
            try:
                granted.append(service.run(Principal(f"account {number}", "analyst"), "query", count("0.1"))["id"])
            except BudgetError as error:
                refused.append(error.code)

        threads = [threading.Thread(target=spend, args=(number,)) for number in range(14)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(granted), len(refused)) == (10, 4)
        token = one.issue_token(OWNER, "ann", "analyst")
        assert two.identities.of_token(token) == Principal("ann", "analyst")
        released = next(iter(granted))
        assert two.release(OWNER, released)["answer"] == one.release(OWNER, released)["answer"]
        assert len(two.releases(OWNER)) == 10
        assert two.verify(OWNER)["sound"]
        assert two.price(ANALYST, "query", count())["fits"] is False
