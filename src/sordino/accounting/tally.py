"""The tally: what every account in memory does, whatever its rule: add up charges and give grants, one at a time.

What was reserved stays spent, whether or not the release that follows succeeds: a refund could depend on data.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Self, TypeVar

from sordino.errors import ArgumentError, BudgetError, GrantError

from .any_account import Entry
from .bound import Bound, Unit
from .columns import Vector, add
from .event import Event
from .grant import Grant
from .neighbours import Neighbours
from .plan import Plan, Release
from .relation import charged_as
from .work import Work, carry_out, check_plan

R = TypeVar("R")
T = TypeVar("T")


class _Begun:
    """What was begun in memory and is neither settled nor failed."""

    def __init__(self, identifier: str, plan: str, close: Callable[[str], object]) -> None:
        self.id = identifier
        self.plan = plan
        self._close = close
        self._parts: dict[int, bytes] = {}
        self._lock = threading.Lock()

    def part(self, number: int, release: Release) -> bytes:
        """Record one more release, or return what was recorded under this number before."""
        body = release.to_json().encode()
        with self._lock:
            if number not in self._parts and number < max(self._parts, default=0):
                raise skipped(number)
            return self._parts.setdefault(number, body)

    def recorded(self, number: int) -> bytes | None:
        """Return what was recorded under this number, or None."""
        return self._parts.get(number)

    def settle(self, release: R) -> R:
        """Close; an account in memory has no receipts, so the release is returned as it is."""
        if self._close(self.id) is None:
            raise unknown_work()
        return release

    def fail(self, code: str) -> None:  # noqa: ARG002  (nobody keeps it here)
        """Close. The charge stands."""
        self._close(self.id)


class Tally(ABC):
    """Adds up what was admitted, under one lock.

    Who is protected, the unit and the neighbouring relation, is fixed by `protect` or by the first reservation. Losses
    of different units do not add up to a statement about anyone, so a reservation for another is refused; one under
    another relation is charged at its price under the account's own, if it has one (``relation.py``).
    """

    def __init__(self, nothing: Vector) -> None:
        self._lock = threading.Lock()
        self._spent = nothing
        self._history: list[Entry] = []
        self._protects: tuple[Unit, Neighbours] | None = None
        self._count = 0
        self._begun: dict[str, _Begun] = {}

    @abstractmethod
    def charge(self, event: Event) -> Vector:
        """Return what `event` costs in each column, or refuse an event that this account cannot hold."""

    @abstractmethod
    def fits(self, spent: Vector, charge: Vector) -> bool:
        """Return whether `charge` may still be admitted after `spent`."""

    def refusal(self, event: Event, spent: Vector) -> BudgetError:  # noqa: ARG002
        """Return the error for an event that does not fit after `spent`; accounts with a cap say what would."""
        return BudgetError(f"{event!r} does not fit this account", "SRD-B001")

    def protect(self, unit: Unit, neighbours: Neighbours) -> None:
        """Fix who is protected, or refuse what does not add up with who already is."""
        with self._lock:
            if self._protects is None:
                self._protects = unit, neighbours
            check_protects("this account", self._protects, unit, neighbours)

    def counted(self, event: Event, ran: Neighbours | None) -> Event:
        """Return the event by which this account counts one that runs under the relation `ran`."""
        held = self.protects
        return event if ran is None or held is None else charged_as(event, ran, held[1])

    def reserve(self, event: Event, bound: Bound) -> Grant:
        """Charge `event` and return the grant to run it once, or raise `BudgetError` and charge nothing.

        **Guarantee**: the sum of all charges that were granted keeps the account's rule at every moment, however many
        threads ask at once.
        """
        self._admit(event, bound)
        return Grant(event, bound)

    def _admit(self, event: Event, bound: Bound) -> None:
        check_priced_for(event, bound)
        while True:
            held = self.protects or (bound.unit, bound.neighbours)
            check_protects("this account", held, bound.unit, bound.neighbours)
            priced = charged_as(event, bound.neighbours, held[1])
            charge = self.charge(priced)
            with self._lock:
                if self._protects not in (None, held):
                    continue  # another thread was the first, and protects under another relation
                spent = self._spent
                if self.fits(spent, charge):
                    self._protects = held
                    self._spent = add(spent, charge)
                    self._history.append(Entry(event, bound, charge))
                    return
            raise self.refusal(priced, spent)

    def begin(self, plan: Plan) -> Work:
        """Charge everything that `plan` will run, and return the open work with the grant to run it once."""
        check_plan(plan)
        self._admit(plan.event(), plan.bound)
        with self._lock:
            self._count += 1
            begun = _Begun(f"{self._count}", plan.digest(), lambda identifier: self._begun.pop(identifier, None))
            self._begun[begun.id] = begun
        return Work(begun, plan)

    def resume(self, identifier: str, plan: Plan) -> Work:
        """Go on with work that was begun here for this very plan and is still open."""
        check_plan(plan)
        begun = self._begun.get(identifier)
        if begun is None:
            raise unknown_work()
        check_same_plan(begun.plan, plan)
        return Work(begun, plan)

    def on_days(self, days: tuple[str, ...]) -> Self:  # noqa: ARG002
        """Return the account for what reads these days alone; one whose days have no budgets of their own is itself.

        **Guarantee**: without such budgets everything is added up, whichever days it reads.
        """
        return self

    degrades = False
    """Whether a question that does not fit may be answered with the noise that does."""

    def carry_out(self, plan: Plan, run: Callable[[Grant], T]) -> T:
        """Charge `plan`, then return what `run` releases for the grant."""
        return carry_out(self, plan, run)

    @property
    def spent(self) -> Vector:
        """What has been charged so far in each column, in units."""
        with self._lock:
            return self._spent

    @property
    def history(self) -> tuple[Entry, ...]:
        """All that was admitted, in order."""
        with self._lock:
            return tuple(self._history)

    @property
    def protects(self) -> tuple[Unit, Neighbours] | None:
        """The unit and the neighbouring relation that are protected, or None before the first reservation."""
        with self._lock:
            return self._protects

    def __reduce_ex__(self, protocol: object) -> str:
        raise BudgetError(
            "an account cannot be copied or sent elsewhere: each copy would spend the same budget again", "SRD-B002"
        )


def check_protects(what: str, held: tuple[Unit, Neighbours], unit: Unit, neighbours: Neighbours) -> None:
    """Refuse a unit that is not the one protected, or a relation whose prices have no meaning under the one held."""
    if unit != held[0]:
        raise ArgumentError(
            f"{what} protects each {held[0].name}, not each {unit.name}: the two do not add up to a statement about "
            "anyone; name the unit alike if they are the same people, or open another account",
            "SRD-A003",
        )
    if not held[1].takes(neighbours):
        raise ArgumentError(
            f"{what} protects each {unit.name} under {held[1].value}, and this is priced under {neighbours.value}, "
            "which promises another thing: the two do not add up; open another account (one under replace-one takes "
            "what runs under add-remove as well)",
            "SRD-A003",
        )


def check_same_plan(begun: str, plan: Plan) -> None:
    """Refuse to go on with another plan than the one that was charged, or with one that does not stay open.

    What comes out at once is run once: whoever saw a first answer could see a second one for the same charge.
    """
    if not plan.parts:
        raise GrantError("what comes out at once is not resumed: begin it again, which charges again", "SRD-G002")
    if plan.digest() != begun:
        raise GrantError(
            "this work was begun for another plan; resume it with the plan that was charged, or begin this one",
            "SRD-G002",
        )


def unknown_work() -> GrantError:
    """Return the error for an id under which nothing is open; another's is as unknown as one that never was."""
    return GrantError("there is no open work of yours under this id: it was never begun, or has ended", "SRD-G006")


def skipped(number: int) -> GrantError:
    """Return the error for a part that cannot be recorded any more."""
    return GrantError(
        f"part {number} was skipped: a later one was recorded, and numbers only go up; record the next", "SRD-G007"
    )


def check_priced_for(event: Event, bound: Bound) -> None:
    """Refuse an event whose price does not hold under the neighbouring relation of `bound`."""
    if not isinstance(event, Event):
        raise ArgumentError(f"event must be an event, not {type(event).__name__}", "SRD-A001")
    if not isinstance(bound, Bound):
        raise ArgumentError(f"bound must be a Bound, not {type(bound).__name__}", "SRD-A001")
    charged_as(event, bound.neighbours, bound.neighbours)
