"""Limits of rate and size."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from serve.conftest import Caller
from serve.places import count, opened
from sordino.serve.app import create_app
from sordino.serve.http.limits import RateLimit
from sordino.serve.refusals import BusyError
from sordino.serve.telling import proofs


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_empties_and_fills() -> None:
    clock = Clock()
    rate = RateLimit(60, 3, clock)
    for _ in range(3):
        rate.check("ann")
    with pytest.raises(BusyError) as refused:
        rate.check("ann")
    assert refused.value.after == pytest.approx(1)
    rate.check("bob")  # each has a bucket of their own
    clock.now = 0.5
    with pytest.raises(BusyError) as refused:
        rate.check("ann")
    assert refused.value.after == pytest.approx(0.5)
    clock.now = 1.0
    rate.check("ann")
    clock.now = 1000.0
    for _ in range(3):
        rate.check("ann")
    with pytest.raises(BusyError):
        rate.check("ann")


def test_only_so_many_buckets_are_remembered() -> None:
    rate = RateLimit(1, 1, Clock())
    for number in range(10_001):
        rate.check(str(number))
    rate.check("0")
    with pytest.raises(BusyError):
        rate.check("10000")


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    directory: Path = tmp_path_factory.mktemp("narrow")
    with (
        opened(directory, rate_per_minute=1, rate_burst=4, largest_request=4096) as service,
        TestClient(create_app(service)) as client,
    ):
        yield Caller(service, client)


def test_whoever_asks_too_often_waits(narrow: Caller) -> None:
    statuses = [narrow("auditor", "GET", "/datasets") for _ in range(6)]
    assert [each.status_code for each in statuses] == [200] * 4 + [429] * 2
    assert statuses[-1].json()["error"]["code"] == "SRD-S005"
    assert 1 <= int(statuses[-1].headers["retry-after"]) <= 60
    assert narrow("other", "GET", "/datasets").status_code == 200


def test_guessing_is_limited_by_address(narrow: Caller) -> None:
    assert [narrow("guess", "GET", "/datasets").status_code for _ in range(6)] == [401] * 4 + [429] * 2


def test_large_requests_are_refused(narrow: Caller) -> None:
    body = {**count(), "sql": "x" * 5000}
    refused = narrow("analyst", "POST", "/query/run", json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "SRD-S006")

    def pieces() -> Iterator[bytes]:  # without a length that is announced
        for _ in range(10):
            yield b" " * 1000

    refused = narrow("owner", "POST", "/query/run", content=pieces(), headers={"Content-Type": "application/json"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "SRD-S006")


def test_verifications_do_not_take_all_threads(call: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go = threading.Event(), threading.Event()
    verify = proofs.verify

    def slow(*given: Any) -> Any:
        begun.set()
        assert go.wait(30)
        return verify(*given)

    monkeypatch.setattr(proofs, "verify", slow)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(call, "auditor", "POST", "/ledger/verify")
        try:
            assert begun.wait(30)
            refused = [call("auditor", "POST", "/ledger/verify") for _ in range(9)]
            assert {(each.status_code, each.json()["error"]["code"]) for each in refused} == {(429, "SRD-S014")}
            assert call("analyst", "GET", "/datasets").status_code == 200
        finally:
            go.set()
        assert first.result(30).json()["sound"]
    assert call("auditor", "POST", "/ledger/verify").json()["sound"]
