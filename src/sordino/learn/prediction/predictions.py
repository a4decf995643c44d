"""A service of private predictions: so many answers, charged whole when it opens, then a refusal.

The models are never released. Each answer is recorded in the ledger before it leaves, and asking for the same number
again gives the same answer: what was paid for once is told once.
"""

from __future__ import annotations

import json
import threading
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Unit
from sordino.accounting.budget import Budget
from sordino.accounting.digest import digest_of
from sordino.accounting.events import Gaussian as GaussianEvent
from sordino.accounting.events import Repeated
from sordino.accounting.filter import Filter
from sordino.accounting.work import Work, muted
from sordino.arguments import Number, rational, whole
from sordino.data.account import DataAccount, Protected
from sordino.errors import BudgetError
from sordino.learn.run.account import check_account
from sordino.learn.run.examples import Examples
from sordino.learn.run.pricing import Spent, budget_of_its_own, used_whole
from sordino.learn.run.rows import Array
from sordino.learn.run.voting import Ensemble, Fit, things_asked, votes_bound
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.noisy_max import PermuteAndFlip

from .plan import Flipped, Noisy, Prediction, PredictionPlan

_MUTE = "the models could not be asked; what was charged stays charged. Try `fit` on made-up examples of the same shape"


class Predictions:
    """Answers by a noisy vote of models on disjoint parts. Build it with `predictions`; close it, or use a ``with``."""

    def __init__(self, plan: PredictionPlan, ensemble: Ensemble, work: Work) -> None:
        self.plan = plan
        self._ensemble = ensemble
        self._work = work
        self._given = _recorded(work, plan.answers)
        self._lock = threading.Lock()

    @property
    def id(self) -> str:
        """Under which the service goes on after a restart, where its account outlives the process."""
        return self._work.id

    @property
    def left(self) -> int:
        """How many answers are left."""
        return self.plan.answers - self._given

    def predict(self, asked: Any, *, after: int | None = None) -> NDArray[np.int64]:
        """Return the class of each thing asked, a row each; refused, before anything is looked at, if too many.

        Who asks again, as an answer was lost on its way, says `after`: how many answers had been given when the same
        was asked first. Those that were recorded since about these very things are given again, and cost nothing.
        """
        things = things_asked(asked)
        with self._lock:
            again = [] if after is None else self._given_again(things, after)
            rest = things[len(again) :]
            self._check_left(len(rest))
            votes = muted(lambda: self._ensemble.votes(rest), _MUTE) if len(rest) else np.zeros((0, 0), np.int64)
            new = [self._answer(*each) for each in zip(rest, votes, strict=True)]
            return np.array([*again, *new], dtype=np.int64)

    def _given_again(self, things: Array, after: int) -> list[int]:
        """Return the answers about the first of these things that were recorded one after the other."""
        found: list[int] = []
        for number, thing in enumerate(things, whole("after", after, least=0) + 1):
            recorded = self._work.recorded(number) if number <= self.plan.answers else None
            said = None if recorded is None else json.loads(recorded)
            if said is None or said["asked"] != digest_of(np.ascontiguousarray(thing)):
                break
            found.append(int(said["class"]))
        return found

    def _answer(self, thing: Array, votes: NDArray[np.int64]) -> int:
        """Return a recorded answer about this very thing; a number that another process took is passed over."""
        asked = digest_of(np.ascontiguousarray(thing))
        while True:
            self._check_left(1)
            self._given += 1
            ours = Prediction({"asked": asked, "class": self.plan.answer(votes)})
            said = json.loads(self._work.part(self._given, ours))
            if said["asked"] == asked:
                return int(said["class"])

    def _check_left(self, wanted: int) -> None:
        if wanted > self.left:
            raise BudgetError(
                f"{wanted} answers were asked for and {self.left} of {self.plan.answers} are left; ask for fewer, or "
                "open another service, which is charged anew",
                "SRD-B001",
            )

    def close(self) -> Prediction:
        """Settle: no more answers, and no refund for those that are left."""
        return self._work.finish(Prediction({"answers": self._given}))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: TracebackType | None) -> None:
        if error is None:
            self.close()

    def __repr__(self) -> str:
        return f"Predictions({self.plan.dataset!r}, {self.left} of {self.plan.answers} answers left)"


def predictions(
    examples: Examples,
    *,
    parts: int,
    classes: int,
    fit: Fit,
    answers: int,
    budget: DataAccount[Any],
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    resume: str | None = None,
) -> Predictions:
    """Open a service of `answers` private predictions, charged whole here, by models on so many disjoint `parts`.

    `fit` gets the examples of one part and returns a function from things to their classes, whole numbers below
    `classes`. `resume` goes on with a service by its id, without another charge.
    """
    check_account(budget, examples)
    spent = Spent(epsilon, delta, rho)
    plan = plan_of(examples, budget.budget, spent, parts=parts, classes=classes, answers=answers)
    work = budget.begin(plan) if resume is None else budget.resume(resume, plan)
    return Predictions(plan, Ensemble(examples, plan.models, plan.classes, fit), work)


def plan_of(
    examples: Protected, account: Budget | None, spent: Spent, *, parts: int, classes: int, answers: int
) -> PredictionPlan:
    """Return what so many answers cost, about whatever has a name and a unit: no data is needed."""
    count = whole("answers", answers, least=1)
    kinds = whole("classes", classes, least=2)
    way = _way(account, spent.epsilon, spent.delta, spent.rho, count, kinds, examples.unit)
    return PredictionPlan(examples.name, examples.unit, whole("parts", parts, least=2), kinds, count, way)


def _way(
    account: Budget | None,
    epsilon: Number | None,
    delta: Number | None,
    rho: Number | None,
    answers: int,
    classes: int,
    unit: Unit,
) -> Noisy | Flipped:
    """Return the least noise with which all answers cost what was given."""
    if rho is None and delta is None and account is not None and account.calculus == "pure":
        share = rational("epsilon", epsilon, above=0) / answers
        return Flipped(PermuteAndFlip.for_epsilon(share, Flipped.bound_of(unit), classes))
    rule = Filter.open(budget_of_its_own(account, epsilon, delta, rho))

    multiplier = used_whole(lambda each: Repeated(GaussianEvent(each**2), answers), rule)
    return Noisy(Gaussian.for_rho(1 / (2 * multiplier**2), votes_bound(unit)))


def _recorded(work: Work, answers: int) -> int:
    """Return how many answers were given before a restart: numbers have no gaps, so they are found by halving."""
    low, high = 0, answers
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if work.recorded(middle) is not None else (low, middle - 1)
    return low
