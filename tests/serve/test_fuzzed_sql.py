"""Whatever is asked: no 5xx, no value of the data in any body, and nothing answered without a charge."""

from __future__ import annotations

import asyncio
import collections
import json
import random
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from serve.places import OWNER, settings_at
from serve.sql_inputs import SqlInputs
from sordino.serve.app import create_app
from sordino.serve.service import Service

Outcomes = collections.Counter[tuple[str, int, str]]
"""How often which verb ended with which status and code."""

PIECES = 20
IN_ALL = 100_000

CANARY_TEXTS = ("zanzibar-canary-9137", "Quokka\u00e9-7731")
CANARY_NUMBERS = ("48271.390625", "77123.0703125", "-918273.5", "918273")
DECLARED = """
name: rides
unit: rider
tables:
  rides:
    source: rides.parquet
    unit: rider
    columns:
      fare: {bounds: [0, 100]}
      tips: {bounds: [0, 40]}
      seats: {bounds: [1, 8]}
      city: {keys: [Oslo, Rome, Bern]}
    limits: {rows: 5}
  cities:
    source: cities.parquet
    public: true
    columns:
      country: {keys: [NO, IT, CH]}
"""


def write_rides(directory: Path) -> None:
    """Rides of a hundred people; two of them have values that must be seen nowhere."""
    rows: dict[str, list[Any]] = {
        "rider": [number // 3 for number in range(300)],
        "fare": [float(number % 50) for number in range(300)],
        "tips": [None if number % 7 == 0 else number / 8 for number in range(300)],
        "seats": [1 + number % 8 for number in range(300)],
        "city": ["Oslo", "Rome", "Bern"] * 100,
        "note": ["plain", "12", "", None, "2026-01-01"] * 60,
        "day": [date(2026, 1, 1) + timedelta(number % 90) for number in range(300)],
        "paid": [number % 2 == 0 for number in range(300)],
    }
    rows["fare"][7], rows["city"][7], rows["note"][7] = 48271.390625, CANARY_TEXTS[0], CANARY_TEXTS[0]
    rows["tips"][7], rows["fare"][8], rows["note"][8] = -918273.5, float("nan"), CANARY_TEXTS[1]
    rows["tips"][9], rows["rider"][9], rows["note"][9] = 77123.0703125, 918273, CANARY_TEXTS[1]
    pq.write_table(pa.table(rows), directory / "rides.parquet")
    cities = {"city": ["Oslo", "Rome", "Bern"], "country": ["NO", "IT", "CH"]}
    pq.write_table(pa.table(cities), directory / "cities.parquet")


class Fuzzing:
    """A service under fire, and the book of what came back.

    Every text is priced. What can be answered is run so often as `share` says, as an answer takes long; all else, which
    must be refused when it is run as well, always.
    """

    def __init__(self, service: Service, share: float) -> None:
        self.service = service
        self._share = share
        self._draw = random.Random(7)  # noqa: S311
        self._loop = asyncio.new_event_loop()
        transport = httpx.ASGITransport(create_app(service), raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport, base_url="http://service")
        token = service.issue_token(OWNER, "ann", "analyst", ["rides"])
        self._headers = {"Authorization": f"Bearer {token}", "content-type": "application/json"}
        self.outcomes: Outcomes = collections.Counter()

    def ask(self, text: str, words: dict[str, Any]) -> None:
        """Price a text, run it, and check what came back and what it did to the ledger."""
        content = json.dumps({"dataset": "rides", "sql": text, **words})
        before = self.service.ledger.size
        priced = self._post("price", content)
        assert self.service.ledger.size == before, "a price was charged"
        self.outcomes["price", priced.status_code, _code(priced)] += 1
        if priced.status_code == 200 and priced.json()["fits"] and self._draw.random() > self._share:
            return
        ran = self._post("run", content)
        new = self._entries(before)
        kinds = [entry["kind"] for entry in new]
        match ran.status_code:
            case 200:
                assert kinds == ["reserved", "settled"]
                assert {entry["id"] for entry in new} == {ran.json()["id"]}
                assert priced.status_code == 200
            case 424:
                assert kinds == ["reserved", "failed"]
            case _:
                assert kinds == []
                assert ran.status_code in (402, 422)
                agree = priced.status_code == 200 or _code(priced) == _code(ran)
                assert agree, (priced.text, ran.text)
        self.outcomes["run", ran.status_code, _code(ran)] += 1

    def close(self) -> None:
        self._loop.run_until_complete(self._client.aclose())
        self._loop.close()

    def _post(self, verb: str, content: str) -> Any:
        asked = self._client.post(f"/api/v1/query/{verb}", content=content, headers=self._headers)
        response = self._loop.run_until_complete(asked)
        assert response.status_code < 500, response.text
        for canary in (*CANARY_TEXTS, *CANARY_NUMBERS):
            assert canary not in response.text
        return response

    def _entries(self, before: int) -> list[dict[str, Any]]:
        return [found["entry"] for found in self.service.entries(OWNER, before, before + 10)]


def _code(response: Any) -> str:
    """Return the code of an error, or nothing."""
    return "" if response.status_code == 200 else str(response.json()["error"]["code"])


@contextmanager
def fuzzing(directory: Path, share: float = 1.0) -> Iterator[Fuzzing]:
    write_rides(directory)
    limits = {"rate_per_minute": 10**7, "rate_burst": 10**7, "threshold_seconds": 600}
    with Service.open(settings_at(directory, **limits)) as service:
        service.register(OWNER, DECLARED, {"epsilon": 900, "delta": "1e-3"})
        with closing(Fuzzing(service, share)) as found:
            yield found


def fuzz(directory: Path, seed: int, count: int, share: float) -> Outcomes:
    """Ask so many texts of a seed; what fails is told with the text that did it."""
    inputs = SqlInputs(seed)
    with fuzzing(directory, share) as under_fire:
        for number in range(count):
            text, words = inputs.text(), inputs.words()
            try:
                under_fire.ask(text, words)
            except AssertionError as error:
                raise AssertionError(f"text {number} of seed {seed}: {text!r} with {words!r}: {error}") from error
        assert under_fire.service.verify(OWNER)["sound"]
        return under_fire.outcomes


def _check_mix(found: Outcomes, count: int) -> None:
    """Enough was answered, and enough refused, that there was something to find."""
    sums: collections.Counter[tuple[str, int]] = collections.Counter()
    for (verb, status, _), times in found.items():
        sums[verb, status] += times
    assert sum(times for (verb, _), times in sums.items() if verb == "price") == count
    assert sums["price", 200] > count / 20
    assert sums["price", 422] > count / 4
    assert sums["run", 200] > 0
    assert sums["run", 402] > 0
    assert sums["run", 424] == 0, "a question was charged and the engine could not answer it"
    assert len(found) > 20


def test_eight_hundred_texts(tmp_path: Path) -> None:
    _check_mix(fuzz(tmp_path, 0, 800, 0.03), 800)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, PIECES + 1))
def test_a_hundred_thousand_texts(tmp_path: Path, seed: int) -> None:
    _check_mix(fuzz(tmp_path, seed, IN_ALL // PIECES, 0.1), IN_ALL // PIECES)


@pytest.mark.parametrize("value", ["CEIL(fare)", "FLOOR(fare)", "CAST(fare AS BIGINT)", "ROUND(fare)"])
def test_a_value_that_is_no_number_fails_no_question(tmp_path: Path, value: str) -> None:
    with fuzzing(tmp_path) as under_fire:
        under_fire.ask(f"SELECT SUM({value}) AS a FROM rides WHERE {value} > 4", {"epsilon": 1})  # noqa: S608
        assert under_fire.outcomes["run", 200, ""] == 1


@pytest.mark.parametrize("value", ["EXP(1e30)", "EXP(-1e30)", "EXP(fare * 1e30)"])
def test_what_grows_beyond_all_numbers_is_no_mistake(tmp_path: Path, value: str) -> None:
    with fuzzing(tmp_path) as under_fire:
        under_fire.ask(f"SELECT SUM({value}) AS a FROM rides", {"epsilon": 1})  # noqa: S608


def test_whether_a_row_counts_does_not_depend_on_those_beside_it(tmp_path: Path) -> None:
    answers = []
    for name, other in (("a", 5.0), ("b", 10.0**12)):
        home = tmp_path / name
        home.mkdir()
        with fuzzing(home) as under_fire:
            rows = {"rider": [1, 2, 3], "fare": [float("nan"), 7.0, other], "city": ["Oslo"] * 3}
            pq.write_table(pa.table(rows), home / "rides.parquet")
            declared = DECLARED[: DECLARED.index("  cities:")].replace("      seats: {bounds: [1, 8]}\n", "")
            declared = declared.replace("      tips: {bounds: [0, 40]}\n", "").replace("name: rides", "name: others")
            under_fire.service.register(OWNER, declared, {"epsilon": 500})
            question = {"dataset": "others", "sql": "SELECT COUNT(*) AS n FROM rides WHERE fare > 1e9", "epsilon": 400}
            (column,) = under_fire.service.run(OWNER, "query", question)["answer"]["columns"]
            answers.append(round(column["values"][0]))
    assert answers == [1, 2]  # what is no number is above all of them, whatever else the file holds


def test_the_checks_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fuzzing(tmp_path) as under_fire:
        asked = "SELECT COUNT(*) AS n FROM rides", {"epsilon": "0.1"}
        under_fire.ask(*asked)
        price = under_fire.service.price
        monkeypatch.setattr(under_fire.service, "price", lambda *asked: price(*asked) | {"x": CANARY_TEXTS[0]})
        with pytest.raises(AssertionError, match="canary"):
            under_fire.ask(*asked)
        monkeypatch.setattr(under_fire.service, "price", lambda *asked: under_fire.service.run(*asked))
        with pytest.raises(AssertionError, match="a price was charged"):
            under_fire.ask(*asked)
