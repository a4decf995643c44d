"""`search`: settings found on the data itself, under one charge that is fixed before the first trial.

**Guarantee**, **Proof**, **Source**: see ``learn.run.search``.
Every trial has chance of torch's of its own, seeded anew by a secret draw, and puts back what was there before. Else,
after ``torch.manual_seed``, the weights that the winner began with would tell the number of its trial, and torch's next
number how many there were.
**Assumes**: `model`, `optimizer` and `schedule` are called once a trial, so what they print tells how many there were,
and so does chance other than torch's that they use up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from time import monotonic, sleep
from typing import Any

import torch
from torch import nn
from torch.optim.lr_scheduler import LRScheduler

from sordino.accounting.any_account import Cost
from sordino.accounting.digest import digest_of
from sordino.accounting.grant import Grant
from sordino.accounting.work import muted
from sordino.arguments import Number, rational
from sordino.errors import ArgumentError, RunError
from sordino.keywords import given, word
from sordino.learn.run.account import check_account
from sordino.learn.run.examples import Examples
from sordino.learn.run.paying import steps_of
from sordino.learn.run.pricing import budget_of_its_own
from sordino.learn.run.sampling import sampler
from sordino.learn.run.score import ScorePlan
from sordino.learn.run.search import (
    Found,
    Pace,
    SearchPlan,
    Settings,
    Space,
    TrialAccount,
    candidates_of,
    check_rule,
    check_trial,
    dominating,
    least_search_multiplier,
)
from sordino.learn.run.trials import trials_of
from sordino.noise import uniform

from .chance import own_chance
from .ran import Run
from .task import Loss
from .train import descend, sgd
from .training import Training
from .words import Samples, Spending, takes

MakeModel = Callable[[Settings], nn.Module]
MakeOptimizer = Callable[[Settings, Iterable[nn.Parameter]], torch.optim.Optimizer]
MakeSchedule = Callable[[Settings, torch.optim.Optimizer], LRScheduler]

_MUTE = (
    "the search found nothing; what was charged stays charged. Try the settings on made-up examples of the same shape"
)


_CHANGEABLE = ("batch", "clip", "epochs", "steps", "clipping")


@dataclass(frozen=True, kw_only=True)
class SearchWords(Samples, Spending):
    """The words of `search` and `Search`; those of a training may be named in the space instead."""

    model: MakeModel = field(metadata=word("from settings to a fresh model."))
    loss: Loss = field(metadata=word("as in `train`."))
    trials: Number = field(metadata=word("how many trials there are on average."))
    score_epsilon: Number = field(metadata=word("the ε of each trial's score, part of what the search costs."))
    law: str = field(
        default="geometric",
        metadata=word(
            'how the number of trials is distributed: "geometric" (mostly fewer than the mean, now and then many more),'
            ' "logarithmic" (more so, and cheaper), or "poisson" (near the mean; cheap where one trial is).'
        ),
    )
    batch: int | None = field(default=None, metadata=word("as in `train`."))
    clip: Number | None = field(default=None, metadata=word("as in `train`."))
    optimizer: MakeOptimizer | None = field(
        default=None, metadata=word("from settings and parameters to an optimizer; SGD with momentum if left out.")
    )
    schedule: MakeSchedule | None = field(default=None, metadata=word("from settings and the optimizer to a schedule."))
    answer_after: Number | None = field(
        default=None,
        metadata=word("so many seconds after the start the answer is given, if it is ready; hides how long it took."),
    )

    def under(self, settings: Settings) -> SearchWords:
        """Return the words with what the settings say instead."""
        named: dict[str, Any] = {name: settings[name] for name in _CHANGEABLE if name in settings}
        return replace(self, **named)

    def pace(self, size: int) -> Pace:
        """Return how long and on which samples it trains."""
        if self.batch is None or self.clip is None:
            raise ArgumentError("say batch=… and clip=…, or name them in the space", "SRD-A003")
        drawn = sampler(self.sampling, self.batch, size)
        return Pace(drawn, steps_of(self.steps, self.epochs, drawn.batch, size))


@dataclass(frozen=True)
class Candidate:
    """Settings that may be drawn, the words they train by, and the digest of the plan that this is."""

    settings: Settings
    words: SearchWords
    plan: str = ""


class Search:
    """A search for the best settings, charged whole: `price` tells what it costs, `run` runs it. See `search`."""

    @takes(SearchWords)
    def __init__(self, space: Space, examples: Examples, words: SearchWords) -> None:
        """Check and price a search; nothing is charged yet."""
        budget = words.budget
        check_account(budget, examples)
        check_rule(budget.budget)
        choices = [Candidate(settings, words.under(settings)) for settings in candidates_of(space)]
        pace = dominating([each.words.pace(examples.size) for each in choices])
        law_of_trials, score = trials_of(words.law, words.trials), ScorePlan.of(examples, words.score_epsilon)
        if words.noise is None:
            own = budget_of_its_own(budget.budget, words.epsilon, words.delta, None)
            multiplier = least_search_multiplier(pace, score, law_of_trials, own, examples.neighbours)
        else:
            multiplier = rational("noise", words.noise, above=0)
        self._examples, self._account, self._words, self._noise = examples, budget, words, multiplier
        after = words.answer_after
        self._seconds = 0.0 if after is None else float(rational("answer_after", after, least=0))
        self._candidates = [self._tried(each) for each in choices]
        known = digest_of([[each.settings, each.plan] for each in self._candidates])
        self.plan = SearchPlan(examples.name, examples.unit, law_of_trials, pace, multiplier, score, known)

    def price(self) -> Cost:
        """Return what the whole search costs, without charging it."""
        return self._account.price(self.plan)

    def run(self) -> Found:
        """Charge the search, run it, and return the best trial. How many trials there were is not known to anybody."""
        ready = monotonic() + self._seconds

        def best(grant: Grant) -> Found:
            grant.use_for(self.plan)
            try:
                found = muted(self._best, _MUTE)
            except RunError:  # as late as an answer would come
                _wait_until(ready)
                raise
            _wait_until(ready)
            return found

        return self._account.carry_out(self.plan, best)

    def _best(self) -> Found:
        """Return the best of a random number of trials; ties are broken by a fair draw among all that are tied."""
        best: Found | None = None
        tied = 0
        for _ in range(self.plan.trials.draw()):
            with own_chance():
                found = self._trial(self._candidates[uniform(len(self._candidates))])
            if found is None or (best is not None and found.score.accuracy < best.score.accuracy):
                continue
            tied = tied + 1 if best is not None and found.score.accuracy == best.score.accuracy else 1
            if uniform(tied) == 0:
                best = found
        if best is None:
            raise LookupError
        return best

    def _trial(self, candidate: Candidate) -> Found | None:
        """Return what one trial comes to, None if it fails: it then ranks below all others."""
        account = TrialAccount(self._examples, candidate.plan, self.plan.score.digest())
        try:
            training = self._training(candidate, account)
            descent, rates = self._descent(candidate.settings, training.model)
            descend(training, descent, rates)
            run = Run(training.model, account, training.recipe, training.settled, training.model)
            score = run.score(self._examples, epsilon=self._words.score_epsilon)
        except Exception:  # whatever it is may depend on the data, and says nothing: the trial counts as the worst
            return None
        return Found(candidate.settings, run.model, score, run.settled[-1].weights, self.plan)

    def _tried(self, candidate: Candidate) -> Candidate:
        """Return the candidate with its plan, after trying its model and optimizer on made-up data."""
        training = self._training(candidate, TrialAccount(self._examples))
        self._descent(candidate.settings, training.model)
        plan = training.recipe.tranche_from(0)
        check_trial(plan, candidate.words.pace(self._examples.size), self._noise)
        return replace(candidate, plan=plan.digest())

    def _training(self, candidate: Candidate, account: TrialAccount) -> Training:
        words = candidate.words
        assert words.clip is not None  # noqa: S101  (refused before)
        pace = words.pace(self._examples.size)
        least = pace.sampler.least
        return Training(
            words.model(candidate.settings),
            words.loss,
            self._examples,
            budget=account,
            batch=pace.sampler.batch,
            clip=words.clip,
            steps=pace.steps,
            noise=self._noise,
            sampling=words.sampling,
            clipping=words.clipping,
            tranche=math.ceil(pace.steps / least) * least,
        )

    def _descent(self, settings: Settings, model: nn.Module) -> tuple[torch.optim.Optimizer, LRScheduler | None]:
        make = self._words
        descent = sgd(model.parameters()) if make.optimizer is None else make.optimizer(settings, model.parameters())
        return descent, None if make.schedule is None else make.schedule(settings, descent)


def _wait_until(moment: float) -> None:
    sleep(max(0.0, moment - monotonic()))


@takes(SearchWords)
def search(space: Space, examples: Examples, words: SearchWords) -> Found:
    """Train with settings drawn from `space`, a random number of times, and return the best by a private score.

    All trials are charged to `budget` as one, before the first; `epsilon` is what they cost together, `noise` the noise
    multiplier of every training.

    * `space`: for each setting the values it may take. Settings called batch, clip, epochs, steps or clipping are words
      of the training; the others are for `model`, `optimizer` and `schedule`, which get all of them.
    * `examples`: what is trained and scored on.
    """
    return Search(space, examples, **given(words)).run()
