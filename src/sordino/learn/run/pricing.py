"""From what may be spent to the noise of a training: the least that stays within it.

ε given is ε spent. In tranches, it is what the training would use up of a budget of its own: the smallest (ε, δ)
budget, with the account's δ, that admits all of its tranches; that is what the account is charged, whatever else it
holds. Paid whole, it is the ε that is declared and charged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from sordino.accounting.budget import Budget
from sordino.accounting.calibration import least_noise
from sordino.accounting.declared import declare
from sordino.accounting.event import Event
from sordino.accounting.filter import Filter
from sordino.arguments import Number, rational
from sordino.errors import ArgumentError

from .paying import Payment, Whole

Build = Callable[[Fraction], Event]
"""From a noise multiplier to all that a training runs with it, as the account counts it."""


@dataclass(frozen=True)
class Spent:
    """What a training may spend: ε, with a δ or the account's; or ρ; or the noise itself, which says what it costs."""

    epsilon: Number | None = None
    delta: Number | None = None
    rho: Number | None = None
    noise: Number | None = None

    def multiplier(self, build: Build, payment: Payment, account: Budget | None) -> Fraction:
        """Return the noise, in units of what one unit can move a sum by."""
        if self.noise is not None:
            if self.epsilon is not None or self.rho is not None:
                raise ArgumentError(
                    "noise says what a training costs, and epsilon or rho how much noise there is: say one of them",
                    "SRD-A003",
                )
            return rational("noise", self.noise, above=0)
        if isinstance(payment, Whole):
            return least_declared(build, payment.delta, self._declared())
        own = budget_of_its_own(account, self.epsilon, self.delta, self.rho)
        return used_whole(build, Filter.open(own))

    def _declared(self) -> Fraction:
        if self.epsilon is None or self.rho is not None:
            raise ArgumentError(
                "what is paid whole is declared by its ε: say epsilon=…, or the noise itself by noise=…", "SRD-A003"
            )
        return rational("epsilon", self.epsilon, above=0)


def least_declared(build: Build, delta: Fraction, epsilon: Fraction) -> Fraction:
    """Return the least noise for which what is built can be declared as (`epsilon`, `delta`)."""
    return least_noise(build, lambda event: declare(event, delta).epsilon, epsilon)


def used_whole(build: Build, rule: Filter) -> Fraction:
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
