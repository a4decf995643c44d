"""Servers for the tests of any room: who starts one says so, and PostgreSQL is started and stopped here."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

marks_of_this_test: set[str] | None = None
"""How the test that runs now is marked, set by ``conftest.py``; None where no test runs, as in benchmarks."""


def needs(server: str) -> None:
    """Fail if a test starts a server and is not marked as one that does: it would run where there is none."""
    marked = marks_of_this_test is None or server in marks_of_this_test
    assert marked, f"this test starts a server: mark it with @pytest.mark.{server}"


@contextmanager
def postgres_server(directory: Path, *, durable: bool = False) -> Iterator[str]:
    """Run a server with its files in `directory`, on disk at every commit if `durable`; give its URL."""
    needs("postgres")
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
    kept = "on" if durable else "off"
    settings = {"fsync": kept, "synchronous_commit": kept, "full_page_writes": kept, "port": port, "jit": "off"}
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
