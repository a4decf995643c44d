"""Errors over HTTP: every class has its status, every code its entry, and mistakes of ours are mute."""

from __future__ import annotations

import io
import json
import pickle

import pytest
from fastapi.testclient import TestClient

from serve.places import OWNER, count
from sordino import errors
from sordino.gate import ApprovalError
from sordino.serve import logs, refusals
from sordino.serve.app import create_app
from sordino.serve.http.problems import problem, status_of
from sordino.serve.refusals import BusyError, UnknownError, shape
from sordino.serve.service import Service


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.ArgumentError("m", "SRD-A001"), 422),
        (errors.QuestionError("m", "SRD-Q101"), 422),
        (errors.UnsupportedError("m", "SRD-C001"), 422),
        (errors.BudgetError("m", "SRD-B001"), 402),
        (ApprovalError("m", "SRD-B005"), 402),
        (errors.BudgetError("m", "SRD-B003"), 429),
        (errors.ConflictError("m", "SRD-L030"), 409),
        (errors.LedgerError("m", "SRD-L026"), 409),
        (errors.LedgerError("m", "SRD-L022"), 404),
        (errors.LedgerError("m", "SRD-L008"), 422),
        (errors.LedgerError("m", "SRD-L051"), 503),
        (errors.FrozenError("m", "SRD-L061"), 503),
        (errors.RunError("m", "SRD-R001"), 424),
        (errors.GrantError("secret 4711", "SRD-G001"), 500),
        (refusals.UnauthenticatedError(), 401),
        (refusals.ForbiddenError("m"), 403),
        (UnknownError("job"), 404),
        (BusyError("m", after=7.2), 429),
        (refusals.StateError("m", "SRD-S008"), 409),
    ],
)
def test_every_kind_has_a_status(error: errors.SordinoError, status: int) -> None:
    response = problem(error)
    assert status_of(error) == response.status_code == status
    body = json.loads(bytes(response.body))
    expected = shape("SRD-S001", refusals.MUTE[1]) if status == 500 else shape(error.code, error.message)
    assert body == expected
    assert "4711" not in bytes(response.body).decode()
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (again.message, again.code) == (error.message, error.code)


def test_whoever_is_told_to_wait_is_told_how_long() -> None:
    assert problem(BusyError("m", after=7.2)).headers["retry-after"] == "7"
    assert problem(errors.BudgetError("m", "SRD-B003")).headers["retry-after"] == "60"
    assert problem(refusals.UnauthenticatedError()).headers["www-authenticate"] == "Bearer"


def test_what_goes_wrong_inside_is_mute(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("secret 4711")

    monkeypatch.setattr(service, "price", broken)
    token = service.issue_token(OWNER, "ann", "analyst")
    written = io.StringIO()
    handler = logs.install(written)
    try:
        with TestClient(create_app(service)) as client:
            refused = client.post("/api/v1/query/price", json=count(), headers={"Authorization": f"Bearer {token}"})
    finally:
        logs.logging.getLogger().removeHandler(handler)
    assert (refused.status_code, refused.json()["error"]["code"]) == (500, "SRD-S001")
    assert "4711" not in refused.text
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert "4711" not in written.getvalue()
    assert token not in written.getvalue()
    (failed,) = [line for line in lines if line["what"] == "a request failed inside"]
    assert (failed["error"], failed["level"]) == ("ValueError", "error")
    assert any(place.startswith("asking.py:") for place in failed["places"])
    (asked,) = [line for line in lines if line["what"] == "request"]
    assert (asked["route"], asked["status"]) == ("/api/v1/query/price", 500)


def test_only_debugging_tells_more(caplog: pytest.LogCaptureFixture) -> None:
    for debug, told in ((False, None), (True, "secret 4711")):
        caplog.clear()
        logs.tell_failure("broken", ValueError("secret 4711"), debug=debug)
        assert caplog.records[0].detail == told  # type: ignore[attr-defined]


def test_records_of_others_lose_their_words() -> None:
    written = io.StringIO()
    handler = logs.install(written)
    try:
        logs.logging.getLogger("another").warning("secret %s", 4711)
    finally:
        logs.logging.getLogger().removeHandler(handler)
    assert json.loads(written.getvalue())["what"] == "a record of another"
