"""What a stream costs and how far off its numbers will be: known before anything is spent.

Numbers are about noise and rounding alone. *All numbers*: by Šidák's inequality (1967) normal errors, however they are
correlated, stay within given limits together with at least the product of their probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sordino.accounting.any_account import Cost
from sordino.accounting.bound import ROW
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.own_budget import own_budget
from sordino.arguments import Number, probability
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError

from .plan import StreamPlan, plan_of
from .spec import StreamSpec


@dataclass(frozen=True)
class _Anybody:
    """Whoever a stream will be about, where there is no account yet."""

    name: str = "stream"
    unit: Any = ROW
    neighbours: Neighbours = Neighbours.ADD_REMOVE


@dataclass(frozen=True)
class StreamPrice:
    """The price of a whole stream. `cost` is what the account says, None where none was given."""

    plan: StreamPlan
    cost: Cost | None = None

    @property
    def rho(self) -> float:
        """What the whole stream costs in zero-concentrated privacy."""
        event: Any = self.plan.event()
        return float(event.sensitivity_squared / (2 * event.variance))

    @property
    def largest(self) -> float:
        """The largest standard deviation of any step's number."""
        return float(np.max(self.plan.deviations()))

    @property
    def root_mean_square(self) -> float:
        """The root of the mean squared error over all steps."""
        return float(np.sqrt(np.mean(np.square(self.plan.deviations()))))

    def error(self, confidence: Number = 0.95) -> float:
        """Return within how much of the truth each single number is with this probability, where errors are largest."""
        return float(np.max(quantile(confidence) * self.plan.deviations() + self.plan.reaches()))

    def error_of_all(self, confidence: Number = 0.95) -> float:
        """Return within how much of the truth all numbers of the stream are together with this probability."""
        spec = self.plan.spec
        reach = quantile(confidence, spec.steps * spec.arrivals.cells)
        return float(np.max(reach * self.plan.deviations() + self.plan.reaches()))

    def __str__(self) -> str:
        spec, people = self.plan.spec, self.plan.spec.arrivals
        apart = f", any two {people.apart} steps apart" if people.apart else ""
        who = f"{self.plan.unit.name} with at most {people.events} event{'s' if people.events > 1 else ''}{apart}"
        lines = [
            f"{spec.steps:,} steps, {spec.strategy}, ρ = {self.rho:.4g} for all of them, protects one {who}",
            f"standard deviation {self.root_mean_square:.4g} (root mean square), {self.largest:.4g} at most",
            f"each number within ±{self.error():.4g}, all numbers together within ±{self.error_of_all():.4g} (95 %)",
        ]
        return "\n".join(lines if self.cost is None else [*lines, f"charged: {self.cost}"])


def price_stream(
    account: DataAccount[Any] | None,
    spec: StreamSpec,
    *,
    rho: Number | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
) -> StreamPrice:
    """Return what a stream would cost an account (or anybody), and how far off it would be; nothing is charged."""
    if account is None:
        return StreamPrice(plan_of(_Anybody(), spec, own_budget(None, epsilon, delta, rho)))
    check_account(account)
    plan = plan_of(account.protected, spec, own_budget(account.budget, epsilon, delta, rho))
    return StreamPrice(plan, account.price(plan))


def check_account(account: Any) -> None:
    """Refuse what is no account of something."""
    if not isinstance(account, DataAccount):
        raise ArgumentError(
            "budget must be an account of what the stream is about: so.open(…).account(…, so.budget(…)), or "
            "so.account(…, so.budget(…)) in memory",
            "SRD-A001",
        )


def quantile(confidence: Number, together: int = 1) -> float:
    """Return z: so many standard normal numbers are within ±z together with this probability at least.

    >>> round(quantile("0.95"), 3)
    1.96
    """
    from scipy.special import ndtri

    sure = float(probability("confidence", confidence))
    each = -np.expm1(np.log(sure) / together)  # 1 − confidence^(1/n)
    return float(-ndtri(each / 2))
