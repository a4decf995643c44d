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

from collections.abc import Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from fractions import Fraction
from functools import partial
from inspect import signature
from typing import Any, Self

from sordino.accounting.account import Account, UnlimitedAccount
from sordino.accounting.budget import Budget
from sordino.accounting.grant import Grant
from sordino.accounting.tally import Entry
from sordino.arguments import Number, rational
from sordino.errors import ArgumentError, BudgetError

from .answer.answer import Answer
from .data.dataset import Dataset
from .engine.memory import Memory
from .frame.draft import Arranged, Draft
from .frame.frame import Frame
from .frame.written import read_calls
from .model.blocks import days_read, on_days
from .model.bounding import Bounding
from .model.question import Question
from .model.task import Exact, Task
from .plan import limits as contribution
from .plan.personal import check_budget
from .plan.plan import QueryPlan
from .plan.planner import Wishes
from .plan.spend import Spend
from .release.assembly import answer_of
from .release.goal import Within, cheapest, error_of, largest_that_fits, noise_of
from .release.price import Price, price_of
from .release.whole import WholePlan, plan_whole, run_whole
from .sql.parse import parse

_DOES_NOT_FIT = "SRD-B001"
_LEAST_EPSILON = "1e-9"
_KEYS_DELTA_PARTS = 10
"""Without a delta of its own, a question with private keys takes this part of what the budget holds for such."""


class Ask:
    """A question about a data set, ready to be priced and run.

    The words of `price` and `run` are the same:

    * what to spend: one of `epsilon`, `rho`, `error` (``within(0.05, of="fare")``: the least price that gets there) or
      `noise` (the standard deviation of the noise in a count); `delta` for private keys and Gaussian noise;
    * how: `weights` (how much each column's error matters), `bounding`, `mechanism` ("laplace" or "gaussian"),
      `find=False` to be refused rather than have missing bounds found for a part of the price, `losses=True` to have
      estimated, for a part of the price, how many people bounding cuts something off from, `intervals=False` to spend
      on quantiles, minima and maxima what their intervals would cost (these are the whole range then);
    * how to show it: `confidence`, `integers`, `non_negative`, `consistent`.
    """

    def __init__(self, data: DataAccount, question: Question, text: str) -> None:
        self._data = data
        self.question = on_days(question)
        self.text = text

    @property
    def days(self) -> tuple[str, ...]:
        """The days that the question reads, and is charged on; none where days have no budgets of their own."""
        return tuple(day.isoformat() for day in days_read(self.question.relation))

    @property
    def _account(self) -> Account | UnlimitedAccount:
        return self._data.account.on_days(self.days)

    def price(self, **words: Any) -> Price:
        """Return the cost and the error to expect in every column; touches no data and charges nothing."""
        asked = _asked(words)
        return price_of(self._plan(asked), self._account, asked.confidence)

    def plan(self, **words: Any) -> WholePlan:
        """Return the plan itself, for those who want to look inside or charge it elsewhere."""
        return self._plan(_asked(words))

    def run(self, **words: Any) -> Answer:
        """Charge the price, then return the noisy answer. What was charged stays charged, whatever happens.

        Where the account's owner allows it, a question that does not fit is answered for what does, and says so.
        """
        asked = _asked(words)
        whole = self._plan(asked)
        try:
            return self._carry_out(whole, asked)
        except BudgetError as refusal:
            if refusal.code != _DOES_NOT_FIT or asked.error is not None or asked.noise is not None:
                raise
            account = self._account
            best = self._largest(asked, whole) if isinstance(account, Account) else Fraction(0)
            if not best or not account.degrades:
                raise self._too_much(whole, best, refusal) from None
        note = f"this was asked for {_said(whole.spend)}, and answered for the {float(best):g} that is left"
        return self._carry_out(self._planned(asked, whole, best), asked, note)

    def _carry_out(self, whole: WholePlan, asked: _Asked, *notes: str) -> Answer:
        def release(grant: Grant) -> Answer:
            begun = datetime.now(UTC)  # not when it ended: how long the engine took is not for the answer to tell
            answer = answer_of(whole, run_whole(whole, grant, self._data.compute), self.text, asked, begun)
            answer.notes += notes
            return answer

        return self._account.carry_out(whole, release)

    def _planned(self, asked: _Asked, whole: WholePlan, amount: Fraction) -> WholePlan:
        """Return the same plan for another price."""
        return plan_whole(self.question, self._spend(asked, amount), whole.wishes, find=asked.find, losses=asked.losses)

    def _largest(self, asked: _Asked, whole: WholePlan) -> Fraction:
        """Return the largest price of this question that still fits, 0 if none does."""
        account = self._account
        found = largest_that_fits(
            lambda amount: account.price(self._planned(asked, whole, amount).event()).fits, whole.spend.amount
        )
        return Fraction(found or 0)

    def _too_much(self, whole: WholePlan, best: Fraction, refusal: BudgetError) -> BudgetError:
        """Return the refusal in the words of the question: what it costs, what is used, and what would fit."""
        account = self._account
        if not isinstance(account, Account):
            return refusal
        word = "epsilon" if whole.spend.epsilon is not None else "rho"
        instead = f"{word}={float(best):g} would fit" if best else "nothing of it would fit; ask the data's owner"
        return BudgetError(
            f"this question costs {_said(whole.spend)}, and of the budget {account.budget}{_of_days(self.question)} "
            f"{100 * account.used:.3g} % is used; {instead}",
            refusal.code,
        )

    def __repr__(self) -> str:
        return f"Ask({self.text!r})"

    def _plan(self, asked: _Asked) -> WholePlan:
        budget = self._data.budget
        if self.question.schema.personal is not None and budget is not None:
            check_budget(self.question.schema.personal, budget.epsilon)
        flips = budget is None or budget.calculus == "pure"
        wishes = Wishes(asked.bounding, asked.weights, asked.mechanism, intervals=asked.intervals, flips=flips)

        def make(amount: Fraction) -> WholePlan:
            return plan_whole(self.question, self._spend(asked, amount), wishes, find=asked.find, losses=asked.losses)

        if asked.error is None and asked.noise is None:
            return make(self._amount(asked))
        find = asked.find
        asked.find = False  # an error can only be aimed for when all bounds are known
        goal = asked.error
        if goal is not None:
            price = cheapest(make, lambda whole: error_of(_single(whole), goal), float(goal.amount))
        else:
            price = cheapest(make, lambda whole: noise_of(_single(whole)), float(asked.noise or 0))
        asked.find = find
        return make(price)

    def _amount(self, asked: _Asked) -> Fraction:
        amount = asked.epsilon if asked.epsilon is not None else asked.rho
        if amount is None:
            amount = self.question.options.epsilon
            if amount is not None:
                rational("epsilon", amount, least=_LEAST_EPSILON)
        if amount is None:
            raise ArgumentError("say what to spend: epsilon=…, rho=…, error=within(…, of=…) or noise=…", "SRD-A003")
        return amount

    def _spend(self, asked: _Asked, amount: Fraction) -> Spend:
        budget = self._data.budget
        by_rho = asked.rho is not None or (asked.epsilon is None and budget is not None and budget.rho is not None)
        given = asked.delta if asked.delta is not None else self.question.options.delta
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

    def __init__(self, data: DataAccount, draft: Draft) -> None:
        super().__init__(data, draft.question, draft.text)
        self._draft = draft

    def _redrafted(self, draft: Draft) -> Self:
        return type(self)(self._data, draft)


def _asked(words: Mapping[str, Any]) -> _Asked:
    for word in words:
        if word not in _WORDS:
            close = get_close_matches(word, _WORDS, n=1, cutoff=0.4)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(_WORDS)}"
            raise ArgumentError(f"a question cannot be asked with {word}=…; {hint}", "SRD-A001")
    return _Asked(**words)


class _Asked:
    """The words of `price` and `run`, read and checked."""

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        error: Within | None = None,
        noise: Number | None = None,
        delta: Number | None = None,
        weights: Mapping[str, float] | None = None,
        bounding: Bounding | None = None,
        mechanism: str | None = None,
        find: bool = True,
        losses: bool = False,
        intervals: bool = True,
        confidence: Number = 0.95,
        integers: bool = False,
        non_negative: bool = False,
        consistent: bool = True,
    ) -> None:
        if sum(each is not None for each in (epsilon, rho, error, noise)) > 1:
            raise ArgumentError("give one of epsilon, rho, error and noise, not several", "SRD-A003")
        if error is not None and not isinstance(error, Within):
            raise ArgumentError('error must be a goal such as within(0.05, of="fare")', "SRD-A001")
        if bounding is not None and not isinstance(bounding, Bounding):
            raise ArgumentError('bounding must be a way such as bounding("weigh", rows=3)', "SRD-A001")
        if not isinstance(intervals, bool):
            raise ArgumentError(f"intervals must be True or False, not {intervals!r}", "SRD-A001")
        if mechanism not in (None, "laplace", "gaussian"):
            raise ArgumentError('mechanism must be "laplace" or "gaussian", or left out for the better one', "SRD-A002")
        self.epsilon = None if epsilon is None else rational("epsilon", epsilon, least=_LEAST_EPSILON, most="1e4")
        self.rho = None if rho is None else rational("rho", rho, least="1e-12", most="1e4")
        self.noise = None if noise is None else rational("noise", noise, above=0)
        self.delta = None if delta is None else rational("delta", delta, above=0)
        self.error = error
        self.weights = dict(weights or {})
        self.bounding = bounding
        self.mechanism = mechanism
        self.find = find
        self.losses = losses
        self.intervals = intervals
        self.confidence = confidence
        self.integers = integers
        self.non_negative = non_negative
        self.consistent = consistent


_WORDS = tuple(signature(_Asked).parameters)


class DataAccount:
    """A data set and the account that everything asked about it is charged to. Build it with `account`."""

    def __init__(self, dataset: Dataset, account: Account | UnlimitedAccount) -> None:
        self.dataset = dataset
        self.account = account
        self._memory = Memory(dataset.schema, dataset.table)

    @property
    def budget(self) -> Budget | None:
        """The cap, or None for an account without one."""
        return self.account.budget if isinstance(self.account, Account) else None

    @property
    def remaining(self) -> Any:
        """The largest events that would still fit; None without a cap."""
        return self.account.remaining if isinstance(self.account, Account) else None

    @property
    def history(self) -> tuple[Entry, ...]:
        """All that was charged, in order."""
        return self.account.history

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
        return self._memory.compute(task, salt)

    def __repr__(self) -> str:
        return f"{self.dataset.name} on {self.account!r}"


def account(dataset: Dataset, budget: Budget | Account | UnlimitedAccount) -> DataAccount:
    """Return a data set that can be asked, with everything charged to one budget, which lives in memory."""
    if not isinstance(dataset, Dataset):
        raise ArgumentError(f"dataset must be made by dataset(…), not {type(dataset).__name__}", "SRD-A001")
    if isinstance(budget, Budget):
        return DataAccount(dataset, Account(budget))
    if isinstance(budget, Account | UnlimitedAccount):
        return DataAccount(dataset, budget)
    raise ArgumentError(
        f"budget must be budget(epsilon=…), an Account or unlimited('why'), not {type(budget).__name__}", "SRD-A001"
    )


def _of_days(question: Question) -> str:
    days = days_read(question.relation)
    return f" of each day, on the busiest of {days}," if days else ""


def _said(spend: Spend) -> str:
    return f"{'epsilon' if spend.epsilon is not None else 'rho'} = {float(spend.amount):g}"


def _single(whole: WholePlan) -> QueryPlan:
    return whole.passes[0]
