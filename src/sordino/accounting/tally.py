"""The tally: what every account in memory does, whatever its rule: add up charges and give grants, one at a time.

What was reserved stays spent, whether or not the release that follows succeeds: a refund could depend on data.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, TypeVar

from sordino.errors import ArgumentError, BudgetError

from .bound import Bound, Unit
from .columns import Vector, add
from .event import Event
from .grant import Grant
from .neighbours import Neighbours
from .plan import Plan
from .relation import relations

T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """One admitted event, the bound that it was admitted under, and what it cost in each column."""

    event: Event
    bound: Bound
    charge: Vector


class Tally(ABC):
    """Adds up what was admitted, under one lock.

    The first reservation fixes who is protected: the unit and the neighbouring relation. Losses under different ones
    do not add up to a statement about anyone, so a reservation under another is refused; open another account for it.
    """

    def __init__(self, nothing: Vector) -> None:
        self._lock = threading.Lock()
        self._spent = nothing
        self._history: list[Entry] = []

    @abstractmethod
    def charge(self, event: Event) -> Vector:
        """Return what `event` costs in each column, or refuse an event that this account cannot hold."""

    @abstractmethod
    def fits(self, spent: Vector, charge: Vector) -> bool:
        """Return whether `charge` may still be admitted after `spent`."""

    def refusal(self, event: Event, spent: Vector) -> BudgetError:  # noqa: ARG002
        """Return the error for an event that does not fit after `spent`; accounts with a cap say what would."""
        return BudgetError(f"{event!r} does not fit this account", "SRD-B001")

    def reserve(self, event: Event, bound: Bound) -> Grant:
        """Charge `event` and return the grant to run it once, or raise `BudgetError` and charge nothing.

        **Guarantee**: the sum of all charges that were granted keeps the account's rule at every moment, however many
        threads ask at once.
        """
        check_priced_for(event, bound)
        charge = self.charge(event)
        with self._lock:
            self._check_protects(bound)
            spent = self._spent
            admitted = self.fits(spent, charge)
            if admitted:
                self._spent = add(spent, charge)
                self._history.append(Entry(event, bound, charge))
        if not admitted:
            raise self.refusal(event, spent)
        return Grant(event, bound)

    def reserve_plan(self, plan: Plan) -> Grant:
        """Charge everything that `plan` will run, and return the grant to run it once."""
        if not isinstance(plan, Plan):
            raise ArgumentError(
                f"plan must have a bound and an event(), but {type(plan).__name__} does not", "SRD-A001"
            )
        return self.reserve(plan.event(), plan.bound)

    def on_days(self, days: tuple[str, ...]) -> Self:  # noqa: ARG002
        """Return the account for what reads these days alone; one whose days have no budgets of their own is itself.

        **Guarantee**: without such budgets everything is added up, whichever days it reads.
        """
        return self

    degrades = False
    """Whether a question that does not fit may be answered with the noise that does."""

    def carry_out(self, plan: Plan, run: Callable[[Grant], T]) -> T:
        """Charge `plan`, then return what `run` releases for the grant. Accounts that settle do so here."""
        return run(self.reserve_plan(plan))

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
        """The unit and the neighbouring relation that the first reservation fixed, or None before it."""
        with self._lock:
            first = self._history[0].bound if self._history else None
        return None if first is None else (first.unit, first.neighbours)

    def __reduce_ex__(self, protocol: object) -> str:
        raise BudgetError(
            "an account cannot be copied or sent elsewhere: each copy would spend the same budget again", "SRD-B002"
        )

    def _check_protects(self, bound: Bound) -> None:
        first = self._history[0].bound if self._history else bound
        if (bound.unit, bound.neighbours) != (first.unit, first.neighbours):
            raise ArgumentError(
                f"this account protects each {first.unit.name} under {first.neighbours.value}, not each "
                f"{bound.unit.name} under {bound.neighbours.value}: the two do not add up; open another account",
                "SRD-A003",
            )


def check_priced_for(event: Event, bound: Bound) -> None:
    """Refuse an event whose price does not hold under the neighbouring relation of `bound`."""
    if not isinstance(event, Event):
        raise ArgumentError(f"event must be an event, not {type(event).__name__}", "SRD-A001")
    if not isinstance(bound, Bound):
        raise ArgumentError(f"bound must be a Bound, not {type(bound).__name__}", "SRD-A001")
    priced = relations(event)
    if bound.neighbours not in priced:
        raise ArgumentError(
            f"this event is priced for neighbours under {' or '.join(sorted(each.value for each in priced))}, but the "
            f"bound is under {bound.neighbours.value}; bound the answer under the relation of the event",
            "SRD-A003",
        )
