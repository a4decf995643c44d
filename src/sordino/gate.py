"""The gate: plan → price → reserve → run → settle, for anything that keeps the Plan protocol.

Everything before the reservation is a function of the plan, the ledger and the owner's policy, so refusals may be rich.
Everything after it stands: a run that fails is settled as failed, and its charge stays.

**Guarantee**: nothing is released that was not charged first, durably; what is returned is settled, with a receipt; a
crash between any two steps leaves a charge without an answer, never an answer without a charge.
**Assumes**: `run` touches data only through the grant it is given, and its errors hold nothing of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, Self, TypeVar, cast

from sordino.accounting.account import Price
from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.grant import Grant
from sordino.accounting.plan import Plan
from sordino.arguments import Number, rational, whole
from sordino.errors import BudgetError, LedgerError, SordinoError
from sordino.ledger.account import LedgerAccount, LedgerGrant
from sordino.ledger.ledger import Ledger
from sordino.ledger.receipt import Receipt
from sordino.ledger.reservation import Replay
from sordino.ledger.scope import Scope

T = TypeVar("T")


class Release(Protocol):
    """What a plan releases when it is run: noisy, public, and able to say itself in one text."""

    def to_json(self) -> str:
        """Return all that is released, as JSON."""
        ...

    def with_receipt(self, receipt: Receipt) -> Self:
        """Return the same release with the ledger's receipt."""
        ...


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


class ReplayedError(LedgerError):
    """The same was asked before under the same idempotency key; `replay` is what came of it. Nothing was charged."""

    def __init__(self, replay: Replay) -> None:
        super().__init__("this request was made before; what came of it stands, and nothing was charged", "SRD-L032")
        self.replay = replay


class Gate(LedgerAccount):
    """An account in a ledger that keeps the owner's policy and settles what it grants.

    `approved` says that the owner approved of this one release. `key` is the digest of an idempotency key, and `asked`
    of all that was asked under it. `stage` is told how far a release is: planned, reserved, settled or failed.
    """

    def __init__(
        self,
        ledger: Ledger,
        dataset: Scope,
        analyst: str,
        *,
        project: str | None = None,
        days: tuple[str, ...] = (),
        what: str = "query",
        policy: Policy = FREE,
        approved: bool = False,
        key: str | None = None,
        asked: str | None = None,
        stage: Callable[[str], None] = lambda _: None,
    ) -> None:
        super().__init__(ledger, dataset, analyst, project=project, days=days, what=what)
        self.policy = policy
        self.degrades = policy.degrade
        self.approved = approved
        self.stage = stage
        self._key = key
        self._asked = asked

    def part(self, price: Price) -> Fraction:
        """Return which part of the whole budget a price is, in the column that says most."""
        return Fraction(price.charge[price.column], self.filter.caps[price.column])

    def reserve(self, event: Event, bound: Bound) -> LedgerGrant:
        """Charge `event` and return the grant to run it once; `ReplayedError` if the same was asked under the same key.

        **Guarantee**: when it returns, the charge is committed, synced and witnessed.
        """
        request = self._request(event, bound)
        asked = request.request if self._asked is None else self._asked
        found = self.ledger.reserve(replace(request, key=self._key, request=asked, pause=1000 * self.policy.pause))
        if isinstance(found, Replay):
            raise ReplayedError(found)
        return LedgerGrant(event, bound, found)

    def carry_out(self, plan: Plan, run: Callable[[Grant], T]) -> T:
        """Check the policy, charge the plan, run it, settle it; return the release with its receipt."""
        self.stage("planned")
        price = self.on_days(getattr(plan, "days", self.days)).price(plan.event())
        self.policy.check(self.part(price), approved=self.approved)
        grant = self.reserve_plan(plan)
        failure: BaseException | None = None
        try:
            self.stage("reserved")
            release = run(grant)
            body = cast("Release", release).to_json().encode()
        except BaseException as error:
            failure = error
        if failure is not None:  # out here, so that nothing that happens meanwhile hangs on what is raised
            self._fail(grant, failure)
            try:
                raise failure
            finally:
                del failure  # what is raised holds this frame; if that held it too, both would linger
        receipt = self.settle(grant, body)
        self.stage("settled")
        return cast("T", cast("Release", release).with_receipt(receipt))

    def _fail(self, grant: Grant, error: BaseException) -> None:
        """Write down that nothing came of a grant; if even that fails, the charge stands all the same."""
        try:
            self.fail(grant, error.code if isinstance(error, SordinoError) else "SRD-R001")
        except SordinoError:
            pass
        finally:
            self.stage("failed")


def _percent(part: Fraction) -> str:
    return f"{float(100 * part):.3g} %"
