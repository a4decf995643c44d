"""Work that stays open: begun by a charge, releasing numbered parts under it, finished once.

A training with its checkpoints, a stream of numbers, a collection round; what comes out at once is the case without
parts, and `carry_out` is made of the same verbs, so that nobody can go past them.

**Guarantee**: nothing leaves but what was recorded first, under a charge that stands; there are at most as many parts
as the plan declares; the same number gives the same bytes, whoever asks and however often. No refund exists.
**Assumes**: what ran before a restart and was not recorded has left nowhere. Steps that are run again, though their
results were seen, belong to another reservation.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from sordino.errors import ArgumentError, RunError, SordinoError

from .grant import Grant
from .plan import Plan, Release

R = TypeVar("R")
T = TypeVar("T")

Stage = Callable[[str], None]
"""Told how far a work is, in one word: planned, reserved, running, settled or failed."""

MUTE = "SRD-R001"
"""The code of whatever went wrong while data was touched."""


def untold(_: str) -> None:
    """Tell nobody."""


class Keeper(Protocol):
    """Who keeps what was begun, and what comes of it: in memory, or in a ledger."""

    @property
    def id(self) -> str:
        """How it is called."""
        ...

    def part(self, number: int, release: Release) -> bytes:
        """Record one more release, or return what was recorded under this number before."""
        ...

    def recorded(self, number: int) -> bytes | None:
        """Return what was recorded under this number, or None."""
        ...

    def settle(self, release: R) -> R:
        """Keep the last release and close; return it, with a receipt where there are any."""
        ...

    def fail(self, code: str) -> None:
        """Close without a release. The charge stands."""
        ...


class Work:
    """What was begun for `plan` and is still open, under an `id` that outlives the process where the account does.

    As a context manager it fails on an error, by the error's code and nothing of its words. Left without an error it
    stays open, to be resumed by its id; so does work with parts that is interrupted (Ctrl-C, the end of the process).
    """

    def __init__(self, keeper: Keeper, plan: Plan) -> None:
        self.id = keeper.id
        self.plan = plan
        self.grant = Grant(plan.event(), plan.bound, plan.digest())
        self.stage: Stage = untold
        self._keeper = keeper
        self._open = True

    def part(self, number: int, release: Release) -> bytes:
        """Record one more release under the same charge, and return the bytes that may leave.

        Numbers go up from 1 to the parts that the plan declares; some may be skipped. A number that was recorded
        before gives the bytes of then, whatever `release` is now.
        """
        if type(number) is not int or not 1 <= number <= self.plan.parts:
            raise ArgumentError(
                f"part must be a whole number from 1 to the {self.plan.parts} parts that the plan declares", "SRD-A002"
            )
        return self._keeper.part(number, release)

    def recorded(self, number: int) -> bytes | None:
        """Return the bytes of a part that was recorded, by this process or one before; None if it was not."""
        return self._keeper.recorded(number)

    def finish(self, release: R) -> R:
        """Settle the last release, and return it with its receipt where there are any."""
        settled = self._keeper.settle(release)
        self._open = False
        self.stage("settled")
        return settled

    def fail(self, error: BaseException) -> None:
        """Say that it came to nothing, by a code alone; if even that fails, the charge stands all the same."""
        if not self._open:
            return
        self._open = False
        try:
            self._keeper.fail(error.code if isinstance(error, SordinoError) else MUTE)
        except SordinoError:
            pass
        finally:
            self.stage("failed")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: TracebackType | None) -> None:
        interrupted = isinstance(error, KeyboardInterrupt | SystemExit)
        if error is not None and not (interrupted and self.plan.parts):
            self.fail(error)

    def __repr__(self) -> str:
        return f"Work({self.plan.kind}, {self.id!r}, {'open' if self._open else 'closed'})"


class Beginner(Protocol):
    """Who can begin a plan."""

    def begin(self, plan: Plan) -> Work:
        """Charge `plan` and return the open work."""
        ...


def carry_out(account: Beginner, plan: Plan, run: Callable[[Grant], T]) -> T:
    """Charge `plan`, run it for the grant, and settle what it releases."""
    with account.begin(plan) as work:
        return work.finish(run(work.grant))


def muted(run: Callable[[], T], words: str) -> T:
    """Return what `run` returns, or raise a `RunError` of these words, which say nothing about why."""
    try:
        return run()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: S110  (whatever it says may hold data, so it must not even hang on what is raised)
        pass
    raise RunError(words, MUTE)


def check_plan(plan: object) -> None:
    """Refuse what is no plan, by name of what it lacks."""
    if not isinstance(plan, Plan):
        lacks = [name for name in _MEMBERS if not hasattr(plan, name)]
        raise ArgumentError(f"plan must have {', '.join(lacks)}, but {type(plan).__name__} does not", "SRD-A001")


_MEMBERS = ("kind", "bound", "days", "parts", "large", "event", "digest")
