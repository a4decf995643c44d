"""What all tests share: how hypothesis searches, and how a terminal looks to rich."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# Deadlines would make a busy machine fail tests; examples that are slow to build are not wrong. A search that finds a
# new counterexample should do so on someone's desk: continuous integration repeats the same examples every time.
settings.register_profile(
    "sordino",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize="CI" in os.environ,
)
settings.load_profile("sordino")


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test the same terminal: 100 columns, no colour, no caller's settings."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    for name in ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse names that differ from run to run: parallel workers could not agree on which test is which."""
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid} is named after a memory address; give its cases ids that last")
