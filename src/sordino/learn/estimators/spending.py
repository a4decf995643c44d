"""From what a fit may spend to the noise of each of its sums.

ε given is ε spent: the sums of one fit use up, whole, an (ε, δ), ρ or pure ε budget of its own, in the calculus of the
account. Within it a sum has the share that its estimator gives it.

**Guarantee**: with pure ε, Laplace noise of ε·share for each sum; they add up to ε exactly. Else Gaussian noise, with
ρ·share for each: the least ρ in all whose events fit the budget as the account would charge them (``run/pricing.py``).
Where labels are found by name, they also have a δ of their own: a tenth of what the budget keeps for such. In an
account without a cap, where no δ was said, it is 10⁻⁶.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sordino.accounting.bound import ROW, Bound
from sordino.accounting.budget import Budget
from sordino.accounting.event import Event
from sordino.accounting.events import Composed, Repeated
from sordino.accounting.events import Gaussian as GaussianEvent
from sordino.accounting.filter import Filter
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.units import PER_DELTA
from sordino.arguments import Number, rational
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError
from sordino.learn.run.pricing import budget_of_its_own, used_whole
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.grid import INTEGERS
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.partition import GaussianThreshold, LaplaceThreshold

from .plan import Noisy, Sum

_NAMES_DELTA_PARTS = 10
_FINEST = 16
"""Noise is not finer than this part of a step of the grid, where it shows in no draw; what is left stays unspent."""
_UNCAPPED_DELTA = Fraction(1, 10**6)
"""The δ at which labels are found in an account without a cap, if none is said. It is charged like any other."""


@dataclass(frozen=True)
class Spending:
    """What one fit uses up, and against which change of one row."""

    epsilon: Fraction | None
    """Pure ε, with Laplace noise; None where noise is Gaussian."""
    budget: Budget | None
    """What Gaussian noise uses up; None where noise is Laplace's."""
    names_delta: Fraction
    """The δ with which labels are found; 0 where they cannot be."""
    neighbours: Neighbours

    def priced(self, sums: Sequence[Sum]) -> tuple[Noisy, ...]:
        """Return the sums with their noise."""
        if sum(each.share for each in sums) != 1:
            raise AssertionError("the shares of a fit's sums must add up to 1")
        if self.budget is None:
            return tuple(self._laplace(each, (self.epsilon or 0) * each.share / each.times) for each in sums)
        rho = least_rho(self.budget, tuple((each.share, each.times) for each in sums))
        return tuple(self._gaussian(each, rho * each.share / each.times) for each in sums)

    def _laplace(self, each: Sum, epsilon: Fraction) -> Noisy:
        bound, grid = self._bound(each), INTEGERS if each.names else each.grid
        cost = min(epsilon, Fraction(4 * _FINEST * grid.sensitivity(bound).l1))
        mechanism = (
            LaplaceThreshold.for_epsilon(cost, self.names_delta, bound)
            if each.names
            else Laplace.for_epsilon(cost, bound, grid)
        )
        return Noisy(each.name, bound, mechanism, each.times)

    def _gaussian(self, each: Sum, rho: Fraction) -> Noisy:
        bound, grid = self._bound(each), INTEGERS if each.names else each.grid
        cost = min(rho, Fraction(_FINEST**2 * grid.sensitivity(bound).l2_squared, 2))
        mechanism = (
            GaussianThreshold.for_rho(cost, self.names_delta, bound)
            if each.names
            else Gaussian.for_rho(cost, bound, grid)
        )
        return Noisy(each.name, bound, mechanism, each.times)

    def _bound(self, each: Sum) -> Bound:
        if each.names and not self.names_delta:
            raise ArgumentError(
                "labels can be found only with a δ, of which this account's budget keeps none for such: declare "
                "classes=[…], or open the account with budget(epsilon=…, delta=…)",
                "SRD-A003",
            )
        return each.bound.replacing() if self.neighbours is Neighbours.REPLACE_ONE else each.bound


@lru_cache(maxsize=256)
def least_rho(budget: Budget, shares: tuple[tuple[Fraction, int], ...]) -> Fraction:
    """Return the most ρ in all, of which each sum has its share, that fits `budget` as an account charges it."""
    if budget.rho is not None:
        return budget.rho

    def build(multiplier: Fraction) -> Event:
        return Composed(tuple(Repeated(GaussianEvent(multiplier**2 * times / share), times) for share, times in shares))

    return 1 / (2 * used_whole(build, Filter.open(budget)) ** 2)


def spending_of(account: Any, epsilon: Number | None, delta: Number | None, rho: Number | None) -> Spending:
    """Return what a fit may spend of `account`.

    Everything that can be refused about it is refused here, before anything is charged.
    """
    checked = checked_account(account)
    cap, neighbours = checked.budget, checked.protected.neighbours
    if rho is None and delta is None and (cap is None or cap.calculus == "pure"):
        names = _UNCAPPED_DELTA if cap is None else Fraction(0)
        return Spending(rational("epsilon", epsilon, above=0), None, names, neighbours)
    own = budget_of_its_own(cap, epsilon, delta, rho)
    return Spending(None, own, Fraction(own.own_delta_cap, PER_DELTA) / _NAMES_DELTA_PARTS, neighbours)


def checked_account(account: Any) -> DataAccount[Any]:
    """Return `account` if rows can be protected by it."""
    if not isinstance(account, DataAccount):
        raise ArgumentError(
            "an estimator is charged to an account: budget=so.account(so.learn.examples(name, X, y, size=…), "
            "so.budget(epsilon=…, delta=…)), or so.unlimited('why') in place of the budget for an experiment. Copies "
            "in other processes have none: use n_jobs=1, or threads",
            "SRD-A003",
        )
    if account.protected.unit != ROW:
        raise ArgumentError(
            f"this account protects each {account.protected.unit.name}, and an estimator bounds what one row can "
            "change: bring each one's rows down to one row (a mean, a last value) and declare that, or train with "
            "so.learn.train, which clips by owner",
            "SRD-A003",
        )
    if account.protected.neighbours is Neighbours.ZERO_OUT:
        raise ArgumentError(
            "estimators are priced for rows that come and go, or are replaced, not for rows that are emptied: declare "
            "the examples with neighbours=Neighbours.REPLACE_ONE, which promises more",
            "SRD-A003",
        )
    return account
