"""Services as processes of their own, which start quickly, share nothing but the database, and may be killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import time
from dataclasses import replace
from typing import Any

import httpx

from servers import needs
from sordino.serve.running import serve
from sordino.serve.settings import Settings

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["sordino.serve.running", "sordino.ledger.store_postgres", "duckdb", "pyarrow"])


def _quietly(settings: Settings) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # its log is looked at in other tests
    serve(settings)


class Replica:
    """A service in a process of its own."""

    def __init__(self, settings: Settings, name: str = "one", port: int | None = None) -> None:
        needs("service")
        if port is None:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self._process: Any = _processes.Process(target=_quietly, args=(replace(settings, port=port, instance=name),))
        self._process.start()

    def wait(self) -> None:
        """Wait until it answers."""
        for _ in range(1200):
            assert self._process.exitcode is None, "the service ended by itself"
            try:
                if httpx.get(f"{self.address}/healthz").status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.05)
        raise AssertionError("the service did not start within a minute: is there a stuck lock?")

    def kill(self) -> None:
        """End it at once, whatever it is doing."""
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.join(60)
        assert self._process.exitcode == -signal.SIGKILL

    def stop(self) -> None:
        """Let it end in good order."""
        self._process.terminate()
        self._process.join(60)
        assert self._process.exitcode == 0
