"""Jobs: runs in threads of their own. One that ends soon is an answer; one that does not becomes a job to look at.

A job shows its stage (planned, reserved, running, settled, failed) and nothing of how far the engine is: rows or
percents would be data. Whether and when a run becomes a job depends on its time, which slots can hide (``slots.py``).

What became of a run is in the ledger; the row that is kept for a job only says where. After a crash, `recover` asks the
ledger about jobs that nobody finished: a charge without an answer is written down as failed, and stands.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy import Row

from sordino.errors import SordinoError
from sordino.ledger.ledger import Ledger
from sordino.ledger.periods import moment

from .identity import Principal
from .interrupted import INTERRUPTED, LOST, LOST_CHARGED
from .logs import tell_failure
from .questions import key_digest
from .refusals import MUTE, BusyError, UnknownError, shape
from .registry import Registry, milliseconds, random_hex
from .settings import Settings

Run = Callable[[Principal, Mapping[str, Any], str | None, Callable[[str], None]], dict[str, Any]]


@dataclass
class Job:
    """One run and how far it is."""

    id: str
    who: Principal
    dataset: str
    key: str
    created: int
    stage: str = "waiting"
    future: Future[dict[str, Any]] = field(default_factory=Future)
    kept: bool = False
    """Whether there is a row of it, because it took long."""
    lock: threading.Lock = field(default_factory=threading.Lock)


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

    def __init__(self, run: Run, ledger: Ledger, registry: Registry, settings: Settings) -> None:
        self._run = run
        self._ledger = ledger
        self._registry = registry
        self._settings = settings
        self._pool = ThreadPoolExecutor(settings.workers, thread_name_prefix="sordino-run")
        self._room = threading.Semaphore(settings.workers + settings.queue)

    def submit(self, who: Principal, question: Mapping[str, Any], key: str | None = None) -> Job:
        """Begin a run, or refuse it if too many wait already."""
        if not self._room.acquire(blocking=False):
            raise BusyError("too many runs are waiting; nothing was charged, ask again in a while", "SRD-S014", 5.0)
        try:
            given = random_hex() if key is None else key
            job = Job(random_hex(), who, str(question.get("dataset", "")), key_digest(who, given), milliseconds())
            self._pool.submit(self._work, job, dict(question), given)
        except BaseException:
            self._room.release()
            raise
        return job

    def keep(self, job: Job) -> dict[str, Any]:
        """Let a run that takes long be found later; return how it shows itself."""
        with job.lock:
            if not job.kept:
                self._registry.put_job(
                    id=job.id,
                    subject=job.who.subject,
                    dataset=job.dataset,
                    key=job.key,
                    instance=self._settings.instance,
                    stage=job.stage,
                    created=job.created,
                )
                job.kept = True
                if job.future.done():
                    self._write_outcome(job)
        return self.job(job.who, job.id)

    def job(self, who: Principal, identifier: str) -> dict[str, Any]:
        """Return how far a job is; another's is unknown."""
        row = self._registry.job(identifier)
        if row is None or not _may_see(who, row):
            raise UnknownError("job")
        return _shown(row)

    def jobs(self, who: Principal, limit: int = 50) -> list[dict[str, Any]]:
        """Return the newest jobs: one's own, or for an owner all."""
        rows = self._registry.jobs(None if who.role == "owner" else who.subject, limit)
        return [_shown(row) for row in rows if _may_see(who, row)]

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
                if found.running:
                    self._ledger.fail(found.id, INTERRUPTED)
                values["message"] = LOST_CHARGED
            self._registry.change_job(row.id, finished=milliseconds(), **values)
        return len(left)

    def close(self) -> None:
        """Wait for runs that have begun; those that wait are not begun any more."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _work(self, job: Job, question: dict[str, Any], key: str) -> None:
        try:
            result = self._run(job.who, question, key, lambda stage: self._told(job, stage))
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
        elif isinstance(error, SordinoError):
            values = {"stage": "failed", "code": error.code, "message": error.message}
        else:
            tell_failure("a run failed inside", error, debug=self._settings.debug, job=job.id)
            values = {"stage": "failed", "code": MUTE[0], "message": MUTE[1]}
        self._registry.change_job(job.id, finished=milliseconds(), **values)


def _may_see(who: Principal, row: Row[Any]) -> bool:
    """Whether it is one's own, about a data set that this token is for; an owner's are all."""
    return who.role == "owner" or (row.subject == who.subject and who.may_see(row.dataset))


def _shown(row: Row[Any]) -> dict[str, Any]:
    return {
        "id": row.id,
        "dataset": row.dataset,
        "subject": row.subject,
        "stage": row.stage,
        "created": moment(row.created),
        "finished": None if row.finished is None else moment(row.finished),
        "release": row.release,
        "error": None if row.code is None else shape(row.code, row.message)["error"],
    }
