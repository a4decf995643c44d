"""Texts must be told apart by their bytes: where an engine takes different texts for equal, one row has several keys.

Under a collation that ignores case, ``'oslo'`` equals ``'Oslo'`` and ``'OSLO'``: a row joined with declared keys would
count once for each, and move an answer by more than its bound. Such tables are refused before anything is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sordino.errors import QuestionError

_DUCKDB = """
    SELECT count(*) FROM (
        SELECT sql FROM duckdb_tables() UNION ALL SELECT sql FROM duckdb_views() WHERE NOT internal
    ) WHERE sql ILIKE '%COLLATE%' OR current_setting('default_collation') <> ''
"""
_POSTGRES = """
    SELECT count(*) FROM pg_attribute JOIN pg_collation ON attcollation = pg_collation.oid WHERE NOT collisdeterministic
"""


def refuse_collations(engine: str, backend: Any, tables: list[Any]) -> None:
    """Refuse a database in which some text column is not compared by bytes (catalogues are read, and no row)."""
    if _FOUND[engine](backend, tables):
        raise QuestionError(
            "this database has text columns whose collation takes different texts for equal, so one row could fall "
            "under several keys; offer tables whose texts have a binary (deterministic) collation",
            "SRD-Q205",
        )


def _in_duckdb(backend: Any, _: list[Any]) -> bool:
    ((count,),) = backend.con.execute(_DUCKDB).fetchall()  # all, so that the connection is free again
    return bool(count)


def _in_postgres(backend: Any, _: list[Any]) -> bool:
    with backend.con.cursor() as cursor:
        cursor.execute(_POSTGRES)
        return bool(cursor.fetchone()[0])


def _in_spark(backend: Any, tables: list[Any]) -> bool:
    schemas = [backend._session.sql(backend.compile(table.limit(0))).schema for table in tables]
    kinds = [field.dataType for schema in schemas for field in schema.fields]
    return any(getattr(kind, "collation", "UTF8_BINARY") != "UTF8_BINARY" for kind in kinds)


_FOUND: dict[str, Callable[[Any, list[Any]], bool]] = {
    "duckdb": _in_duckdb,
    "postgres": _in_postgres,
    "spark": _in_spark,
}
