"""Asking: a data set with a budget, a question in SQL, its price, and its answer.

>>> import sordino as so
>>> import pyarrow as pa
>>> trips = so.dataset(
...     "trips", pa.table({"rider": [1, 1, 2], "fare": [9.0, 5.0, 7.0]}), unit="rider",
...     columns={"fare": so.bounds(0, 100)}, limits=so.limits(rows=2),
... )
>>> budget = so.account(trips, so.budget(epsilon=1))
>>> ask = budget.sql("SELECT COUNT(*) AS rides, AVG(fare) AS fare FROM trips")
>>> ask.price(epsilon=0.5).epsilon
Fraction(1, 2)
>>> len(ask.run(epsilon=0.5))
1
"""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from typing import Any, Self, TypeVar, overload

from sordino.accounting.account import Account, UnlimitedAccount
from sordino.accounting.any_account import AnyAccount
from sordino.accounting.budget import Budget
from sordino.accounting.grant import Grant
from sordino.arguments import rational
from sordino.data.account import DataAccount, Protected, account_for, check_protected
from sordino.data.dataset import Dataset
from sordino.errors import ArgumentError, BudgetError

from .answer.answer import Answer
from .engine.memory import Memory
from .frame.draft import Arranged, Draft
from .frame.frame import Frame
from .frame.written import read_calls
from .model.blocks import days_read, on_days
from .model.question import Question
from .model.task import Exact, Task
from .plan import limits as contribution
from .plan.goal import cheapest, error_of, largest_that_fits, noise_of
from .plan.personal import check_budget
from .plan.planner import Wishes
from .plan.price import Price, price_of
from .plan.spend import Spend
from .plan.whole import WholePlan, plan_whole
from .release.assembly import answer_of
from .release.whole import run_whole
from .sql.parse import parse
from .sql.views import check_views
from .words import LEAST_EPSILON, Words, takes

P = TypeVar("P", bound=Protected)

_DOES_NOT_FIT = "SRD-B001"
_KEYS_DELTA_PARTS = 10
"""Without a delta of its own, a question with private keys takes this part of what the budget holds for such."""


class Ask:
    """A question about a data set, ready to be priced and run; both take the same words (see ``words.py``)."""

    def __init__(self, data: TableAccount, question: Question, text: str) -> None:
        self._data = data
        self.question = on_days(question)
        self.text = text

    @property
    def days(self) -> tuple[str, ...]:
        """The days that the question reads, and is charged on; none where days have no budgets of their own."""
        return tuple(day.isoformat() for day in days_read(self.question.relation))

    @property
    def _account(self) -> AnyAccount:
        return self._data.account.on_days(self.days)

    @takes(Words)
    def price(self, words: Words) -> Price:
        """Return the cost and the error to expect in every column; touches no data and charges nothing."""
        return price_of(self._plan(words), self._account, words.confidence)

    @takes(Words)
    def plan(self, words: Words) -> WholePlan:
        """Return the plan itself, for those who want to look inside or charge it elsewhere."""
        return self._plan(words)

    @takes(Words)
    def run(self, words: Words) -> Answer:
        """Charge the price, then return the noisy answer. What was charged stays charged, whatever happens.

        Where the account's owner allows it, a question that does not fit is answered for what does, and says so.
        """
        whole = self._plan(words)
        try:
            return self._carry_out(whole, words)
        except BudgetError as refusal:
            if refusal.code != _DOES_NOT_FIT or words.error is not None or words.noise is not None:
                raise
            account = self._account
            best = Fraction(0) if account.budget is None else self._largest(words, whole)
            if not best or not account.degrades:
                raise self._too_much(whole, best, refusal) from None
        note = f"this was asked for {_said(whole.spend)}, and answered for the {float(best):g} that is left"
        return self._carry_out(self._planned(words, whole.wishes, best, words.find), words, note)

    def _carry_out(self, whole: WholePlan, words: Words, *notes: str) -> Answer:
        def release(grant: Grant) -> Answer:
            begun = datetime.now(UTC)  # not when it ended: how long the engine took is not for the answer to tell
            answer = answer_of(whole, run_whole(whole, grant, self._data.compute), self.text, words, begun)
            answer.notes += notes
            return answer

        self._data.dataset.check_ready()
        return self._data.carry_out(whole, release)

    def _planned(self, words: Words, wishes: Wishes, amount: Fraction, find: bool = False) -> WholePlan:
        """Return the plan for a price; bounds that are missing are found for a part of it, or refused."""
        return plan_whole(self.question, self._spend(words, amount), wishes, find=find, truncation=words.truncation)

    def _largest(self, words: Words, whole: WholePlan) -> Fraction:
        """Return the largest price of this question that still fits, 0 if none does."""
        found = largest_that_fits(
            lambda amount: self._data.price(self._planned(words, whole.wishes, amount, words.find)).fits,
            whole.spend.amount,
        )
        return Fraction(found or 0)

    def _too_much(self, whole: WholePlan, best: Fraction, refusal: BudgetError) -> BudgetError:
        """Return the refusal in the words of the question: what it costs, what is used, and what would fit."""
        account = self._account
        if account.budget is None:
            return refusal
        asked, held = whole.spend.keys_delta, Fraction(account.budget.own_delta_cap, 10**18)
        if asked > held and not contribution.keys_are_public(self.question):
            return BudgetError(
                f"this question needs a delta of {float(asked):g} of its own, and the budget {account.budget} holds "
                f"{float(held):g} for such; give a smaller delta=…, or declare keys(…) for the columns",
                refusal.code,
            )
        word = "epsilon" if whole.spend.epsilon is not None else "rho"
        instead = f"{word}={float(best):g} would fit" if best else "nothing of it would fit; ask the data's owner"
        return BudgetError(
            f"this question costs {_said(whole.spend)}, and of the budget {account.budget}{_of_days(self.question)} "
            f"{100 * account.used:.3g} % is used; {instead}",
            refusal.code,
        )

    def __repr__(self) -> str:
        return f"Ask({self.text!r})"

    def _plan(self, words: Words) -> WholePlan:
        budget = self._data.budget
        if self.question.schema.personal is not None and budget is not None:
            check_budget(self.question.schema.personal, budget.epsilon)
        flips = budget is None or budget.calculus == "pure"
        wishes = Wishes(words.bounding, words.weights or {}, words.mechanism, intervals=words.intervals, flips=flips)
        make = partial(self._planned, words, wishes)
        if words.error is None and words.noise is None:
            return make(self._amount(words), words.find)
        goal = words.error  # it can only be aimed for when all bounds are known
        if goal is not None:
            price = cheapest(make, lambda whole: error_of(whole.passes[0], goal), float(goal.amount))
        else:
            price = cheapest(make, lambda whole: noise_of(whole.passes[0]), float(words.noise or 0))
        return make(price, words.find)

    def _amount(self, words: Words) -> Fraction:
        amount = words.epsilon if words.epsilon is not None else words.rho
        if amount is not None:
            return rational("amount", amount)
        if self.question.options.epsilon is None:
            raise ArgumentError("say what to spend: epsilon=…, rho=…, error=within(…, of=…) or noise=…", "SRD-A003")
        return rational("epsilon", self.question.options.epsilon, least=LEAST_EPSILON)

    def _spend(self, words: Words, amount: Fraction) -> Spend:
        budget = self._data.budget
        by_rho = words.rho is not None or (words.epsilon is None and budget is not None and budget.rho is not None)
        given = self.question.options.delta if words.delta is None else rational("delta", words.delta)
        private = not contribution.keys_are_public(self.question)
        if given is not None:
            keys, gaussian = (given, Fraction(0)) if private or by_rho else (Fraction(0), given)
        elif budget is None:
            keys = gaussian = Fraction(0)
        else:
            keys = Fraction(budget.own_delta_cap, 10**18) / _KEYS_DELTA_PARTS
            gaussian = budget.rest_delta if budget.calculus == "renyi" else Fraction(0)
        keys = keys if private else Fraction(0)
        return Spend(None, amount, keys_delta=keys) if by_rho else Spend(amount, None, gaussian, keys)


class FrameAsk(Arranged, Ask):
    """A question that was built by method calls, with what can still be done to its answer."""

    def __init__(self, data: TableAccount, draft: Draft) -> None:
        super().__init__(data, draft.question, draft.text)
        self._draft = draft

    def _redrafted(self, draft: Draft) -> Self:
        return type(self)(self._data, draft)


class TableAccount(DataAccount[Dataset]):
    """A data set and the account that everything asked about it is charged to. Build it with `account`.

    `memory` is what was translated for the same data set before; accounts may share it.
    """

    def __init__(self, dataset: Dataset, account: AnyAccount, memory: Memory | None = None) -> None:
        super().__init__(dataset, account)
        if memory is None:
            check_views(dataset.schema)
        self.memory = memory or Memory(dataset.schema, dataset.table)

    @property
    def dataset(self) -> Dataset:
        """What is asked about."""
        return self.protected

    def on(self, account: AnyAccount) -> TableAccount:
        """Return the same data set, with everything charged to another account."""
        return type(self)(self.protected, account, self.memory)

    def sql(self, text: str) -> Ask:
        """Return the question that the text asks; refused with what to write instead if it cannot be answered."""
        return Ask(self, parse(text, self.dataset.schema), text)

    def table(self, name: str) -> Frame[FrameAsk]:
        """Return a table to ask about by method calls: ``.group_by("city").agg(rides=so.count())``."""
        return Frame.over(self.dataset.schema, name, partial(FrameAsk, self))

    def calls(self, text: str) -> FrameAsk:
        """Return the question that method calls ask, from their text: ``"table('trips').agg(rides=count())"``.

        The text is read and never run as Python; it is what `text` of such a question says.
        """
        return read_calls(text, self.dataset.schema, partial(FrameAsk, self))

    def compute(self, task: Task, salt: int) -> Exact:
        """Run a task on the data's engine; what comes back is secret."""
        return self.memory.compute(task, salt)


@overload
def account(protected: Dataset, budget: Budget | Account | UnlimitedAccount) -> TableAccount: ...


@overload
def account(protected: P, budget: Budget | Account | UnlimitedAccount) -> DataAccount[P]: ...


def account(protected: Any, budget: Budget | Account | UnlimitedAccount) -> DataAccount[Any]:
    """Return what is protected with everything charged to one budget, which lives in memory.

    Tables, as ``dataset(…)`` declares them, can be asked; anything else with a name, a unit and neighbours is for the
    rooms that know it.
    """
    check_protected(protected)
    found = account_for(budget)
    return TableAccount(protected, found) if isinstance(protected, Dataset) else DataAccount(protected, found)


def _of_days(question: Question) -> str:
    days = days_read(question.relation)
    return f" of each day, on the busiest of {days}," if days else ""


def _said(spend: Spend) -> str:
    return f"{'epsilon' if spend.epsilon is not None else 'rho'} = {float(spend.amount):g}"
