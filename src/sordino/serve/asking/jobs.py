"""Jobs: runs in threads of their own. One that ends soon is an answer; one that does not becomes a job to look at.

A job shows its stage (planned, reserved, running, settled, failed) and nothing of how far the engine is: rows or
percents would be data. Whether and when a run becomes a job depends on its time, which slots can hide (``slots.py``).
Work of hours is a job from the start, in a process of its own (``apart.py``): it tells what its plan makes public, and
can be stopped and gone on with.

What became of a run is in the ledger; the row that is kept for a job only says where. After a crash, `recover` asks the
ledger about jobs that nobody finished: a charge without an answer is written down as failed, and stands.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Row

from sordino.accounting.work import Stage
from sordino.errors import ConflictError, RunError
from sordino.ledger.periods import moment
from sordino.serve.keeping.identity import Principal
from sordino.serve.keeping.registry import milliseconds, random_hex
from sordino.serve.kinds.kind import Kind
from sordino.serve.kinds.progress import how_far
from sordino.serve.refusals import BusyError, StateError, UnknownError, shape

from . import apart, requests
from .interrupted import INTERRUPTED, LEFT_OPEN, LOST, LOST_CHARGED
from .premises import Premises

_RESTING = ("stopped", "interrupted")


@dataclass
class Job:
    """One run and how far it is."""

    id: str
    who: Principal
    kind: Kind
    request: dict[str, Any]
    key: str
    created: int
    stage: str = "waiting"
    future: Future[dict[str, Any]] = field(default_factory=Future)
    kept: bool = False
    """Whether there is a row of it, because it took long."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def row(self) -> dict[str, Any]:
        """What is written down of it."""
        return {
            "id": self.id,
            "subject": self.who.subject,
            "kind": self.kind.name,
            "dataset": str(self.request.get("dataset", "")),
            "key": self.key,
            "stage": self.stage,
            "created": self.created,
        }


async def finished(job: Job, seconds: float) -> bool:
    """Wait for a run without holding a thread; whether it ended in time, and `Job.future` has what came of it."""
    waiting = asyncio.wrap_future(job.future)
    waiting.add_done_callback(_heard)
    await asyncio.wait({waiting}, timeout=seconds)
    return waiting.done()


def _heard(future: asyncio.Future[Any]) -> None:
    """Take note of an error even if nobody waits any more, or the event loop would print its words."""
    if not future.cancelled():
        future.exception()


class Jobs:
    """The runs of one process."""

    def __init__(self, house: Premises) -> None:
        self._house = house
        self._ledger = house.ledger
        self._registry = house.registry
        self._settings = settings = house.settings
        self._pool = ThreadPoolExecutor(settings.workers, thread_name_prefix="sordino-run")
        self._room = threading.Semaphore(settings.workers + settings.queue)

    def submit(self, who: Principal, kind: Kind, request: Mapping[str, Any], key: str | None = None) -> Job:
        """Begin a run, or refuse it if too many wait already."""
        job = Job(random_hex(), who, kind, dict(request), requests.key_digest(who, key), milliseconds())
        if kind.apart:
            return self._apart(job)
        if not self._room.acquire(blocking=False):
            raise BusyError("too many runs are waiting; nothing was charged, ask again in a while", "SRD-S014", 5.0)
        try:
            self._pool.submit(self._work, job)
        except BaseException:
            self._room.release()
            raise
        return job

    def _apart(self, job: Job) -> Job:
        """Begin a run in a process of its own; under the same key there is one job."""
        who, known = job.who, self._registry.job_of_key(job.key)
        if known is not None and json.loads(known.request) != job.request:
            raise ConflictError(
                "this idempotency key was used before for another request; use a new key for a new request", "SRD-L030"
            )
        if known is not None:
            return replace(job, id=known.id, kept=True)
        requests.price(self._house, who, job.kind, job.request)  # what cannot be is refused here, and has no row
        if self._registry.living_jobs(apart.dead_before(self._settings)) >= self._settings.workers:
            raise BusyError("as many jobs run as may; nothing was charged, ask again later", "SRD-S014", 60.0)
        datasets = None if who.datasets is None else json.dumps(sorted(who.datasets))
        claim = random_hex(8)
        asked = {"request": json.dumps(job.request, ensure_ascii=False), "role": who.role, "datasets": datasets}
        beating = {"claim": claim, "beat": apart.first_beat(), "stopping": False}
        self._registry.put_job(**job.row, instance=self._settings.instance, **asked, **beating)
        apart.start(self._settings, job.id, claim)
        return replace(job, kept=True)

    def stop(self, who: Principal, identifier: str) -> dict[str, Any]:
        """Have a job in a process of its own stopped; what was charged stays charged."""
        row = self._own(who, identifier)
        if row.claim is None or row.finished is not None:
            raise StateError("this job has ended, or is no work of hours that can be stopped", "SRD-S022")
        self._registry.change_job(identifier, stopping=True)
        return self.job(who, identifier)

    def resume(self, who: Principal, identifier: str) -> dict[str, Any]:
        """Go on with a job that was stopped, or whose process died."""
        row = self._own(who, identifier)
        claim = None if row.claim is None else apart.claimed(self._registry, self._settings, identifier)
        if claim is None:
            raise StateError("this job has ended, or still runs; only one that was interrupted goes on", "SRD-S022")
        apart.start(self._settings, identifier, claim)
        return self.job(who, identifier)

    def wait(self, job: Job, stage: Stage) -> dict[str, Any]:
        """Wait until a job in a process of its own has ended or rests; return what was released."""
        shown = self.job(job.who, job.id)
        while shown["finished"] is None and shown["stage"] not in _RESTING:
            stage(how_far(shown))
            time.sleep(self._settings.heartbeat_seconds)
            shown = self.job(job.who, job.id)
        stage(shown["stage"])
        if shown["stage"] in _RESTING:
            raise StateError(f"job {job.id} was {shown['stage']}; go on by: sordino job resume {job.id}", "SRD-S022")
        if shown["error"] is not None:
            raise RunError(shown["error"]["message"], shown["error"]["code"])
        return requests.ended(self._house, job.who, job.kind, job.request, job.key)

    def file(self, who: Principal, identifier: str, name: str) -> Path:
        """Return where a file is that a settled job left for whoever asked."""
        shown = self.job(who, identifier)
        path = apart.folder_of(self._settings, shown["id"]) / name
        if name not in shown["files"] or not path.is_file():
            raise UnknownError("there is no such file of this job on this machine")
        return path

    def keep(self, job: Job) -> dict[str, Any]:
        """Let a run that takes long be found later; return how it shows itself."""
        with job.lock:
            if not job.kept:
                self._registry.put_job(**job.row, instance=self._settings.instance)
                job.kept = True
                if job.future.done():
                    self._write_outcome(job)
        return self.job(job.who, job.id)

    def job(self, who: Principal, identifier: str) -> dict[str, Any]:
        """Return how far a job is; another's is unknown."""
        return self._shown(self._own(who, identifier))

    def jobs(self, who: Principal, limit: int = 50) -> list[dict[str, Any]]:
        """Return the newest jobs: one's own, or for an owner all."""
        rows = self._registry.jobs(None if who.role == "owner" else who.subject, limit)
        return [self._shown(row) for row in rows if _may_see(who, row)]

    def _own(self, who: Principal, identifier: str) -> Row[Any]:
        row = self._registry.job(identifier)
        if row is None or not _may_see(who, row):
            raise UnknownError("job")
        return row

    def recover(self) -> int:
        """Finish what a process of the same name left behind when it died; return how many jobs that were.

        **Assumes**: no other process of this name is running.
        """
        left = self._registry.unfinished_jobs(self._settings.instance)
        for row in left:
            found = self._ledger.replayed(row.key)
            values: dict[str, Any] = {"stage": "failed", "code": INTERRUPTED, "message": LOST}
            if found is not None and found.release is not None:
                values = {"stage": "settled", "release": found.id}
            elif found is not None:
                if found.running and not found.stays_open:
                    self._ledger.fail(found.id, INTERRUPTED)
                values["message"] = LEFT_OPEN if found.stays_open else LOST_CHARGED
            self._registry.change_job(row.id, finished=milliseconds(), **values)
        return len(left)

    def close(self) -> None:
        """Wait for runs that have begun; those that wait are not begun any more."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _work(self, job: Job) -> None:
        try:
            here = apart.Here(lambda stage: self._told(job, stage))
            result = requests.run(self._house, job.who, job.kind, job.request, job.key, here)
        except BaseException as error:  # whoever waits for the future is told, and nobody else
            self._end(job, partial(job.future.set_exception, error))
        else:
            self._end(job, partial(job.future.set_result, result))
        finally:
            self._room.release()

    def _told(self, job: Job, stage: str) -> None:
        with job.lock:
            job.stage = stage
            if job.kept and stage not in ("settled", "failed"):
                self._registry.change_job(job.id, stage=stage)

    def _end(self, job: Job, finish: Callable[[], None]) -> None:
        with job.lock:
            finish()
            if job.kept:
                self._write_outcome(job)

    def _write_outcome(self, job: Job) -> None:
        error = job.future.exception()
        if error is None:
            values: dict[str, Any] = {"stage": "settled", "release": job.future.result()["id"]}
        else:
            values = apart.failed(error, self._settings, job.id)
        self._registry.change_job(job.id, finished=milliseconds(), **values)

    def _shown(self, row: Row[Any]) -> dict[str, Any]:
        died = row.claim is not None and row.finished is None and row.beat < apart.dead_before(self._settings)
        stage = "interrupted" if died and row.stage != "stopped" else row.stage
        kind = self._house.kinds.get(row.kind)
        return {
            "id": row.id,
            "kind": row.kind,
            "dataset": row.dataset,
            "subject": row.subject,
            "stage": stage,
            "apart": row.claim is not None,
            "stopping": bool(row.stopping) and stage not in _RESTING and row.finished is None,
            "progress": None if row.progress is None else json.loads(row.progress),
            "created": moment(row.created),
            "finished": None if row.finished is None else moment(row.finished),
            "request": None if row.request is None else json.loads(row.request),
            "release": row.release,
            "files": [] if kind is None or row.release is None or row.claim is None else list(kind.files),
            "error": None if row.code is None else shape(row.code, row.message)["error"],
        }


def _may_see(who: Principal, row: Row[Any]) -> bool:
    """Whether it is one's own, about a data set that this token is for; an owner's are all."""
    return who.role == "owner" or (row.subject == who.subject and who.may_see(row.dataset))
