"""Real engines for tests: DuckDB in memory, a PostgreSQL server of our own, a local Spark; started and stopped here."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
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
def postgres_engine() -> Iterator[Engine]:
    """Run a PostgreSQL server in a directory of its own, on a free loopback port, with a password that nobody knows."""
    with (
        tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as directory,
        postgres_server(Path(directory)) as url,
        psycopg.connect(url, autocommit=True) as connection,
    ):
        yield Engine("postgres", ibis.postgres.from_connection(connection), url)


@contextmanager
def postgres_server(directory: Path) -> Iterator[str]:
    """Run a server with its files in `directory`; give its URL."""
    password, port = secrets.token_hex(16), _free_port()
    whoever: dict[str, Any] = {"cwd": directory, "stdout": subprocess.DEVNULL}
    secret = directory / "password"
    secret.write_text(password)
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        for path in (directory, secret):
            shutil.chown(path, "postgres", "postgres")
        whoever |= {"user": "postgres", "group": "postgres", "extra_groups": []}
    initdb = [_postgres_program("initdb"), "-D", "data", "-U", "sordino", "--no-sync", "--encoding=UTF8"]
    initdb += ["--locale=C.UTF-8", "--auth=scram-sha-256", f"--pwfile={secret}"]
    subprocess.run(initdb, check=True, **whoever)  # noqa: S603
    settings = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "port": port, "jit": "off"}
    settings |= {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "logging_collector": "off"}
    arguments = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    server = subprocess.Popen(  # noqa: S603
        [_postgres_program("postgres"), "-D", "data", *arguments], stderr=subprocess.DEVNULL, **whoever
    )
    url = f"postgresql://sordino:{password}@127.0.0.1:{port}/postgres"
    try:
        _wait_for(url, server)
        yield url
    finally:
        server.send_signal(2)  # "fast": disconnects everyone and stops
        server.wait(60)


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert server.poll() is None, "the PostgreSQL server ended at once"
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the PostgreSQL server did not answer within 30 s")


def _postgres_program(name: str) -> str:
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[4]))
    found = str(installed[-1]) if installed else shutil.which(name)
    assert found, f"{name} was not found: run scripts/install-servers"
    return found


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


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
