"""Changing a ledger's file behind its back."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

RENAMED = "UPDATE ledger_entries SET body = CAST(replace(body, 'ann', 'bob') AS BLOB) WHERE position = 1"
"""Somebody else is said to have asked what the first charge was for."""


def alter(directory: Path, statement: str, *values: Any) -> None:
    connection = sqlite3.connect(directory / "budget.db")
    with connection:
        assert connection.execute(statement, values).rowcount
    connection.close()
