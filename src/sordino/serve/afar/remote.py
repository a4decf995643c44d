"""A service at the other end of a wire: its calls over HTTP, its errors as ours, and runs that are charged once.

Every run carries an idempotency key. When a connection is lost, the same request is sent again under the same key, so
that the service answers it from the ledger if it was charged already; a run that takes long becomes a job, which is
looked at until it has ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sordino import errors, noise
from sordino.gate import ApprovalError
from sordino.serve.kinds.kind import Kind
from sordino.serve.kinds.progress import how_far
from sordino.serve.kinds.table import Kinds
from sordino.serve.refusals import (
    AccessError,
    BusyError,
    ForbiddenError,
    StateError,
    UnauthenticatedError,
    UnknownError,
)

if TYPE_CHECKING:
    import httpx

_TRIES = 5
_FIRST_PAUSE = 0.2
_LOOK_AGAIN = 1.0
_STILL_RUNNING = "SRD-S008"
_ENDED = ("settled", "failed", "stopped", "interrupted")
_GATEWAY = (502, 503, 504)

_BY_CODE: dict[str, type[errors.SordinoError]] = {
    "SRD-B005": ApprovalError,
    "SRD-L030": errors.ConflictError,
    "SRD-S002": UnauthenticatedError,
    "SRD-S003": ForbiddenError,
    "SRD-S004": UnknownError,
    **dict.fromkeys(("SRD-S005", "SRD-S014"), BusyError),
    **dict.fromkeys((_STILL_RUNNING, "SRD-S009", "SRD-S015", "SRD-S016", "SRD-S022"), StateError),
}
_BY_LETTER: dict[str, type[errors.SordinoError]] = {
    "A": errors.ArgumentError,
    "B": errors.BudgetError,
    "C": errors.UnsupportedError,
    "G": errors.GrantError,
    "L": errors.LedgerError,
    "Q": errors.QuestionError,
    "R": errors.RunError,
    "S": AccessError,
}

part = partial(quote, safe="")
"""A name as one part of an address."""

Told = Callable[[str], None]
"""Told how far a run is."""


class UnreachableError(errors.SordinoError):
    """Nothing that a service of ours would say came back."""


class Remote:
    """What a service offers, by the words of its API; all that comes back is plain JSON."""

    def __init__(self, http: httpx.Client, pause: Callable[[float], None] = time.sleep) -> None:
        self._http = http
        self._pause = pause

    def datasets(self) -> list[dict[str, Any]]:
        """Return the data sets that the token may know of."""
        return list(self.get("/datasets")["datasets"])

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The kinds of this house; what else a service offers is told as JSON."""
        return Kinds.load(())

    def price(self, kind: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a request of a kind costs."""
        return self._json(self._send("POST", f"/{part(kind)}/price", json=dict(request)))

    def run(self, kind: str, request: Mapping[str, Any], key: str | None, stage: Told) -> dict[str, Any]:
        """Have a request charged and answered, once, however often the connection is lost."""
        path, asked = f"/{part(kind)}/run", dict(request)
        given = new_key() if key is None else key
        while True:
            try:
                found = self._json(self._send("POST", path, json=asked, headers={"Idempotency-Key": given}))
            except UnreachableError as error:
                raise UnreachableError(
                    f"{error.message}; nobody knows whether this was charged: ask the same again under the key "
                    f"{given}, which is charged once at most",
                    error.code,
                ) from None
            except StateError as error:
                if error.code != _STILL_RUNNING:
                    raise
                stage("running")
                self._pause(_LOOK_AGAIN)
                continue
            return self._ended(asked, found["job"], stage) if "job" in found else found

    def budget(self, dataset: str) -> dict[str, Any]:
        """Return all about the budget of a data set."""
        return self.get(f"/budgets/dataset/{part(dataset)}")

    def receipt(self, identifier: str) -> str:
        """Return a receipt as the text that verifies."""
        return self._send("GET", f"/receipts/{part(identifier)}").text

    def get(self, path: str, **parameters: Any) -> dict[str, Any]:
        """Return what is at an address of the API."""
        given = {name: value for name, value in parameters.items() if value is not None}
        return self._json(self._send("GET", path, params=given))

    def close(self) -> None:
        """Give the connection back."""
        self._http.close()

    def jobs(self) -> list[dict[str, Any]]:
        """Return the newest jobs."""
        return list(self.get("/jobs")["jobs"])

    def change_job(self, identifier: str, verb: str) -> dict[str, Any]:
        """Stop a job in a process of its own, or go on with it (`resume`)."""
        return self._json(self._send("POST", f"/jobs/{part(identifier)}/{verb}"))

    def job_file(self, identifier: str, name: str) -> bytes:
        """Return a file that a settled job left."""
        return self._send("GET", f"/jobs/{part(identifier)}/files/{part(name)}").content

    def _ended(self, request: Mapping[str, Any], job: dict[str, Any], stage: Told) -> dict[str, Any]:
        """Look at a job until it has ended; return what was released."""
        while job["stage"] not in _ENDED:
            stage(how_far(job))
            self._pause(_LOOK_AGAIN)
            job = self.get(f"/jobs/{part(job['id'])}")
        stage(job["stage"])
        if job["error"] is not None:
            raise _error(job["error"]["code"], job["error"]["message"], 0)
        if job["release"] is None:
            raise StateError(
                f"job {job['id']} was {job['stage']}; go on by: sordino job resume {job['id']}", "SRD-S009"
            )
        release = self.get(f"/releases/{part(job['release'])}")
        return {
            "id": release["id"],
            "dataset": release["dataset"],
            "kind": release["what"],
            "request": dict(request),
            "answer": release["answer"],
            "receipt": self.receipt(release["id"]),
            "replayed": False,
        }

    def _send(self, method: str, path: str, **words: Any) -> httpx.Response:
        """Send a request, again if nothing comes back: all that goes this way may be said twice."""
        import httpx

        pause = _FIRST_PAUSE
        for attempt in range(_TRIES):
            try:
                response = self._http.request(method, f"/api/v1{path}", **words)
            except httpx.TransportError:
                response = None
            if response is not None and not (response.status_code in _GATEWAY and _told_error(response) is None):
                return _checked(response)
            if attempt + 1 < _TRIES:
                self._pause(pause)
                pause *= 2
        raise UnreachableError(
            f"{self._http.base_url} does not answer; check the address, and whether the service runs", "SRD-S019"
        )

    def _json(self, response: httpx.Response) -> dict[str, Any]:
        try:
            found = response.json()
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise _foreign(response)
        return found


def new_key() -> str:
    """Return an idempotency key that nobody has used: 128 random bits."""
    return bytes(noise.uniform(256, 16).tolist()).hex()


def _checked(response: httpx.Response) -> httpx.Response:
    if response.is_success:
        return response
    told = _told_error(response)
    if told is None:
        raise _foreign(response)
    raise _error(*told, response.status_code)


def _told_error(response: httpx.Response) -> tuple[str, str] | None:
    """Return code and message of an error in our shape."""
    try:
        match response.json():
            case {"error": {"code": str(code), "message": str(message)}}:
                return code, message
    except ValueError:
        pass
    return None


def _error(code: str, message: str, status: int) -> errors.SordinoError:
    kind = _BY_CODE.get(code) or _BY_LETTER.get(code[4:5], errors.SordinoError)
    if kind is errors.LedgerError and status == 503:
        kind = errors.FrozenError
    return kind(message, code)


def _foreign(response: httpx.Response) -> UnreachableError:
    return UnreachableError(
        f"what came back (status {response.status_code}) is not from a sordino service; check the address", "SRD-S019"
    )
