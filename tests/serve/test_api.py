"""The API: every route by role, one shape of errors, idempotency, headers."""

from __future__ import annotations

import json

import pytest

from serve.conftest import Caller
from serve.digits import RECIPE, WANTED
from serve.places import DECLARATIONS, PUBLISHED, count


def test_a_question_goes_from_price_to_receipt(call: Caller) -> None:
    assert call("analyst", "GET", "/whoami").json() == {"subject": "ann", "role": "analyst", "datasets": ["trips"]}
    (listed,) = call("analyst", "GET", "/datasets").json()["datasets"]
    assert listed["name"] == "trips"
    seen = call("analyst", "GET", "/datasets/trips").json()
    assert [column["name"] for column in seen["tables"][0]["columns"]] == ["rider", "fare", "city", "note"]
    assert "declarations" not in seen
    assert "trips.parquet" not in json.dumps(seen)
    price = call("analyst", "POST", "/query/price", json=count("0.25")).json()
    assert price["part"] == 0.25
    answered = call("analyst", "POST", "/query/run", json=count("0.25"))
    assert answered.status_code == 200
    released = answered.json()
    receipt = call("analyst", "GET", f"/receipts/{released['id']}")
    assert json.loads(receipt.text)["release"]["text"] == json.dumps(
        released["answer"], ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    assert call("analyst", "GET", "/releases").json()["releases"][0]["id"] == released["id"]
    assert call("analyst", "GET", f"/releases/{released['id']}").json()["answer"] == released["answer"]
    assert call("analyst", "GET", "/budgets/dataset/trips").json()["used"] == 0.25
    assert call("auditor", "GET", "/transparency/trips").json()["charges"] == 1
    assert call("analyst", "GET", "/jobs").json() == {"jobs": []}
    for path in ("/ledger/checkpoint", "/ledger/inclusion?position=1", "/ledger/consistency?old=1"):
        assert call("analyst", "GET", path).status_code == 200
    assert len(call("auditor", "GET", "/ledger/entries?start=0&end=10").json()["entries"]) == 3
    assert call("auditor", "POST", "/ledger/verify").json()["sound"]


def test_keys_are_idempotent(call: Caller) -> None:
    key = {"Idempotency-Key": "one"}
    first = call("analyst", "POST", "/query/run", json=count(), headers=key)
    again = call("analyst", "POST", "/query/run", json=count(), headers=key)
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.json()["answer"] == first.json()["answer"]
    other = call("analyst", "POST", "/query/run", json=count("0.2"), headers=key)
    assert (other.status_code, other.json()["error"]["code"]) == (409, "SRD-L030")
    assert call("owner", "GET", "/budgets/dataset/trips").json()["used"] == 0.1


def test_owners_run_the_service(call: Caller) -> None:
    other = DECLARATIONS.replace("name: trips", "name: rides")
    made = call(
        "owner",
        "POST",
        "/admin/datasets",
        json={"declarations": other, "budget": {"rho": "0.5"}, "policy": {"pause": 0}},
    )
    assert (made.status_code, made.json()["name"]) == (201, "rides")
    raised = call("owner", "PUT", "/admin/datasets/rides/budget", json={"budget": {"rho": 1}, "reason": "a new year"})
    assert raised.json()["rho"] == 1
    policy = call("owner", "PATCH", "/admin/datasets/rides/policy", json={"most": 0.5, "degrade": True}).json()
    assert (policy["most"], policy["degrade"]) == ("1/2", True)
    capped = call("owner", "PUT", "/admin/caps/analyst/ann", json={"budget": {"epsilon": 1}, "refresh": "day"})
    assert capped.json()["refresh"] == "day"
    assert "analyst:ann" in call("owner", "GET", "/admin/scopes").json()["scopes"]
    assert call("analyst", "GET", "/budgets/analyst/ann").status_code == 200
    issued = call("owner", "POST", "/admin/tokens", json={"subject": "zoe", "role": "analyst", "days": 1})
    token = issued.json()["token"]
    assert call(token, "GET", "/datasets").status_code == 200
    rows = call("owner", "GET", "/admin/tokens").json()["tokens"]
    identifier = next(row["id"] for row in rows if row["subject"] == "zoe")
    assert token not in json.dumps(rows)
    assert call("owner", "DELETE", f"/admin/tokens/{identifier}").status_code == 204
    assert call(token, "GET", "/datasets").status_code == 401
    member = {"subject": "zoe@example.org", "role": "auditor"}
    assert call("owner", "POST", "/admin/members", json=member).status_code == 204
    assert call("owner", "GET", "/admin/members").json()["members"][0]["subject"] == "zoe@example.org"
    assert call("owner", "DELETE", "/admin/members/zoe@example.org").status_code == 204


def test_approvals_travel(call: Caller) -> None:
    call("owner", "PATCH", "/admin/datasets/trips/policy", json={"approval": "0.2"})
    refused = call("analyst", "POST", "/query/run", json=count("0.5"))
    assert (refused.status_code, refused.json()["error"]["code"]) == (402, "SRD-B005")
    (wish,) = call("analyst", "GET", "/approvals").json()["approvals"]
    assert wish["id"] in refused.json()["error"]["message"]
    decided = call("owner", "POST", f"/admin/approvals/{wish['id']}", json={"approve": True, "reason": "fine"})
    assert decided.json()["state"] == "approved"
    assert call("analyst", "POST", "/query/run", json=count("0.5")).status_code == 200


ROUTES = [
    ("GET", "/whoami", None),
    ("GET", "/openapi.json", None),
    ("GET", "/datasets", None),
    ("GET", "/datasets/trips", None),
    ("POST", "/query/price", count()),
    ("POST", "/query/run", count()),
    ("POST", "/training/price", RECIPE),
    ("POST", "/training/run", RECIPE),
    ("POST", "/predictions/price", WANTED),
    ("POST", "/predictions/run", WANTED),
    ("POST", "/predictions/none/part", {"request": WANTED, "asked": {"things": [[1]]}}),
    ("POST", "/predictions/none/finish", {"request": WANTED}),
    ("POST", "/publication/price", PUBLISHED),
    ("POST", "/publication/run", PUBLISHED),
    ("POST", "/survey/price", {"dataset": "pets"}),
    ("POST", "/survey/run", {"dataset": "pets"}),
    ("POST", "/survey/none/part", {"request": {"dataset": "pets"}, "asked": {}}),
    ("POST", "/survey/none/finish", {"request": {"dataset": "pets"}}),
    ("GET", "/jobs/none/files/weights.npz", None),
    ("POST", "/jobs/none/stop", None),
    ("POST", "/jobs/none/resume", None),
    ("GET", "/jobs", None),
    ("GET", "/jobs/nothing", None),
    ("GET", "/releases", None),
    ("GET", "/releases/nothing", None),
    ("GET", "/releases/nothing/answer.csv", None),
    ("GET", "/receipts/nothing", None),
    ("GET", "/budgets/dataset/trips", None),
    ("GET", "/budgets/analyst/ann", None),
    ("GET", "/transparency/trips", None),
    ("GET", "/ledger/checkpoint", None),
    ("GET", "/ledger/entries?start=0&end=1", None),
    ("GET", "/ledger/inclusion?position=0", None),
    ("GET", "/ledger/consistency?old=0", None),
    ("POST", "/ledger/verify", None),
    ("GET", "/ledger/witness?key=x", None),
    ("POST", "/ledger/witness", {"key": "x", "note": "y", "old_size": 0, "signature": ""}),
    ("POST", "/admin/datasets", {"declarations": DECLARATIONS}),
    ("PUT", "/admin/datasets/trips/budget", {"budget": {"epsilon": 9}, "reason": "more"}),
    ("PATCH", "/admin/datasets/trips/policy", {"degrade": True}),
    ("PUT", "/admin/caps/analyst/ann", {"budget": {"epsilon": 9}}),
    ("GET", "/admin/scopes", None),
    ("GET", "/admin/tokens", None),
    ("POST", "/admin/tokens", {"subject": "x", "role": "owner"}),
    ("DELETE", "/admin/tokens/x", None),
    ("GET", "/admin/members", None),
    ("POST", "/admin/members", {"subject": "x", "role": "owner"}),
    ("DELETE", "/admin/members/x", None),
    ("GET", "/approvals", None),
    ("POST", "/admin/approvals/x", {"approve": True}),
    ("GET", "/metrics", None),
]


def test_nobody_gets_in_without_a_token(call: Caller) -> None:
    for method, path, body in ROUTES:
        for who in (None, "sordino_wrong"):
            refused = call(who, method, path, json=body)
            expected = (403, "SRD-S003") if (who, path) == (None, "/transparency/trips") else (401, "SRD-S002")
            assert (refused.status_code, refused.json()["error"]["code"]) == expected, path
    assert call("owner", "GET", "/ledger/checkpoint").json()["size"] == 1


def test_the_description_names_every_route(call: Caller) -> None:
    described = call("analyst", "GET", "/openapi.json").json()
    asked = {(method.lower(), path.split("?")[0]) for method, path, _ in ROUTES}
    paths: dict[str, dict[str, object]] = described["paths"]
    there = {(method, path.removeprefix("/api/v1")) for path, methods in paths.items() for method in methods}
    unasked = {(m, pattern) for m, pattern in there if not any(m == n and _matches(pattern, p) for n, p in asked)}
    assert unasked == {("get", "/healthz")}


def _matches(pattern: str, path: str) -> bool:
    parts, given = pattern.split("/"), path.split("/")
    return len(parts) == len(given) and all(a.startswith("{") or a == b for a, b in zip(parts, given, strict=True))


def test_analysts_own_nothing(call: Caller) -> None:
    for method, path, body in ROUTES:
        if path.startswith(("/admin", "/ledger/entries", "/ledger/verify", "/ledger/witness", "/metrics")):
            refused = call("analyst", method, path, json=body)
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "SRD-S003"), path
    assert call("owner", "GET", "/ledger/checkpoint").json()["size"] == 1


def test_anothers_is_unknown(call: Caller) -> None:
    released = call("analyst", "POST", "/query/run", json=count()).json()
    mine, none = released["id"], f"{released['id'][:-2]}zz"
    for pattern in ("/releases/{}", "/releases/{}/answer.csv", "/receipts/{}"):
        assert call("analyst", "GET", pattern.format(mine)).status_code == 200
        assert call("other", "GET", pattern.format(mine)).status_code == 404
        there, not_there = (call("other", "GET", pattern.format(which)).json() for which in (mine, none))
        assert there == not_there
    assert call("stranger", "POST", "/query/price", json=count()).status_code == 404


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"epsilon": None}, 422),
        ({"epsilon": True}, 422),
        ({"epsilon": [1]}, 422),
        ({"epsilon": "abc"}, 422),
        ({"epsilon": 0}, 422),
        ({"epsilon": -0.0}, 422),
        ({"epsilon": 5e-324}, 422),
        ({"extra": 1}, 422),
        ({"find": 1}, 422),
        ({"sql": "SELECT fare FROM trips"}, 422),
        ({"sql": "SELECT COUNT(*) FROM trips; DROP TABLE trips"}, 422),
        ({"sql": "x" * 100_001}, 422),
        ({"dataset": "nothing"}, 404),
        ({"epsilon": 2}, 402),
    ],
)
def test_requests_that_are_off(quiet_call: Caller, change: dict[str, object], status: int) -> None:
    for path in ("/query/run",) if status == 402 else ("/query/price", "/query/run"):
        refused = quiet_call("analyst", "POST", path, json={**count(), **change})
        assert refused.status_code == status
        error = refused.json()["error"]
        assert set(error) == {"code", "message", "help"}
        assert error["help"] == f"/docs/errors#{error['code'].lower()}"


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"null", b'{"dataset": NaN}', b"\xff\xfe", b'{"a":' * 2000])
def test_bodies_that_are_not_json(quiet_call: Caller, body: bytes) -> None:
    refused = quiet_call("analyst", "POST", "/query/run", content=body, headers={"Content-Type": "application/json"})
    assert refused.status_code in (400, 422)
    assert refused.json()["error"]["code"] == "SRD-S007"


def test_numbers_that_json_should_not_hold(quiet_call: Caller) -> None:
    for number in (b"NaN", b"Infinity", b"-Infinity", b"1e999"):
        body = b'{"dataset": "trips", "sql": "SELECT COUNT(*) FROM trips", "epsilon": ' + number + b"}"
        refused = quiet_call(
            "analyst", "POST", "/query/run", content=body, headers={"Content-Type": "application/json"}
        )
        assert refused.status_code == 422


def test_addresses_and_methods_that_there_are_not(quiet_call: Caller) -> None:
    for method, path, status in (("GET", "/nothing", 404), ("DELETE", "/query/run", 405), ("GET", "/query/price", 405)):
        refused = quiet_call("analyst", method, path)
        assert refused.status_code == status
        assert refused.json()["error"]["code"] in ("SRD-S004", "SRD-S007")


def test_every_response_keeps_browsers_in_check(quiet_call: Caller) -> None:
    for path in ("/healthz", "/datasets", "/nothing"):
        headers = quiet_call("analyst", "GET", path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


def test_health_is_for_all_and_metrics_are_not(quiet_call: Caller) -> None:
    assert quiet_call(None, "GET", "/healthz").json() == {"ok": True, "frozen": None}
    page = quiet_call("auditor", "GET", "/metrics").text
    assert 'sordino_budget_used{dataset="trips"} 0.0' in page
    assert 'route="/api/v1/datasets"' in page or "sordino_requests_total" in page


def test_codes_are_explained(quiet_call: Caller) -> None:
    page = quiet_call(None, "GET", "/docs/errors")
    assert page.headers["content-type"].startswith("text/html")
    assert '<h3 id="srd-b001">' in page.text
    assert "<script" not in page.text


def test_static_files_are_served(quiet_call: Caller) -> None:
    assert quiet_call(None, "GET", "/static/vendor/htmx.min.js").status_code == 200
    assert quiet_call(None, "GET", "/static/../app.py").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/query/run", b'{"dataset":"trips","sql":"SELECT \\ud800","epsilon":1}'),
        ("POST", "/query/run", b'{"dataset":"trips","sql":"SELECT \\u0000","epsilon":1}'),
        ("POST", "/query/run", b'{"dataset":"trips","sql":"SELECT COUNT(*) AS n FROM trips","epsilon":"\\ud800"}'),
        ("POST", "/query/run", b'{"\\ud800":1}'),
        ("POST", "/admin/approvals/x", b'{"approve":true,"reason":"\\u0000"}'),
        ("GET", "/datasets/%00", None),
        ("GET", "/releases?dataset=%00", None),
        ("GET", "/ledger/inclusion?position=99", None),
        ("GET", "/ledger/consistency?old=99", None),
        ("GET", "/budgets/analyst/%20ann", None),
    ],
)
def test_texts_that_no_database_can_hold(quiet_call: Caller, method: str, path: str, body: bytes | None) -> None:
    refused = quiet_call("owner", method, path, content=body, headers={"Content-Type": "application/json"})
    assert refused.status_code == 422
    assert set(refused.json()["error"]) == {"code", "message", "help"}
