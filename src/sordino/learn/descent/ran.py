"""What a training comes to: the model, what it cost, and scores, which are releases of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from sordino.accounting.grant import Grant
from sordino.accounting.work import muted
from sordino.arguments import Number
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError
from sordino.learn.run.account import check_account
from sordino.learn.run.examples import Examples, People
from sordino.learn.run.plan import Recipe, Trained
from sordino.learn.run.score import Score, ScorePlan

from .task import fields_of, tensors_of

_MUTE = "the model could not be scored; what was charged stays charged. Try it on made-up examples of the same shape"
_AT_ONCE = 1024


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
        if fields_of(examples, self.model)[1].is_float:
            raise ArgumentError(
                "a score is the share of classes that a model gets right, and these examples have numbers to be "
                "predicted; declare whole-numbered labels",
                "SRD-A003",
            )
        plan = ScorePlan.of(examples, epsilon)

        def run(grant: Grant) -> Score:
            grant.use_for(plan)
            right = muted(lambda: self._right(examples), _MUTE)
            return plan.score(right)

        return account.carry_out(plan, run)

    def _right(self, examples: Examples) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return for each unit the share of its examples that the model gets right."""
        people: People = examples.people()
        fields = fields_of(examples, self.model)
        found = np.zeros(len(people))
        for start in range(0, len(people), _AT_ONCE):
            units = np.arange(start, min(start + _AT_ONCE, len(people)))
            parts, owners = people.take(units)
            *inputs, targets = tensors_of(parts, (*fields[0], fields[1]))
            with torch.no_grad():
                right = (self.model(*inputs).argmax(1) == targets).double().numpy()
            sizes = np.bincount(owners, minlength=len(units))
            found[units] = np.bincount(owners, right, len(units)) / np.maximum(sizes, 1)
        return found
