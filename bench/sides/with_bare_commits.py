"""A bare commit of two rows, as large as the two entries of a pair, on the stores that a ledger is kept in."""

from __future__ import annotations

import platform
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import psycopg

Timing = tuple[float, int, dict[str, Any]]

ROWS = (b"x" * 600, b"x" * 250)


def versions() -> dict[str, str]:
    return {"sqlite": sqlite3.sqlite_version, "psycopg": psycopg.__version__, "python": platform.python_version()}


def commits(place: str, beside: str, threads: int, times: int) -> Timing:
    commit = _postgres(place) if place.startswith("postgresql") else _sqlite(Path(beside) / "bare.db")
    return timed(commit, threads, times)


def timed(work: Callable[[], object], threads: int, times: int) -> Timing:
    """Return how long it took to do something so many times, shared among threads."""
    start = threading.Barrier(threads + 1)

    def go() -> None:
        start.wait()
        for _ in range(times // threads):
            work()

    workers = [threading.Thread(target=go) for _ in range(threads)]
    for worker in workers:
        worker.start()
    start.wait()
    begun = perf_counter()
    for worker in workers:
        worker.join()
    return perf_counter() - begun, times // threads * threads, {}


def _sqlite(path: Path) -> Callable[[], None]:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    for statement in (
        "PRAGMA journal_mode=WAL",
        "PRAGMA synchronous=FULL",
        "CREATE TABLE IF NOT EXISTS bare (position INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    ):
        connection.execute(statement)
    turn = threading.Lock()

    def commit() -> None:
        with turn:
            connection.execute("BEGIN IMMEDIATE")
            for row in ROWS:
                connection.execute("INSERT INTO bare (body) VALUES (?)", (row,))
            connection.execute("COMMIT")

    return commit


def _postgres(url: str) -> Callable[[], None]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS bare (position BIGSERIAL PRIMARY KEY, body BYTEA NOT NULL)")
    own = threading.local()

    def commit() -> None:
        if not hasattr(own, "connection"):
            own.connection = psycopg.connect(url, autocommit=True)
        connection = own.connection
        connection.execute("BEGIN")
        for row in ROWS:
            connection.execute("INSERT INTO bare (body) VALUES (%s)", (row,))
        connection.execute("COMMIT")

    return commit
