"""A shuffler over HTTP: envelopes come in from anywhere, a batch goes out to the analyser, and nothing else is said.

``GET /`` tells its key, its survey, and whether it takes envelopes; ``POST /reports`` takes them, as bytes that follow
each other, and answers once they are on the disk. Pages of any origin may send some: there is nothing to be had here.

**Guarantee**: no line is logged for an envelope, and no address is looked at, let alone kept.
"""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import suppress
from typing import Any

from starlette.types import Receive, Scope, Send

from sordino.collect.posting import answered
from sordino.collect.shuffle.shuffler import Shuffler
from sordino.collect.wire import STALE
from sordino.errors import SordinoError
from sordino.serve.http.problems import status_of
from sordino.serve.refusals import MUTE, shape

_LARGEST = 1 << 20
_SECONDS_TO_SEND = 30
_PAUSE = 5.0
_STATUS = {"SRD-C705": 409, "SRD-C710": 429, "SRD-C711": 503}
_HEADERS = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-headers", b"content-type"),
    (b"cross-origin-resource-policy", b"cross-origin"),
]


class Shuffling:
    """An ASGI application: one shuffler, and the thread that forwards its batch to `to`, an analyser's address."""

    def __init__(self, shuffler: Shuffler, to: str, pause: float = _PAUSE) -> None:
        self._shuffler, self._to, self._pause = shuffler, to, pause
        self._came, self._ended = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._forward, daemon=True, name="sordino-shuffler")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if scope["type"] != "http":
            return
        try:
            status, said = await self._answer(scope["method"], scope["path"], receive)
        except SordinoError as error:
            status = _STATUS.get(error.code) or status_of(error)
            said = shape(error.code, error.message)
        except TimeoutError:
            status, said = 408, shape("SRD-S007", "the request did not end in time; send it again")
        except Exception:  # whatever went wrong inside becomes mute here
            status, said = 500, shape(*MUTE)
        await send({"type": "http.response.start", "status": status, "headers": _HEADERS})
        await send({"type": "http.response.body", "body": json.dumps(said, ensure_ascii=False).encode()})

    async def _answer(self, method: str, path: str, receive: Receive) -> tuple[int, Any]:
        if method == "OPTIONS":
            return 200, {}
        if (method, path) == ("GET", "/"):
            return 200, self._told()
        if (method, path) != ("POST", "/reports"):
            return 404, shape("SRD-S004", "a shuffler takes envelopes at /reports, and nothing else")
        body = await asyncio.wait_for(_read(receive), _SECONDS_TO_SEND)
        if body is None:
            return 413, shape("SRD-S006", "the request is larger than this shuffler takes")
        taken = await asyncio.get_running_loop().run_in_executor(None, self._shuffler.take, body)
        self._came.set()
        return 200, {"taken": taken}

    def _told(self) -> dict[str, Any]:
        survey = self._shuffler.survey
        now = "sent" if self._shuffler.sent else "full" if self._shuffler.full else "open"
        return {"key": survey.parties[1].key, "survey": survey.name, "digest": survey.digest.hex(), "state": now}

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self._thread.start()
                await send({"type": "lifespan.startup.complete"})
            else:
                self._ended.set()
                self._came.set()
                await asyncio.get_running_loop().run_in_executor(None, self._thread.join, 2 * _PAUSE)
                self._shuffler.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    def _forwarded(self) -> bool:
        """Return whether nothing is left to be forwarded."""
        try:
            return self._shuffler.forward(lambda part: _sent(self._to, part))
        except SordinoError as error:
            if error.code != STALE or not _over(self._to):
                raise
            self._shuffler.forget()
            return True

    def _forward(self) -> None:
        """Forward the batch once it is whole, and try again as long as the analyser does not take it."""
        while not self._ended.is_set():
            with suppress(SordinoError, ValueError):
                if self._forwarded():
                    return
            self._came.wait(self._pause)
            self._came.clear()
            if self._shuffler.full:
                self._ended.wait(self._pause)


def _over(to: str) -> bool:
    """Return whether the analyser has closed the round, so that nobody waits for the batch."""
    return bool(json.loads(answered(to))["state"] == "closed")


def _sent(to: str, part: bytes) -> None:
    answered(f"{to}/batch", part)


async def _read(receive: Receive) -> bytes | None:
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        more = message.get("more_body", False)
        if size > _LARGEST:
            return None
    return b"".join(parts)
