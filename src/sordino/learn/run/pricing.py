"""From what may be spent to the noise of a training: the least that stays within it.

ε given is what the training would use up of a budget of its own: the smallest (ε, δ) budget, with the account's δ, that
admits all of its tranches. That is what the account is charged, whatever else it holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from sordino.accounting.budget import Budget
from sordino.accounting.calibration import least_noise
from sordino.accounting.event import Event
from sordino.accounting.events import Gaussian
from sordino.accounting.filter import Filter
from sordino.arguments import Number, rational
from sordino.errors import ArgumentError

from .sampling import Sampler


def least_multiplier(sampler: Sampler, steps: int, budget: Budget) -> Fraction:
    """Return the least noise multiplier with which all steps fit `budget`, charged one after the other."""
    return used_whole(lambda multiplier: sampler.event(Gaussian(multiplier**2), steps), Filter.open(budget))


def used_whole(build: Callable[[Fraction], Event], rule: Filter) -> Fraction:
    """Return the least noise for which what is built fits an account under `rule` that holds nothing else."""

    def part(event: Event) -> Fraction:
        charge = rule.charge(event)
        return rule.part(charge, rule.telling(charge))

    return least_noise(build, part, Fraction(1))


def budget_of_its_own(
    account: Budget | None, epsilon: Number | None, delta: Number | None, rho: Number | None
) -> Budget:
    """Return the budget that a training is to use up whole, in the manner of the account's."""
    if (epsilon is None) == (rho is None):
        raise ArgumentError(
            "say what the training may spend: epsilon=…, or rho=… in an account of zero-concentrated privacy, or the "
            "noise itself by noise=…",
            "SRD-A003",
        )
    if rho is not None:
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
