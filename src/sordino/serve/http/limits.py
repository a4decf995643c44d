"""Limits: how often one subject may ask, and how large a request may be."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from sordino.serve.refusals import BusyError

_MOST_SUBJECTS = 10_000
"""Buckets that are remembered; the one that was used least recently goes first, and would have filled up again."""


class RateLimit:
    """A bucket of tokens for each subject: `burst` at once, and `per_minute` in the long run.

    It is kept in memory: with several replicas, each has its own.
    """

    def __init__(self, per_minute: int, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = per_minute / 60
        self._burst = float(burst)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def check(self, subject: str) -> None:
        """Take a token out of the subject's bucket, or raise `BusyError` if it is empty."""
        now = self._clock()
        with self._lock:
            held, since = self._buckets.pop(subject, (self._burst, now))
            held = min(self._burst, held + (now - since) * self._rate)
            short = 1 - held
            self._buckets[subject] = (held if short > 0 else held - 1, now)
            if len(self._buckets) > _MOST_SUBJECTS:
                self._buckets.popitem(last=False)
        if short > 0:
            raise BusyError("you ask more often than this service allows; wait a little", after=short / self._rate)
