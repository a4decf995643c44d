"""Teachers: models on disjoint parts of the examples, whose noisy vote labels public things for a student.

>>> import numpy as np
>>> import sordino as so
>>> from sordino.learn.run.examples import examples
>>> x = np.repeat([0.0, 1.0], 500)
>>> marks = examples("marks", x, x.astype(int), size=1000)
>>> account = so.account(marks, so.budget(epsilon=9, delta=1e-5))
>>> ensemble = teachers(marks, count=20, classes=2, fit=lambda part: lambda asked: asked > 0.5, budget=account)
>>> ensemble.label([0.0, 1.0], sigma=2).labels.tolist()
[0, 1]
"""

from __future__ import annotations

from typing import Any

from sordino.accounting.any_account import Cost
from sordino.accounting.grant import Grant
from sordino.accounting.work import muted
from sordino.arguments import Number, probability, rational, whole
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError
from sordino.learn.run.account import check_account
from sordino.learn.run.examples import Examples
from sordino.learn.run.paying import own_delta
from sordino.learn.run.voting import Ensemble, Fit, things_asked

from .plan import Check, LabelPlan, Labels
from .report import RANKS, Report, ReportPlan

_MUTE = (
    "the teachers could not be asked; what was charged stays charged. Try `fit` on made-up examples of the same shape"
)


class Teachers:
    """An ensemble of teachers. Build it with `teachers`."""

    def __init__(self, examples: Examples, count: int, classes: int, fit: Fit, budget: DataAccount[Any]) -> None:
        self._examples = examples
        self._count = count
        self._classes = classes
        self._account = budget
        self._ensemble = Ensemble(examples, count, classes, fit)

    def label(
        self,
        asked: Any,
        *,
        sigma: Number,
        answers: int | None = None,
        threshold: Number | None = None,
        check_sigma: Number | None = None,
        delta: Number | None = None,
    ) -> Labels:
        """Return labels for public things, at most `answers` of them; charged before the teachers are fitted or asked.

        `sigma` is the standard deviation of the noise on each number of votes. With `threshold`, only things are
        answered whose largest number of votes reaches it, after noise of `check_sigma`; each thing asked pays for that.
        With `delta` all of it is declared beforehand, and charged with the least ε that is proven for it as a whole and
        `delta` as its own: mostly less than what a filter takes for the same noise.
        """
        things = things_asked(asked)
        plan = self._plan(len(things), sigma, answers, threshold, check_sigma, delta)

        def run(grant: Grant) -> Labels:
            grant.use_for(plan)
            return Labels(plan.answer(muted(lambda: self._ensemble.votes(things), _MUTE)))

        return self._account.carry_out(plan, run)

    def price(
        self,
        asked: int,
        *,
        sigma: Number,
        answers: int | None = None,
        threshold: Number | None = None,
        check_sigma: Number | None = None,
        delta: Number | None = None,
    ) -> Cost:
        """Return what labels for so many things would cost."""
        number = whole("asked", asked, least=1)
        return self._account.price(self._plan(number, sigma, answers, threshold, check_sigma, delta))

    def report(
        self,
        asked: Any,
        *,
        sigma: Number,
        epsilon: Number,
        delta: Number = "1e-5",
        confidence: Number = "0.95",
    ) -> Report:
        """Return how little labels of these things by noise of `sigma` lost, given how sure the teachers were.

        The charge of the labels stays: this is a report with a price of its own, `epsilon`, on what can be said of
        these data with `confidence`.
        """
        things = things_asked(asked)
        plan = ReportPlan(
            self._examples.name,
            self._examples.unit,
            self._classes,
            whole("the number of things asked", len(things), least=RANKS),
            rational("sigma", sigma, above=0),
            probability("delta", delta),
            probability("confidence", confidence),
            rational("epsilon", epsilon, above=0),
        )

        def run(grant: Grant) -> Report:
            return plan.run(muted(lambda: self._ensemble.votes(things), _MUTE), grant)

        return self._account.carry_out(plan, run)

    def _plan(
        self,
        asked: int,
        sigma: Number,
        answers: int | None,
        threshold: Number | None,
        check_sigma: Number | None,
        delta: Number | None,
    ) -> LabelPlan:
        if not asked:
            raise ArgumentError("there is nothing to label", "SRD-A003")
        if (threshold is None) != (check_sigma is None):
            raise ArgumentError("a check needs both threshold=… and check_sigma=…", "SRD-A003")
        check = None
        if threshold is not None and check_sigma is not None:
            check = Check(rational("threshold", threshold), rational("check_sigma", check_sigma, above=0))
        most = asked if answers is None else whole("answers", answers, least=1, most=asked)
        return LabelPlan(
            self._examples.name,
            self._examples.unit,
            self._count,
            self._classes,
            asked,
            most,
            rational("sigma", sigma, above=0),
            check,
            None if delta is None else own_delta(self._account.budget, delta),
        )

    def __repr__(self) -> str:
        return f"Teachers({self._count} on {self._examples!r})"


def teachers(examples: Examples, *, count: int, classes: int, fit: Fit, budget: DataAccount[Any]) -> Teachers:
    """Return an ensemble of `count` teachers, each fitted by `fit` on the examples of its own part of the units.

    `fit` gets the examples of one part (an array for each of their parts) and returns a function from things to their
    classes, whole numbers below `classes`. Nothing is fitted before something is charged.
    """
    check_account(budget, examples)
    return Teachers(examples, whole("count", count, least=2), whole("classes", classes, least=2), fit, budget)
