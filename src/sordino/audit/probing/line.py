"""A line to a service: requests go out as somebody, and everything that comes back is kept for whoever listens.

A service that is busy (429) is asked again; a run that becomes a job is looked at until it has ended, and is then seen
as if it had been answered at once.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from sordino.errors import SordinoError
from sordino.serve.afar.client import http_client

if TYPE_CHECKING:
    import httpx

_TRIES = 100
_LOOK_AGAIN = 0.1
_LONGEST = 600.0
_ENDED = ("settled", "failed")
_STATUS_OF_FAILURE = 424
_STATUS_OF_REFUSAL = {"SRD-A": 422, "SRD-B": 402, "SRD-C": 422, "SRD-L": 409, "SRD-Q": 422, "SRD-S": 403}
"""A job may end with what would have been said before data was touched; its code tells."""
_INSIDE = "SRD-S001"
"""A mistake of the service's own, which may come after data was touched."""
_OF_JOBS = frozenset({"location", "retry-after"})
"""Headers that say that a run took long: whether it did is a matter of load, not of what is answered."""


class SilentServiceError(SordinoError):
    """A service under audit does not answer, or not as one of ours would."""


@dataclass(frozen=True)
class Seen:
    """A response, and the request that it answers in one line."""

    request: str
    status: int
    headers: Mapping[str, str]
    text: str
    seconds: float

    @property
    def body(self) -> Any:
        """The JSON of the body; None if there is none."""
        try:
            return json.loads(self.text)
        except ValueError:
            return None

    @property
    def code(self) -> str | None:
        """The code of an error."""
        match self.body:
            case {"error": {"code": str(code)}}:
                return code
        return None


@dataclass(frozen=True)
class Standing:
    """How a budget stands: the part that is used, and how many charges there were."""

    used: float
    charges: int
    remaining: float | None
    plain: Mapping[str, Any]


Heard = Callable[[Seen], None]


def _nobody(_: Seen) -> None:
    """Listen to nothing."""


class Line:
    """A connection to one service as whoever has the token."""

    def __init__(self, url: str, token: str, heard: Heard = _nobody) -> None:
        self.url = url
        self.token = token
        self._http = http_client(url, token)
        del self._http.headers["Authorization"]
        self._heard = heard

    def send(
        self, method: str, path: str, *, token: str | None = "", headers: Mapping[str, str] | None = None, **words: Any
    ) -> Seen:
        """Send a request, with the line's own token unless another (or None) is given."""
        given = self.token if token == "" else token
        sent = {**(headers or {}), **({} if given is None else {"Authorization": f"Bearer {given}"})}
        request = _told(method, path, words, sent)
        for attempt in range(_TRIES):
            begun = time.perf_counter()
            response = self._answered(method, path, sent, words)
            if response.status_code != 429 or attempt + 1 == _TRIES:
                break
            after = response.headers.get("retry-after", "")  # seconds, or from some a date
            time.sleep(min(float(after), 5.0) if after.isdigit() else 1.0)
        seen = Seen(request, response.status_code, dict(response.headers), response.text, time.perf_counter() - begun)
        self._heard(seen)
        return seen

    def _answered(self, method: str, path: str, headers: Mapping[str, str], words: Mapping[str, Any]) -> httpx.Response:
        import httpx

        try:
            return self._http.request(method, f"/api/v1{path}", headers=dict(headers), **words)
        except httpx.TransportError:
            raise SilentServiceError(
                f"{self.url} does not answer; start both services, and give their addresses as http://127.0.0.1:port",
                "SRD-V040",
            ) from None

    def get(self, path: str, **words: Any) -> Seen:
        """Send a GET."""
        return self.send("GET", path, **words)

    def price(self, question: Mapping[str, Any]) -> Seen:
        """Ask what a question costs."""
        return self.send("POST", "/query/price", json=dict(question))

    def run(self, question: Mapping[str, Any], key: str | None = None, **words: Any) -> Seen:
        """Have a question answered, and wait for its end where it becomes a job."""
        headers = {} if key is None else {"Idempotency-Key": key}
        seen = self.send("POST", "/query/run", json=dict(question), headers=headers, **words)
        match seen.body:
            case {"job": {"id": str(job)}} if seen.status == 202:
                return self._ended(seen, job, words.get("token", ""))
        return seen

    def _ended(self, seen: Seen, job: str, token: str | None) -> Seen:
        until = time.monotonic() + _LONGEST
        found: Any = None
        while time.monotonic() < until:
            found = self.get(f"/jobs/{quote(job, safe='')}", token=token).body
            if isinstance(found, dict) and found.get("stage") in _ENDED:
                break
            time.sleep(_LOOK_AGAIN)
        headers = {name: value for name, value in seen.headers.items() if name.lower() not in _OF_JOBS}
        if not isinstance(found, dict) or found.get("release") is None:
            error = found.get("error") if isinstance(found, dict) else None
            failed = Seen(seen.request, _STATUS_OF_FAILURE, headers, json.dumps({"error": error}), seen.seconds)
            refused = {} if failed.code == _INSIDE else _STATUS_OF_REFUSAL
            return replace(failed, status=refused.get(str(failed.code)[:5], _STATUS_OF_FAILURE))
        release = self.get(f"/releases/{found['release']}", token=token).body
        receipt = self.get(f"/receipts/{found['release']}", token=token).text
        body = {"id": release["id"], "dataset": release["dataset"], "sql": release["sql"], "answer": release["answer"]}
        text = json.dumps(body | {"receipt": receipt, "replayed": False})
        return Seen(seen.request, 200, headers, text, seen.seconds)

    def standing(self, dataset: str) -> Standing:
        """Return how the budget of a data set stands."""
        seen = self.get(f"/budgets/dataset/{quote(dataset, safe='')}")
        body = seen.body
        if seen.status != 200 or not isinstance(body, dict) or "used" not in body:
            raise SilentServiceError(
                f"{self.url} does not tell the budget of {dataset!r} (status {seen.status}); give a token that may ask "
                "about this data set, and the address of a sordino service",
                "SRD-V040",
            )
        charges = sum(int(each["charges"]) for each in body.get("by_analyst", ()))
        return Standing(float(body["used"]), charges, body.get("remaining_epsilon"), body)

    def close(self) -> None:
        """Give the connection back."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def at_once(line: Line, question: Mapping[str, Any], times: int, key: str | None = None) -> list[Seen]:
    """Send one question so many times at one moment, each over a connection of its own out of the client's pool."""
    found: list[Seen] = []
    start = threading.Barrier(times)

    def ask() -> None:
        start.wait()
        found.append(line.run(question, key))

    threads = [threading.Thread(target=ask) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(found) < times:
        raise SilentServiceError(f"{line.url} left {times - len(found)} of {times} requests unanswered", "SRD-V040")
    return found


def _told(method: str, path: str, words: Mapping[str, Any], headers: Mapping[str, str]) -> str:
    """Return a request in one line, without the token."""
    body = f" {json.dumps(words['json'], ensure_ascii=False)}" if words.get("json") is not None else ""
    key = f" with Idempotency-Key {headers['Idempotency-Key']}" if "Idempotency-Key" in headers else ""
    nobody = "" if "Authorization" in headers else " without a token"
    return f"{method} /api/v1{path}{body}{key}{nobody}"
