"""Group commit: what several threads want to append at the same moment is written in one transaction.

A thread puts its `Wish` into the line. If nobody leads, it leads: once it has the store's lock it takes all wishes that
are waiting, its own among them, and has them written; otherwise it waits until a leader has written its wish, or calls
it to lead the next ones. Nobody waits for others to come: a lonely thread leads at once, with its own wish alone.

**Guarantee.** Wishes are written in the order in which they came. Each gets an outcome of its own; what hinders the
transaction reaches all wishes in it. An interrupted leader (Ctrl-C) hands over what it has not written, and a thread
that is interrupted while it waits takes its wish back if nobody has taken it up.
"""

from __future__ import annotations

import copy
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue

from .entries import Entry
from .state import State
from .store import Head

Decide = Callable[[State, int], tuple[Entry, ...]]
"""What to append, given the state of all entries so far and the clock."""

After = Callable[["Wish"], None]
"""What to make of a wish that has been committed."""

MOST_TOGETHER = 256
"""Wishes in one transaction; more wait for the next."""
_PATIENCE = 1.0  # seconds until a thread that nobody called looks for itself; a call may be lost to an interrupt


class Wish:
    """What one thread wants to append, with a release to `keep` under an identifier, and what became of it.

    `after` is called once it is committed, by whoever wrote it: to do so for many at once is quicker than that each
    wakes up and does it, in turns with all others. It may be skipped where an interrupt comes in between.
    What `charges` is refused while witness or disk could fail it afterwards.
    """

    __slots__ = ("_calls", "after", "bodies", "charges", "decide", "done", "entries", "error", "head", "keep")

    def __init__(
        self,
        decide: Decide,
        keep: tuple[str, bytes] | None = None,
        after: After | None = None,
        *,
        charges: bool = False,
    ) -> None:
        self.decide = decide
        self.charges = charges
        self.keep = keep
        self.after = after
        self.entries: tuple[Entry, ...] = ()
        self.bodies: tuple[bytes, ...] = ()
        """The canonical spelling of each entry."""
        self.head: Head | None = None
        """The head that was signed when the entries were committed; None where there were none."""
        self.error: BaseException | None = None
        self.done = False
        self._calls: SimpleQueue[None] = SimpleQueue()

    def finish(self) -> None:
        """Say that this is over, and wake up whoever waits for it."""
        self.done = True
        self.call()

    def call(self) -> None:
        """Wake up whoever waits for this."""
        self._calls.put(None)

    def wait(self) -> None:
        """Sleep until somebody calls."""
        with suppress(Empty):
            self._calls.get(timeout=_PATIENCE)


Gather = Callable[[list["Wish"]], None]
"""Adds to a batch those who wait."""


class Line:
    """Threads that wait to have something written by `write`, which finishes every wish in its batch or raises.

    It may gather more wishes into its batch once it is ready to write.
    """

    def __init__(self, write: Callable[[list[Wish], Gather], None]) -> None:
        self._write = write
        self._waiting: deque[Wish] = deque()
        self._leading = threading.RLock()

    def join(self, wish: Wish) -> Wish:
        """Return `wish` when it has been written, or raise what became of it instead."""
        self._waiting.append(wish)
        try:
            while not wish.done:
                if self._leading.acquire(blocking=False):
                    try:
                        self._lead(wish)
                    finally:
                        self._step_back()
                else:
                    wish.wait()
        except BaseException:
            with suppress(ValueError):
                self._waiting.remove(wish)
            self._step_back()
            raise
        if wish.error is not None:
            raise wish.error
        return wish

    def _lead(self, own: Wish) -> None:
        batch: list[Wish] = []
        try:
            self._gather(batch)
            if not (own.done or own in batch or own in self._waiting):  # a leader took it up and was interrupted then
                batch.append(own)
            if batch:  # else the leader before wrote it, after this thread had last looked
                self._write(batch, self._gather)
        except BaseException as error:
            left = [wish for wish in batch if not wish.done]
            if not isinstance(error, Exception):  # an interrupt is nobody's but the leader's
                self._waiting.extendleft(wish for wish in reversed(left) if wish is not own)
                raise
            for wish in left:
                wish.error = copy.copy(error)  # each its own, for threads add to what they raise
                wish.finish()

    def _gather(self, batch: list[Wish]) -> None:
        while self._waiting and len(batch) < MOST_TOGETHER:
            batch.append(self._waiting.popleft())

    def _step_back(self) -> None:
        """Lead no more, and call the next who may."""
        with suppress(RuntimeError):  # this thread did not lead
            self._leading.release()
        for first in list(self._waiting)[:1]:  # a copy, which no other thread can empty meanwhile
            first.call()
