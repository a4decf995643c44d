"""Charges, replayed: what a data set has spent, whether anything exceeded a cap, and what an event costs by itself.

Everything here is a function of rules, events and amounts, so whoever reads a report computes the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sordino.accounting import accountants, zcdp
from sordino.accounting.approximate import own_delta
from sordino.accounting.columns import Vector
from sordino.accounting.event import Event
from sordino.arguments import rounded_up
from sordino.errors import SordinoError
from sordino.ledger.balance import Balance
from sordino.ledger.periods import period
from sordino.ledger.rule import Rule

_CHEAP_FIRST = ("pure", "basic", "zcdp", "gaussian", "renyi", "optimal", "pld")
"""Accountants in the order in which they are asked whether a price covers an event."""


@dataclass(frozen=True)
class Step:
    """One thing that happened to a data set: another rule, a charge, or a burn."""

    position: int
    time: int
    rule: Rule | None = None
    amount: Vector | None = None
    days: tuple[str, ...] = ()
    burns: bool = False


@dataclass(frozen=True)
class Spending:
    """What a sequence of steps adds up to."""

    rule: Rule
    counted: Vector
    """What counts against the caps: in this period, or of the busiest day."""
    lifetime: Vector
    exceeded: tuple[int, ...]
    """The positions of charges that did not fit."""

    @property
    def column(self) -> int:
        """The column that has most left, by which parts of the budget are told; the first is the events' own δ."""
        return self.rule.filter.telling(self.counted)

    def share(self, amount: Vector) -> Fraction:
        """Return which part of the budget of today an amount is."""
        return self.rule.filter.part(amount, self.column)

    @property
    def loss(self) -> tuple[Fraction, Fraction] | None:
        """An honest (ε, δ) of everything ever charged, where there is one."""
        budget = self.rule.budget
        try:
            epsilon, delta = self.rule.filter.spent_as(
                self.lifetime, budget.rest_delta if budget.calculus == "renyi" else 0
            )
        except SordinoError:
            return None
        return None if epsilon == math.inf else (Fraction(epsilon), delta)


def replay(steps: Iterable[Step], now: int) -> Spending:
    """Return what `steps`, in any order, add up to at the time `now`; the first in order brings a rule."""
    ordered = sorted(steps, key=lambda step: step.position)
    first = ordered[0]
    if first.rule is None:
        raise ValueError("the first step must bring a rule")
    balance, exceeded = Balance(first.rule, first.time), []
    for step in ordered:
        if step.rule is not None:
            balance.set_rule(step.rule)
            continue
        if step.amount is None or len(step.amount) != balance.width:
            raise ValueError("an amount has other columns than its rule")
        _enter(balance, step.time)
        paid = None if step.burns else balance.paid(step.days, step.amount)
        if paid is not None:
            balance.take(paid)
        else:
            balance.burn(step.amount)
            exceeded += [] if step.burns else [step.position]
    _enter(balance, now)
    return Spending(balance.rule, balance.busiest, balance.lifetime, tuple(exceeded))


def _enter(balance: Balance, time: int) -> None:
    if balance.due(time) is not None and balance.rule.refresh is not None:
        balance.enter(period(balance.rule.refresh, time))


def covers(price: Mapping[str, Any], event: Event) -> bool | None:
    """Return whether a stand-alone price (ε, δ, ρ as exact texts) covers an event; None if it says neither ε nor ρ.

    **Guarantee**: True only if an accountant proves that the event costs no more than the price.
    """
    delta = Fraction(price.get("delta") or 0)
    if price.get("rho") is not None:
        return _concentrated(event, delta, Fraction(price["rho"]))
    if price.get("epsilon") is None:
        return None
    most = rounded_up(Fraction(price["epsilon"]))
    return any(_within(name, event, delta, most) for name in _CHEAP_FIRST)


def _within(accountant: str, event: Event, delta: Fraction, most: float) -> bool:
    try:
        return accountants.epsilon(event, delta, accountant) <= most
    except SordinoError:
        return False


def _concentrated(event: Event, delta: Fraction, most: Fraction) -> bool:
    try:
        return zcdp.rho(event) <= most and own_delta(event) <= delta
    except SordinoError:
        return False


def leaves(event: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the parts of an event in JSON that were composed; a part that is repeated or sampled stays whole."""
    if event["kind"] != "composed":
        return [event]
    return [leaf for each in event["events"] for leaf in leaves(each)]
