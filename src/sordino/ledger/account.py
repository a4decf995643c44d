"""An account whose budget lives in a ledger: the verbs of `sordino.accounting.account.Account`, durable and shared.

Whatever works with an account in memory works with this one: `price`, `reserve`, `reserve_plan`, `remaining`, `used`,
`spent_as`. What is reserved is charged to the data set, to its groups, and to the analyst and the project where they
have budgets: all of them or none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Self, TypeVar

from sordino.accounting.account import Account, Price
from sordino.accounting.account import price as price_of
from sordino.accounting.bound import Bound, Unit
from sordino.accounting.columns import Vector
from sordino.accounting.event import Event
from sordino.accounting.filter import Filter
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.plan import Plan
from sordino.accounting.tally import Entry
from sordino.errors import ArgumentError, BudgetError, GrantError

from .decisions import Request, decide_reserve
from .entries import Reserved, norms_text
from .ledger import Ledger
from .opening import token
from .receipt import Receipt
from .reservation import Reservation
from .scope import Scope
from .state import State

T = TypeVar("T")


class LedgerGrant(Grant):
    """A grant whose price is in a ledger, under `reservation`."""

    __slots__ = ("reservation",)

    def __init__(self, event: Event, bound: Bound, reservation: Reservation) -> None:
        super().__init__(event, bound)
        self.reservation = reservation


class LedgerAccount(Account):
    """One data set's budget in a ledger, as one analyst sees it.

    **Guarantee**: that of the ledger: everything released by grants of any account on the data set, in any process, is
    together within its budget, and a grant that was given is charged for good.
    **Assumes**: all that is released about the unit goes through this ledger.

    `days` must hold every day that will be read, where the data set's days have budgets of their own.
    """

    def __init__(
        self,
        ledger: Ledger,
        dataset: Scope,
        analyst: str,
        *,
        project: str | None = None,
        days: tuple[str, ...] = (),
        what: str = "query",
    ) -> None:
        if dataset.kind != "dataset" or dataset.day:
            raise ArgumentError(f"an account is on a whole data set, not on {dataset}; give days=", "SRD-A003")
        self.ledger = ledger
        self.dataset = dataset
        self.analyst = analyst
        self.project = project
        self.days = days
        self.what = what
        self._look(lambda state: state.balance(dataset))  # refused here, if it was never opened

    @property
    def filter(self) -> Filter:  # type: ignore[override]  # the owner may change the budget while accounts are open
        """The rule of the data set as it is now."""
        return self._look(lambda state: state.balance(self.dataset).rule.filter)

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
    def protects(self) -> tuple[Unit, Neighbours] | None:
        """The unit and the neighbouring relation that the data set was opened with."""
        rule = self._look(lambda state: state.balance(self.dataset).rule)
        return None if rule.unit is None or rule.neighbours is None else (Unit(rule.unit), rule.neighbours)

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

    def on_days(self, days: tuple[str, ...]) -> Self:
        """Return the same account for what reads these days and no others."""
        found = object.__new__(type(self))
        vars(found).update(vars(self), days=days)
        return found

    def reserve_plan(self, plan: Plan) -> Grant:
        """Charge everything that `plan` will run, on the days that it reads if it says which."""
        days = getattr(plan, "days", self.days)
        return super().reserve_plan(plan) if days == self.days else self.on_days(days).reserve_plan(plan)

    def price(self, event: Event) -> Price:
        """Return what `event` would cost the data set, and whether it would fit every scope that it concerns."""
        return self._look(lambda state: self._price_in(state, event))

    def _price_in(self, state: State, event: Event) -> Price:
        balance = state.balance(self.dataset)
        quote = price_of(balance.rule.filter, event, balance.busiest_of(self.days))
        unit, neighbours = balance.rule.unit, balance.rule.neighbours
        if unit is None or neighbours is None:
            return quote
        request = self._request(event, Bound.scalar(neighbours=neighbours, unit=Unit(unit)))
        fits = not decide_reserve(state, request, self.ledger.now()).shortfalls
        return Price(quote.charge, quote.columns, fits, quote.column)

    def reserve(self, event: Event, bound: Bound) -> LedgerGrant:
        """Charge `event` and return the grant to run it once, or raise `BudgetError` and charge nothing.

        **Guarantee**: when it returns, the charge is committed, synced and witnessed.
        """
        reservation = self.ledger.reserve(self._request(event, bound))
        if not isinstance(reservation, Reservation):
            raise BudgetError("a request without an idempotency key cannot have been made before", "SRD-B001")
        return LedgerGrant(event, bound, reservation)

    def settle(self, grant: Grant, release: bytes) -> Receipt:
        """Keep what was released under a grant of this account, and return the receipt."""
        return self.ledger.settle(_reservation(grant), release)

    def fail(self, grant: Grant, code: str) -> None:
        """Say that what a grant was given for came to nothing. The charge stands."""
        self.ledger.fail(_reservation(grant), code)

    def _look(self, function: Callable[[State], T]) -> T:
        return self.ledger.look(function)

    def _request(self, event: Event, bound: Bound) -> Request:
        digest = hashlib.sha256(f"{event.to_json()}\n{norms_text(bound)}".encode()).hexdigest()
        return Request(
            event,
            bound,
            (self.dataset,),
            self.analyst,
            self.what,
            plan=digest,
            request=digest,
            token=token(),
            days=self.days,
            project=self.project,
        )

    def __repr__(self) -> str:
        return f"LedgerAccount({self.dataset.text}, {self.budget}, {100 * min(self.used, 1):.3g} % used)"


def _reservation(grant: Grant) -> Reservation:
    if not isinstance(grant, LedgerGrant):
        raise GrantError("this grant is not of a ledger, so there is nothing to settle", "SRD-G002")
    return grant.reservation
