"""Rows as plain Python values, straight from the engine's own driver: through pandas, NULL and NaN would be one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import ibis

from query.engines import Engine

Rows = list[tuple[Any, ...]]


def rows_of(engine: Engine, table: ibis.Table) -> Rows:
    """Return the rows of a table, in whatever order they come."""
    moments = [place for place, kind in enumerate(table.schema().types) if kind.is_timestamp()]
    readable = table.mutate(**{table.columns[place]: table[place].cast("string") for place in moments})
    fetched = _FETCHERS[engine.name](engine.backend, engine.backend.compile(readable))
    return [tuple(_moment(value) if place in moments else value for place, value in enumerate(row)) for row in fetched]


def _from_duckdb(backend: Any, text: str) -> Rows:
    return list(backend.con.execute(text).fetchall())


def _from_postgres(backend: Any, text: str) -> Rows:
    with backend.con.cursor() as cursor, backend.con.transaction():
        return list(cursor.execute(text).fetchall())


def _from_spark(backend: Any, text: str) -> Rows:
    return [tuple(row) for row in backend._session.sql(text).collect()]


def _moment(text: str | None) -> datetime | None:
    """Read a timestamp: PySpark cannot make a Python object of those in the year 1."""
    return None if text is None else datetime.fromisoformat(text)


_FETCHERS = {"duckdb": _from_duckdb, "postgres": _from_postgres, "spark": _from_spark}
