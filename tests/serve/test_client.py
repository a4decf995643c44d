"""The client: the words of a local account at a service, its errors as ours, and one charge whatever is lost."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

import sordino as so
from serve.conftest import Caller
from serve.places import COUNT, OWNER, opened
from sordino.errors import ArgumentError, BudgetError, ConflictError, FrozenError, LedgerError, QuestionError, RunError
from sordino.gate import ApprovalError
from sordino.ledger.receipt import verify_receipt
from sordino.query.ask import Ask
from sordino.serve.afar.asks import RemoteAsk, Run
from sordino.serve.afar.client import Connection
from sordino.serve.afar.remote import Remote, UnreachableError
from sordino.serve.app import create_app
from sordino.serve.questions.told import ToldAnswer
from sordino.serve.refusals import BusyError, UnauthenticatedError, UnknownError
from sordino.serve.service import Service

CITIES = "SELECT city, COUNT(*) AS rides, AVG(fare) AS fare FROM trips GROUP BY city"


def client_of(call: Caller, who: str = "analyst") -> TestClient:
    call.client.headers["Authorization"] = f"Bearer {call.tokens[who]}"
    return call.client


class Lossy:
    """A connection that loses what the service said, as often as it is told."""

    def __init__(self, http: httpx.Client, losses: int) -> None:
        self.base_url = http.base_url
        self.sent: list[dict[str, str]] = []
        self._http, self._losses = http, losses

    def request(self, method: str, address: str, **words: Any) -> httpx.Response:
        self.sent.append(words.get("headers", {}))
        response = self._http.request(method, address, **words)
        if len(self.sent) <= self._losses:
            raise httpx.ReadError("lost")
        return response

    def close(self) -> None:
        """Nothing: the other end is shared."""


@pytest.fixture
def house(call: Caller) -> Connection:
    return Connection(client_of(call), pause=lambda _: None)


def test_the_words_are_those_of_a_local_account(house: Connection, service: Service) -> None:
    assert house.datasets() == ["trips"]
    account = house.account("trips")
    assert account.metadata["unit"] == "rider"
    ask = account.sql(CITIES)
    price = ask.price(epsilon="0.25")
    assert (price.epsilon, price.fits, price.part) == (Fraction(1, 4), True, 0.25)
    assert "price: ε = 0.25" in str(price)
    assert [column.name for column in price.columns] == ["rides", "fare"]
    assert account.budget["used"] == 0
    answer = ask.run(epsilon=Fraction(1, 4), confidence=0.9)
    assert answer.names == ["city", "rides", "fare"]
    assert account.budget["used"] == 0.25
    assert "ε up to 0.75" in account.remaining
    (listed,) = account.history
    assert listed["sql"] == CITIES
    assert "RemoteAsk" in repr(house.sql(COUNT))
    facts = verify_receipt(answer.receipt, service.ledger.key.text, answer.to_json().encode())
    assert facts.settled.id == listed["id"]
    assert house.answer(listed["id"]).to_json() == answer.to_json()
    assert house.receipt(listed["id"]).release == answer.receipt.release
    assert house.jobs() == []


def test_an_answer_is_a_table_as_at_home(house: Connection) -> None:
    answer = house.sql(CITIES).run(epsilon="0.5", integers=True)
    assert len(answer) == 3
    low, high = answer.interval("rides")
    assert all(low <= answer["rides"])
    assert all(answer["rides"] <= high)
    frame = answer.to_pandas(intervals=True)
    assert list(frame.columns) == ["city", "rides", "rides_low", "rides_high", "fare", "fare_low", "fare_high"]
    assert answer.to_polars().height == 3
    assert [row["city"] for row in answer] == ["Oslo", "Rome", "Bern"]
    assert "intervals at 95 %, noise only" in repr(answer)
    assert "± " in repr(answer)
    assert len(answer.head(1)) == 1
    assert answer.head(1)["city"] == ["Oslo"]
    assert answer.details["dataset"] == "trips"
    assert answer.plot("rides") is not None
    assert answer.noisy_names == ["rides", "fare"]
    with pytest.raises(ArgumentError, match="95 % alone"):
        answer.interval("rides", 0.5)
    with pytest.raises(ArgumentError, match="no interval"):
        answer.interval("city")


def test_lists_come_along(house: Connection) -> None:
    answer = house.sql("SELECT HISTOGRAM(fare, 0, 50, 100) AS bars, TOP(city, 2) AS often FROM trips").run(
        epsilon="0.9"
    )
    (row,) = answer.to_arrow(intervals=True).to_pylist()
    assert [set(part) for part in row["bars"]] == [{"label", "value"}] * 2
    assert len(row["often"]) == 2
    assert answer["bars"].shape == (1, 2)
    assert (answer.interval("bars")[0] <= answer["bars"]).all()
    assert row["bars"][0]["value"] == answer["bars"][0, 0]
    assert f"{row['bars'][0]['label']}: " in repr(answer)
    assert ", ".join(row["often"]) in repr(answer)
    assert "<table" in answer._repr_html_()
    assert answer.head(1).to_arrow().num_rows == 1


def test_dates_and_what_is_missing_come_back_as_they_were() -> None:
    columns = [
        {"name": "day", "kind": "date", "values": ["2026-01-02", None]},
        {"name": "moment", "kind": "timestamp", "values": ["2026-01-02T03:04:05", None]},
        {"name": "n", "kind": "integer", "values": [3, None], "low": [None, None], "high": [7.0, None]},
        {"name": "year", "kind": "integer", "values": [2026, 2027]},
        {"name": "n_low", "kind": "boolean", "values": [True, None]},
    ]
    answer = ToldAnswer({"columns": columns, "confidence": 0.95, "notes": ["a note"], "details": {}})
    first, second = answer.to_arrow(intervals=True).to_pylist()
    assert (first["day"], first["moment"]) == (date(2026, 1, 2), datetime(2026, 1, 2, 3, 4, 5))
    assert (first["n"], first["n_low_"], first["n_high"], first["n_low"]) == (3, -math.inf, 7.0, True)
    assert first["year"] == 2026
    assert {second[name] for name in ("day", "moment", "n", "n_low_", "n_high")} == {None}
    assert "3 (−∞ … 7)" in repr(answer)
    assert "NULL" in repr(answer)
    assert "note: a note" in repr(answer)


def test_a_lost_connection_is_charged_once(call: Caller, service: Service) -> None:
    wire = Lossy(client_of(call), losses=2)
    asked = {"dataset": "trips", "sql": COUNT, "epsilon": "0.1"}
    found = Remote(wire, pause=lambda _: None).run("query", asked, None, lambda _: None)  # type: ignore[arg-type]
    assert found["replayed"]
    assert len(wire.sent) == 3
    assert len({sent["Idempotency-Key"] for sent in wire.sent}) == 1
    assert service.budget(OWNER, "trips")["used"] == 0.1


def test_a_connection_that_stays_lost_names_the_key(call: Caller, service: Service) -> None:
    wire, pauses = Lossy(client_of(call), losses=99), []
    asked = {"dataset": "trips", "sql": COUNT, "epsilon": "0.1"}
    with pytest.raises(UnreachableError, match=r"SRD-S019|charged once") as lost:
        Remote(wire, pause=pauses.append).run("query", asked, "my-key", lambda _: None)  # type: ignore[arg-type]
    assert "my-key" in lost.value.message
    assert pauses == [0.2, 0.4, 0.8, 1.6]
    assert service.budget(OWNER, "trips")["used"] == 0.1
    again = Connection(client_of(call)).sql(COUNT).run(epsilon="0.1", key="my-key")
    assert len(again) == 1
    assert service.budget(OWNER, "trips")["used"] == 0.1


def test_the_same_key_for_another_question_is_refused(house: Connection) -> None:
    house.sql(COUNT).run(epsilon="0.1", key="one")
    with pytest.raises(ConflictError):
        house.sql(COUNT).run(epsilon="0.2", key="one")


def test_long_runs_are_looked_at_until_they_end(tmp_path: Path) -> None:
    stages: list[str] = []
    with opened(tmp_path, threshold_seconds=0) as service, TestClient(create_app(service)) as http:
        http.headers["Authorization"] = f"Bearer {service.issue_token(OWNER, 'ann', 'analyst', ['trips'])}"
        house = Connection(http, key=service.ledger.key.text, stage=stages.append)
        answer = house.sql(COUNT).run(epsilon="0.1")
        assert len(answer) == 1
        assert stages[-1] == "settled"
        (job,) = house.jobs()
        assert job["stage"] == "settled"
        (tmp_path / "trips.parquet").write_bytes(b"no table any more")
        with pytest.raises(RunError):
            house.sql(COUNT).run(epsilon="0.1")
        assert stages[-1] == "failed"
        assert house.account().budget["used"] == 0.2


def test_receipts_are_checked_against_the_key_that_is_known(call: Caller, service: Service) -> None:
    assert len(Connection(client_of(call), key=service.ledger.key.text).sql(COUNT).run(epsilon="0.1")) == 1
    other = "elsewhere+" + service.ledger.key.text.partition("+")[2]
    with pytest.raises(LedgerError):
        Connection(client_of(call), key=other).sql(COUNT).run(epsilon="0.1")


def test_refusals_are_the_same_errors_as_at_home(call: Caller, house: Connection, service: Service) -> None:
    for words, kind in (
        ({"epsilon": 5}, BudgetError),
        ({"epsilon": -1}, ArgumentError),
        ({"epsilon": 0.1, "rho": 0.1}, ArgumentError),
        ({}, ArgumentError),
    ):
        with pytest.raises(kind):
            house.sql(COUNT).run(**words)
    instead = house.sql(COUNT).price(epsilon=5).would_fit
    assert instead is not None
    assert 0.99 <= float(instead["epsilon"]) <= 1
    with pytest.raises(QuestionError):
        house.sql("SELECT * FROM trips").price(epsilon=1)
    with pytest.raises(UnknownError):
        house.account("nothing").sql(COUNT).price(epsilon=1)
    service.set_policy(OWNER, "trips", {"approval": "0.2"})
    assert "policy: " in str(house.sql(COUNT).price(epsilon="0.5"))
    with pytest.raises(ApprovalError):
        house.sql(COUNT).run(epsilon="0.5")
    call.client.headers["Authorization"] = "Bearer sordino_wrong"
    with pytest.raises(UnauthenticatedError):
        house.datasets()


def answering(answers: Callable[[httpx.Request], httpx.Response]) -> Connection:
    http = httpx.Client(transport=httpx.MockTransport(answers), base_url="https://example.org")
    return Connection(http, pause=lambda _: None)


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (httpx.Response(200, text="<html>"), UnreachableError),
        (httpx.Response(200, json=[1]), UnreachableError),
        (httpx.Response(302), UnreachableError),
        (httpx.Response(502, text="bad gateway"), UnreachableError),
        (httpx.Response(503, json={"error": {"code": "SRD-L061", "message": "frozen"}}), FrozenError),
        (httpx.Response(429, json={"error": {"code": "SRD-S005", "message": "slow"}}), BusyError),
        (httpx.Response(409, json={"error": {"code": "SRD-L026", "message": "other"}}), LedgerError),
    ],
)
def test_whatever_comes_back_is_told(response: httpx.Response, kind: type[Exception]) -> None:
    with answering(lambda _: response) as house, pytest.raises(kind):
        house.datasets()


def test_a_run_that_is_still_going_is_waited_for() -> None:
    seen: list[str] = []
    running = httpx.Response(409, json={"error": {"code": "SRD-S008", "message": "still running"}})
    other = httpx.Response(409, json={"error": {"code": "SRD-S009", "message": "decided"}})
    answers: Iterator[httpx.Response] = iter([running, running, other])
    house = answering(lambda _: next(answers))
    with pytest.raises(ConflictError, match="decided"):
        house.remote.run("query", {"sql": COUNT}, "key", seen.append)
    assert seen == ["running", "running"]


def test_words_become_json() -> None:
    words = Run(
        error=so.within("0.5", of="rides", size=100),
        bounding=so.bounding("weigh", rows=2),
        weights={"rides": 0.25},
        project="one",
        key="never sent",
    )
    asked = RemoteAsk(None, "trips", COUNT).question(words)  # type: ignore[arg-type]
    assert asked == {
        "dataset": "trips",
        "sql": COUNT,
        "error": {"within": "0.5", "of": "rides", "confidence": "0.95", "size": 100.0},
        "bounding": {"method": "weigh", "rows": 2},
        "weights": {"rides": 0.25},
        "project": "one",
    }
    with pytest.raises(ArgumentError, match="decimal"):
        RemoteAsk(None, "trips", COUNT).question(Run(epsilon=Fraction(1, 3)))  # type: ignore[arg-type]


def test_the_words_afar_are_those_of_an_account_here() -> None:
    here = inspect.signature(Ask.price).parameters
    priced, ran = (inspect.signature(method).parameters for method in (RemoteAsk.price, RemoteAsk.run))
    assert dict(priced) == {**here, "project": priced["project"]}
    assert dict(ran) == {**priced, "key": ran["key"]}
    with pytest.raises(ArgumentError, match="did you mean epsilon"):
        RemoteAsk(None, "trips", COUNT).price(epsilom=1)  # type: ignore[arg-type,call-arg]


def test_goals_and_bounding_travel(house: Connection) -> None:
    price = house.sql(COUNT).price(error=so.within(100, of="rides"), bounding=so.bounding("weigh", rows=2))
    assert price.columns[0].half_widths[100.0] <= 100


def test_connect_takes_no_address_in_the_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SORDINO_URL", "https://example.org")
    monkeypatch.setenv("SORDINO_TOKEN", "sordino_x")
    with so.connect() as house:
        assert repr(house) == "Connection(https://example.org)"
    so.connect("http://127.0.0.1:8000").close()
    with pytest.raises(ArgumentError, match="in the clear"):
        so.connect("http://example.org")
    monkeypatch.delenv("SORDINO_TOKEN")
    with pytest.raises(ArgumentError, match="token"):
        so.connect("https://example.org")
