"""What all tests share: how hypothesis searches, which servers a test needs, both stores, and how a terminal looks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

import servers
from query import engines
from query.engines import Engine

# Deadlines would make a busy machine fail tests; examples that are slow to build are not wrong.
_SEARCH = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
# The same examples every time, on every machine: whoever changes one line is not told of another's mistake. A failure
# that the search in `make test-long` finds becomes an `@example`, so that it is here from then on.
settings.register_profile("repeat", derandomize=True, database=None, **_SEARCH)
settings.register_profile("search", **_SEARCH)
settings.load_profile("repeat")  # unless --hypothesis-profile says otherwise

STARTED_BY_FIXTURE = {
    "postgres_url": "postgres",
    "postgres_engine": "postgres",
    "spark_engine": "spark",
    "browser": "browser",
    "running": "service",
    "elsewhere": "service",
    "flower_python": "flower",
}
# Left out by `make quick`: statistics, searches through many worlds, whole pages. More than half of the tests' time.
SLOW_FILES = {
    "accounting": ["filter_adversary", "pld_laws", "shuffle"],
    "audit": [
        "accountants",
        "audit_commands",
        "census",
        "differencing",
        "linkage",
        "measure",
        "measure_betting",
        "measure_ours",
        "measure_specimens",
        "models",
        "service_audit_parts",
        "training_learn",
        "training_many_runs",
        "training_one_run",
        "transparency",
        "transparency_served",
    ],
    "learn": [
        "adaptive",
        "correlated_training",
        "killed",
        "parallel",
        "paying",
        "search",
        "training",
        "views",
        "what_is_kept",
    ],
    "laws": ["laws_catch", "neighbour_oracle"],
    "ledger": ["batches", "power_loss", "state_model", "tamper"],
    "mechanisms": ["grouped_choice", "ladder", "personalised", "sensitive", "weighted_choice"],
    "noise": ["exact", "selection"],
    "query": [
        "blocks",
        "complexity",
        "consistency",
        "delimited",
        "exact",
        "exact_neighbours",
        "free_oracles",
        "lowering",
        "lowering_relation",
        "memory",
        "oracle_sql",
        "quantile_intervals",
        "released",
    ],
    "serve": [
        "canary",
        "cli_asking",
        "cli_training",
        "client_frames",
        "console",
        "dashboard",
        "dashboard_ledger",
        "dashboard_open",
        "dashboard_owning",
        "fuzzed_sql",
        "schema",
        "trainings",
    ],
}
STORES = ("sqlite", "postgres")
_schemas = count(1)


def pytest_configure(config: pytest.Config) -> None:
    """Keep examples the same whatever ran before: hypothesis also draws constants of all modules that are loaded."""
    if config.getoption("--hypothesis-profile") != "search" and hasattr(providers, "_get_local_constants"):
        providers._get_local_constants = lambda: providers._local_constants  # which stay none


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test the same terminal: 100 columns, no colour, no caller's settings."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    for name in ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow by its file, and what needs a server by its fixtures; refuse names that differ by worker."""
    here = Path(__file__).parent
    slow = {here / room / f"test_{name}.py" for room, names in SLOW_FILES.items() for name in names}
    gone = sorted(str(path) for path in slow if not path.exists())
    if gone:
        raise pytest.UsageError(f"SLOW_FILES names what is not there: {', '.join(gone)}")
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid} is named after a memory address; give its cases ids that last")
        if item.path in slow:
            item.add_marker("slow")
        for server in _servers_of(item):
            item.add_marker(server)


def _servers_of(item: pytest.Item) -> set[str]:
    fixtures: list[str] = getattr(item, "fixturenames", [])
    found = {STARTED_BY_FIXTURE[name] for name in fixtures if name in STARTED_BY_FIXTURE}
    if "request" in fixtures and hasattr(item, "callspec"):  # a fixture is asked for by the name of a server
        found |= {value for value in item.callspec.params.values() if value in ("postgres", "spark")}
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let `servers.needs` know how the test is marked that runs now."""
    servers.marks_of_this_test = {mark.name for mark in item.iter_markers()}
    return (yield)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """One PostgreSQL server for each worker, and for all tests of all rooms."""
    with (
        tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as directory,
        servers.postgres_server(Path(directory)) as url,
    ):
        yield url


@pytest.fixture(scope="session")
def duckdb_engine() -> Iterator[Engine]:
    """One DuckDB for each worker."""
    with engines.duckdb_engine() as engine:
        yield engine


@pytest.fixture(scope="session")
def postgres_engine(postgres_url: str) -> Iterator[Engine]:
    """Connect to the worker's PostgreSQL."""
    with engines.postgres_engine(postgres_url) as engine:
        yield engine


@pytest.fixture(scope="session")
def spark_engine() -> Iterator[Engine]:
    """One Spark for each worker, for all rooms: two in a process share their Java, and the first to stop ends it."""
    with engines.spark_engine() as engine:
        yield engine


@pytest.fixture(scope="session", params=engines.NAMES)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn, for the tests that all of them must pass."""
    found: Engine = request.getfixturevalue(f"{request.param}_engine")
    return found


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
