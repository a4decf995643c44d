"""A value that is planted in the data is found nowhere: no body, page, log line, metric, row or file of the service."""

from __future__ import annotations

import io
import logging
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from serve.conftest import Caller
from serve.places import CANARY_NUMBER, CANARY_TEXT, COUNT, opened
from sordino.serve import logs
from sordino.serve.app import create_app
from sordino.serve.http.browsing import COOKIE
from sordino.serve.service import Service

LITERAL = "quasar-literal-5512"
SECRETS = (CANARY_TEXT, repr(CANARY_NUMBER), "48271.39", "48271,39")
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
ADDRESSES = (
    "/datasets",
    "/datasets/trips",
    "/releases?limit=500",
    "/budgets/dataset/trips",
    "/transparency/trips",
    "/ledger/entries?start=0&end=1000",
    "/ledger/checkpoint",
    "/ledger/inclusion?position=1",
    "/jobs",
    "/approvals",
    "/admin/scopes",
    "/admin/tokens",
    "/metrics",
)
_LINK = re.compile(r'(?:href|hx-get|src|action)="(/[^"#]*)"')
_FILES_OF_DATA = ("trips.parquet", "gone")


class Everything:
    """All that a service said and wrote, by where it was found."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def hear(self, where: str, text: str) -> str:
        self.found[f"{len(self.found)} {where}"] = text
        return text

    def read_files(self, directory: Path) -> None:
        """Read all files but those of the data, byte for byte, and all rows of databases."""
        for path in directory.rglob("*"):
            if path.is_file() and path.name not in _FILES_OF_DATA:
                self.hear(str(path), path.read_bytes().decode("latin-1"))
                if path.suffix == ".db":
                    self.hear(f"rows of {path}", "\n".join(_rows(path)))

    def check(self, secrets: tuple[str, ...] = SECRETS) -> None:
        hits = [(where, secret) for where, text in self.found.items() for secret in secrets if secret in text]
        assert not hits


def _rows(path: Path) -> Iterator[str]:
    connection = sqlite3.connect(path)
    try:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        assert "serve_datasets" in tables
        for table in tables:
            yield from (repr(row) for row in connection.execute(f'SELECT * FROM "{table}"'))  # noqa: S608
    finally:
        connection.close()


@contextmanager
def every_record() -> Iterator[tuple[io.StringIO, io.StringIO]]:
    """Give what the service's handler writes, and what a plain handler would, of every library at every level."""
    ours, plain = io.StringIO(), io.StringIO()
    handler, other, root = logs.install(ours), logging.StreamHandler(plain), logging.getLogger()
    before = root.level
    root.addHandler(other)
    root.setLevel(logging.DEBUG)
    logs.LOGGER.setLevel(logging.DEBUG)
    try:
        yield ours, plain
    finally:
        root.setLevel(before)
        root.removeHandler(handler)
        root.removeHandler(other)


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory for temporary files and the working directory, where engines spill; both empty."""
    found = tmp_path / "scratch"
    found.mkdir()
    monkeypatch.chdir(found)
    monkeypatch.setenv("TMPDIR", str(found))
    monkeypatch.setattr(tempfile, "tempdir", str(found))
    return found


def ask_all(call: Caller, heard: Everything) -> list[str]:
    """Price and run every question, and return the ids of what was released."""
    released = []
    for sql in QUESTIONS:
        body = {"dataset": "trips", "sql": sql, "epsilon": "0.5"}
        for path in ("/query/price", "/query/run"):
            response = call("analyst", "POST", path, json=body)
            heard.hear(f"{path} {sql}", response.text)
            if path == "/query/run" and response.status_code == 200:
                released.append(response.json()["id"])
    return released


def visit_all(service: Service, call: Caller, role: str, heard: Everything) -> set[str]:
    """Follow every link of the dashboard as one role, and return the pages that were seen."""
    cookie = service.identities.begin_with_token(call.tokens[role], 1)
    call.client.cookies.set(COOKIE, cookie)
    seen: set[str] = set()
    waiting = ["/"]
    while waiting and len(seen) < 80:
        address = waiting.pop(0).replace("&amp;", "&")
        if address in seen or address.startswith("/static"):
            continue
        seen.add(address)
        response = call.client.get(address, follow_redirects=False)
        assert response.status_code < 500, address
        heard.hear(f"page {address} as {role}", response.text)
        waiting += _LINK.findall(response.text)
    call.client.cookies.clear()
    return seen


def test_a_canary_is_found_nowhere(tmp_path: Path, scratch: Path) -> None:
    heard, home = Everything(), tmp_path / "home"
    home.mkdir()
    with every_record() as (ours, plain):
        with (
            opened(home, {"epsilon": 9, "delta": "1e-6"}, public_transparency=True) as service,
            TestClient(create_app(service), raise_server_exceptions=False) as client,
        ):
            call = Caller(service, client)
            released = ask_all(call, heard)
            assert len(released) >= 4  # something was answered, so there was something to leak
            (home / "trips.parquet").rename(home / "gone")
            (home / "trips.parquet").write_text(f"{CANARY_TEXT},{CANARY_NUMBER}")
            failed = call("analyst", "POST", "/query/run", json={"dataset": "trips", "sql": COUNT, "epsilon": "0.5"})
            assert failed.status_code == 424
            heard.hear("a failed run", failed.text)
            for path in (*ADDRESSES, *(f"/{kind}/{each}" for kind in ("releases", "receipts") for each in released)):
                response = call("owner", "GET", path)
                assert response.status_code == 200, path
                heard.hear(path, response.text)
            heard.hear("verify", call("owner", "POST", "/ledger/verify").text)
            for role in ("owner", "analyst", "auditor"):
                pages = visit_all(service, call, role, heard)
                assert len(pages) > 5, role
            heard.read_files(tmp_path)  # while it is open: what is in the database's log counts as well
        heard.read_files(tmp_path)
    lines = heard.hear("our log", ours.getvalue()) + heard.hear("the log of all libraries", plain.getvalue())
    assert lines.count('"request"') >= len(QUESTIONS)
    assert len(plain.getvalue().splitlines()) > len(ours.getvalue().splitlines()) / 2
    heard.check()
    assert LITERAL not in ours.getvalue()
    assert not [where for where, text in heard.found.items() if where.endswith("/metrics") and LITERAL in text]
    assert not [path for path in scratch.rglob("*") if path.is_file()]


def test_a_canary_stays_out_of_the_words_of_a_mistake_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError(f"cannot convert {CANARY_TEXT!r} ({CANARY_NUMBER}) to an integer")

    heard = Everything()
    body = {"dataset": "trips", "sql": COUNT, "epsilon": "0.5"}
    requests = (("POST", "/query/price", body), ("POST", "/query/run", body), ("GET", "/datasets/trips", None))
    with (
        every_record() as (ours, plain),
        opened(tmp_path) as service,
        TestClient(create_app(service), raise_server_exceptions=False) as client,
    ):
        call = Caller(service, client)
        for name in ("price", "run", "dataset"):
            monkeypatch.setattr(service, name, broken)
        monkeypatch.setattr("sordino.serve.asking.requests.run", broken)
        for method, path, sent in requests:
            response = call("analyst", method, path, json=sent)
            assert (response.status_code, response.json()["error"]["code"]) == (500, "SRD-S001")
            heard.hear(path, response.text)
    assert heard.hear("our log", ours.getvalue()).count("ValueError") == 3
    heard.hear("the log of all libraries", plain.getvalue())
    heard.read_files(tmp_path)
    heard.check()


def test_the_check_can_fail(tmp_path: Path) -> None:
    heard = Everything()
    (tmp_path / "spilled.tmp").write_bytes(b"\x00\x01" + CANARY_TEXT.encode())
    heard.read_files(tmp_path)
    with pytest.raises(AssertionError):
        heard.check()
