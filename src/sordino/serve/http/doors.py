"""The door of the application: every request gets an id, a limit of size, a line in the log and a count, and leaves
with headers that keep browsers from doing what pages of ours never need.

**Guarantee**: whatever goes wrong further inside leaves here as a mute error, and never with its own words.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sordino.serve.keeping.registry import random_hex
from sordino.serve.logs import tell, tell_failure
from sordino.serve.refusals import MUTE

from .metrics import Metrics

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_TRANSPORT = (b"strict-transport-security", b"max-age=31536000")


Telling = Callable[[Scope, int, str, str], Response]
"""Makes the response for an error that the door itself tells: its status, its code and its words."""


class _TooLargeError(Exception):
    """More bytes came than a request may have."""


class Door:
    """An ASGI middleware: the first to see a request and the last to see a response."""

    def __init__(
        self, app: ASGIApp, *, metrics: Metrics, largest: int, debug: bool, secure: bool, tell: Telling
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._largest = largest
        self._debug = debug
        self._tell = tell
        self._headers = [*_HEADERS, _TRANSPORT] if secure else _HEADERS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take a request in, and see its response out."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        visit = _Visit(self, scope, receive, send)
        await visit.go()


class _Visit:
    """One request and its response."""

    def __init__(self, door: Door, scope: Scope, receive: Receive, send: Send) -> None:
        self._door = door
        self._scope = scope
        self._receive_next = receive
        self._send_next = send
        self._status = 0
        self._code: str | None = None
        self._bytes = 0
        self._large = False
        """Whether too much came, whatever those inside make of it."""
        self._id = random_hex(8)

    async def go(self) -> None:
        begun = time.perf_counter()
        await self._handle()
        self._write_down(time.perf_counter() - begun)

    async def _handle(self) -> None:
        try:
            if self._announced() > self._door._largest:
                raise _TooLargeError
            if "\x00" in self._scope["path"] or b"%00" in self._scope.get("query_string", b""):
                await self._answer(422, "SRD-S007", "an address holds no NUL")
                return
            await self._door._app(self._scope, self._receive, self._answered)
            if self._large:
                raise _TooLargeError
        except _TooLargeError:
            await self._answer(413, "SRD-S006", "the request is larger than this service takes")
        except Exception as error:  # this is where whatever went wrong inside becomes mute
            tell_failure("a request failed inside", error, debug=self._door._debug, request=self._id)
            await self._answer(500, *MUTE)

    def _write_down(self, seconds: float) -> None:
        route = _template(self._scope)
        method = self._scope["method"] if self._scope["method"] in _METHODS else "other"
        self._door._metrics.count(route, method, self._status, seconds)
        tell(
            "request",
            request=self._id,
            method=method,
            route=route,
            status=self._status,
            milliseconds=round(1000 * seconds, 1),
            subject=self._scope.get("state", {}).get("subject"),
            code=self._code,
        )

    def _announced(self) -> int:
        for name, value in self._scope["headers"]:
            if name == b"content-length" and value.isdigit():
                return int(value)
        return 0

    async def _receive(self) -> Message:
        message = await self._receive_next()
        self._bytes += len(message.get("body", b""))
        if self._bytes > self._door._largest:
            self._large = True
            raise _TooLargeError
        return message

    async def _answered(self, message: Message) -> None:
        """Send what those inside answer, unless too much came: that is for the door to say."""
        if not self._large:
            await self._send(message)

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
            self._code = next((value.decode() for name, value in headers if name == b"x-sordino-code"), None)
            there = {name for name, _ in headers}
            headers += [pair for pair in self._door._headers if pair[0] not in there]
            if b"cache-control" not in there:
                headers.append((b"cache-control", b"no-store"))
            headers.append((b"x-request-id", self._id.encode()))
            message = {**message, "headers": headers}
        await self._send_next(message)

    async def _answer(self, status: int, code: str, message: str) -> None:
        """Answer in the one shape of errors, unless a response has begun already."""
        if self._status:
            return
        await self._door._tell(self._scope, status, code, message)(self._scope, _nothing, self._send)


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def _template(scope: Scope) -> str:
    """Return the address with names for what stands in it, as routes are written; "none" if no route took it."""
    if scope.get("route") is None and scope.get("endpoint") is None:
        return "none"
    if scope["path"].startswith("/static/"):
        return "/static"
    named = {str(value): f"{{{name}}}" for name, value in scope.get("path_params", {}).items()}
    return "/".join(named.get(part, part) for part in scope["path"].split("/"))


async def _nothing() -> Any:
    return {"type": "http.disconnect"}
