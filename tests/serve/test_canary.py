"""A value that is planted in the data is found nowhere: no body, log line, metric, or file of the service."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from serve.conftest import Caller
from serve.places import CANARY_NUMBER, CANARY_TEXT, COUNT, opened
from sordino.serve import logs
from sordino.serve.app import create_app

LITERAL = "quasar-literal-5512"
QUESTIONS = [
    COUNT,
    "SELECT SUM(fare) AS x, AVG(fare) AS y, MIN(fare) AS a, MAX(fare) AS b FROM trips",
    "SELECT city, COUNT(*) AS n FROM trips GROUP BY city",
    "SELECT note, COUNT(*) AS n FROM trips GROUP BY note",
    "SELECT COUNT(*) AS n FROM trips WHERE note = 'quasar-literal-5512'",
    "SELECT COUNT(*) AS n FROM trips WHERE nothing = 'quasar-literal-5512'",
    "SELECT note FROM trips",
    "SELECT CAST(note AS INTEGER) FROM trips",
    "SELECT SUM(1 / (fare - 48271.0)) AS n FROM trips",
    "EXPLAIN SELECT * FROM trips",
    "SUMMARIZE trips",
]


def test_a_canary_is_found_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    written = io.StringIO()
    handler = logs.install(written)
    bodies: list[str] = []
    try:
        with opened(tmp_path, {"epsilon": 9, "delta": "1e-6"}) as service, TestClient(create_app(service)) as client:
            call = Caller(service, client)
            for sql in QUESTIONS:
                body = {"dataset": "trips", "sql": sql, "epsilon": "0.5"}
                bodies += [call("analyst", "POST", path, json=body).text for path in ("/price", "/run")]
            (tmp_path / "trips.parquet").rename(tmp_path / "gone")
            (tmp_path / "trips.parquet").write_text(f"{CANARY_TEXT},{CANARY_NUMBER}")
            failed = call("analyst", "POST", "/run", json={"dataset": "trips", "sql": COUNT, "epsilon": "0.5"})
            assert failed.status_code == 424
            bodies.append(failed.text)
            for path in (
                "/datasets/trips",
                "/releases?limit=500",
                "/budgets/dataset/trips",
                "/transparency/trips",
                "/ledger/entries?start=0&end=1000",
                "/metrics",
                "/jobs",
            ):
                bodies.append(call("owner", "GET", path).text)
            assert bodies[1].count('"receipt"') == 2  # something was answered, so there was something to leak
    finally:
        logs.logging.getLogger().removeHandler(handler)
    lines = written.getvalue() + caplog.text
    assert lines.count('"request"') >= len(QUESTIONS)
    numbers = {repr(CANARY_NUMBER), "48271.39", "48271,39"}
    for text in (*bodies, lines):
        assert CANARY_TEXT not in text
        assert not any(number in text for number in numbers)
    assert LITERAL not in lines
    assert LITERAL not in bodies[-2]  # the page of metrics
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name not in ("trips.parquet", "gone"):
            content = path.read_bytes()
            assert CANARY_TEXT.encode() not in content, path.name
            assert not any(number.encode() in content for number in numbers), path.name
