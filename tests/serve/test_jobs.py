"""Runs that take long: stages, another's, the queue's end, and what a crash leaves behind."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from serve.conftest import Caller
from serve.places import ANALYST, AUDITOR, OTHER, OWNER, count, opened, settings_at
from sordino.errors import ConflictError, RunError
from sordino.gate import ApprovalError
from sordino.query.engine.memory import Memory
from sordino.serve.app import create_app
from sordino.serve.asking.interrupted import INTERRUPTED
from sordino.serve.asking.requests import key_digest
from sordino.serve.asking.slots import left_of_slot
from sordino.serve.keeping.identity import Principal
from sordino.serve.kinds.kind import digest
from sordino.serve.questions.reading import Read
from sordino.serve.refusals import BusyError, StateError, UnknownError
from sordino.serve.service import Service


class SlowEngine:
    """Lets the engine begin, and end only when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        compute = Memory.compute

        def slow(memory: Memory, task: Any, salt: int) -> Any:
            self.begun.set()
            assert self.go.wait(30)
            return compute(memory, task, salt)

        monkeypatch.setattr(Memory, "compute", slow)


def _ended(look: Any) -> dict[str, Any]:
    for _ in range(300):
        shown: dict[str, Any] = look()
        if shown["finished"] is not None:
            return shown
        time.sleep(0.02)
    raise AssertionError("the job did not end")


def test_a_long_run_becomes_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = SlowEngine(monkeypatch)
    with opened(tmp_path, threshold_seconds=0.05) as service, TestClient(create_app(service)) as client:
        call = Caller(service, client)
        accepted = call("analyst", "POST", "/query/run", json=count(), headers={"Idempotency-Key": "one"})
        assert accepted.status_code == 202
        job = accepted.json()["job"]
        assert accepted.headers["location"] == f"/api/v1/jobs/{job['id']}"
        assert engine.begun.wait(30)
        running = call("analyst", "GET", f"/jobs/{job['id']}").json()
        assert (running["stage"], running["release"], running["error"]) == ("running", None, None)
        assert call("other", "GET", f"/jobs/{job['id']}").status_code == 404
        assert call("auditor", "GET", f"/jobs/{job['id']}").status_code == 404
        assert call("other", "GET", "/jobs").json() == {"jobs": []}
        assert call("owner", "GET", f"/jobs/{job['id']}").status_code == 200
        again = call("analyst", "POST", "/query/run", json=count(), headers={"Idempotency-Key": "one"})
        assert (again.status_code, again.json()["error"]["code"]) == (409, "SRD-S008")
        engine.go.set()
        ended = _ended(lambda: call("analyst", "GET", f"/jobs/{job['id']}").json())
        assert ended["stage"] == "settled"
        assert call("analyst", "GET", f"/releases/{ended['release']}").json()["answer"]["columns"]
        assert call("owner", "GET", "/budgets/dataset/trips").json()["used"] == 0.1


def test_a_long_run_that_fails_is_a_failed_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = SlowEngine(monkeypatch)
    with opened(tmp_path) as service:
        job = service.submit(ANALYST, "query", count())
        assert engine.begun.wait(30)
        service.jobs.keep(job)
        (tmp_path / "trips.parquet").write_bytes(b"gone")
        engine.go.set()
        ended = _ended(lambda: service.jobs.job(ANALYST, job.id))
        assert (ended["stage"], ended["error"]["code"]) == ("failed", "SRD-R001")
        assert service.jobs.jobs(ANALYST)[0]["id"] == job.id
        with pytest.raises(UnknownError):
            service.jobs.job(AUDITOR, job.id)


def test_a_run_that_is_refused_while_it_is_kept(service: Service) -> None:
    job = service.submit(ANALYST, "query", count(5))
    assert job.future.exception(30) is not None
    kept = service.jobs.keep(job)
    assert (kept["stage"], kept["error"]["code"]) == ("failed", "SRD-B001")
    assert service.jobs.keep(job) == kept


def test_mistakes_of_ours_are_mute(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ValueError("secret 4711")

    monkeypatch.setattr("sordino.serve.asking.requests.run", broken)
    job = service.submit(ANALYST, "query", count())
    assert isinstance(job.future.exception(30), ValueError)
    kept = service.jobs.keep(job)
    assert kept["error"]["code"] == "SRD-S001"
    assert "4711" not in str(kept)


def test_there_is_an_end_to_the_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = SlowEngine(monkeypatch)
    with opened(tmp_path, workers=1, queue=1) as service:
        jobs = [service.submit(ANALYST, "query", count()) for _ in range(2)]
        with pytest.raises(BusyError) as refused:
            service.submit(OTHER, "query", count())
        assert refused.value.code == "SRD-S014"
        engine.go.set()
        for job in jobs:
            job.future.result(30)
        service.submit(OTHER, "query", count()).future.result(30)
        assert service.budget(OWNER, "trips")["used"] == pytest.approx(0.3)


def test_what_a_crash_leaves_behind_is_written_down(tmp_path: Path) -> None:
    with opened(tmp_path) as service:
        service.run(ANALYST, "query", count(), "settled")
        data = service.house.asking(
            ANALYST, service.house.asked(ANALYST, "trips"), key=key_digest(ANALYST, "open"), digest="0" * 64
        )
        plan = data.sql("SELECT COUNT(*) AS rides FROM trips").plan(epsilon="0.1")
        data.begin(plan)  # and here the process dies
        for key in ("settled", "open", "never"):
            service.house.registry.put_job(
                id=key,
                subject="ann",
                kind="query",
                dataset="trips",
                key=key_digest(ANALYST, key),
                instance=service.settings.instance,
                stage="running",
                created=0,
            )
    with Service.open(settings_at(tmp_path)) as service:
        assert service.jobs.recover() == 3
        shown = {key: service.jobs.job(ANALYST, key) for key in ("settled", "open", "never")}
        assert [shown[key]["stage"] for key in shown] == ["settled", "failed", "failed"]
        assert service.release(ANALYST, shown["settled"]["release"])["answer"] is not None
        assert "stays charged" in shown["open"]["error"]["message"]
        assert shown["never"]["error"]["code"] == INTERRUPTED
        assert service.budget(OWNER, "trips")["used"] == pytest.approx(0.2)
        assert service.verify(OWNER)["sound"]
        assert service.jobs.recover() == 0


def _died_after_the_charge(service: Service, key: str) -> None:
    """Leave what a process leaves that is killed between charge and answer, before the run had become a job."""
    question = count()
    data = service.house.asking(
        ANALYST,
        service.house.asked(ANALYST, "trips"),
        key=key_digest(ANALYST, key),
        digest=digest("query", Read(question)),
    )
    data.begin(data.sql(question["sql"]).plan(epsilon=question["epsilon"]))


def test_who_asks_again_after_a_crash_is_not_told_for_ever_that_it_still_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as service:
        _died_after_the_charge(service, "one")
    with Service.open(settings_at(tmp_path)) as service:
        service.jobs.recover()
        with pytest.raises(StateError) as running:  # it may be another replica's
            service.run(ANALYST, "query", count(), "one")
        assert running.value.code == "SRD-S008"
        later = service.ledger.now() + 1000 * 120
        monkeypatch.setattr(service.ledger, "now", lambda: later)
        with pytest.raises(RunError, match="stays charged") as lost:
            service.run(ANALYST, "query", count(), "one")
        assert lost.value.code == INTERRUPTED
        with pytest.raises(ConflictError):
            service.run(ANALYST, "query", count(0.2), "one")
        service.house.registry.put_job(
            id="x",
            subject="ann",
            kind="query",
            dataset="trips",
            key=key_digest(ANALYST, "one"),
            instance="another",
            stage="running",
            created=0,
        )
        with pytest.raises(StateError):  # another replica says that it has it
            service.run(ANALYST, "query", count(), "one")
        assert service.budget(OWNER, "trips")["used"] == pytest.approx(0.1)


def test_a_token_for_other_data_sets_shows_no_job_and_no_wish(service: Service) -> None:
    job = service.submit(ANALYST, "query", count())
    job.future.result(30)
    service.jobs.keep(job)
    service.set_policy(OWNER, "trips", {"approval": "0.1"})
    with pytest.raises(ApprovalError):
        service.run(ANALYST, "query", count(0.2))
    elsewhere = Principal(ANALYST.subject, "analyst", frozenset({"another"}))
    assert (len(service.jobs.jobs(ANALYST)), len(service.approvals(ANALYST))) == (1, 1)
    assert (service.jobs.jobs(elsewhere), service.approvals(elsewhere)) == ([], [])
    with pytest.raises(UnknownError):
        service.jobs.job(elsewhere, job.id)


def test_an_approved_question_that_is_sent_twice_is_wished_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = SlowEngine(monkeypatch)
    with opened(tmp_path) as service:
        service.set_policy(OWNER, "trips", {"approval": "0.05"})
        with pytest.raises(ApprovalError):
            service.run(ANALYST, "query", count(), "one")
        service.decide(OWNER, service.approvals(ANALYST)[0]["id"], True)
        job = service.submit(ANALYST, "query", count(), "one")
        assert engine.begun.wait(30)
        # As if the second had looked for the key just before the first was charged, and found nothing.
        replayed, looks = service.ledger.replayed, iter([False])
        monkeypatch.setattr(service.ledger, "replayed", lambda key: replayed(key) if next(looks, True) else None)
        with pytest.raises(StateError) as running:
            service.run(ANALYST, "query", count(), "one")
        assert running.value.code == "SRD-S008"
        engine.go.set()
        job.future.result(30)
        assert [each["state"] for each in service.approvals(ANALYST)] == ["used"]


def test_a_replay_uses_no_approval_up(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    service.set_policy(OWNER, "trips", {"approval": "0.05"})
    for key in ("none", "two"):
        with pytest.raises(ApprovalError):
            service.run(ANALYST, "query", count(), key)
        service.decide(OWNER, service.approvals(ANALYST)[0]["id"], True)
        if key == "none":
            released = service.run(ANALYST, "query", count(), "one")
    replayed, looks = service.ledger.replayed, iter([False])  # as if both had looked before either was charged
    monkeypatch.setattr(service.ledger, "replayed", lambda key: replayed(key) if next(looks, True) else None)
    again = service.run(ANALYST, "query", count(), "one")
    assert (again["id"], again["replayed"]) == (released["id"], True)
    assert sorted(each["state"] for each in service.approvals(ANALYST)) == ["approved", "used"]


def test_results_come_out_at_the_end_of_a_slot(tmp_path: Path) -> None:
    with opened(tmp_path, slot_seconds=0.6) as service:
        moments: dict[str, float] = {}
        service.run(ANALYST, "query", count(), None, lambda stage: moments.setdefault(stage, time.monotonic()))
        assert moments["settled"] - moments["running"] >= 0.6
        (tmp_path / "trips.parquet").write_bytes(b"gone")
        moments.clear()
        job = service.submit(ANALYST, "query", count())
        job.future.exception(30)
        reserved, failed = (entry for entry in service.entries(AUDITOR, 0, 99) if entry["position"] in (3, 4))
        assert failed["entry"]["time"] - reserved["entry"]["time"] >= 600  # the ledger's own times tell no more


@pytest.mark.parametrize(
    ("elapsed", "slot", "left"), [(0.0, 1.0, 0.0), (0.25, 1.0, 0.75), (3.5, 2.0, 0.5), (9.0, 0, 0)]
)
def test_what_is_left_of_a_slot(elapsed: float, slot: float, left: float) -> None:
    assert left_of_slot(elapsed, slot) == left
