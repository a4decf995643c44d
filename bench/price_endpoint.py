"""How fast prices come under load: 50 clients against one service, all questions different, beside a no-op endpoint.

    python bench/price_endpoint.py [--seconds 20] [--clients 50] [--pause 0]

Prints p50 and p99 of both endpoints (each measured alone, with the same clients) and the ratio of the two that matter.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import socket
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

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
    "count": "SELECT COUNT(*) AS rides FROM trips WHERE fare > {}",
    "sum": "SELECT city, SUM(fare) AS fares FROM trips WHERE fare > {} GROUP BY city",
    "mean": "SELECT city, COUNT(*) AS rides, AVG(fare) AS fare FROM trips WHERE fare > {} GROUP BY city",
}


def _serve(directory: str, port: int, processes: int) -> None:
    from sordino.serve.running import serve
    from sordino.serve.settings import Settings

    serve(
        Settings(
            database=f"{directory}/budget.db",
            data=directory,
            port=port,
            rate_per_minute=10**7,
            rate_burst=10**7,
            price_processes=processes,
        )
    )


def _prepared(directory: Path) -> str:
    from sordino.serve.identity import local_owner
    from sordino.serve.service import Service
    from sordino.serve.settings import Settings

    rows = {
        "rider": list(range(300)),
        "fare": [float(n % 50) for n in range(300)],
        "city": ["Oslo", "Rome", "Bern"] * 100,
    }
    pq.write_table(pa.table(rows), directory / "trips.parquet")
    with Service.open(Settings(database=str(directory / "budget.db"), data=str(directory))) as service:
        service.register(local_owner(), DECLARATIONS, {"epsilon": 3})
        return service.issue_token(local_owner(), "bench", "analyst")


class Client:
    """A connection that asks one request after the other; as little of the machine's time as Python can do with."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._head = f"Host: localhost\r\nAuthorization: Bearer {token}\r\n".encode()
        self.times: list[float] = []
        self.failures = 0

    async def work(self, until: float, make: Callable[[], tuple[bytes, bytes]], pause: float) -> None:
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
            if pause:
                await asyncio.sleep(pause)
        writer.close()


async def _measure(
    name: str, port: int, token: str, make: Callable[[], tuple[bytes, bytes]], given: argparse.Namespace
) -> dict[str, float]:
    clients = [Client(port, token) for _ in range(given.clients)]
    until = time.perf_counter() + given.seconds
    await asyncio.gather(*(client.work(until, make, given.pause) for client in clients))
    times = sorted(each for client in clients for each in client.times)
    failures = sum(client.failures for client in clients)
    found = {
        "p50": statistics.median(times),
        "p99": times[int(len(times) * 0.99)],
        "n": len(times),
        "failures": failures,
    }
    print(
        f"{name:<8} p50 {1e3 * found['p50']:8.1f} ms  p99 {1e3 * found['p99']:8.1f} ms  "
        f"{len(times) / given.seconds:7.1f}/s  {failures} failures"
    )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds that a client waits between two requests")
    parser.add_argument("--questions", nargs="*", choices=QUESTIONS, default=list(QUESTIONS))
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        token = _prepared(Path(directory))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = multiprocessing.get_context("spawn").Process(target=_serve, args=(directory, port, given.processes))
        server.start()
        try:
            for _ in range(200):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            noop = asyncio.run(_measure("no-op", port, token, lambda: (b"GET /api/v1/whoami HTTP/1.1\r\n", b""), given))
            numbers = count(1)
            for name in given.questions:

                def make(sql: str = QUESTIONS[name]) -> tuple[bytes, bytes]:
                    number = next(numbers)
                    asked = {"dataset": "trips", "sql": sql.format(number / 10**6), "epsilon": f"0.{number:07d}1"}
                    return b"POST /api/v1/price HTTP/1.1\r\n", json.dumps(asked).encode()

                found = asyncio.run(_measure(name, port, token, make, given))
                print(f"         p99 of {name} = {found['p99'] / noop['p50']:.1f} × p50 of the no-op (bar: 5)")
        finally:
            server.terminate()
            server.join()


if __name__ == "__main__":
    main()
