"""Real engines for tests: DuckDB in memory, a PostgreSQL server that runs for all rooms, a local Spark."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import ibis
import pandas as pd
import psycopg
import pyarrow as pa

from servers import needs

NAMES = ("duckdb", "postgres", "spark")

_physical = count(1)


@dataclass(frozen=True)
class Engine:
    """A running engine: its name, its Ibis backend, and a quick way to put tables there."""

    name: str
    backend: Any
    url: str | None = field(default=None, repr=False)
    """How a stranger would connect to it; PostgreSQL only."""

    def load(self, name: str, table: pa.Table | pd.DataFrame) -> ibis.Table:
        """Create a table under a name of its own that begins with `name`, and return it."""
        physical = f"{name}_{next(_physical)}"
        arrow = pa.Table.from_pandas(table, preserve_index=False) if isinstance(table, pd.DataFrame) else table
        _LOADERS[self.name](self.backend, physical, arrow)
        return self.backend.table(physical)


def _load_duckdb(backend: Any, physical: str, arrow: pa.Table) -> None:
    backend.create_table(physical, arrow)


def _load_postgres(backend: Any, physical: str, arrow: pa.Table) -> None:
    backend.create_table(physical, schema=ibis.Schema.from_pyarrow(arrow.schema))
    columns = [column.to_pylist() for column in arrow.columns]
    with backend.con.cursor() as cursor, cursor.copy(f'COPY "{physical}" FROM STDIN') as copy:
        for row in zip(*columns, strict=True):
            copy.write_row(row)


def _load_spark(backend: Any, physical: str, arrow: pa.Table) -> None:
    from ibis.backends.pyspark.datatypes import PySparkSchema

    schema = PySparkSchema.from_ibis(ibis.Schema.from_pyarrow(arrow.schema))
    backend._session.createDataFrame(arrow, schema=schema).createOrReplaceTempView(physical)


_LOADERS = {"duckdb": _load_duckdb, "postgres": _load_postgres, "spark": _load_spark}


@contextmanager
def duckdb_engine() -> Iterator[Engine]:
    """Run DuckDB in memory."""
    backend = ibis.duckdb.connect()
    yield Engine("duckdb", backend)
    backend.disconnect()


@contextmanager
def postgres_engine(url: str) -> Iterator[Engine]:
    """Use a PostgreSQL server that runs."""
    with psycopg.connect(url, autocommit=True) as connection:
        yield Engine("postgres", ibis.postgres.from_connection(connection), url)


_NO_LOGS = """
appender.nowhere.type = Null
appender.nowhere.name = nowhere
rootLogger.level = off
rootLogger.appenderRef.nowhere.ref = nowhere
"""


@contextmanager
def spark_engine() -> Iterator[Engine]:
    """Run a local Spark in a Java process of its own: two threads, one GiB, no pages, no files left behind."""
    from pyspark.sql import SparkSession

    needs("spark")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with tempfile.TemporaryDirectory(prefix="spark", ignore_cleanup_errors=True) as directory:
        quiet = Path(directory, "log4j2.properties")
        quiet.write_text(_NO_LOGS)
        settings = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file:{quiet} -Dderby.system.home={directory}",
            "spark.local.dir": directory,
            "spark.sql.warehouse.dir": f"{directory}/warehouse",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.execution.arrow.pyspark.enabled": "true",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        builder = SparkSession.builder.master("local[2]").appName("sordino")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        try:
            yield Engine("spark", ibis.pyspark.connect(session))
        finally:
            session.stop()
            gateway = session.sparkContext._gateway
            gateway.shutdown()
            gateway.proc.stdin.close()  # what the Java process waits for
            gateway.proc.wait(60)
