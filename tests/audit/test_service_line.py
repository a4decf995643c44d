"""The line to a service: what a run that takes long is seen as, connections that idle, and draws in turns."""

from __future__ import annotations

import json
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from audit.broken_services import TOKEN, Honest, application, served
from audit.service_places import rides
from sordino.audit.probing.authorizing import near_miss
from sordino.audit.probing.line import Line, Seen, Standing
from sordino.audit.probing.oracle import Oracle, Promise
from sordino.audit.probing.overspending import overspend
from sordino.audit.probing.timing import compare_times

AT_ONCE = {"content-type": "application/json", "x-request-id": "1"}
AS_A_JOB = {**AT_ONCE, "location": "/api/v1/jobs/7", "retry-after": "1"}


class Scripted(Line):
    """A line to nobody: says what a script tells for each path, and writes down who asked."""

    def __init__(self, script: dict[str, Any]) -> None:
        super().__init__("http://127.0.0.1:1", TOKEN)
        self.script = script
        self.tokens: list[str | None] = []

    def send(self, method: str, path: str, *, token: str | None = "", **_: Any) -> Seen:
        self.tokens.append(token)
        status, body, headers = self.script[path]
        return Seen(f"{method} {path}", status, headers, json.dumps(body), 0.0)


def job(**outcome: Any) -> Scripted:
    ended = {"id": "7", "release": None, "error": None, "stage": "failed", **outcome}
    return Scripted({"/query/run": (202, {"job": {"id": "7"}}, AS_A_JOB), "/jobs/7": (200, ended, AT_ONCE)})


@pytest.mark.parametrize(
    ("code", "status"),
    [("SRD-Q001", 422), ("SRD-A002", 422), ("SRD-B001", 402), ("SRD-S003", 403), ("SRD-R001", 424), ("SRD-S001", 424)],
)
def test_a_job_that_is_refused_is_seen_as_a_refusal_and_one_that_fails_as_a_failure(code: str, status: int) -> None:
    line = job(error={"code": code, "message": "…"})
    seen = line.run({}, token="another")  # noqa: S106
    assert (seen.status, seen.code) == (status, code)
    assert line.tokens == ["another", "another"]


def test_an_answer_looks_the_same_however_long_it_took() -> None:
    line = job(stage="settled", release="r")
    told = {"id": "r", "dataset": "rides", "sql": "…", "answer": {"columns": []}}
    line.script |= {"/releases/r": (200, told, AT_ONCE), "/receipts/r": (200, {}, AT_ONCE)}
    seen = line.run({})
    assert (seen.status, seen.headers) == (200, AT_ONCE)
    assert seen.body == {**told, "receipt": "{}", "replayed": False}


@pytest.mark.parametrize("token", ["abcd", "abxx", "xx", "abyy"])
def test_a_near_miss_is_never_the_token(token: str) -> None:
    assert near_miss(token) != token
    assert len(near_miss(token)) == len(token)


class Impatient(socketserver.StreamRequestHandler):
    """Answers the first request of a connection, and ends the connection instead of answering the next."""

    def handle(self) -> None:
        while self.rfile.readline().strip():
            pass
        self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
        self.rfile.readline()


@contextmanager
def impatient() -> Iterator[str]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Impatient) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_connection_that_idles_is_given_up_before_the_service_ends_it() -> None:
    with impatient() as url, Line(url, TOKEN) as line:
        assert line.get("/datasets").status == 200
        time.sleep(2.2)  # services close what idles for five seconds, perhaps just as a request is on its way
        assert line.get("/datasets").status == 200


def test_both_services_are_asked_again_in_turns() -> None:
    asked: list[Line] = []
    lines = Scripted({}), Scripted({})

    def again(line: Line) -> dict[str, str]:
        asked.append(line)
        return {"load": "high" if len(asked) <= 28 else "low"}  # of the machine, not of the data

    oracle = Oracle(*lines, "rides", "1")
    oracle._confirm({"load": ("high", "low")}, again, Promise(), "POST /run")
    assert asked[:4] == [*lines, *lines]
    assert not oracle.probed()[0].findings


def standings(*used: float) -> Scripted:
    """A line on which a budget stands otherwise at every look."""
    looks = iter(used)
    line = Scripted({})
    line.standing = lambda _dataset: Standing(0.0, 0, None, {"used": next(looks)})  # type: ignore[method-assign]
    return line


@pytest.mark.parametrize(("here", "there", "found"), [((0.5, 0.0), (0.0, 0.0), False), ((0.5,) * 3, (0.4,) * 3, True)])
def test_a_budget_that_begins_anew_between_two_looks_accuses_nobody(
    here: tuple[float, ...], there: tuple[float, ...], found: bool
) -> None:
    oracle = Oracle(standings(*here), standings(*there), "rides", "1")
    oracle._compare_budgets()
    assert bool(oracle.probed()[0].findings) is found


def test_who_is_asked_first_changes_when_times_are_compared() -> None:
    order: list[str] = []

    class Timed(Scripted):
        def run(self, _question: Any, _key: str | None = None, **_: Any) -> Seen:
            order.append(str(self.script["name"]))
            return Seen("", 200, {}, "{}", 0.1)

    compare_times((Timed({"name": "with"}), Timed({"name": "without"})), {}, 4)
    assert order == ["with", "without", "without", "with"] * 2


@contextmanager
def honest(**price: Any) -> Iterator[Line]:
    """A service whose prices say more than it does by itself."""

    class Priced(Honest):
        def price(self, question: dict[str, Any]) -> dict[str, Any]:
            return super().price(question) | price

        def charge(self, epsilon: float) -> None:
            super().charge(epsilon if not price else 1e9)

    with served(application(Priced(rides(), 1.0, 0))) as url, Line(url, TOKEN) as line:
        yield line


@pytest.mark.service
@pytest.mark.parametrize("price", [{"policy": {"allows": "approval"}}, {"fits": False}])
def test_who_may_not_spend_a_quarter_at_once_accuses_nobody(price: dict[str, Any]) -> None:
    with honest(**price) as line:
        probed = overspend(line, "rides", "SELECT COUNT(*) AS n FROM rides")
    assert (probed.checks, probed.findings) == (0, ())
    assert probed.skipped is not None


@pytest.mark.service
def test_whose_policy_allows_it_is_probed() -> None:
    with honest() as line:
        probed = overspend(line, "rides", "SELECT COUNT(*) AS n FROM rides")
    assert (probed.checks, probed.findings) == (5, ())
