"""An account that only quotes: what the ledger held at one moment, so that prices are found without any lock.

A price is a function of the plan and of what was spent. Both are taken along here once; however many questions are
being priced, nobody who spends has to wait for them. What it says may be out of date by the time that somebody runs the
question; the ledger decides then, on its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from sordino.accounting.account import Account, Price
from sordino.accounting.account import price as price_of
from sordino.accounting.bound import Bound
from sordino.accounting.columns import Vector, add
from sordino.accounting.event import Event
from sordino.accounting.filter import Filter
from sordino.errors import GrantError, LedgerError
from sordino.ledger.ledger import Ledger
from sordino.ledger.periods import moment
from sordino.ledger.scope import Scope
from sordino.ledger.state import State


@dataclass(frozen=True)
class _Held:
    """A scope's rule, and what it has spent already, by block where it has blocks."""

    scope: Scope
    filter: Filter
    seen: tuple[Vector, ...]
    next_start: int | None

    def holds(self, event: Event) -> bool:
        """Whether `event` still fits."""
        charge = self.filter.charge(event)
        return all(self.filter.fits(each, charge) for each in self.seen)


@dataclass(frozen=True)
class Holdings:
    """What one data set, and all that is charged with it, held at one moment. Plain values, good in any process."""

    filter: Filter
    spent: Vector
    scopes: tuple[_Held, ...]

    @staticmethod
    def of(
        ledger: Ledger, dataset: Scope, analyst: str, project: str | None = None, days: tuple[str, ...] = ()
    ) -> Holdings:
        """Return what the ledger says now, for a question of one analyst about some days."""
        now = ledger.now()
        return ledger.look(lambda state: _holdings(state, dataset, analyst, project, days, state.next_time(now)))


class Quote(Account):
    """An account that quotes by what was held at one moment, and charges nothing."""

    def __init__(self, holdings: Holdings) -> None:
        self.filter = holdings.filter
        self._spent = holdings.spent
        self._held = holdings.scopes

    @property
    def spent(self) -> Vector:
        """What counted against the caps of the data set."""
        return self._spent

    def price(self, event: Event) -> Price:
        """Return what `event` would cost the data set, and whether it fits everything that it is charged to."""
        quote = price_of(self.filter, event, self._spent)
        return Price(quote.charge, quote.columns, all(held.holds(event) for held in self._held), quote.column)

    def used_after(self, event: Event) -> float:
        """Return which part of the data set's budget would be used once `event` was charged; above 1 if too much."""
        return self.filter.used(add(self._spent, self.filter.charge(event)))

    def short(self, event: Event) -> str:
        """Return which scopes `event` does not fit, and when they begin anew, in words; empty if it fits."""
        said = []
        for held in self._held:
            if not held.holds(event):
                again = "" if held.next_start is None else f", which begins anew at {moment(held.next_start)}"
                said.append(f"the budget of {held.scope}{again}")
        return " and ".join(said)

    def reserve(self, event: Event, bound: Bound) -> NoReturn:  # noqa: ARG002  (an account's signature)
        """Refuse: what only quotes has nothing to give."""
        raise GrantError("this account only quotes prices; run the question through the gate", "SRD-G002")

    def carry_out(self, *_: object) -> NoReturn:
        """Refuse: what only quotes has nothing to give."""
        raise GrantError("this account only quotes prices; run the question through the gate", "SRD-G002")

    def __repr__(self) -> str:
        return f"Quote({self.budget}, {100 * min(self.used, 1):.3g} % used)"


def _holdings(
    state: State, dataset: Scope, analyst: str, project: str | None, days: tuple[str, ...], time: int
) -> Holdings:
    found = []
    for scope in state.concerned([dataset], analyst, project):
        balance = state.balance(scope)
        if balance.rule.blocks is not None and not days:
            raise LedgerError(
                f"every day of {scope} has a budget of its own, and its declarations do not say which days a question "
                "reads; declare blocks, as when it was opened",
                "SRD-L029",
            )
        seen = tuple(vector for _, vector in balance.seen(days, time))
        found.append(_Held(scope, balance.rule.filter, seen, balance.next_start(time)))
    own = state.balance(dataset)
    spent = own.busiest_of(days) if own.due(time) is None else own.rule.filter.columns.nothing
    return Holdings(own.rule.filter, spent, tuple(found))
