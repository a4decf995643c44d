"""A service in a process of its own under many clients: how long prices take, and how long nothing takes."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import socket
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from itertools import count, cycle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Timing = tuple[float, int, dict[str, Any]]
Make = Callable[[], tuple[bytes, bytes]]

WARM_SECONDS = 3.0
DECLARATIONS = """
name: trips
unit: rider
source: trips.parquet
columns:
  fare: {bounds: [0, 100]}
  city: {keys: [Oslo, Rome, Bern]}
limits: {rows: 5}
"""
QUESTIONS = {
    "count": "SELECT city, COUNT(*) AS rides FROM trips WHERE fare > {} GROUP BY city",
    "sum": "SELECT city, SUM(fare) AS fares FROM trips WHERE fare > {} GROUP BY city",
    "mean": "SELECT city, COUNT(*) AS rides, AVG(fare) AS fare FROM trips WHERE fare > {} GROUP BY city",
}


def versions() -> dict[str, str]:
    return {"sordino": version("sordino"), "fastapi": version("fastapi"), "uvicorn": version("uvicorn")}


def price(questions: list[str], clients: int, seconds: float, processes: int) -> Timing:
    """Return the p99 of prices, no two questions the same."""
    texts, numbers = cycle(QUESTIONS[name] for name in questions), count(1)

    def make() -> tuple[bytes, bytes]:
        number = next(numbers)
        asked = {"dataset": "trips", "sql": next(texts).format(number / 10**6), "epsilon": f"0.{number:07d}1"}
        return b"POST /api/v1/query/price HTTP/1.1\r\n", json.dumps(asked).encode()

    found = _measured(make, clients, seconds, processes)
    return found["p99"], 1, found


def nothing(clients: int, seconds: float, processes: int) -> Timing:
    """Return the p50 of an address that does nothing but find out who is asking."""
    found = _measured(lambda: (b"GET /api/v1/whoami HTTP/1.1\r\n", b""), clients, seconds, processes)
    return found["p50"], 1, found


class Client:
    """A connection that asks one request after the other; as little of the machine's time as Python can do with."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._head = f"Host: localhost\r\nAuthorization: Bearer {token}\r\n".encode()
        self.times: list[float] = []
        self.failures = 0

    async def work(self, until: float, make: Make) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        while time.perf_counter() < until:
            line, body = make()
            begun = time.perf_counter()
            writer.write(line + self._head + b"Content-Type: application/json\r\nContent-Length: ")
            writer.write(str(len(body)).encode() + b"\r\n\r\n" + body)
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(each[15:]) for each in head.lower().split(b"\r\n") if each.startswith(b"content-length:"))
            await reader.readexactly(length)
            self.times.append(time.perf_counter() - begun)
            self.failures += not head.startswith(b"HTTP/1.1 200")
        writer.close()


def _measured(make: Make, clients: int, seconds: float, processes: int) -> dict[str, float]:
    with _service(processes) as (port, token):
        asyncio.run(_load(port, token, make, clients, WARM_SECONDS))
        return asyncio.run(_load(port, token, make, clients, seconds))


async def _load(port: int, token: str, make: Make, clients: int, seconds: float) -> dict[str, float]:
    crowd = [Client(port, token) for _ in range(clients)]
    until = time.perf_counter() + seconds
    await asyncio.gather(*(client.work(until, make) for client in crowd))
    times = sorted(each for client in crowd for each in client.times)
    return {
        "p50": statistics.median(times),
        "p99": times[int(len(times) * 0.99)],
        "requests": len(times),
        "failures": sum(client.failures for client in crowd),
        "seconds": seconds,
    }


@contextmanager
def _service(processes: int) -> Iterator[tuple[int, str]]:
    """Give the port of a service that listens, and a token for it."""
    with tempfile.TemporaryDirectory() as directory, socket.socket() as free:
        token = _prepared(Path(directory))
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        server = multiprocessing.get_context("spawn").Process(target=_serve, args=(directory, port, processes))
        server.start()
        try:
            for _ in range(600):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield port, token
        finally:
            server.terminate()
            server.join()


def _serve(directory: str, port: int, processes: int) -> None:
    from sordino.serve.running import serve
    from sordino.serve.settings import Settings

    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # where its log goes
    often = {"rate_per_minute": 10**7, "rate_burst": 10**7, "price_processes": processes}
    serve(Settings(database=f"{directory}/budget.db", data=directory, port=port, **often))


def _prepared(directory: Path) -> str:
    from sordino.serve.keeping.identity import local_owner
    from sordino.serve.service import Service
    from sordino.serve.settings import Settings

    rows = {
        "rider": list(range(300)),
        "fare": [float(number % 50) for number in range(300)],
        "city": ["Oslo", "Rome", "Bern"] * 100,
    }
    pq.write_table(pa.table(rows), directory / "trips.parquet")
    with Service.open(Settings(database=str(directory / "budget.db"), data=str(directory))) as service:
        service.register(local_owner(), DECLARATIONS, {"epsilon": 3})
        return service.issue_token(local_owner(), "bench", "analyst")
