"""Reports over HTTP: ``POST /api/v1/surveys/NAME/reports``, without a login, synced before they are acknowledged.

Beside it ``/batch`` takes what a survey's shuffler sends, and ``/servers`` what the other one of two servers says: both
are told from anybody else's by keys that the survey names (``collect.sealing``).

It stands beside the common door: no line is logged for a report, nothing remembers an address or a time, and it has
limits of its own: the bytes that wait to be synced, the requests that wait for it, and the size of one.

======  ======================================================================
200     ``{"taken": 1000, "refused": [[3, "SRD-C704"]]}``: taken are on the disk
403     the one-time code is missing, unknown or used (SRD-C712)
404     there is no such survey
409     the round is over, or was never open (SRD-C705)
422     reports of this survey go elsewhere: to its shuffler, or to the other server (SRD-C713)
413     more bytes than a request may have
422     this is no report of this survey (SRD-C701 to C704); nothing was taken
429     more arrive than can be written: send the same again later (SRD-C710)
503     nothing can be written at the moment (SRD-C711), or the ledger is frozen
======  ======================================================================
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

from sordino.errors import ArgumentError, SordinoError
from sordino.serve.http.problems import status_of
from sordino.serve.logs import tell_failure
from sordino.serve.refusals import MUTE, shape
from sordino.serve.service import Service

from .at_hand import AtHand, closed_helper, rounds_of

if TYPE_CHECKING:
    from sordino.collect.wire import Batch

_PATH = re.compile(r"/api/v1/surveys/([^/]{1,200})/(reports|batch|servers)")
_STATUS = {"SRD-C705": 409, "SRD-C710": 429, "SRD-C711": 503}
_ELSEWHERE = ("SRD-C703", "SRD-C705")
_JUST_NOW = 0.02
_MOST_WAITING = 2048
_SECONDS_TO_SEND = 30
_HEADERS = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]


class Intakes:
    """An ASGI middleware before all others: takes reports, and passes everything else on."""

    def __init__(self, app: ASGIApp, *, service: Service) -> None:
        self._app = app
        self._service = service
        self._rounds = rounds_of(service.house)
        self._largest = service.settings.largest_request
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take reports in, or pass a request on."""
        found = _PATH.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if found is None:
            try:
                await self._app(scope, receive, send)
            finally:
                if scope["type"] == "lifespan":
                    self._rounds.close()
            return
        self._inside += 1
        try:
            status, said = await self._answered(unquote(found[1]), found[2], scope, receive)
        finally:
            self._inside -= 1
        headers = [*_HEADERS, (b"retry-after", b"1")] if status in (429, 503) else _HEADERS
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": said})

    async def _answered(self, name: str, what: str, scope: Scope, receive: Receive) -> tuple[int, bytes]:
        try:
            if self._inside > _MOST_WAITING:
                return _refusal("SRD-C710", "more reports arrive than can be taken; send it again later", 429)
            if self._service.frozen is not None:
                raise self._service.frozen
            body = await asyncio.wait_for(self._read(receive), _SECONDS_TO_SEND)
            if body is None:
                return _refusal("SRD-S006", "the request is larger than this service takes", 413)
            if what != "reports":
                return await asyncio.get_running_loop().run_in_executor(None, self._party, name, what, body)
            return await self._taken(name, body, dict(scope["headers"]))
        except SordinoError as error:
            return _refusal(error.code, error.message, _STATUS.get(error.code) or status_of(error))
        except TimeoutError:
            return _refusal("SRD-S007", "the request did not end in time; send it again", 408)
        except Exception as error:  # whatever went wrong inside becomes mute here, as at the common door
            tell_failure("an intake failed inside", error, debug=self._service.settings.debug, request="intake")
            return _refusal(*MUTE, 500)

    def _party(self, name: str, what: str, body: bytes) -> tuple[int, bytes]:
        """Answer the shuffler of a survey, or the other one of its two servers."""
        try:
            found = self._rounds.look(name)
        except ArgumentError:
            if what == "batch":
                raise
            return 200, closed_helper(self._service.house, name).answer(body)
        if what == "batch":
            found.arrival.take(body)
            return 200, b"{}"
        return 200, found.helper(self._service.ledger).answer(body)

    async def _taken(self, name: str, body: bytes, headers: dict[bytes, bytes]) -> tuple[int, bytes]:
        """Return the acknowledgement; a report of another round may be one of a round that was opened just now."""
        look = asyncio.get_running_loop().run_in_executor
        known = self._rounds.known(name)
        found: AtHand = await look(None, self._rounds.look, name) if known is None else known
        found.check_takes()
        read = _read_as(found, body, headers.get(b"content-type", b""))
        if any(code in _ELSEWHERE for _, code in read.refused) and self._rounds.known(name, _JUST_NOW) is None:
            found = await look(None, self._rounds.look, name, _JUST_NOW)
            read = _read_as(found, body, headers.get(b"content-type", b""))
        return await _acknowledged(found, read, headers)

    async def _read(self, receive: Receive) -> bytes | None:
        """Return the whole body, None if it is too large."""
        message = await receive()
        if not message.get("more_body"):
            body: bytes = message.get("body", b"")
            return body if len(body) <= self._largest else None
        parts, size = [message.get("body", b"")], len(message.get("body", b""))
        while message.get("more_body"):
            message = await receive()
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._largest:
                return None
        return b"".join(parts)


async def _acknowledged(found: AtHand, read: Batch, headers: dict[bytes, bytes]) -> tuple[int, bytes]:
    """Return the acknowledgement once everything that may be counted is on the disk."""
    if not len(read.records):
        code = read.refused[0][1]
        return _refusal(code, _words(code), _STATUS.get(code, 422))
    place = None
    if found.codes is not None and not (len(read.records) == 1 and found.intake.knows(read.records)):
        place = _claimed(found, read, headers)
    try:
        await _synced(found, read.records)
    except SordinoError:
        if place is not None and found.codes is not None:
            found.codes.release(place)
        raise
    if place is not None and found.codes is not None:
        await asyncio.get_running_loop().run_in_executor(None, found.codes.mark, place)
    said = {"taken": len(read.records), "refused": [list(each) for each in read.refused]}
    return 200, json.dumps(said, separators=(",", ":")).encode()


def _claimed(found: AtHand, read: Batch, headers: dict[bytes, bytes]) -> int:
    """Hold the code that a report came with; with codes, reports come one by one."""
    from sordino.collect.wire import STALE, WRONG_LENGTH, refused

    if found.intake.closed:
        raise refused(STALE)
    if len(read.records) + len(read.refused) != 1 or found.codes is None:
        raise refused(WRONG_LENGTH)
    return found.codes.claim(headers.get(b"sordino-code", b"").decode("latin-1"))


async def _synced(found: AtHand, records: Any) -> None:
    loop = asyncio.get_running_loop()
    waited: asyncio.Future[None] = loop.create_future()

    def settle(error: SordinoError | None) -> None:
        if not waited.done():
            waited.set_result(None) if error is None else waited.set_exception(error)

    def synced(error: SordinoError | None) -> None:
        loop.call_soon_threadsafe(settle, error)

    found.intake.submit(records, synced)
    await waited


def _read_as(found: AtHand, body: bytes, kind: bytes) -> Batch:
    from sordino.collect.wire import parsed, read_bytes, read_plain

    survey = found.declared.survey
    if kind.startswith(b"application/json"):
        return read_plain(survey, parsed(body), found.former)
    return read_bytes(survey, body, found.former)


def _words(code: str) -> str:
    from sordino.collect.wire import WORDS

    return WORDS[code]


def _refusal(code: str, message: str, status: int) -> tuple[int, bytes]:
    return status, json.dumps(shape(code, message), ensure_ascii=False).encode()
