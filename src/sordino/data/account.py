"""The account of what is protected: the thing itself, and the budget that all releases about it are charged to.

Rooms build on it: ``query`` asks questions about tables, others train, collect and publish; each by a plan of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Literal, NoReturn, Protocol, Self, TypeVar, runtime_checkable

from sordino.accounting.account import Account, UnlimitedAccount
from sordino.accounting.any_account import AnyAccount, Cost, Entry
from sordino.accounting.bound import Unit
from sordino.accounting.budget import Budget
from sordino.accounting.filter import Remaining
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.plan import Plan
from sordino.accounting.work import Work, check_plan
from sordino.errors import ArgumentError, BudgetError

T = TypeVar("T")


Blocks = Literal["owner-in-one-block", "unit-per-block"]
"""What makes budgets of single days sound, as the ledger calls it: a unit lies in one day, or is one of a day."""


@runtime_checkable
class Protected(Protocol):
    """Something about people that a budget is opened for: tables, labelled examples, a survey, a graph, genotypes.

    Where every day has a budget of its own, it also says `blocks` (see `blocks_of`).
    """

    @property
    def name(self) -> str:
        """What the owner calls it: its identity, to which everything is charged."""
        ...

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        ...

    @property
    def neighbours(self) -> Neighbours:
        """Against which change of one unit."""
        ...


P = TypeVar("P", bound=Protected)


S = TypeVar("S", covariant=True)


class Opens(Protocol[S]):
    """A declaration of something that is charged once and stays open, as what ``collect.counting(…)`` makes."""

    def opened_on(self, account: DataAccount[Any], /, **words: Any) -> S:
        """Charge it to an account and open it, or go on with it; the words are its own."""
        ...


class DataAccount(Generic[P]):
    """What is protected, and the account that everything released about it is charged to.

    **Guarantee**: the account protects the unit of `protected`, under its relation or one that takes its prices
    (``accounting.relation``); refused otherwise.
    """

    def __init__(self, protected: P, account: AnyAccount) -> None:
        account.protect(protected.unit, protected.neighbours)
        self.protected = protected
        self.account = account

    @property
    def budget(self) -> Budget | None:
        """The cap, or None for an account without one."""
        return self.account.budget

    @property
    def remaining(self) -> Remaining | None:
        """The largest events that would still fit; None without a cap."""
        return self.account.remaining

    @property
    def history(self) -> tuple[Entry, ...]:
        """All that was charged, in order."""
        return self.account.history

    def price(self, plan: Plan) -> Cost:
        """Return what `plan` would cost, without charging it."""
        check_plan(plan)
        return self.account.on_days(plan.days).price(plan.event(), plan.bound.neighbours)

    def begin(self, plan: Plan) -> Work:
        """Charge `plan` and return the open work."""
        return self.account.begin(plan)

    def resume(self, identifier: str, plan: Plan) -> Work:
        """Go on with work that was begun for this very plan and is still open."""
        return self.account.resume(identifier, plan)

    def stream(self, declared: Opens[T], **words: Any) -> T:
        """Open what was declared, charged here: ``stream(collect.counting(steps=…), rho=…, folder=…)``.

        The words are those of what is opened (`collect.open_stream`); ``resume=`` goes on without another charge.
        """
        if not callable(getattr(declared, "opened_on", None)):
            raise ArgumentError(
                "a stream is opened for what was declared by collect.counting(steps=…), summing, histogram or top_k, "
                f"not for a {type(declared).__name__}",
                "SRD-A001",
            )
        return declared.opened_on(self, **words)

    def carry_out(self, plan: Plan, run: Callable[[Grant], T]) -> T:
        """Charge `plan`, run it for the grant, and settle what it releases."""
        return self.account.carry_out(plan, run)

    def __copy__(self) -> Self:
        """Return itself: whatever is copied with its account (an estimator that is cloned) spends from the same one."""
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    __sklearn_clone__ = __copy__

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what can be hashed, by name, and is refused where it is read: no other process has this account."""
        return _elsewhere, (self.protected.name,)

    def __repr__(self) -> str:
        return f"{self.protected.name} on {self.account!r}"


def _elsewhere(name: str) -> NoReturn:
    raise BudgetError(
        f"the account of {name!r} cannot be sent elsewhere: each copy would spend the same budget again; stay in the "
        "process that holds it (n_jobs=1, or threads), or open its ledger there",
        "SRD-B002",
    )


def account_for(budget: Budget | Account | UnlimitedAccount) -> Account | UnlimitedAccount:
    """Return an account in memory for a budget, or the one given."""
    if isinstance(budget, Budget):
        return Account(budget)
    if isinstance(budget, Account | UnlimitedAccount):
        return budget
    raise ArgumentError(
        f"budget must be budget(epsilon=…), an Account or unlimited('why'), not {type(budget).__name__}", "SRD-A001"
    )


def blocks_of(protected: Any) -> Blocks | None:
    """Return what makes budgets of single days sound, or None where days have none."""
    found: Blocks | None = getattr(protected, "blocks", None)
    return found


def check_protected(given: object) -> None:
    """Refuse what says no name, unit or relation."""
    if not isinstance(given, Protected):
        raise ArgumentError(
            "an account is opened for what has a name, a unit and neighbours, as what dataset(…) makes, not for a "
            f"{type(given).__name__}",
            "SRD-A001",
        )
