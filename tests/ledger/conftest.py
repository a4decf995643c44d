"""Processes for the tests of this room."""

from __future__ import annotations

import multiprocessing
from typing import Any

import pytest


@pytest.fixture(scope="session")
def processes() -> Any:
    """Return the context of processes that start quickly and share nothing with this one."""
    context = multiprocessing.get_context("forkserver")
    # What takes long to import; the server does not know where tests are, so their own modules come with each process.
    context.set_forkserver_preload(["sordino.ledger.account", "sordino.ledger.store_postgres", "psycopg"])
    return context
