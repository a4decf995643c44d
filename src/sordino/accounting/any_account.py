"""What a gate, slots, and the account of a data set hold: an account, whoever keeps it and wherever.

In memory (``account.py``), in a ledger (``ledger/account.py``), behind a gate with the owner's policy (``gate.py``), or
one that only quotes prices (``serve``). They share no code but this.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeVar

from sordino.arguments import Number

from .bound import Bound, Unit
from .budget import Budget
from .columns import Columns, Vector, add
from .event import Event
from .filter import Filter, Remaining
from .grant import Grant
from .neighbours import Neighbours
from .plan import Plan
from .work import Work

T = TypeVar("T")


@dataclass(frozen=True)
class Cost:
    """What an event costs an account: units in each column, and whether that would fit now."""

    charge: Vector
    columns: Columns
    fits: bool
    column: int
    """The column by which the account is told once it was charged: where most is left then."""
    part: Fraction | None = None
    """By how much the used part of the budget will rise; None for an account without a cap."""

    def __str__(self) -> str:
        named = list(self.columns.describe(self.charge).items())
        own_delta = f", own δ = {named[0][1]}" if self.charge[0] else ""
        part = "" if self.part is None else f", {100 * float(self.part):.3g} % of the budget"
        return f"{' = '.join(named[self.column])}{own_delta}{part}"


def price(rule: Filter, event: Event, spent: Vector) -> Cost:
    """Return what `event` would cost after `spent` under the filter `rule`."""
    charge = rule.charge(event)
    column = rule.telling(add(spent, charge))
    return Cost(charge, rule.columns, rule.fits(spent, charge), column, rule.rise(spent, charge))


@dataclass(frozen=True)
class Entry:
    """One admitted event, the bound that it was admitted under, and what it cost in each column."""

    event: Event
    bound: Bound
    charge: Vector


class AnyAccount(Protocol):
    """A budget that plans are charged to, under one unit and one neighbouring relation."""

    @property
    def budget(self) -> Budget | None:
        """The cap; None without one."""
        ...

    @property
    def remaining(self) -> Remaining | None:
        """The largest events that would still fit; None without a cap."""
        ...

    @property
    def used(self) -> float:
        """The part of the budget that is used up, from 0 to 1; 0 without a cap."""
        ...

    @property
    def spent(self) -> Vector:
        """What counts against the caps, in units of each column."""
        ...

    @property
    def history(self) -> tuple[Entry, ...]:
        """All that was admitted, in order."""
        ...

    @property
    def protects(self) -> tuple[Unit, Neighbours] | None:
        """Who is protected, and against which change; None while nothing was charged or declared."""
        ...

    @property
    def degrades(self) -> bool:
        """Whether a question that does not fit may be answered with the noise that does."""
        ...

    def protect(self, unit: Unit, neighbours: Neighbours) -> None:
        """Fix who is protected, or refuse what does not add up with who already is."""
        ...

    def price(self, event: Event, ran: Neighbours | None = None) -> Cost:
        """Return what `event` would cost if it ran under the relation `ran` (the account's own if left out)."""
        ...

    def spent_as(self, delta: Number = 0) -> tuple[Fraction | float, Fraction]:
        """Return (ε, δ), an honest statement of the loss so far."""
        ...

    def on_days(self, days: tuple[str, ...]) -> AnyAccount:
        """Return the account for what reads these days alone, where days have budgets of their own."""
        ...

    def reserve(self, event: Event, bound: Bound) -> Grant:
        """Charge a mechanism that is used by itself, and return the grant to run it once."""
        ...

    def begin(self, plan: Plan) -> Work:
        """Charge `plan` and return the open work, or raise `BudgetError` and charge nothing."""
        ...

    def resume(self, identifier: str, plan: Plan) -> Work:
        """Go on with work that was begun for this very plan and is still open."""
        ...

    def carry_out(self, plan: Plan, run: Callable[[Grant], T]) -> T:
        """Charge `plan`, run it for the grant, and settle what it releases."""
        ...
