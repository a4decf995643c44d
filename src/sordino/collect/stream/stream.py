"""A stream that is open: what arrives goes in, running totals with noise come out, under one charge made at the start.

**Guarantee**: `StreamPlan`'s, for all that ever leaves. Each batch is measured once, with fresh noise, and:
  1. its release and all that must be remembered are on disk, in one file;
  2. the release is recorded as the next part of the open work;
  3. the numbers leave: those that are recorded, and no others.
After a crash before 1 nothing was remembered and nothing left. Between 1 and 2 the release on disk is recorded when the
stream is opened again. After 2 it was recorded, and the file says the same. A file that is older than the newest part
(an old copy, a restored backup), or one that went another way, is refused: measuring again would give the same sums
with fresh noise, whose mean has less noise than was paid for. So is a ledger that is older than the file.
Parts are numbered without gaps, so one look tells: the part after the file's newest must not be there.
**Assumes**: the account keeps parts for good. Where it is in memory, the stream ends with the process.
"""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import Any, NoReturn, Self

import numpy as np

from sordino.accounting.grant import Grant
from sordino.accounting.work import Work, muted
from sordino.arguments import whole
from sordino.errors import ArgumentError, BudgetError, LedgerError

from .contributions import Contributions, ids
from .keeping import Folder, Kept
from .plan import StreamPlan
from .price import StreamPrice
from .reading import read, read_events, summed
from .released import StreamEnd, StreamRelease, joined
from .strategy import Real, Whole

_MUTE = "this batch could not be counted, and nothing of it left; what was charged stays charged"


class Stream:
    """Continual release of totals, built by `open_stream`; `close` settles it, `pause` lets another go on."""

    def __init__(self, plan: StreamPlan, work: Work, folder: Folder | None, kept: Kept) -> None:
        self.plan = plan
        self._work = work
        self._folder = folder
        self._kept = kept
        self._people = _table(plan, folder, kept)
        self._recorded = kept.number == 0
        self._ended = False
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def id(self) -> str:
        """Under which the stream goes on after a restart, where its account outlives the process."""
        return self._work.id

    @property
    def taken(self) -> int:
        """How many steps were taken: whoever goes on after a crash hands over what came after these."""
        return self._kept.taken

    @property
    def left(self) -> int:
        """How many steps are left."""
        return self.plan.spec.steps - self._kept.taken

    @property
    def price(self) -> StreamPrice:
        """What was paid, and how far off the numbers are."""
        return StreamPrice(self.plan)

    def add(self, values: Any) -> StreamRelease:
        """Take what arrived in the next steps, one after the other, and return the numbers after each of them."""
        if self._people is not None:
            raise ArgumentError(
                "this stream sees to it itself how often a person counts: hand over events by add_events(at, people)",
                "SRD-A003",
            )
        counts = read(self.plan.spec, values)
        with self._lock:
            self._ready(len(counts))
            return self._take(counts)

    def add_events(self, at: Any, people: Any, values: Any = None, *, steps: int) -> StreamRelease:
        """Take the events of the next `steps` steps, and return the numbers after each of them.

        For streams that are `enforced`: what a person has beyond the declared bounds is left out.

        Args:
            at: the step of each event, from 0 to `steps` − 1; events of other steps do not count.
            people: whose each event is: whole numbers or texts.
            values: what each event adds, for sums; its key, for histograms (other keys do not count).
            steps: how many steps go by.
        """
        spec, table = self.plan.spec, self._people
        length = whole("steps", steps, least=1)
        if table is None:
            raise ArgumentError("this stream takes numbers: declare it with enforced=True, or use add", "SRD-A003")
        place, cells, units = read_events(spec, at, values)
        named = ids(people)
        if len(named) != len(place):
            raise ArgumentError("at, people and values must have one entry for each event", "SRD-A001")
        with self._lock:
            self._ready(length)
            counted = (place >= 0) & (place < length) & (cells >= 0)
            place, cells, units, named = (each[counted] for each in (place, cells, units, named))
            kept = table.keep(self._kept.number + 1, named, self._kept.taken + place)
            return self._take(summed(spec, length, place[kept], cells[kept], units[kept]))

    def _ready(self, steps: int) -> None:
        self._check_open()
        self._record()
        self._check_left(steps)

    def _take(self, counts: Whole) -> StreamRelease:
        """Measure once, have all that is remembered on disk, record, and only then return."""
        kept = muted(lambda: self._next(counts), _MUTE)
        if self._folder is not None:
            self._folder.write(self.plan, kept)
        self._kept, self._recorded = kept, False
        return self._record()

    def _measure(self, counts: Whole, kept: Kept) -> tuple[Real, Kept]:
        """Return totals after more steps, in units, and what is remembered then. Draws noise; records nothing."""
        strategy, arrivals, taken = self.plan.strategy, self.plan.spec.arrivals, kept.taken
        exact, secret = strategy.encode(arrivals, kept.secret, taken, counts)
        noisy = self.plan.mechanism.release_steps(exact, Grant(self.plan.event(), self.plan.bound))
        totals, public = strategy.decode(arrivals, kept.public, taken, len(counts), noisy)
        window = self.plan.spec.window
        if window is not None:
            before = np.concatenate([kept.public["recent"], totals])
            public = {**public, "recent": before[-window:]}
            totals = totals - before[: len(totals)]
        return totals, Kept(secret, public, taken + len(counts), kept.number + 1)

    def _next(self, counts: Whole) -> Kept:
        totals, kept = self._measure(counts, self._kept)
        body = StreamRelease.of(self.plan, self.taken + 1, totals).to_json()
        return Kept(kept.secret, kept.public, kept.taken, kept.number, body)

    def _record(self) -> StreamRelease:
        """Record the newest release if it is not yet, and return it."""
        body = (self._kept.body or "").encode()
        if not self._recorded:
            ours = StreamRelease.from_json(self.plan, body)
            if self._work.part(self._kept.number, ours) != body:
                self._end()
                raise _gone_on()
            self._recorded = True
        return StreamRelease.from_json(self.plan, body) if body else StreamRelease(self.plan, 1, np.zeros(0))

    @property
    def last(self) -> StreamRelease:
        """The newest release: the same numbers again."""
        with self._lock:
            return self._record()

    def history(self) -> StreamRelease:
        """Return all numbers that were released so far, as they are recorded."""
        with self._lock:
            newest = self._record()
            bodies = [self._work.recorded(number) for number in range(1, self._kept.number)]
        earlier = [StreamRelease.from_json(self.plan, each) for each in bodies if each is not None]
        return joined([*earlier, newest])

    def plot(self, axes: Any = None) -> Any:
        """Return axes with all numbers so far and their intervals."""
        return self.history().plot(axes)

    def close(self) -> StreamEnd:
        """Settle: no more numbers, and no refund for steps that are left. What was secret is deleted."""
        with self._lock:
            self._check_open()
            self._record()
            end = self._work.finish(StreamEnd(self._kept.taken, self._kept.number))
            if self._folder is not None:
                self._folder.remove()
            self._end()
            return end

    def pause(self) -> None:
        """Stop here without settling, so that another process can go on."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        self._ended = True
        if self._people is not None:
            self._people.close()
        if self._folder is not None:
            self._folder.close()

    def _check_open(self) -> None:
        if self._process != os.getpid():
            raise LedgerError(
                "this stream belongs to the process that opened it: hand what arrives to that", "SRD-C503"
            )
        if self._ended:
            raise LedgerError("this stream was closed or paused here; open it again by resume=…", "SRD-C507")

    def _check_left(self, wanted: int) -> None:
        if wanted < 1:
            raise ArgumentError("values must hold one step at least", "SRD-A001")
        if wanted > self.left:
            raise BudgetError(
                f"{wanted} steps were handed over and {self.left} of {self.plan.spec.steps} are left; a longer stream "
                "is another one, charged anew",
                "SRD-C501",
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: Any, _error: BaseException | None, _trace: TracebackType | None) -> None:
        self.pause()

    def __reduce__(self) -> NoReturn:
        raise LedgerError("a stream cannot be copied or sent elsewhere: two of it would measure the same", "SRD-C503")

    def __repr__(self) -> str:
        return f"Stream({self.plan.dataset!r}, {self.left:,} of {self.plan.spec.steps:,} steps left)"


def _table(plan: StreamPlan, folder: Folder | None, kept: Kept) -> Contributions | None:
    """Return the table of who was counted, where the stream sees to that."""
    if not plan.spec.enforced:
        return None
    return Contributions(plan.spec.arrivals, None if folder is None else folder.beside(".people"), kept.number)


def _gone_on() -> LedgerError:
    return LedgerError(
        "the stream went on elsewhere, from a copy of its file: another release has this number, and these numbers "
        "never leave; go on with the copy that is ahead, or open another stream, which is charged anew",
        "SRD-C502",
    )
