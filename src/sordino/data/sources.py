"""Where tables come from: files, frames, databases, Ibis tables. All tables of one data set live on one engine.

| source | engine |
|---|---|
| path or pattern of Parquet or CSV files | DuckDB of the data set's own, locked (``local.py``) |
| pandas, polars or Arrow table, ``ibis.memtable`` | the same |
| ``"duckdb:///file.db"`` | DuckDB, read-only, locked |
| ``"postgresql://…"``, or `source("postgresql://…", table=…)` | PostgreSQL |
| Spark data frame, or `source(spark_session, table=…)` | Spark |
| an Ibis table | the one that it is on: DuckDB, PostgreSQL or Spark |

Files and frames may stand beside tables of PostgreSQL or Spark only if they are public: they are copied there into
temporary tables, and private data is never moved.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import ibis
import ibis.expr.operations as ops
from ibis.common.exceptions import IbisError, TableNotFound

from sordino.arguments import shown
from sordino.errors import ArgumentError, QuestionError

from .declare import TableDeclaration
from .frames import arrow_of
from .local import LocalTables, distrust_statistics

ENGINES = {"duckdb": "duckdb", "postgres": "postgres", "pyspark": "spark"}
_TABLES = (ops.DatabaseTable, ops.InMemoryTable)
_ROW_BY_ROW = (*_TABLES, ops.Project, ops.Filter, ops.DropColumns, ops.FillNull, ops.DropNull)
_NEVER_IN_A_ROW = (ops.Reduction, ops.Analytic, ops.WindowFunction, ops.Subquery, ops.Impure, ops.Unnest)

_copies = count(1)


@dataclass(frozen=True)
class Source:
    """A table in a database or in Spark. Built by `source`."""

    where: Any = field(repr=False)
    table: str | None = None
    schema: str | None = None


def source(where: Any, table: str | None = None, schema: str | None = None) -> Source:
    """Say where a table is: a database URL or a Spark session, the table's name there (if it has another one in the
    data set), and its schema (if it is not the default one)."""
    if not isinstance(where, str) and not _is_from(where, "pyspark", "SparkSession"):
        raise ArgumentError(
            f"a source is a database URL or a Spark session, not {type(where).__name__}; "
            "files, frames and Ibis tables are given as they are",
            "SRD-A001",
        )
    for name, text in (("table", table), ("schema", schema)):
        if text is not None and (not isinstance(text, str) or not text):
            raise ArgumentError(f"{name} must be a name, not {shown(text)}", "SRD-A001")
    return Source(where, table, schema)


def duckdb_file(url: str) -> Path:
    """Return the file that a URL of DuckDB names."""
    return Path(unquote(urlsplit(url).path)[1:])


@dataclass(frozen=True)
class Connected:
    """The tables of a data set on their one engine."""

    engine: str
    backend: Any
    tables: Mapping[str, Any]
    files: tuple[str, ...] = ()
    """What is read where it is, whenever a question is run."""


def connect(declared: Mapping[str, TableDeclaration]) -> Connected:
    """Open all sources on one engine. Nothing is read but names and types, and public tables that must be copied."""
    for name, one in declared.items():
        if one.source is None:
            raise ArgumentError(f"table {name!r} has no source; give it by sources={{{name!r}: …}}", "SRD-A005")
    placed = {name: one for name, one in declared.items() if not _is_loose(one.source)}
    opened = _Opened()
    tables = {name: opened.table(name, one.source) for name, one in placed.items()}
    backends = {id(table.get_backend()): table.get_backend() for table in tables.values()}
    if len(backends) > 1:
        raise _scattered(f"{', '.join(map(repr, placed))} are on different connections")
    backend = next(iter(backends.values()), None)
    if backend is not None and backend.name not in ENGINES:
        raise QuestionError(
            f"the tables are on {backend.name}; answers are proven on DuckDB, PostgreSQL and Spark only, so load them "
            "into one of these, or write them by to_parquet('name.parquet') and give that file",
            "SRD-Q204",
        )
    if backend is not None:
        _SET_UP[backend.name](backend)
    for name, table in tables.items():
        if not declared[name].is_public:
            _refuse_mixing_rows(name, table)
    loose = {name: one for name, one in declared.items() if name not in placed}
    return _with_loose(backend, opened.local, tables, loose)


def _refuse_mixing_rows(name: str, table: Any) -> None:
    """Refuse an Ibis expression whose rows depend on several rows, on their order, or on chance: whose would they be?

    **Guarantee**: what passes is a filter and a projection of one table, row by row, the same whenever it is read.
    **Assumes**: of a view inside of the database, which cannot be looked into, its owner says the same.
    """
    for node in table.op().find((ops.Relation, *_NEVER_IN_A_ROW)):
        if isinstance(node, _NEVER_IN_A_ROW) or not isinstance(node, _ROW_BY_ROW):
            raise QuestionError(
                f"the Ibis table {name!r} contains {type(node).__name__}, so its rows need not be one person's own; "
                "give filters and selections of one table only, and put the rest into the question",
                "SRD-Q203",
            )


def _with_loose(
    backend: Any, local: LocalTables | None, tables: dict[str, Any], loose: Mapping[str, TableDeclaration]
) -> Connected:
    elsewhere = backend is not None and local is None
    private = [name for name, one in loose.items() if not one.is_public]
    if elsewhere and private:
        raise _scattered(
            f"{private[0]!r} is private and comes from a file or a frame, but others are on {backend.name}"
        )
    here = local or LocalTables()
    found = {name: _add_loose(here, name, one) for name, one in loose.items()}
    here.lock()
    if not elsewhere:
        return Connected("duckdb", here.backend, {**tables, **found}, here.read_in_place)
    copied = {name: _COPIERS[backend.name](backend, name, table.to_pyarrow()) for name, table in found.items()}
    return Connected(ENGINES[backend.name], backend, {**tables, **copied})


class _Opened:
    """Connections of one data set: one for each URL or session, however many tables are on it."""

    def __init__(self) -> None:
        self.local: LocalTables | None = None
        self._backends: dict[Any, Any] = {}

    def table(self, name: str, given: Any) -> Any:
        if isinstance(given, ibis.Table):
            return _bound(name, given)
        if _is_from(given, "pyspark", "DataFrame"):
            backend, physical = self._backend(given.sparkSession), f"sordino_{_word(name)}_{next(_copies)}"
            given.createOrReplaceTempView(physical)
            return backend.table(physical)
        one = given if isinstance(given, Source) else Source(given)
        backend = self._backend(one.where)
        try:
            schema, _, table = name.rpartition(".")
            return backend.table(one.table or table, database=one.schema or schema or None)
        except (TableNotFound, IbisError):
            raise ArgumentError(
                f"there is no table {one.table or name!r} in {_without_secrets(one.where)}, or it may not be read; "
                "name it by so.source(…, table=…, schema=…)",
                "SRD-A005",
            ) from None

    def _backend(self, where: Any) -> Any:
        key = where if isinstance(where, str) else id(where)
        if key not in self._backends:
            self._backends[key] = self._open(where)
        return self._backends[key]

    def _open(self, where: Any) -> Any:
        if not isinstance(where, str):
            return ibis.pyspark.connect(where)
        scheme = urlsplit(where).scheme
        if scheme not in ("duckdb", "postgresql", "postgres"):
            raise ArgumentError(
                f"{_without_secrets(where)} begins with no known scheme; write duckdb:///file.db or "
                "postgresql://user@host/database, or export the table as Parquet and give that file",
                "SRD-A005",
            )
        if scheme == "duckdb":
            self.local = LocalTables(duckdb_file(where))
            return self.local.backend
        return _open_postgres(where)


def _open_postgres(url: str) -> Any:
    try:
        import psycopg
    except ImportError:
        raise ArgumentError("PostgreSQL needs an extra: pip install 'sordino[postgres]'", "SRD-A005") from None
    try:
        # libpq reads the URL, with all of its options; Ibis would know only some of them.
        connection = psycopg.connect(url, autocommit=True)
    except psycopg.Error:
        raise ArgumentError(
            f"{_without_secrets(url)} could not be reached or refused the connection; check host, user and password",
            "SRD-A005",
        ) from None
    backend = ibis.postgres.from_connection(connection)
    weakref.finalize(backend, connection.close)
    return backend


def _bound(name: str, table: Any) -> Any:
    try:
        table.get_backend()
    except IbisError:
        raise ArgumentError(
            f"the Ibis table {name!r} is bound to no connection, or to several; take it from one connection", "SRD-A001"
        ) from None
    return table


def _is_loose(given: Any) -> bool:
    """Whether a source is on no engine yet: a file, a frame, an Arrow table."""
    if isinstance(given, ibis.Table):
        return isinstance(given.op(), ops.InMemoryTable)
    if isinstance(given, str):
        return "://" not in given
    return not (isinstance(given, Source) or _is_from(given, "pyspark", "DataFrame"))


def _add_loose(local: LocalTables, name: str, one: TableDeclaration) -> Any:
    if isinstance(one.source, str | os.PathLike):
        return local.add_files(name, one.source, one.columns)
    return local.add_arrow(name, arrow_of(name, one.source))


def _word(name: str) -> str:
    """Return a table's name as one word."""
    return name.replace(".", "_")


def _copy_for_a_while(backend: Any, name: str, table: Any) -> Any:
    return backend.create_table(f"sordino_{_word(name)}_{os.getpid()}_{next(_copies)}", table, temp=True)


def _copy_to_spark(backend: Any, name: str, table: Any) -> Any:
    physical = f"sordino_{_word(name)}_{next(_copies)}"
    backend._session.createDataFrame(table).createOrReplaceTempView(physical)
    return backend.table(physical)


_SPARK_SETTINGS = {
    # What is stored in files is read, not what they say about it, which leaves NaN out.
    "spark.sql.parquet.filterPushdown": "false",
    "spark.sql.orc.filterPushdown": "false",
    # Texts are read as they are written for Spark: two backslashes are one.
    "spark.sql.parser.escapedStringLiterals": "false",
    # Times are in UTC; Ibis says so as well, but the session may have been set otherwise since.
    "spark.sql.session.timeZone": "UTC",
}


def _set_up_spark(backend: Any) -> None:
    for name, value in _SPARK_SETTINGS.items():
        backend._session.conf.set(name, value)


def _set_up_postgres(backend: Any) -> None:
    """Have PostgreSQL read a backslash in a text as a backslash, for good.

    A database can be set to take it for an escape. Then a text of a question that ends in one would not end there, and
    the next text would be read as SQL.
    """
    with backend.con.cursor() as cursor:
        cursor.execute("SET standard_conforming_strings = on")
    backend.con.commit()  # else it would be forgotten if what follows is rolled back


_SET_UP: dict[str, Callable[[Any], None]] = {
    "duckdb": lambda backend: distrust_statistics(backend.con),
    "postgres": _set_up_postgres,
    "pyspark": _set_up_spark,
}
"""What an engine is told before anything is read, so that questions mean the same whatever it was set to."""
_COPIERS: dict[str, Callable[[Any, str, Any], Any]] = {
    "duckdb": _copy_for_a_while,
    "postgres": _copy_for_a_while,
    "pyspark": _copy_to_spark,
}


def _is_from(given: Any, package: str, name: str) -> bool:
    """Whether it is of a class of a package that need not be installed."""
    return any(each.__module__.split(".")[0] == package and each.__name__ == name for each in type(given).__mro__)


def _without_secrets(where: Any) -> str:
    if not isinstance(where, str):
        return "the Spark session"
    parts = urlsplit(where)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"


def _scattered(what: str) -> QuestionError:
    return QuestionError(
        f"{what}; all private tables of a data set must be on one engine, for sordino never moves private data: load "
        "them into one database, take them from one connection, or declare what is public as so.public(…)",
        "SRD-Q204",
    )
