"""A verification to watch: the ledger is read again in a thread of its own, and everybody may see how far it is.

There is one at a time in a process; whoever asks while one runs is shown that one. How far it is counts entries of the
ledger, which are public to those who may verify, and no rows of data.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from sordino.errors import SordinoError
from sordino.ledger.ledger import Ledger
from sordino.ledger.periods import moment
from sordino.serve.keeping.registry import milliseconds
from sordino.serve.refusals import MUTE

from .proofs import verify


class _StoppedError(Exception):
    """The service closes, so nobody will read what a verification finds."""


@dataclass
class _Run:
    by: str
    begun: int
    read: int = 0
    whole: int = 0
    ended: int | None = None
    found: Future[dict[str, Any]] = field(default_factory=Future)


class Verifying:
    """The newest verification of one ledger in this process."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="sordino-verify")
        self._lock = threading.Lock()
        self._closing = False
        self._run: _Run | None = None

    def begin(self, by: str) -> dict[str, Any]:
        """Begin a verification, unless one is running; return how far it is."""
        with self._lock:
            if self._run is None or self._run.found.done():
                run = self._run = _Run(by, milliseconds())
                run.found = self._pool.submit(self._work, run)
        return self.state()

    def state(self) -> dict[str, Any]:
        """Return how far the newest verification is: never begun, running, done or failed, and what it found."""
        run = self._run
        if run is None:
            return {"state": "never"}
        said = {"by": run.by, "begun": moment(run.begun), "read": run.read, "of": run.whole}
        if not run.found.done():
            return {"state": "running", **said}
        said["ended"] = None if run.ended is None else moment(run.ended)
        error = run.found.exception()
        if error is None:
            return {"state": "done", **said, "found": run.found.result()}
        code, message = (error.code, error.message) if isinstance(error, SordinoError) else MUTE
        return {"state": "failed", **said, "code": code, "message": message}

    def close(self) -> None:
        """Stop at the next batch of entries, and wait for that."""
        self._closing = True
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _work(self, run: _Run) -> dict[str, Any]:
        def told(read: int, whole: int) -> None:
            if self._closing:
                raise _StoppedError
            run.read, run.whole = read, whole

        try:
            return verify(self._ledger, told)
        finally:
            run.ended = milliseconds()
