"""An account whose budget lives in a ledger, durable and shared. It keeps the `AnyAccount` protocol of ``accounting``.

What is charged is charged to the data set, to its groups, and to the analyst and the project where they have budgets:
all of them or none.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Self, TypeVar, cast

from sordino.accounting.any_account import Cost, Entry
from sordino.accounting.any_account import price as price_of
from sordino.accounting.bound import Bound, Unit
from sordino.accounting.budget import Budget
from sordino.accounting.columns import Vector
from sordino.accounting.event import Event
from sordino.accounting.filter import Filter, Remaining
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.plan import Plan, Release, Single
from sordino.accounting.relation import charged_as
from sordino.accounting.tally import check_protects, check_same_plan, unknown_work
from sordino.accounting.work import Work, carry_out, check_plan
from sordino.arguments import Number
from sordino.errors import ArgumentError, LedgerError

from .decisions import Request, decide_reserve
from .entries import Reserved, to_bytes
from .ledger import Ledger
from .opening import token
from .reservation import Replay, Reservation
from .scope import Scope
from .state import State

R = TypeVar("R")
T = TypeVar("T")


class ReplayedError(LedgerError):
    """The same was asked before under the same idempotency key; `replay` is what came of it. Nothing was charged."""

    def __init__(self, replay: Replay) -> None:
        super().__init__("this request was made before; what came of it stands, and nothing was charged", "SRD-L032")
        self.replay = replay


class _Begun:
    """What was begun in a ledger, and is kept there."""

    def __init__(self, ledger: Ledger, reservation: Reservation) -> None:
        self.id = reservation.id
        self._ledger = ledger
        self._reservation = reservation

    def part(self, number: int, release: Release) -> bytes:
        """Record one more release, or return what was recorded under this number before."""
        return self._ledger.part(self._reservation, number, release.to_json().encode(), release.files)

    def recorded(self, number: int) -> bytes | None:
        """Return what was recorded under this number, or None."""
        return self._ledger.recorded(self.id, number)

    def settle(self, release: R) -> R:
        """Keep what was released, and return it with its receipt."""
        said = cast("Release", release)
        receipt = self._ledger.settle(self._reservation, said.to_json().encode(), said.files)
        return cast("R", said.with_receipt(receipt))

    def fail(self, code: str) -> None:
        """Say that it came to nothing. The charge stands."""
        self._ledger.fail(self._reservation, code)


class LedgerAccount:
    """One data set's budget in a ledger, as one analyst sees it.

    **Guarantee**: that of the ledger: everything released by grants of any account on the data set, in any process, is
    together within its budget, and a grant that was given is charged for good.
    **Assumes**: all that is released about the unit goes through this ledger.

    `days` must hold every day that will be read, where the data set's days have budgets of their own and a mechanism is
    used by itself; a plan says its own.
    """

    degrades = False

    def __init__(
        self,
        ledger: Ledger,
        dataset: Scope,
        analyst: str,
        *,
        project: str | None = None,
        days: tuple[str, ...] = (),
    ) -> None:
        if dataset.kind != "dataset" or dataset.day:
            raise ArgumentError(f"an account is on a whole data set, not on {dataset}; give days=", "SRD-A003")
        self.ledger = ledger
        self.dataset = dataset
        self.analyst = analyst
        self.project = project
        self.days = days
        self._look(lambda state: state.balance(dataset))  # refused here, if it was never opened

    @property
    def filter(self) -> Filter:
        """The rule of the data set as it is now; the owner may change the budget while accounts are open."""
        return self._look(lambda state: state.balance(self.dataset).rule.filter)

    @property
    def budget(self) -> Budget:
        """The cap as it is now."""
        return self.filter.budget

    @property
    def remaining(self) -> Remaining:
        """The largest events that would still fit the data set."""
        return self.filter.remaining(self.spent)

    @property
    def used(self) -> float:
        """The part of the data set's budget that is used up, from 0 to 1."""
        return self.filter.used(self.spent)

    @property
    def spent(self) -> Vector:
        """What counts against the caps: since the period began; where days have budgets on the busiest day.

        With `days`, on the busiest of these.
        """
        return self._look(lambda state: state.balance(self.dataset).busiest_of(self.days))

    @property
    def lifetime(self) -> Vector:
        """Everything that was ever charged to the data set."""
        return self._look(lambda state: state.lifetime(self.dataset))

    @property
    def protects(self) -> tuple[Unit, Neighbours]:
        """The unit and the neighbouring relation that the data set was opened with."""
        return self._look(self._protected)

    @property
    def history(self) -> tuple[Entry, ...]:
        """All that was charged to the data set, by whomever, in order. Reads the whole ledger."""
        return tuple(
            Entry(entry.priced, entry.bound, charge.amount)
            for entry in self.ledger.entries()
            if isinstance(entry, Reserved)
            for charge in entry.charges
            if charge.scope == self.dataset
        )

    def spent_as(self, delta: Number = 0) -> tuple[Fraction | float, Fraction]:
        """Return (ε, δ), an honest statement of the loss so far."""
        return self.filter.spent_as(self.spent, delta)

    def protect(self, unit: Unit, neighbours: Neighbours) -> None:
        """Refuse a unit or a relation that does not add up with what the data set was opened with."""
        check_protects(str(self.dataset), self.protects, unit, neighbours)

    def on_days(self, days: tuple[str, ...]) -> Self:
        """Return the same account for what reads these days and no others."""
        if days == self.days:
            return self
        found = copy.copy(self)
        found.days = days
        return found

    def price(self, event: Event, ran: Neighbours | None = None) -> Cost:
        """Return what `event` would cost the data set, and whether it would fit every scope that it concerns."""
        return self._look(lambda state: self._price_in(state, event, ran))

    def _price_in(self, state: State, event: Event, ran: Neighbours | None) -> Cost:
        balance = state.balance(self.dataset)
        unit, held = self._protected(state)
        bound = Bound.scalar(neighbours=ran or held, unit=unit)
        quote = price_of(balance.rule.filter, charged_as(event, bound.neighbours, held), balance.busiest_of(self.days))
        request = self._request(Single(event, bound), self.days)
        fits = not decide_reserve(state, request, self.ledger.now()).shortfalls
        return replace(quote, fits=fits)

    def _protected(self, state: State) -> tuple[Unit, Neighbours]:
        rule = state.balance(self.dataset).rule
        return Unit(cast("str", rule.unit)), cast("Neighbours", rule.neighbours)  # a data set's rule has both

    def reserve(self, event: Event, bound: Bound) -> Grant:
        """Charge `event` and return the grant to run it once, or raise `BudgetError` and charge nothing.

        **Guarantee**: when it returns, the charge is committed, synced and witnessed.
        """
        return self.begin(Single(event, bound, self.days)).grant

    def begin(self, plan: Plan, *, pause: int = 0, key: str | None = None, asked: str | None = None) -> Work:
        """Charge everything that `plan` will run, and return the open work with the grant to run it once.

        `pause` is in milliseconds, between two of one analyst's. `key` is the digest of an idempotency key and `asked`
        of all that was asked under it; `ReplayedError` if it was used before for the same.
        """
        check_plan(plan)
        if plan.large:
            self.ledger.files.check_place()
        found = self.ledger.reserve(self._request(plan, plan.days, pause, key, asked))
        if not isinstance(found, Reservation):
            raise ReplayedError(found)
        return Work(_Begun(self.ledger, found), plan)

    def resume(self, identifier: str, plan: Plan) -> Work:
        """Go on with work of this analyst on this data set that was begun for this very plan and is still open.

        **Guarantee**: nothing is charged, and no other plan is run. Another's id is as unknown as one that never was.
        """
        check_plan(plan)
        found = self.ledger.reservation(identifier)
        if found is None or found.analyst != self.analyst or self.dataset not in (it.scope for it in found.charges):
            raise unknown_work()
        check_same_plan(found.plan, plan)
        return Work(_Begun(self.ledger, Reservation(found, to_bytes(found))), plan)

    def carry_out(self, plan: Plan, run: Callable[[Grant], T]) -> T:
        """Charge `plan`, run it for the grant, and settle what it releases."""
        return carry_out(self, plan, run)

    def _look(self, function: Callable[[State], T]) -> T:
        return self.ledger.look(function)

    def _request(
        self, plan: Plan, days: tuple[str, ...], pause: int = 0, key: str | None = None, asked: str | None = None
    ) -> Request:
        digest = plan.digest()
        return Request(
            plan.event(),
            plan.bound,
            (self.dataset,),
            self.analyst,
            plan.kind,
            plan=digest,
            request=asked or digest,
            token=token(),
            days=days,
            project=self.project,
            key=key,
            pause=pause,
            parts=plan.parts,
        )

    def __repr__(self) -> str:
        return f"LedgerAccount({self.dataset.text}, {self.budget}, {100 * min(self.used, 1):.3g} % used)"
