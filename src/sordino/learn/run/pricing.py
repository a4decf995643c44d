"""From what may be spent to the noise of a training: the least that stays within it.

ε given is ε spent. In tranches, it is what the training would use up of a budget of its own: the smallest (ε, δ)
budget, with the account's δ, that admits all of its tranches; that is what the account is charged, whatever else it
holds. Paid whole, it is the ε that is declared and charged.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sordino.accounting.budget import Budget
from sordino.accounting.calibration import least_noise
from sordino.accounting.declared import declare
from sordino.accounting.filter import Filter
from sordino.accounting.own_budget import Build, own_budget, used_whole
from sordino.arguments import Number, rational
from sordino.errors import ArgumentError

from .paying import Payment, Whole

__all__ = ["Build", "Spent", "budget_of_its_own", "least_declared", "used_whole"]


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
    return own_budget(account, epsilon, None if rho is not None else delta, rho)
