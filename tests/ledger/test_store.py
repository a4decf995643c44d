"""The stores: what both must do, by one suite; and what each says when something goes wrong."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ledger.workers import add_one
from sordino.errors import ArgumentError, FrozenError, LedgerError
from sordino.ledger.opening import store_at
from sordino.ledger.schema import NEWEST, VERSION_TABLE
from sordino.ledger.store import BATCH, Head, Release, Snapshot, Store, UnknownOutcomeError
from sordino.ledger.store_postgres import PostgresStore
from sordino.ledger.store_sqlite import SqliteStore

FIRST = Head(0, b"empty", "note")


@pytest.fixture
def store(place: str) -> Store:
    return store_at(place)


def raw(place: str, statement: str, *values: object) -> None:
    """Change a store behind its back."""
    if place.startswith("postgresql"):
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute(statement.replace("?", "%s").encode(), values)
    else:
        with sqlite3.connect(place) as connection:
            connection.execute(statement, values)
        connection.close()


def test_what_was_put_is_read_back(store: Store) -> None:
    with store.writing() as writing:
        assert writing.lock_head() is None
        writing.begin_head(FIRST)
        writing.put_entries(0, [b"zero", b"one"], b"signature")
        writing.put_tile(1, 0, b"tile")
        writing.put_releases([Release("a", 3, b"answer"), Release("b", 1, b"other")])
        writing.put_snapshot(Snapshot(1, b"old", "n"))
        writing.put_snapshot(Snapshot(2, b"state", "n"))
        writing.put_head(Head(2, b"frontier", "signed\u2014note"))
    with store.reading() as reading:
        assert reading.head() == Head(2, b"frontier", "signed\u2014note")
        assert [tuple(row) for row in reading.bodies(0, 9)] == [(0, b"zero"), (1, b"one")]
        assert [tuple(row) for row in reading.bodies(1, 2)] == [(1, b"one")]
        assert reading.signature(0, 2) == (1, b"signature")
        assert reading.signature(0, 1) is None
        assert reading.beyond(1) == 1
        assert reading.beyond(2) is None
        assert [tuple(row) for row in reading.tiles(1, 0, 5)] == [(0, b"tile")]
        assert reading.release("a") == Release("a", 3, b"answer")
        assert reading.release("c") is None
        assert reading.releases(0, 4) == [Release("b", 1, b"other"), Release("a", 3, b"answer")]
        assert reading.releases(2, 3) == []
        assert reading.snapshots() == [Snapshot(2, b"state", "n")]
    store.close()


def test_long_logs_are_read_in_batches(store: Store) -> None:
    size = BATCH + 3
    with store.writing() as writing:
        for position in range(size):
            writing.put_entries(position, [b"%d" % position], None)
    with store.reading() as reading:
        batches = list(reading.batches(0, size))
    assert [len(batch) for batch in batches] == [BATCH, 3]
    assert [row[1] for batch in batches for row in batch] == [b"%d" % position for position in range(size)]
    store.close()


def test_a_block_that_raises_leaves_nothing(store: Store) -> None:
    def interrupted() -> None:
        with store.writing() as writing:
            writing.put_entries(0, [b"zero"], None)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with store.reading() as reading:
        assert reading.bodies(0, 9) == []
    with store.writing() as writing:  # and the lock is free
        writing.put_entries(0, [b"zero"], None)
    store.close()


def test_positions_are_taken_once(store: Store) -> None:
    with store.writing() as writing:
        writing.put_entries(0, [b"zero"], None)
    with pytest.raises(LedgerError, match="SRD-L053"), store.writing() as writing:
        writing.put_entries(0, [b"other"], None)
    store.close()


def test_writers_wait_for_each_other(place: str, store: Store) -> None:
    with store.writing() as writing:
        writing.begin_head(FIRST)
    store.close()
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=add_one, args=(place, 20)) for _ in range(2)]
    threads = [threading.Thread(target=add_one, args=(place, 20)) for _ in range(3)]
    for worker in [*workers, *threads]:
        worker.start()
    for worker in [*workers, *threads]:
        worker.join(60)
    store = store_at(place)
    with store.reading() as reading:
        assert reading.head() == Head(100, b"empty", "note")
        assert len(reading.bodies(0, 200)) == 100
    store.close()


def test_patience_ends(place: str, store: Store) -> None:
    kind = PostgresStore if place.startswith("postgresql") else SqliteStore
    with store.writing() as writing:
        writing.begin_head(FIRST)
    impatient = kind(place, patience=0.05)
    with store.writing() as writing:
        writing.lock_head()
        with pytest.raises(LedgerError, match="SRD-L051"), impatient.writing() as late:
            late.lock_head()
    with impatient.writing() as writing:
        assert writing.lock_head() == FIRST
    impatient.close()
    store.close()


def test_tables_are_made_once_and_a_newer_form_is_refused(place: str, store: Store) -> None:
    store.close()
    store_at(place).close()
    raw(place, f"UPDATE {VERSION_TABLE} SET version_num = ?", "9999")  # noqa: S608
    with pytest.raises(LedgerError, match=rf"newer version.*'9999'.*{NEWEST}.*SRD-L052"):
        store_at(place)


def test_many_may_open_a_new_ledger_at_once(place: str) -> None:
    failures: list[BaseException] = []

    def open_it() -> None:
        try:
            store_at(place).close()
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []


class Lossy:
    """A cursor whose line goes dead right after a commit."""

    def __init__(self, real: Any, failure: type[Exception]) -> None:
        self._real, self._failure = real, failure

    def execute(self, text: str, *rest: Any) -> None:
        self._real.execute(text, *rest)
        if text == "COMMIT":
            raise self._failure("the line went dead")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def test_a_lost_commit_is_told_apart(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with store.writing() as writing:
        writing.begin_head(FIRST)
    begun = store._begun
    with monkeypatch.context() as patch:
        patch.setattr(store, "_begun", lambda: Lossy(begun(), store.failures[0]))
        with pytest.raises(UnknownOutcomeError, match=r"did not say.*SRD-L055"), store.writing() as writing:
            writing.put_entries(0, [b"zero"], None)
    with store.writing() as writing:  # on a new connection; the commit had succeeded
        assert [tuple(row) for row in writing.bodies(0, 9)] == [(0, b"zero")]
    store.close()


def test_postgres_comes_back_after_its_connection_was_cut(postgres_place: object) -> None:
    place = postgres_place()  # type: ignore[operator]
    store = PostgresStore(f"{place}&application_name=to-be-cut")  # other tests keep connections to the same server
    with store.writing() as writing:
        writing.begin_head(FIRST)
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ?"
    raw(place, cut, "to-be-cut")
    with store.writing() as writing:
        assert writing.lock_head() == FIRST
    with pytest.raises(LedgerError, match=r"SRD-L05[05]"), store.writing() as writing:  # noqa: PT012
        raw(place, cut, "to-be-cut")
        writing.lock_head()
    with store.reading() as reading:
        assert reading.head() == FIRST
    store.close()


def test_postgres_is_named_without_its_password(postgres_url: str) -> None:
    store = PostgresStore(postgres_url)
    assert "***" in store.place
    assert postgres_url.split(":")[2].split("@")[0] not in store.place
    store.close()
    with pytest.raises(LedgerError, match="SRD-L050"):
        PostgresStore("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(ArgumentError, match="SRD-A001"):
        PostgresStore("postgresql://host:port/database")


def test_postgres_writes_at_read_committed(postgres_url: str) -> None:
    stale = f"{postgres_url}?options=-cdefault_transaction_isolation%3Dserializable"
    store = PostgresStore(stale)
    with store.writing() as writing:
        settings = [
            writing._cursor.execute(f"SHOW {name}").fetchone()[0]  # type: ignore[attr-defined, func-returns-value]
            for name in ("transaction_isolation", "synchronous_commit")
        ]
    assert settings == ["read committed", "on"]
    store.close()


def test_sqlite_syncs_every_commit(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "ledger.db")
    with store.writing() as writing:
        cursor: Any = writing._cursor
        assert cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert cursor.execute("PRAGMA synchronous").fetchone() == (2,)
    assert (tmp_path / "ledger.db").stat().st_mode & 0o077 == 0
    store.close()


@pytest.mark.parametrize("replace", [True, False], ids=["replaced", "removed"])
def test_sqlite_sees_its_file_go(tmp_path: Path, replace: bool) -> None:
    path = tmp_path / "ledger.db"
    store = SqliteStore(path)
    with store.writing() as writing:
        writing.begin_head(FIRST)
    if replace:
        shutil.copy(path, tmp_path / "copy.db")
        os.replace(tmp_path / "copy.db", path)
    else:
        path.unlink()
    with pytest.raises(FrozenError, match=r"replaced or removed.*SRD-L066"), store.writing():
        pass
    store.close()


def test_sqlite_says_what_is_wrong_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(b"this is not a database, but long enough to look at" * 100)
    with pytest.raises(LedgerError, match="SRD-L053"):
        SqliteStore(path)
    path.unlink()
    store = SqliteStore(path)
    raw(str(path), "DROP TABLE ledger_head")
    with pytest.raises(LedgerError, match="SRD-L053"), store.reading() as reading:
        reading.head()
    store.close()
    with pytest.raises(LedgerError, match="SRD-L050"):
        SqliteStore(tmp_path / "no such directory" / "ledger.db")
