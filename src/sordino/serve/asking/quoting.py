"""An account that only quotes: what the ledger held at one moment, so that prices are found without any lock.

A price is a function of the plan and of what was spent. Both are taken along here once; however many questions are
being priced, nobody who spends has to wait for them. What it says may be out of date by the time that somebody runs the
question; the ledger decides then, on its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NoReturn, Self

from sordino.accounting.any_account import Cost, Entry
from sordino.accounting.any_account import price as price_of
from sordino.accounting.bound import Unit
from sordino.accounting.budget import Budget
from sordino.accounting.columns import Vector, add
from sordino.accounting.event import Event
from sordino.accounting.filter import Filter, Remaining
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.relation import charged_as
from sordino.accounting.tally import check_protects
from sordino.arguments import Number
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
    neighbours: Neighbours
    seen: tuple[Vector, ...]
    next_start: int | None

    def holds(self, event: Event, ran: Neighbours) -> bool:
        """Whether `event` still fits, if it runs under the relation `ran`."""
        charge = self.filter.charge(charged_as(event, ran, self.neighbours))
        return all(self.filter.fits(each, charge) for each in self.seen)


@dataclass(frozen=True)
class Holdings:
    """What one data set, and all that is charged with it, held at one moment. Plain values, good in any process."""

    filter: Filter
    spent: Vector
    scopes: tuple[_Held, ...]
    protects: tuple[Unit, Neighbours]

    @staticmethod
    def of(
        ledger: Ledger, dataset: Scope, analyst: str, project: str | None = None, days: tuple[str, ...] = ()
    ) -> Holdings:
        """Return what the ledger says now, for a question of one analyst about some days."""
        now = ledger.now()
        return ledger.look(lambda state: _holdings(state, dataset, analyst, project, days, state.next_time(now)))


class Quote:
    """An account that quotes by what was held at one moment, and charges nothing: an `AnyAccount` all the same."""

    degrades = False
    history: tuple[Entry, ...] = ()

    def __init__(self, holdings: Holdings) -> None:
        self.filter = holdings.filter
        self.spent = holdings.spent
        self.protects = holdings.protects
        self._held = holdings.scopes

    @property
    def budget(self) -> Budget:
        """The cap of the data set."""
        return self.filter.budget

    @property
    def remaining(self) -> Remaining:
        """The largest events that would still have fitted the data set."""
        return self.filter.remaining(self.spent)

    @property
    def used(self) -> float:
        """The part of the data set's budget that was used up."""
        return self.filter.used(self.spent)

    def protect(self, unit: Unit, neighbours: Neighbours) -> None:
        """Refuse a unit or a relation that does not add up with those of the data set."""
        check_protects("this data set", self.protects, unit, neighbours)

    def on_days(self, days: tuple[str, ...]) -> Self:  # noqa: ARG002  (what was held was asked for by day)
        """Return the same: what was held is that of the days in question."""
        return self

    def spent_as(self, delta: Number = 0) -> tuple[Fraction | float, Fraction]:
        """Return (ε, δ), an honest statement of the loss so far."""
        return self.filter.spent_as(self.spent, delta)

    def price(self, event: Event, ran: Neighbours | None = None) -> Cost:
        """Return what `event` would cost the data set, and whether it fits everything that it is charged to."""
        quote = price_of(self.filter, self._counted(event, ran), self.spent)
        fits = all(held.holds(event, ran or self.protects[1]) for held in self._held)
        return replace(quote, fits=fits)

    def used_after(self, event: Event, ran: Neighbours | None = None) -> float:
        """Return which part of the data set's budget would be used once `event` was charged; above 1 if too much."""
        return self.filter.used(add(self.spent, self.filter.charge(self._counted(event, ran))))

    def short(self, event: Event, ran: Neighbours | None = None) -> str:
        """Return which scopes `event` does not fit, and when they begin anew, in words; empty if it fits."""
        said = []
        for held in self._held:
            if not held.holds(event, ran or self.protects[1]):
                again = "" if held.next_start is None else f", which begins anew at {moment(held.next_start)}"
                said.append(f"the budget of {held.scope}{again}")
        return " and ".join(said)

    def _counted(self, event: Event, ran: Neighbours | None) -> Event:
        return charged_as(event, ran or self.protects[1], self.protects[1])

    def _refuse(self, *_: object) -> NoReturn:
        """Refuse: what only quotes has nothing to give."""
        raise GrantError("this account only quotes prices; run the question through the gate", "SRD-G002")

    reserve = begin = resume = carry_out = _refuse

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
        relation = balance.rule.neighbours or state.relation_of([dataset])
        found.append(_Held(scope, balance.rule.filter, relation, seen, balance.next_start(time)))
    own = state.balance(dataset)
    spent = own.busiest_of(days) if own.due(time) is None else own.rule.filter.columns.nothing
    return Holdings(own.rule.filter, spent, tuple(found), (Unit(own.rule.unit or ""), state.relation_of([dataset])))
