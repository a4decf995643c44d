"""The gate: plan → price → reserve → run → settle, for anything that keeps the Plan protocol.

Everything before the reservation is a function of the plan, the ledger and the owner's policy, so refusals may be rich.
Everything after it stands: a run that fails is settled as failed, and its charge stays.

**Guarantee**: nothing is released that was not charged first, durably; what is returned is settled, with a receipt, or
recorded as a part; a crash between any two steps leaves a charge without an answer, never an answer without a charge.
**Assumes**: `run` touches data only through the grant it is given, and its errors hold nothing of the data.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, Self, TypeVar

from sordino.accounting.any_account import Cost, Entry
from sordino.accounting.bound import Bound, Unit
from sordino.accounting.budget import Budget
from sordino.accounting.columns import Vector
from sordino.accounting.event import Event
from sordino.accounting.filter import Remaining
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.plan import Plan, Single
from sordino.accounting.work import Stage, Work, check_plan, untold
from sordino.arguments import Number, rational, whole
from sordino.errors import BudgetError
from sordino.ledger.account import LedgerAccount
from sordino.ledger.chain import Chain

T = TypeVar("T")


@dataclass(frozen=True)
class Policy:
    """What an owner allows for one release, beside the budget. Parts are parts of the data set's whole budget.

    `pause` is in seconds, between two releases of one analyst. Above `approval` the owner must approve each release.
    With `degrade`, a question that does not fit is answered with the noise that does, and says so.
    """

    least: Fraction = Fraction(0)
    most: Fraction = Fraction(1)
    approval: Fraction | None = None
    pause: int = 0
    degrade: bool = False

    def __post_init__(self) -> None:
        for name in ("least", "most", "approval"):
            value: Number | None = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, rational(name, value, least=0, most=1))
        whole("pause", self.pause, least=0, most=10**9)

    def check(self, part: Fraction, *, approved: bool) -> None:
        """Refuse a release that costs this part of the budget, if the policy does."""
        if part < self.least:
            raise BudgetError(
                f"this would cost {_percent(part)} of the budget, and the owner answers nothing below "
                f"{_percent(self.least)}: the answer would be mostly noise; spend more on fewer questions",
                "SRD-B004",
            )
        if part > self.most and self.most < 1:  # what exceeds the whole budget is the ledger's to refuse
            raise BudgetError(
                f"this would cost {_percent(part)} of the budget, and the owner allows at most {_percent(self.most)} "
                "for one release; ask for less",
                "SRD-B004",
            )
        if self.approval is not None and part > self.approval and not approved:
            raise ApprovalError(
                f"this would cost {_percent(part)} of the budget, and above {_percent(self.approval)} the owner must "
                "approve; ask for less, or wait for the approval",
                "SRD-B005",
            )


FREE = Policy()
"""Whatever the budget holds may be asked for."""


class ApprovalError(BudgetError):
    """The release waits for the owner's approval; nothing was charged."""


class Guard(Protocol):
    """Who stands at the gate of a service: lets plans pass, sees that a charge is safe, keeps the time of runs."""

    def check(self) -> None:
        """Raise if nothing should be charged now."""
        return

    def wait(self) -> None:
        """Return when the charge may be acted upon, or raise: it stands, and nothing comes of it."""
        return

    def run(self, run: Callable[[Grant], T], grant: Grant, stage: Stage) -> T:  # noqa: ARG002
        """Return what `run` releases."""
        return run(grant)


class Unguarded(Guard):
    """Nobody: everything passes, and runs take the time that they take."""


class Gate:
    """An account in a ledger behind the owner's policy: nobody who holds it can go past policy, charge and settlement.

    It keeps the `AnyAccount` protocol. `approved` says that the owner approved of this one release. `key` is the digest
    of an idempotency key, and `asked` of all that was asked under it. `stage` is told how far a release is: planned,
    reserved, settled or failed.
    """

    def __init__(
        self,
        account: LedgerAccount,
        *,
        policy: Policy = FREE,
        approved: bool = False,
        key: str | None = None,
        asked: str | None = None,
        stage: Stage = untold,
        guard: Guard = Unguarded(),  # noqa: B008  (it holds nothing)
    ) -> None:
        self.account = account
        self.policy = policy
        self.approved = approved
        self.stage = stage
        self._key = key
        self._asked = asked
        self._guard = guard
        self._chain: Chain | None = None
        self._in_tranches = False

    def begin(self, plan: Plan) -> Work:
        """Check the policy, charge the plan, and return the open work; `ReplayedError` if the key was used before.

        **Guarantee**: when it returns, the charge is committed, synced and witnessed.
        """
        check_plan(plan)
        self.stage("planned")
        price = self.account.on_days(plan.days).price(plan.event(), plan.bound.neighbours)
        self.policy.check(price.part or Fraction(0), approved=self.approved)
        self._guard.check()
        pause = 1000 * self.policy.pause
        key = self._key if self._chain is None else self._chain.next_key()
        work = self.account.begin(plan, pause=pause, key=key, asked=self._asked)
        work.stage = self.stage
        if self._in_tranches:  # with the first of them all others were let in
            self.policy = FREE
        with work:  # what goes wrong here fails it; else it stays open
            self._guard.wait()
            self.stage("reserved")
        return work

    def in_tranches(self, whole: Event, ran: Neighbours) -> Self:
        """Return a gate for a `whole` that is charged in tranches, each by a plan and under a key of its own.

        The policy judges the whole, here and once: to cut it smaller changes nothing. So does the budget, as far as can
        be known now; whoever goes on after a crash was let in before, and is charged for what is run again.
        """
        found = copy.copy(self)
        found.policy, found._in_tranches = FREE, True
        if self._key is not None:
            found._chain = Chain(self.account.ledger, self._key)
            if found._chain.newest() is not None:
                return found
        price = self.price(whole, ran)
        self.policy.check(price.part or Fraction(0), approved=self.approved)
        if not price.fits:
            raise BudgetError(
                f"all of it would cost {price}, and the budget does not hold that; nothing was charged: spend less on "
                "it, or ask the owner for more",
                "SRD-B001",
            )
        found.policy = Policy(pause=self.policy.pause)
        return found

    @property
    def chain(self) -> Chain | None:
        """The tranches that were charged under the key so far, for a gate of `in_tranches` that has one."""
        return self._chain

    def resume(self, identifier: str, plan: Plan) -> Work:
        """Go on with open work of this analyst that was begun for this very plan: nothing is charged."""
        work = self.account.resume(identifier, plan)
        work.stage = self.stage
        return work

    def carry_out(self, plan: Plan, run: Callable[[Grant], T]) -> T:
        """Check the policy, charge the plan, run it, settle it; return the release with its receipt."""
        with self.begin(plan) as work:
            return work.finish(self._guard.run(run, work.grant, self.stage))

    def reserve(self, event: Event, bound: Bound) -> Grant:
        """Charge a mechanism that is used by itself, as any plan."""
        return self.begin(Single(event, bound, self.account.days)).grant

    def on_days(self, days: tuple[str, ...]) -> Self:
        """Return the same gate for what reads these days alone."""
        found = copy.copy(self)
        found.account = self.account.on_days(days)
        return found

    def price(self, event: Event, ran: Neighbours | None = None) -> Cost:
        """Return what `event` would cost, and whether it would fit every scope that it concerns."""
        return self.account.price(event, ran)

    @property
    def degrades(self) -> bool:
        """Whether a question that does not fit may be answered with the noise that does."""
        return self.policy.degrade

    @property
    def budget(self) -> Budget:
        """The cap as it is now."""
        return self.account.budget

    @property
    def remaining(self) -> Remaining:
        """The largest events that would still fit the data set."""
        return self.account.remaining

    @property
    def used(self) -> float:
        """The part of the data set's budget that is used up."""
        return self.account.used

    @property
    def spent(self) -> Vector:
        """What counts against the caps of the data set."""
        return self.account.spent

    @property
    def history(self) -> tuple[Entry, ...]:
        """All that was charged to the data set, by whomever."""
        return self.account.history

    @property
    def protects(self) -> tuple[Unit, Neighbours]:
        """Who is protected, and against which change."""
        return self.account.protects

    def protect(self, unit: Unit, neighbours: Neighbours) -> None:
        """Refuse a unit or a relation that does not add up with those of the data set."""
        self.account.protect(unit, neighbours)

    def spent_as(self, delta: Number = 0) -> tuple[Fraction | float, Fraction]:
        """Return (ε, δ), an honest statement of the loss so far."""
        return self.account.spent_as(delta)

    def __repr__(self) -> str:
        return repr(self.account)


def _percent(part: Fraction) -> str:
    return f"{float(100 * part):.3g} %"
