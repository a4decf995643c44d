"""Accounts in memory: a budget with a filter, one without a cap, and one for what is not differential privacy."""

from __future__ import annotations

from fractions import Fraction

from sordino.arguments import Number, rational
from sordino.errors import ArgumentError, BudgetError, UnsupportedError

from .alternative import what_would_fit
from .any_account import Cost, Entry, price
from .approximate import target
from .budget import Budget
from .columns import Columns, Vector
from .curve import flatten
from .event import Event
from .events import Sensitive
from .filter import Filter, Remaining
from .neighbours import Neighbours
from .odometer import loss_so_far
from .tally import Tally
from .units import PER_DELTA, PER_EPSILON, SATURATED, cap_rounded_down, decimal_text, times, total, units_rounded_up

__all__ = ["Account", "Cost", "Entry", "SensitiveAccount", "UnlimitedAccount", "unlimited"]


class Account(Tally):
    """A budget in memory, spent by filter.

    **Guarantee**: everything released by grants of this account is together within the budget, for analysts who choose
    each event by all answers so far, in any number of threads (the proof is in ``filter.py``).
    **Assumes**: all that is released about the unit goes through this one object: a process that is started twice, or
    forks, has two accounts. A budget that must outlive or span processes belongs in a ledger.

    >>> account = Account(Budget(epsilon=Fraction(1)))
    >>> account
    Account(ε = 1, 0 % used)
    """

    def __init__(self, budget: Budget, *, order: Number | None = None) -> None:
        if not isinstance(budget, Budget):
            raise ArgumentError(
                f"budget must be a Budget, for example Budget(epsilon=1), not {type(budget).__name__}", "SRD-A001"
            )
        self.filter = Filter.open(budget, order=order)
        super().__init__(self.filter.columns.nothing)

    @property
    def budget(self) -> Budget:
        """The cap."""
        return self.filter.budget

    @property
    def remaining(self) -> Remaining:
        """The largest events that would still fit."""
        return self.filter.remaining(self.spent)

    @property
    def used(self) -> float:
        """The part of the budget that is used up, from 0 to 1."""
        return self.filter.used(self.spent)

    def charge(self, event: Event) -> Vector:
        """Return what `event` costs in each column."""
        return self.filter.charge(event)

    def fits(self, spent: Vector, charge: Vector) -> bool:
        """Return whether the filter admits `charge` after `spent`."""
        return self.filter.fits(spent, charge)

    def price(self, event: Event, ran: Neighbours | None = None) -> Cost:
        """Return what `event` would cost if it ran under the relation `ran`, without charging it."""
        return price(self.filter, self.counted(event, ran), self.spent)

    def spent_as(self, delta: Number = 0) -> tuple[Fraction | float, Fraction]:
        """Return (ε, δ), an honest statement of the loss so far (``odometer.py``)."""
        return self.filter.spent_as(self.spent, delta)

    def refusal(self, event: Event, spent: Vector) -> BudgetError:
        """Return the error that says what was asked, what is left and what would fit."""
        return BudgetError(refusal_text(self.filter, event, spent), "SRD-B001")

    def __repr__(self) -> str:
        return f"Account({self.budget}, {_percent(self.used)} used)"


def refusal_text(rule: Filter, event: Event, spent: Vector) -> str:
    """Return what was asked, what is left after `spent` under the filter `rule`, and what would fit."""
    asked, left = price(rule, event, spent), rule.remaining(spent)
    instead = what_would_fit(rule, spent, event)
    if Fraction(asked.charge[0], PER_DELTA) > left.own_delta:
        remedy = "its own δ is more than what is left for such; ask for a smaller one"
    else:
        remedy = f"{instead} would fit" if instead else "add noise, ask for less, or use another budget"
    return (
        f"{_short(event)} costs {asked}, which does not fit: of the budget {rule.budget}, "
        f"{_percent(rule.used(spent))} is used; what still fits is {left}; {remedy}"
    )


class UnlimitedAccount(Tally):
    """An account without a cap, which still keeps the tally. Build it with `unlimited(reason)`."""

    _COLUMNS = Columns("renyi", tuple(float(2**power) for power in range(1, 13)))

    def __init__(self, reason: str) -> None:
        if not isinstance(reason, str) or not reason.strip():
            raise ArgumentError("reason must say in words why no budget caps this account", "SRD-A001")
        self.reason = reason
        super().__init__(self._COLUMNS.nothing)

    def charge(self, event: Event) -> Vector:
        """Return what `event` costs in each column."""
        return self._COLUMNS.charge(event)

    def fits(self, spent: Vector, charge: Vector) -> bool:  # noqa: ARG002
        """Return True: there is no cap."""
        return True

    budget = None
    remaining = None
    used = 0.0

    def price(self, event: Event, ran: Neighbours | None = None) -> Cost:
        """Return what `event` would cost if it ran under the relation `ran`, without charging it."""
        charge = self.charge(self.counted(event, ran))
        known = charge[-1] < SATURATED
        return Cost(charge, self._COLUMNS, fits=True, column=len(charge) - 1 if known else 1)

    def spent_as(self, delta: Number = 0) -> tuple[Fraction | float, Fraction]:
        """Return (ε, δ), an honest statement of the loss so far (``odometer.py``)."""
        return loss_so_far(self._COLUMNS, self.spent, target(delta))

    def __repr__(self) -> str:
        return f"unlimited({self.reason!r}, {len(self.history)} events)"


def unlimited(reason: str) -> UnlimitedAccount:
    """Return an account without a cap; `reason` says why, and is shown wherever the account is.

    >>> unlimited("the data is public")
    unlimited('the data is public', 0 events)
    """
    return UnlimitedAccount(reason)


class SensitiveAccount(Tally):
    """An account for sensitive privacy (Asif et al. 2019), which is NOT differential privacy.

    **Guarantee**: none of differential privacy. The ε's of releases under one public policy add up to at most
    `epsilon`; they protect only the records that the policy does not call anomalies.
    """

    def __init__(self, policy: str, epsilon: Number) -> None:
        if not isinstance(policy, str) or not policy.strip():
            raise ArgumentError("policy must name the public policy that says who is protected", "SRD-A001")
        self.policy = policy
        self.epsilon = rational("epsilon", epsilon, above=0)
        self._cap = cap_rounded_down("epsilon", epsilon, PER_EPSILON)
        super().__init__((0,))

    @property
    def remaining(self) -> Fraction:
        """The ε of sensitive privacy, which is not differential privacy, that is left."""
        return Fraction(self._cap - self.spent[0], PER_EPSILON)

    def charge(self, event: Event) -> Vector:
        """Return the sum of ε's of `event`, which must consist of sensitive releases under this policy only."""
        units = 0
        for part, count in flatten(event).items():
            if not isinstance(part, Sensitive) or part.policy != self.policy:
                raise UnsupportedError(
                    f"this account holds sensitive privacy under the policy {self.policy!r} only, which is not "
                    f"differential privacy; {_short(part)} belongs in another account",
                    "SRD-C021",
                )
            units = total(units, times(units_rounded_up(part.epsilon, PER_EPSILON), count))
        if not units:
            raise ArgumentError("this event runs nothing, so there is nothing to charge", "SRD-A003")
        return (units,)

    def fits(self, spent: Vector, charge: Vector) -> bool:
        """Return whether the sum stays within the cap."""
        return spent[0] + charge[0] <= self._cap

    def refusal(self, event: Event, spent: Vector) -> BudgetError:
        """Return the error that says what was asked and what is left."""
        asked, left = (decimal_text(units, PER_EPSILON) for units in (*self.charge(event), self._cap - spent[0]))
        return BudgetError(
            f"{_short(event)} costs ε {asked} of sensitive privacy (not differential privacy) under the policy "
            f"{self.policy!r}, and only {left} is left; ask for at most that",
            "SRD-B001",
        )

    def __repr__(self) -> str:
        left = float(self.remaining)
        return (
            f"SensitiveAccount({self.policy!r}, ε = {float(self.epsilon):g}, {left:g} left; not differential privacy)"
        )


def _short(event: Event) -> str:
    text = repr(event)
    return text if len(text) <= 160 else f"{text[:160]}…"


def _percent(part: float) -> str:
    return f"{100 * min(part, 1):.3g} %"
