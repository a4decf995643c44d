"""Engines for the tests of this room: started when a test first asks for one, once for each worker, and stopped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from query import engines
from query.engines import Engine


@pytest.fixture(scope="session")
def duckdb_engine() -> Iterator[Engine]:
    with engines.duckdb_engine() as engine:
        yield engine


@pytest.fixture(scope="session")
def postgres_engine(postgres_url: str) -> Iterator[Engine]:
    with engines.postgres_engine(postgres_url) as engine:
        yield engine


@pytest.fixture(scope="session")
def spark_engine() -> Iterator[Engine]:
    with engines.spark_engine() as engine:
        yield engine


@pytest.fixture(scope="session", params=engines.NAMES)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn, for the tests that all of them must pass."""
    found: Engine = request.getfixturevalue(f"{request.param}_engine")
    return found
