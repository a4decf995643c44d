"""Work of hours in a process of its own: watched by its row, stopped, and gone on with, whoever died meanwhile.

The row of a job says what is asked, how far it is and what the plan makes public; the process beats there like a heart.
What counts is in the ledger: a process that goes on asks it for the work that is open under the job's key, so that
nothing is charged twice. `claim` names the one process that a job belongs to; one that lost it stops by itself.

**Guarantee**: what a job shows is its stage, its times and what `tell` was told; `tell` takes numbers and short texts.
**Assumes**: a kind tells only what its plan makes public.
"""

from __future__ import annotations

import _thread
import json
import signal
import subprocess  # the process is Python itself, on a module of ours
import sys
import threading
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Row

from sordino.accounting.work import Stage
from sordino.errors import ArgumentError, RunError, SordinoError
from sordino.serve.keeping.identity import Principal
from sordino.serve.keeping.registry import Registry, milliseconds, random_hex
from sordino.serve.logs import tell_failure
from sordino.serve.refusals import MUTE
from sordino.serve.settings import Settings

from . import requests
from .interrupted import INTERRUPTED, LOST_CHARGED
from .premises import Premises

MODULE = "sordino.serve.working"
_MOST_TOLD = 20
_LONGEST_TOLD = 200
_BEATS_TO_DIE = 5
_SECONDS_TO_START = 60


class Here:
    """A run within this process, which ends with it."""

    work = None

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    @property
    def folder(self) -> Path:
        """Refuse: what ends with this process keeps nothing."""
        raise RunError("this kind keeps files to go on with, so it must run apart", "SRD-R001")

    def tell(self, **public: str | int | float) -> None:
        """Check what would be told; nobody watches."""
        told(public)


class There:
    """A run in a process of its own, which writes down how far it is."""

    def __init__(self, house: Premises, row: Row[Any]) -> None:
        open_work = house.ledger.replayed(row.key)
        self.work = None if open_work is None or not open_work.running else open_work.id
        self._registry = house.registry
        self._id: str = row.id
        self._folder = folder_of(house.settings, row.id)

    @property
    def folder(self) -> Path:
        """The job's own directory, readable by this user alone."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._folder

    def stage(self, words: str) -> None:
        """Write down how far it is; how it ends is written by whoever ends it."""
        if words not in ("settled", "failed"):
            self._registry.change_job(self._id, stage=words)

    def tell(self, **public: str | int | float) -> None:
        """Write down what the plan makes public."""
        self._registry.change_job(self._id, stage="running", progress=json.dumps(told(public)))


def folder_of(settings: Settings, identifier: str) -> Path:
    """Return the directory of a job."""
    return settings.beside / "jobs" / identifier


def told(public: dict[str, Any]) -> dict[str, Any]:
    """Return what may be shown of a run: a few numbers and short texts."""
    for value in public.values():
        if not isinstance(value, str | int | float) or len(str(value)) > _LONGEST_TOLD:
            raise ArgumentError("a run tells numbers and short texts alone", "SRD-A001")
    if len(public) > _MOST_TOLD:
        raise ArgumentError(f"a run tells {_MOST_TOLD} things at most", "SRD-A001")
    return public


def start(settings: Settings, identifier: str, claim: str) -> None:
    """Begin a process that carries a job on, and outlives this one."""
    given = json.dumps({"settings": asdict(settings), "job": identifier, "claim": claim})
    process = subprocess.Popen(  # noqa: S603  (nothing of it comes from a request)
        [sys.executable, "-P", "-m", MODULE],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        text=True,
    )
    threading.Thread(target=process.communicate, args=(given,), daemon=True).start()  # it is waited for, and reaped


def claimed(registry: Registry, settings: Settings, identifier: str) -> str | None:
    """Return the claim of a new process on a job that no living one has, or None if one has."""
    claim = random_hex(8)
    return claim if registry.claim_job(identifier, claim, first_beat(), dead_before(settings)) else None


def first_beat() -> int:
    """Return the time (in milliseconds) by which a process that is started now has begun to beat."""
    return milliseconds() + 1000 * _SECONDS_TO_START


def dead_before(settings: Settings) -> int:
    """Return the time (in milliseconds) such that a process whose heart did not beat since is dead."""
    return milliseconds() - round(1000 * _BEATS_TO_DIE * settings.heartbeat_seconds)


def carry_on(house: Premises, identifier: str, claim: str) -> None:
    """Run a job from where it is to its end, or until it is stopped, in the main thread of a process of its own."""
    row = house.registry.job(identifier)
    if row is None or row.claim != claim:
        return
    who = Principal(row.subject, row.role, None if row.datasets is None else frozenset(json.loads(row.datasets)))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    values: dict[str, Any]
    try:
        with _Heart(house, identifier, claim):
            plain = json.loads(row.request)
            released = requests.run(house, who, house.kinds[row.kind], plain, row.key, There(house, row))
        values = {"stage": "settled", "release": released["id"]}
    except KeyboardInterrupt:
        values = _interrupted(house, row.key)
    except Exception as error:
        values = failed(error, house.settings, identifier)
    ended = {} if values["stage"] == "stopped" else {"finished": milliseconds()}
    house.registry.change_job(identifier, claim, **values, **ended)


def failed(error: BaseException, settings: Settings, identifier: str) -> dict[str, Any]:
    """Return what is written down of a run that failed: an error of ours in its words, any other in none."""
    if isinstance(error, SordinoError):
        return {"stage": "failed", "code": error.code, "message": error.message}
    tell_failure("a run failed inside", error, debug=settings.debug, job=identifier)
    return {"stage": "failed", "code": MUTE[0], "message": MUTE[1]}


def _interrupted(house: Premises, key: str) -> dict[str, Any]:
    """Return what became of a run that was stopped: work that stays open can be gone on with."""
    found = house.ledger.replayed(key)
    if found is None or found.running:
        return {"stage": "stopped"}
    return {"stage": "failed", "code": INTERRUPTED, "message": LOST_CHARGED}


class _Heart:
    """Beats while a run goes on, and interrupts it when it is to stop or belongs to another process."""

    def __init__(self, house: Premises, identifier: str, claim: str) -> None:
        self._beat = partial(house.registry.beat_job, identifier, claim)
        self._seconds = house.settings.heartbeat_seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def _work(self) -> None:
        while not self._ended.wait(self._seconds):
            if not self._beat():
                if not self._ended.is_set():
                    _thread.interrupt_main()
                return

    def __enter__(self) -> Self:
        if not self._beat():
            raise KeyboardInterrupt
        self._thread.start()
        return self

    def __exit__(self, _kind: Any, _error: BaseException | None, _trace: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
