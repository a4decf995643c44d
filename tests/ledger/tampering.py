"""Changing a ledger behind its back, as somebody would who can write to the store but cannot sign."""

from __future__ import annotations

import sqlite3
from typing import Any

import psycopg


def tamper(place: str, statement: str, *values: Any) -> None:
    """Run a statement on the store itself."""
    tamper_all(place, [(statement, values)])


def tamper_all(place: str, statements: list[tuple[str, tuple[Any, ...]]]) -> None:
    """Run statements on the store itself, in one transaction."""
    if place.startswith("postgresql"):
        with psycopg.connect(place) as server:
            for statement, values in statements:
                server.execute(statement.replace("?", "%s").encode(), values)
        return
    file = sqlite3.connect(place)
    with file:
        for statement, values in statements:
            file.execute(statement, values)
    file.close()


def look_up(place: str, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """Return the rows that a statement finds in the store itself."""
    if place.startswith("postgresql"):
        with psycopg.connect(place, autocommit=True) as server:
            return server.execute(statement.replace("?", "%s").encode(), values).fetchall()
    file = sqlite3.connect(place)
    rows = file.execute(statement, values).fetchall()
    file.close()
    return rows
