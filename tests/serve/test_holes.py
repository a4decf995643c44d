"""Holes that were found by trying: each of these got something out, or stopped others, that should not have."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ledger.samples import request, rule
from serve.conftest import Caller
from serve.places import ANALYST, AUDITOR, DECLARATIONS, OTHER, OWNER, count, opened, settings_at, write_trips
from serve.visits import Visit
from sordino.errors import ArgumentError
from sordino.ledger.canonical import to_base64
from sordino.ledger.ledger import Ledger
from sordino.ledger.scope import Scope
from sordino.ledger.told import told_bytes
from sordino.ledger.vectors import vector_text
from sordino.ledger.witness import Seen
from sordino.query.engine.memory import Memory
from sordino.serve.refusals import SettingsError, StateError
from sordino.serve.service import Service
from sordino.serve.witness.line import UnreachedError
from sordino.serve.witness.witnessing import RemoteWitness

BY_TABLES = """
name: shop
unit: person
tables:
  trips:
    source: trips.parquet
    unit: rider
    columns: {fare: {bounds: [0, 100]}, city: {keys: [Oslo, Rome, Bern]}}
    limits: {rows: 5}
"""


@pytest.fixture
def walled(tmp_path: Path) -> Iterator[tuple[Service, Path]]:
    """A service with files that are none of its business beside its directory of data."""
    for name in ("data", "data-private"):
        (tmp_path / name).mkdir()
        write_trips(tmp_path / name)
    with duckdb.connect(tmp_path / "private.duckdb") as connection:
        connection.execute(f"CREATE TABLE trips AS FROM '{tmp_path}/data-private/trips.parquet'")
    with Service.open(settings_at(tmp_path / "data")) as service:
        yield service, tmp_path


@pytest.mark.parametrize(
    "source",
    [
        "'{0}/data*/trips.parquet'",
        "'{0}/data?private/trips.parquet'",
        "'{0}/data[-]private/trips.parquet'",
        "'{0}/*/trips.parquet'",
        "'duckdb:///{0}/private.duckdb'",
        "{{url: 'duckdb:///{0}/private.duckdb', table: trips}}",
        "'duckdb:///{0}/data/../private.duckdb'",
        "'li*.parquet'",
        "'postgresql://['",
        "'duckdb://[::1'",
        '"trips\\0.parquet"',
    ],
)
def test_no_source_leads_out_of_the_directory(walled: tuple[Service, Path], source: str) -> None:
    service, place = walled
    (place / "data" / "link.parquet").symlink_to(place / "data-private" / "trips.parquet")
    text = DECLARATIONS.replace("trips.parquet", source.format(place))
    with pytest.raises(ArgumentError, match="outside"):
        service.register(OWNER, text, {"epsilon": 1})


def test_patterns_and_databases_inside_are_served(walled: tuple[Service, Path]) -> None:
    service, place = walled
    (place / "private.duckdb").rename(place / "data" / "own.duckdb")
    for name, source in (("one", "tr*.parquet"), ("two", f"'duckdb:///{place}/data/own.duckdb'")):
        text = DECLARATIONS.replace("source: trips.parquet", f"source: {source}").replace(
            "name: trips", f"name: {name}"
        )
        if name == "two":
            text = text.replace(source, f"{{url: {source}, table: trips}}")
        assert service.register(OWNER, text, {"epsilon": 1})["name"] == name


def test_bad_keys_take_no_room_from_others(tmp_path: Path) -> None:
    with opened(tmp_path, workers=1, queue=1) as service:
        for _ in range(5):
            with pytest.raises(ArgumentError):
                service.submit(ANALYST, "query", count(), "no\u00a0key")
        assert service.submit(OTHER, "query", count()).future.result()["dataset"] == "trips"


def test_within_a_slot_no_answer_says_when_its_engine_was_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path, slot_seconds=2.0) as service:
        real = Memory.compute

        def slowly(*words: Any) -> Any:
            time.sleep(1.1)
            return real(*words)

        monkeypatch.setattr(Memory, "compute", slowly)
        found = service.run(ANALYST, "query", count())
    reserved = json.loads(json.loads(found["receipt"])["reserved"])["time"] / 1000
    assert datetime.fromisoformat(found["answer"]["details"]["time"]).timestamp() <= reserved + 0.5


def test_the_public_reads_no_piece_of_a_question(tmp_path: Path) -> None:
    with opened(tmp_path, public_transparency=True) as service:
        asked = "SELECT SUM(CASE WHEN fare > 42.5 THEN fare ELSE 0 END) AS s FROM trips"
        service.run(ANALYST, "query", {"dataset": "trips", "sql": asked, "epsilon": "0.1"})
        for who in (None, OTHER):
            told = service.transparency(who, "trips")
            assert "42.5" not in json.dumps(told)
            (noise,) = told["releases"][0]["noise"]
            assert noise["law"] == "DiscreteLaplace"
            assert "scale" in noise
        assert "42.5" in json.dumps(service.transparency(AUDITOR, "trips"))


def test_a_witness_lets_no_total_shrink(tmp_path: Path) -> None:
    """With a total of fewer columns first, an auditor's token was enough to make a witness forget what was spent."""
    with opened(tmp_path) as service:
        ledger = service.ledger
        key, note, size = ledger.key.text, ledger.checkpoint(), ledger.size

        def tell(old: int, spent: str) -> None:
            totals = {"dataset:trips": spent}
            signed = ledger._session.log.key.sign(told_bytes(key, note, old, totals, anew=False))
            service.add_checkpoint(AUDITOR, key, note, old, [], totals, to_base64(signed))

        tell(0, "0 900 900")
        for spent in ("0", "0 0", "0 0 0 0"):
            with pytest.raises(ArgumentError, match="columns"):
                tell(size, spent)
        tell(size, "5 0 0")
        assert service.witnessed(AUDITOR, key)["spent"] == {"dataset:trips": "5 900 900"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    unit: rider", "    unit: note"),
        (
            "tables:",
            "personal: {column: trips.city, classes: [{is: Oslo, epsilon: 1}, {is: Rome, epsilon: 5}]}\ntables:",
        ),
    ],
)
def test_whose_a_row_is_stays_for_the_life_of_a_budget(tmp_path: Path, old: str, new: str) -> None:
    write_trips(tmp_path)
    with Service.open(settings_at(tmp_path)) as service:
        service.register(OWNER, BY_TABLES, {"epsilon": 1})
        service.register(OWNER, BY_TABLES.replace("[0, 100]", "[0, 50]").replace("rows: 5", "rows: 7"))
        with pytest.raises(StateError) as refused:
            service.register(OWNER, BY_TABLES.replace(old, new))
        assert refused.value.code == "SRD-S015"


def test_what_was_private_does_not_become_public(tmp_path: Path) -> None:
    write_trips(tmp_path)
    more = "  more: {source: trips.parquet, unit: rider}\n"
    with Service.open(settings_at(tmp_path)) as service:
        service.register(OWNER, BY_TABLES + more, {"epsilon": 1})
        with pytest.raises(StateError) as refused:
            service.register(OWNER, BY_TABLES + more.replace("unit: rider", "public: true"))
        assert refused.value.code == "SRD-S015"


def test_nothing_is_signed_with_half_a_secret(tmp_path: Path) -> None:
    write_trips(tmp_path)
    half = tmp_path / "budget.db.session"
    half.write_bytes(b"")
    with pytest.raises(SettingsError, match="SRD-S010"):
        Service.open(settings_at(tmp_path))
    half.unlink()
    Service.open(settings_at(tmp_path)).close()
    assert len(half.read_bytes()) == 32
    assert half.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir() if "session" in path.name] == [half.name]


def test_an_auditor_of_one_data_set_reads_no_entries_about_others(call: Caller) -> None:
    call.service.run(ANALYST, "query", count())
    call.tokens["limited"] = call.service.issue_token(OWNER, "lia", "auditor", ["another"])
    for path in (
        "/ledger/entries?start=0&end=9",
        "/admin/scopes",
        "/budgets/analyst/ann",
        "/budgets/dataset/trips",
        "/transparency/trips",
        "/metrics",
    ):
        assert call("limited", "GET", path).status_code in (403, 404), path
        assert call("auditor", "GET", path).status_code in (200, 404), path
    visitor = Visit(call.service, call.client, call.tokens["limited"])
    for page in ("/ledger", "/ledger/1", "/datasets/trips", "/transparency/trips"):
        assert visitor.see(page).status_code in (403, 404), page
    assert call("limited", "GET", "/ledger/checkpoint").status_code == 200
    assert call("limited", "POST", "/ledger/verify").json()["sound"]


def test_a_limit_that_would_not_hold_is_refused(service: Service) -> None:
    for limit in (service.issue_token, service.admit):
        with pytest.raises(ArgumentError, match="every data set"):
            limit(OWNER, "zoe", "owner", ["trips"])


class _Line:
    """A line to a witness that is in this process."""

    url = "here"

    def __init__(self) -> None:
        self.seen: Seen | None = None

    def remembered(self) -> Seen | None:
        return self.seen

    def tell(self, seen: Seen, *_: object) -> None:
        spent = {} if self.seen is None else dict(self.seen.spent)
        self.seen = Seen(seen.size, seen.note, spent | dict(seen.spent))

    def close(self) -> None:
        pass


def test_a_charge_that_was_witnessed_was_witnessed_with_its_amount(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise whoever goes on from an old copy would not burn it."""
    line = _Line()
    witness = RemoteWitness(line, seconds=0.1)  # type: ignore[arg-type]
    first, second = Scope("dataset", "first"), Scope("dataset", "second")
    with Ledger.open(tmp_path / "ledger.db", witness=witness) as ledger:
        for scope in (first, second):
            ledger.open_scope(scope, rule(), by="owner")
        witness._ledger = ledger
        witness._send_newest()
        ledger.reserve(request(datasets=(first,)))
        newest = ledger.checkpoint

        def meanwhile() -> str:
            monkeypatch.undo()
            ledger.reserve(request(datasets=(second,)))  # while the thread is about to tell of the first
            return newest()

        monkeypatch.setattr(ledger, "checkpoint", meanwhile)
        witness._send_newest()
        witness.wait()
        assert line.seen is not None
        assert line.seen.spent["dataset:second"] == vector_text(ledger.look(lambda state: state.lifetime(second)))
        ledger.reserve(request(datasets=(second,)))
        line.tell(Seen(ledger.size, newest()))  # as another replica does, whose entries come after
        assert witness.recall() is not None
        with pytest.raises(UnreachedError, match="has not acknowledged"):
            witness.wait()
