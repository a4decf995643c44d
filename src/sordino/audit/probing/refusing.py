"""Refusing: what must never get through is refused, at its price and at its run alike, and nothing is charged.

Engines see only what the service wrote itself: no second statement, no table or file function, no catalogue, no
EXPLAIN, no raw rows; and nothing in which others' rows decide about a row: private subqueries, windows and groups that
are not keyed by the person. Amounts that are no amounts are refused as well.
"""

from __future__ import annotations

from typing import Any

from .finding import Notebook, Probed
from .line import Line
from .questions import Columns

_TEXTS = (
    "EXPLAIN ANALYZE SELECT COUNT(*) AS n FROM {t}",
    "EXPLAIN SELECT COUNT(*) AS n FROM {t}",
    "SUMMARIZE {t}",
    "DESCRIBE {t}",
    "SHOW TABLES",
    "SELECT COUNT(*) AS n FROM {t}; SELECT COUNT(*) AS n FROM {t}",
    "SELECT COUNT(*) AS n FROM {t}; DROP TABLE {t}",
    "COPY {t} TO 'copied.csv'",
    "ATTACH 'other.db'",
    "PRAGMA show_tables",
    "SET memory_limit = '1GB'",
    "INSTALL httpfs",
    "SELECT * FROM {t}",
    "FROM {t}",
    "TABLE {t}",
    "SELECT {c} FROM {t}",
    "SELECT {c} FROM {t} LIMIT 1",
    "SELECT error({c}) AS x FROM {t}",
    "SELECT query('SELECT 1') AS x",
    "SELECT * FROM query('FROM {t}')",
    "SELECT * FROM '{t}.parquet'",
    "SELECT COUNT(*) AS n FROM read_csv('{t}.csv')",
    "SELECT COUNT(*) AS n FROM read_parquet('*.parquet')",
    "SELECT COUNT(*) AS n FROM information_schema.tables",
    "SELECT COUNT(*) AS n FROM duckdb_settings()",
    "SELECT COUNT(*) AS n FROM pg_catalog.pg_tables",
    "SELECT COUNT(*) AS n FROM sqlite_master",
    "SELECT COUNT(*) AS n FROM {t} WHERE random() < 0.5",
    "SELECT getenv('PATH') AS x FROM {t}",
    "SELECT nextval('x') AS x, COUNT(*) AS n FROM {t}",
    "SELECT COUNT(*) AS n, (SELECT MAX({c}) FROM {t}) AS x FROM {t}",
    "SELECT STRING_AGG({c}, ',') AS x FROM {t}",
    "SELECT ANY_VALUE({c}) AS x FROM {t}",
    "SELECT FIRST({c}) AS x FROM {t}",
    "SELECT LIST({c}) AS x FROM {t}",
    "SELECT COUNT(*) AS n FROM {t} UNION ALL SELECT {c} FROM {t}",
    "INSERT INTO {t} VALUES (1)",
    "CREATE TABLE x AS SELECT * FROM {t}",
    "CALL pragma_version()",
    "PIVOT {t} ON {c} USING COUNT(*)",
    "SELECT COUNT(*) AS n FROM {t} WHERE {c} > (SELECT MAX({c}) FROM {t})",
    "SELECT COUNT(*) AS n FROM (SELECT {c}, COUNT(*) AS k FROM {t} GROUP BY {c}) q WHERE k > 2",
    "SELECT COUNT(*) AS n FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY {c}) AS k FROM {t}) q WHERE k < 5",
)
_AMOUNTS: tuple[Any, ...] = (
    "NaN",
    "inf",
    "-inf",
    "0",
    "-1",
    "-0.0",
    "5e-324",
    "1e400",
    True,
    None,
    [],
    "",
    0,
    -1,
    "0x10",
)


def refuse(line: Line, dataset: str, columns: Columns, epsilon: str) -> Probed:
    """Ask what must be refused, for its price and as a run, and look at the budget before and after each."""
    note = Notebook("refusing")
    column = (columns.texts or columns.unbounded or [each["name"] for each in columns.bounded] or ["x"])[0]
    asked = [
        (
            {"dataset": dataset, "sql": text.format(t=columns.table, c=column), "epsilon": epsilon},
            "what must be refused",
        )
        for text in _TEXTS
    ]
    count = f"SELECT COUNT(*) AS n FROM {columns.table}"  # noqa: S608
    asked += [({"dataset": dataset, "sql": count, "epsilon": amount}, "an amount that is none") for amount in _AMOUNTS]
    before = line.standing(dataset)
    for question, what in asked:
        for seen in (line.price(question), line.run(question)):
            refused = 400 <= seen.status < 424
            note.check(refused, f"{what} gets through", f"status {seen.status}", seen.request)
        after = line.standing(dataset)
        same = (after.used, after.charges) == (before.used, before.charges)
        words = f"{after.charges - before.charges} new charges"
        note.check(same, f"{what} is charged", words, f"POST /api/v1/query/run {question['sql']}")
        before = after
    return note.probed()
