"""From what one plan may spend to its noise: the least that stays within a budget of its own.

ε given is ε spent: the smallest budget, in the manner of the account's, that admits all of the plan is used up whole.
That is what the account is charged, whatever else it holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from sordino.arguments import Number, rational
from sordino.errors import ArgumentError

from .budget import Budget
from .calibration import least_noise
from .event import Event
from .filter import Filter

Build = Callable[[Fraction], Event]
"""From a noise multiplier to all that is run with it, as the account counts it."""


def own_budget(account: Budget | None, epsilon: Number | None, delta: Number | None, rho: Number | None) -> Budget:
    """Return the budget that a plan is to use up whole, in the manner of the account's.

    >>> own_budget(None, None, None, "0.01").rho
    Fraction(1, 100)
    """
    if (epsilon is None) == (rho is None):
        raise ArgumentError(
            "say what it may spend: epsilon=…, or rho=… in an account of zero-concentrated privacy, one of them",
            "SRD-A003",
        )
    if rho is not None:
        if delta is not None:
            raise ArgumentError("rho needs no delta: leave it out, or say epsilon=… and delta=…", "SRD-A003")
        return Budget(rho=rational("rho", rho, above=0))
    most = rational("epsilon", epsilon, above=0)
    if delta is not None:
        failure = rational("delta", delta, above=0)
        if account is not None and account.delta and failure > account.delta:
            raise ArgumentError("delta must not exceed the δ of the account's budget; leave it out", "SRD-A002")
        return Budget(epsilon=most, delta=failure)
    if account is None or not account.delta or account.epsilon is None:
        raise ArgumentError(
            "Gaussian noise needs a δ: open the account with budget(epsilon=…, delta=…), or say delta=…", "SRD-A003"
        )
    return replace(account, epsilon=most)


def used_whole(build: Build, rule: Filter) -> Fraction:
    """Return the least noise for which what is built fits an account under `rule` that holds nothing else."""

    def part(event: Event) -> Fraction:
        charge = rule.charge(event)
        return rule.part(charge, rule.telling(charge))

    return least_noise(build, part, Fraction(1))
