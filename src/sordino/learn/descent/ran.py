"""What a training comes to: the model, what it cost, and scores, which are releases of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import nn

from sordino.accounting.grant import Grant
from sordino.accounting.work import muted
from sordino.arguments import Number
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError
from sordino.learn.run.account import check_account
from sordino.learn.run.examples import Examples
from sordino.learn.run.plan import Recipe, Trained
from sordino.learn.run.score import Score, ScorePlan

from .shares_right import Judge
from .task import fields_of

_MUTE = "the model could not be scored; what was charged stays charged. Try it on made-up examples of the same shape"


@dataclass(frozen=True, eq=False)
class Run:
    """A trained model and what was settled about it, a tranche each."""

    model: nn.Module
    budget: DataAccount[Any]
    recipe: Recipe
    settled: tuple[Trained, ...]
    last: nn.Module
    """The model as it was trained last; `model` itself, unless that has averaged weights."""

    @property
    def receipt(self) -> Any:
        """The signed receipt of the last tranche, which names the weights of `last`; None without a ledger."""
        return self.settled[-1].receipt if self.settled else None

    def score(self, examples: Examples, *, epsilon: Number, budget: DataAccount[Any] | None = None) -> Score:
        """Return the share of examples that the model gets right, with noise: a release of its own, charged first.

        Each unit counts as one, whatever the number of its examples. `budget` is the account of `examples`; that of the
        training, if left out. What is public needs no budget: compare the model's outputs yourself.
        """
        account = self.budget if budget is None else budget
        check_account(account, examples)
        fields = fields_of(examples, self.model)
        if fields[1].is_float:
            raise ArgumentError(
                "a score is the share of classes that a model gets right, and these examples have numbers to be "
                "predicted; declare whole-numbered labels",
                "SRD-A003",
            )
        plan, judge = ScorePlan.of(examples, epsilon), Judge(self.model, fields)

        def run(grant: Grant) -> Score:
            grant.use_for(plan)
            return plan.score(muted(lambda: judge.shares(examples), _MUTE))

        return account.carry_out(plan, run)
