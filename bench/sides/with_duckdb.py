"""Plain DuckDB without any privacy: what the engine itself takes, the same one that sordino uses."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import duckdb

BY_CITY = "SELECT city, count(*) AS n, avg(fare) AS fare FROM '{path}' GROUP BY city ORDER BY city"
BY_PERSON = "SELECT user, city, count(*) AS n, sum(fare) AS fare FROM '{path}' GROUP BY ALL"
ENDS = {"to Arrow": "{query}", "summed up": "SELECT sum(n), sum(fare) FROM ({query})"}


def versions() -> dict[str, str]:
    return {"duckdb": duckdb.__version__}


def by_city(path: str) -> tuple[float, int, dict[str, Any]]:
    return _timed(BY_CITY.format(path=path))


def by_person(path: str, end: str, memory: str | None = None) -> tuple[float, int, dict[str, Any]]:
    return _timed(ENDS[end].format(query=BY_PERSON.format(path=path)), memory)


def _timed(query: str, memory: str | None = None) -> tuple[float, int, dict[str, Any]]:
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        if memory is not None:
            connection.execute(f"SET memory_limit = '{memory}'")
        started = perf_counter()
        connection.sql(query).to_arrow_table()
        return perf_counter() - started, 1, {}
