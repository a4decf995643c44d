"""A service in a process of its own that takes reports, and one that does nothing: how many requests a second."""

from __future__ import annotations

import asyncio
import math
import multiprocessing
import os
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

Timing = tuple[float, int, dict[str, Any]]

TO = "/api/v1/surveys/pets/reports"
DECLARATIONS = """
name: pets
sort: survey
unit: participant
values: [cat, dog, none]
epsilon: 2
"""
MOST_SINGLES = 60_000
BATCH = 1000


def versions() -> dict[str, str]:
    return {"sordino": version("sordino"), "fastapi": version("fastapi"), "uvicorn": version("uvicorn")}


def singles(clients: int, seconds: float) -> Timing:
    """Return the time of one report, a request each."""
    with _listening(_serve) as (port, directory):
        rows = _reports(directory, MOST_SINGLES)
        parts = [[row.tobytes() for row in rows[each::clients]] for each in range(clients)]
        return _loaded(port, TO, parts, seconds)


def nothing(clients: int, seconds: float) -> Timing:
    """Return the time of one request that does nothing."""
    with _listening(_serve_nothing) as (port, _):
        return _loaded(port, "/nothing", [[bytes(50)] * (MOST_SINGLES // clients)] * clients, seconds)


def batches(clients: int, count: int) -> Timing:
    """Return the time of one report, a thousand a request."""
    with _listening(_serve) as (port, directory):
        rows = _reports(directory, BATCH * count).reshape(count, -1)
        parts = [[row.tobytes() for row in rows[each::clients]] for each in range(clients)]
        each, _, values = _loaded(port, TO, parts, 600)
        return each / BATCH, 1, values


def _loaded(port: int, path: str, parts: list[list[bytes]], seconds: float) -> Timing:
    """Send what is given, over as many connections; the first request comes before, as what it imports is kept."""

    async def load() -> tuple[float, int]:
        await _send(port, path, [parts[0].pop()], math.inf)
        until, begun = time.perf_counter() + seconds, time.perf_counter()
        done = await asyncio.gather(*(_send(port, path, part, until) for part in parts))
        return time.perf_counter() - begun, sum(done)

    spent, done = asyncio.run(load())
    return spent / done, 1, {"requests": done, "seconds": spent}


async def _send(port: int, path: str, bodies: list[bytes], until: float) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    done = 0
    for body in bodies:
        if time.perf_counter() > until:
            break
        kind = b"Host: localhost\r\nContent-Type: application/octet-stream\r\n"
        writer.write(b"POST %b HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n%b" % (path.encode(), kind, len(body), body))
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), "a report was not taken"
        if b"chunked" in head.lower():
            await reader.readuntil(b"0\r\n\r\n")
        else:
            named = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(named[15:]))
        done += 1
    writer.close()
    return done


@contextmanager
def _listening(target: Callable[[str, int], None]) -> Iterator[tuple[int, Path]]:
    """Give the port of a server that listens, and the directory of a service with an open round."""
    with tempfile.TemporaryDirectory() as directory, socket.socket() as free:
        _prepared(Path(directory))
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        server = multiprocessing.get_context("spawn").Process(target=target, args=(directory, port))
        server.start()
        try:
            for _ in range(600):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield port, Path(directory)
        finally:
            server.terminate()
            server.join()


def _serve(directory: str, port: int) -> None:
    from sordino.serve.running import serve
    from sordino.serve.settings import Settings

    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # where its log goes
    serve(Settings(database=f"{directory}/budget.db", data=directory, port=port))


def _serve_nothing(_: str, port: int) -> None:
    import uvicorn
    from fastapi import FastAPI, Request, Response

    app = FastAPI()

    async def nothing(request: Request) -> Response:
        await request.body()
        return Response()

    nothing.__annotations__ = {"request": Request, "return": Response}
    app.post("/nothing")(nothing)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    uvicorn.run(app, port=port, log_config=None, access_log=False)


def _prepared(directory: Path) -> None:
    from sordino.serve.keeping.identity import local_owner
    from sordino.serve.service import Service
    from sordino.serve.settings import Settings
    from sordino.serve.surveys import owners

    with Service.open(Settings(database=str(directory / "budget.db"), data=str(directory))) as service:
        owners.define(service, local_owner(), DECLARATIONS)
        owners.begin(service, local_owner(), "pets")


def _reports(directory: Path, count: int) -> np.ndarray:
    from sordino.noise.keystream import SOURCE
    from sordino.serve.kinds.table import Kinds

    plain = {"name": "pets", "sort": "survey", "unit": "participant", "values": ["cat", "dog", "none"], "epsilon": 2}
    survey = Kinds.load(()).sorts["survey"].read(plain, directory).survey
    rows = np.zeros((count, 50), np.uint8)
    rows[:, 0] = 1
    rows[:, 1:33] = np.frombuffer(survey.digest, np.uint8)
    rows[:, 33:49] = SOURCE.words(2 * count).view(np.uint8).reshape(-1, 16)
    rows[:, 49:] = survey.randomizer.reports(np.arange(count) % 3)
    return rows
