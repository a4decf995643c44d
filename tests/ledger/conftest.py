"""Both stores for the tests of this room: a file in a directory of its own, a schema of its own on one server."""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from servers import postgres_server

STORES = ("sqlite", "postgres")

_schemas = count(1)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    with (
        tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as directory,
        postgres_server(Path(directory)) as url,
    ):
        yield url


@pytest.fixture(scope="session")
def processes() -> Any:
    """Return the context of processes that start quickly and share nothing with this one."""
    context = multiprocessing.get_context("forkserver")
    # What takes long to import; the server does not know where tests are, so their own modules come with each process.
    context.set_forkserver_preload(["sordino.ledger.account", "sordino.ledger.store_postgres", "psycopg"])
    return context


@pytest.fixture
def sqlite_place(tmp_path: Path) -> Callable[[], str]:
    """Return a function that gives the path of a ledger that is not there yet."""
    return lambda: str(tmp_path / f"ledger{next(_schemas)}.db")


@pytest.fixture
def postgres_place(postgres_url: str) -> Callable[[], str]:
    """Return a function that gives the URL of an empty schema."""

    def place() -> str:
        name = f"ledger{next(_schemas)}"
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"{postgres_url}?options=-csearch_path%3D{name}"

    return place


@pytest.fixture(params=STORES)
def places(request: pytest.FixtureRequest) -> Callable[[], str]:
    """Return a function that says where a new ledger can be, for each kind of store in turn."""
    found: Callable[[], str] = request.getfixturevalue(f"{request.param}_place")
    return found


@pytest.fixture
def place(places: Callable[[], str]) -> str:
    """Return where a new ledger can be, in each kind of store in turn."""
    return places()
