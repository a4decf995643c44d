"""The API by its own description: whatever is sent, no 5xx, nothing that is not described, no value of the data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi import checks

from serve import digits
from serve.places import CANARY_NUMBER, CANARY_TEXT, DECLARATIONS, OWNER, PUBLISHED, opened
from serve.polls import POLL
from sordino.gate import ApprovalError
from sordino.ledger.canonical import to_base64
from sordino.ledger.told import told_bytes
from sordino.serve.app import create_app
from sordino.serve.asking import apart
from sordino.serve.keeping.identity import Principal
from sordino.serve.service import Service
from sordino.serve.surveys import owners

ASKING = ("POST /api/v1/query/price", "POST /api/v1/query/run")
ROLES = {"owner": "olga", "analyst": "ann", "auditor": "ada"}
CHECKS = (
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
)
SQL = (
    "SELECT COUNT(*) AS n FROM trips",
    "SELECT city, SUM(fare) AS s, AVG(fare) AS a FROM trips GROUP BY city",
    "SELECT note, COUNT(*) AS n FROM trips GROUP BY note",
    "SELECT MEDIAN(fare) AS m FROM trips WHERE city = 'Oslo'",
    "SELECT * FROM trips",
)
NAMES = {"name": ("trips", "ann"), "dataset": ("trips",), "kind": ("analyst", "project"), "subject": ("ann", "bob")}


class Fuzzed:
    """A service whose every operation is called with what its description allows, and what it does not."""

    def __init__(self, service: Service) -> None:
        self.service = service
        app = create_app(service)
        self.tokens = {role: service.issue_token(OWNER, subject, role) for role, subject in ROLES.items()}
        self._schema = schemathesis.openapi.from_dict(app.openapi())
        self._schema.app = app
        self.operations = {found.ok().label: found.ok() for found in self._schema.get_all_operations()}
        self.known: set[str] = {"no-such"}
        self.statuses: dict[str, set[int]] = {label: set() for label in self.operations}

    def fuzz(self, label: str, role: str, examples: int, *, derandomize: bool) -> None:
        """Call one operation as one role."""
        operation = self.operations[label]
        modes = [operation.as_strategy(generation_mode=mode) for mode in _modes(operation)]
        quiet = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]

        @settings(
            max_examples=examples, derandomize=derandomize, deadline=None, database=None, suppress_health_check=quiet
        )
        @given(case=st.one_of(modes), data=st.data())
        def go(case: Any, data: st.DataObject) -> None:
            self._steer(case, data)
            self._learn(self.call(case, role))

        go()

    def call(self, case: Any, role: str) -> Any:
        """Send one case, and check what came back."""
        response = case.call(headers={"Authorization": f"Bearer {self.tokens[role]}"})
        self.statuses[case.operation.label].add(response.status_code)
        case.validate_response(response, checks=list(CHECKS))
        _check_silent(response.text)
        return response

    def _steer(self, case: Any, data: st.DataObject) -> None:
        """Put names of what is there in many of the places that want one; else nearly all is unknown."""
        pools = {**NAMES, "identifier": tuple(sorted(self.known))}
        for name in case.path_parameters or {}:
            if name in pools and data.draw(st.booleans()):
                case.path_parameters[name] = data.draw(st.sampled_from(pools[name]))
        if isinstance(case.body, dict) and case.operation.label in ASKING and data.draw(st.integers(0, 3)):
            case.body = {**case.body, "dataset": "trips", "sql": data.draw(st.sampled_from(SQL))}
            if data.draw(st.booleans()):
                kept = {name: case.body[name] for name in ("dataset", "sql")}
                case.body = {**kept, "epsilon": data.draw(st.sampled_from(("0.01", 0.5, "1e-9", 3, "1e3")))}

    def _learn(self, response: Any) -> None:
        """Remember the ids of what was made, to ask for it later."""
        if response.status_code in (200, 202) and len(self.known) < 20:
            body = response.json() if "json" in response.headers.get("content-type", [""])[0] else {}
            for found in (body, body.get("job") if isinstance(body, dict) else None):
                if isinstance(found, dict) and isinstance(found.get("id"), str):
                    self.known.add(found["id"])


def _modes(operation: Any) -> list[schemathesis.GenerationMode]:
    """Return both ways to make cases, or one where nothing can be wrong."""
    given_anything = operation.body or operation.query or operation.path_parameters
    return list(schemathesis.GenerationMode) if given_anything else [schemathesis.GenerationMode.POSITIVE]


def _check_silent(text: str) -> None:
    for secret in (CANARY_TEXT, repr(CANARY_NUMBER), "48271.39"):
        assert secret not in text


@contextmanager
def fuzzed(directory: Path) -> Iterator[Fuzzed]:
    limits = {"rate_per_minute": 10**7, "rate_burst": 10**7}
    with opened(directory, {"epsilon": 1000, "delta": "1e-6"}, **limits) as service:
        yield Fuzzed(service)


def _check_charges(service: Service) -> None:
    """Everything that was answered was charged; the ledger is sound."""
    found = service.entries(OWNER, 0, 1000)
    kinds = [entry["kind"] for entry in found]
    reserved = {entry["entry"]["id"] for entry in found if entry["kind"] == "reserved"}
    ended = [entry["entry"]["id"] for entry in found if entry["kind"] in ("settled", "failed")]
    assert len(ended) == len(set(ended))
    assert set(ended) == reserved
    assert kinds.count("settled") > 0
    assert service.verify(OWNER)["sound"]


def test_every_operation_keeps_to_its_description(tmp_path: Path) -> None:
    with fuzzed(tmp_path) as found:
        for label in found.operations:
            for role in ROLES:
                found.fuzz(label, role, 12 if label in ASKING else 3, derandomize=True)
        _check_charges(found.service)
        assert all(200 in found.statuses[label] for label in ASKING)


def _open_cases(work: str) -> dict[str, dict[str, Any]]:
    """Return calls that ask more of open work, and finish it."""
    more = {"request": digits.WANTED, "asked": {"things": [[0.0] * digits.PIXELS]}}
    return {
        "POST /api/v1/predictions/{identifier}/part": {"path_parameters": {"identifier": work}, "body": more},
        "POST /api/v1/predictions/{identifier}/finish": {
            "path_parameters": {"identifier": work},
            "body": {"request": digits.WANTED},
        },
    }


def _survey_cases(work: str) -> dict[str, dict[str, Any]]:
    """Return calls by which a round is priced, opened, looked at and closed."""
    asked, where = {"dataset": "pets"}, {"path_parameters": {"identifier": work}}
    return {
        "POST /api/v1/survey/price": {"body": asked},
        "POST /api/v1/survey/run": {"body": asked},
        "POST /api/v1/survey/{identifier}/part": {**where, "body": {"request": asked, "asked": {}}},
        "POST /api/v1/survey/{identifier}/finish": {**where, "body": {"request": asked}},
    }


def _trained(service: Service) -> None:
    """Write down a training that was settled, with its weights."""
    values = {"id": "trained", "subject": "olga", "kind": "training", "dataset": "digits", "instance": "one"}
    ended = {"stage": "settled", "release": "1-0", "created": 0, "finished": 1, "claim": "mine", "beat": 0, "key": "t"}
    service.house.registry.put_job(**values, **ended)
    folder = apart.folder_of(service.settings, "trained")
    folder.mkdir(parents=True)
    (folder / "weights.npz").write_bytes(b"weights")


def _good_cases(service: Service, release: str, approval: str, job: str) -> dict[str, dict[str, Any]]:
    """One call of every operation that succeeds: parameters of the path, of the query, and the body."""
    checkpoint, question = service.checkpoint(OWNER), {"dataset": "trips", "sql": SQL[1], "epsilon": "0.5"}
    service.issue_token(OWNER, "gone", "analyst")
    (token,) = (each["id"] for each in service.tokens(OWNER) if each["subject"] == "gone")
    told: dict[str, Any] = {
        "key": checkpoint["key"],
        "note": checkpoint["note"],
        "old_size": 0,
        "spent": {"dataset:trips": "1 2"},
    }
    signed = told_bytes(told["key"], told["note"], 0, told["spent"], anew=False)
    told["signature"] = to_base64(service.ledger._session.log.key.sign(signed))
    person, name = {"subject": "bob", "role": "analyst"}, {"path_parameters": {"name": "trips"}}
    return {
        "GET /api/v1/datasets/{name}": name,
        "POST /api/v1/query/price": {"body": question},
        "POST /api/v1/query/run": {"body": question},
        "POST /api/v1/training/price": {"body": digits.RECIPE},
        "POST /api/v1/training/run": {"body": digits.RECIPE},
        "POST /api/v1/publication/price": {"body": PUBLISHED},
        "POST /api/v1/publication/run": {"body": PUBLISHED},
        "POST /api/v1/predictions/price": {"body": digits.WANTED},
        "POST /api/v1/predictions/run": {"body": digits.WANTED},
        **_open_cases(service.run(OWNER, "predictions", digits.WANTED)["id"]),
        **_survey_cases(service.run(OWNER, "survey", {"dataset": "pets"})["id"]),
        "GET /api/v1/jobs/{identifier}/files/{name}": {
            "path_parameters": {"identifier": "trained", "name": "weights.npz"},
        },
        "GET /api/v1/jobs/{identifier}": {"path_parameters": {"identifier": job}},
        "POST /api/v1/jobs/{identifier}/stop": {"path_parameters": {"identifier": "running"}},
        "POST /api/v1/jobs/{identifier}/resume": {"path_parameters": {"identifier": "stopped"}},
        "GET /api/v1/releases/{identifier}": {"path_parameters": {"identifier": release}},
        "GET /api/v1/releases/{identifier}/answer.csv": {"path_parameters": {"identifier": release}},
        "GET /api/v1/receipts/{identifier}": {"path_parameters": {"identifier": release}},
        "GET /api/v1/budgets/dataset/{name}": name,
        "GET /api/v1/budgets/{kind}/{name}": {"path_parameters": {"kind": "analyst", "name": "ann"}},
        "GET /api/v1/transparency/{dataset}": {"path_parameters": {"dataset": "trips"}},
        "GET /api/v1/ledger/entries": {"query": {"start": 0, "end": 100}},
        "GET /api/v1/ledger/inclusion": {"query": {"position": 0}},
        "GET /api/v1/ledger/consistency": {"query": {"old": 1}},
        "POST /api/v1/ledger/witness": {"body": told},
        "GET /api/v1/ledger/witness": {"query": {"key": checkpoint["key"]}},
        "POST /api/v1/admin/datasets": {"body": {"declarations": DECLARATIONS}},
        "PUT /api/v1/admin/datasets/{name}/budget": {
            **name,
            "body": {"budget": {"epsilon": 900, "delta": "1e-6"}, "reason": "less"},
        },
        "PATCH /api/v1/admin/datasets/{name}/policy": {**name, "body": {"pause": 0, "most": "1"}},
        "PUT /api/v1/admin/caps/{kind}/{name}": {
            "path_parameters": {"kind": "project", "name": "study"},
            "body": {"budget": {"epsilon": 1}, "refresh": "week"},
        },
        "POST /api/v1/admin/tokens": {"body": person},
        "DELETE /api/v1/admin/tokens/{identifier}": {"path_parameters": {"identifier": token}},
        "POST /api/v1/admin/members": {"body": person},
        "DELETE /api/v1/admin/members/{subject}": {"path_parameters": {"subject": "bob"}},
        "POST /api/v1/admin/approvals/{identifier}": {
            "path_parameters": {"identifier": approval},
            "body": {"approve": True},
        },
    }


def test_what_every_operation_answers_is_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fuzzed(tmp_path) as found:
        service, ann = found.service, Principal("ann", "analyst")
        service.cap(OWNER, "analyst", "ann", {"epsilon": 500}, "month")
        release = service.run(ann, "query", {"dataset": "trips", "sql": SQL[0], "epsilon": "0.5"})["id"]
        service.set_policy(OWNER, "trips", {"approval": "0.1"})
        with pytest.raises(ApprovalError):
            service.run(ann, "query", {"dataset": "trips", "sql": SQL[0], "epsilon": 300})
        job = service.submit(ann, "query", {"dataset": "trips", "sql": SQL[0], "epsilon": "0.5"})
        kept = service.jobs.keep(job)["id"]
        job.future.result()
        monkeypatch.setattr(apart, "start", lambda *_: None)
        for stage in ("running", "stopped"):
            values = {"subject": "ann", "kind": "query", "dataset": "trips", "instance": "one", "created": 0}
            beat = {"claim": "mine", "beat": apart.first_beat(), "stopping": False}
            service.house.registry.put_job(
                id=stage, stage="stopped" if stage == "stopped" else "running", key=stage, **values, **beat
            )
        digits.write_digits(tmp_path)
        service.register(OWNER, digits.DECLARATIONS, {"epsilon": 50, "delta": "1e-6"})
        _trained(service)
        owners.define(service, OWNER, POLL)
        good = _good_cases(service, release, service.approvals(OWNER)[0]["id"], kept)
        assert good.keys() < found.operations.keys()
        # What makes things comes first.
        for label in sorted(found.operations, key=lambda label: label.startswith(("GET", "DELETE"))):
            found.call(found.operations[label].Case(**good.get(label, {})), "owner")
            assert found.statuses[label] & {200, 201, 202, 204}, label


@pytest.mark.long
@pytest.mark.parametrize("role", ROLES)
def test_every_operation_keeps_to_its_description_for_long(tmp_path: Path, role: str) -> None:
    with fuzzed(tmp_path) as found:
        for label in found.operations:
            found.fuzz(label, role, 150, derandomize=False)


def test_the_checks_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError

    with fuzzed(tmp_path) as found:
        case = found.operations["GET /api/v1/datasets"].Case()
        for wrong in (lambda _: [{"name": "trips"}], lambda _: [{"owner": CANARY_TEXT}], broken):
            found.call(case, "analyst")
            with monkeypatch.context() as patch:
                patch.setattr(found.service, "datasets", wrong)
                with pytest.raises((FailureGroup, AssertionError)):
                    found.call(case, "analyst")
