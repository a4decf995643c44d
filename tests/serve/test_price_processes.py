"""Prices that are found in other processes are the same prices, and the same refusals."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from serve.conftest import Caller
from serve.places import ANALYST, CANARY_TEXT, DECLARATIONS, OWNER, count, opened
from sordino.errors import QuestionError
from sordino.serve.app import create_app
from sordino.serve.asking import price_processes
from sordino.serve.asking.price_processes import PriceProcesses
from sordino.serve.kinds.table import OF_THE_HOUSE
from sordino.serve.service import Service

MEANS = {"dataset": "trips", "sql": "SELECT city, AVG(fare) AS a FROM trips GROUP BY city", "epsilon": "0.5"}


@pytest.fixture(scope="module")
def processes() -> Iterator[PriceProcesses]:
    """One process for all tests: to start one takes longer than all prices."""
    found = PriceProcesses(1)
    yield found
    found.close()


@pytest.fixture
def service(tmp_path: Path, processes: PriceProcesses) -> Iterator[Service]:
    with opened(tmp_path) as found:
        found.house.price_processes = processes
        yield found
        found.house.price_processes = None


def test_prices_and_refusals_are_the_same(service: Service) -> None:
    elsewhere = service.house.price_processes
    wrong = count(sql="SELECT note FROM trips")
    for question in (count(0.25), count(50), MEANS, MEANS | {"confidence": 0.9}):
        found = service.price(ANALYST, "query", question)
        service.house.price_processes = None
        assert found == service.price(ANALYST, "query", question)
        service.house.price_processes = elsewhere
    with pytest.raises(QuestionError) as told:
        service.price(ANALYST, "query", wrong)
    service.house.price_processes = None
    with pytest.raises(QuestionError) as plain:
        service.price(ANALYST, "query", wrong)
    assert str(told.value) == str(plain.value)
    service.house.price_processes = elsewhere
    assert service.checkpoint(OWNER)["size"] == 1


def test_what_is_declared_or_spent_anew_counts_at_once(service: Service) -> None:
    before = service.price(ANALYST, "query", count(0.5))
    service.register(OWNER, DECLARATIONS.replace("rows: 5", "rows: 50"))
    wider = service.price(ANALYST, "query", count(0.5))
    assert wider["columns"][0]["half_widths"]["100"] > 5 * before["columns"][0]["half_widths"]["100"]
    service.run(ANALYST, "query", count(0.75))
    assert not service.price(ANALYST, "query", count(0.5))["fits"]


def test_a_process_that_was_killed_is_replaced(service: Service) -> None:
    elsewhere = service.house.price_processes
    assert elsewhere is not None
    service.price(ANALYST, "query", count(0.5))
    process = elsewhere._idle.get()
    elsewhere._idle.put(process)
    number = process._process.pid
    assert number is not None
    os.kill(number, signal.SIGKILL)
    process._process.join()
    assert service.price(ANALYST, "query", count(0.5))["fits"]


def test_a_mistake_of_ours_is_mute(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = service.house.asked(ANALYST, "trips")

    def broken(*_: object) -> None:
        raise ZeroDivisionError(CANARY_TEXT)

    monkeypatch.setattr(price_processes, "quotation", broken)
    held = service.house.held(ANALYST, asked)
    found = price_processes._found(asked.opened.on_outline, held, asked.policy, OF_THE_HOUSE[0], count(0.5))
    assert found == "ZeroDivisionError"


def test_a_service_that_is_set_so_uses_them_and_ends_them(tmp_path: Path) -> None:
    with opened(tmp_path, price_processes=1) as service:
        with TestClient(create_app(service)) as client:
            call = Caller(service, client)
            elsewhere = service.house.price_processes
            assert elsewhere is not None
            answered = call("analyst", "POST", "/query/price", json=count(0.5))
            assert (answered.status_code, answered.json()["fits"]) == (200, True)
            refused = call("analyst", "POST", "/query/price", json=count(sql="SELECT"))
            assert refused.status_code == 422
        assert service.house.price_processes is None
        assert service.price(ANALYST, "query", count(0.5))["fits"]
