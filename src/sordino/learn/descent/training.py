"""A training with one's own loop: each step hands over a noisy mean gradient, and is charged before it is computed.

**Guarantee**: all that leaves is the noisy mean in ``.grad``, the number of the step and the price. Losses, norms, how
many were clipped, who or how many were in a batch, and what went wrong with data stay inside.
**Assumes**: the model and the loss do not keep what they see (no hooks that print, no running statistics).
**Source**: Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar, Zhang 2016, Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from torch import Tensor, nn

from sordino.accounting.any_account import Cost
from sordino.accounting.work import muted
from sordino.errors import ArgumentError, GrantError
from sordino.learn.run.account import check_account
from sordino.learn.run.comparing import Ways
from sordino.learn.run.correlation import Independent
from sordino.learn.run.examples import Examples
from sordino.learn.run.paying import Pay, steps_of
from sordino.learn.run.plan import Trained, TrainingPlan
from sordino.learn.run.pricing import Spent
from sordino.learn.run.said import Said, check_adaptive, held_by
from sordino.learn.run.sampling import sampler
from sordino.learn.run.tranches import Tranches

from .correlated_sum import CorrelatedMean
from .described import recipe_of
from .keeping import Keeping
from .noise_ahead import NoiseAhead
from .noisy_sum import Noisy, NoisyMean
from .parallel import Leader
from .radius import Radius
from .task import Loss
from .unit_sums import Clip, UnitSums
from .words import TrainingWords, takes

MUTE = (
    "the training could not go on; what was charged stays charged. Try the model and the loss on made-up examples of "
    "the same shape, or ask the data's owner"
)


class Training:
    """A training of `model` on `examples`, charged to `budget` as it goes or whole; used in a ``with``."""

    @takes(TrainingWords)
    def __init__(self, model: nn.Module, loss: Loss, examples: Examples, words: TrainingWords) -> None:
        """Check and price a training; nothing is charged yet.

        * `model`: any module of torch whose examples do not see each other (batch normalisation is refused).
        * `loss`: from the model's outputs and the labels to a loss, such as ``torch.nn.CrossEntropyLoss()``.
        * `examples`: what is trained on, as `examples(…)` declares it.
        """
        budget = words.budget
        check_account(budget, examples)
        drawn = sampler(words.sampling, words.batch, examples.size)
        count = steps_of(words.steps, words.epochs, drawn.batch, examples.size)
        clipped = Clip.of(words.clip, words.clipping)
        spent = Spent(words.epsilon, words.delta, words.rho, words.noise)
        self._said = Said(drawn, count, examples.size, spent, words.correlation)
        pay = Pay(words.pay, words.tranche, words.delta)
        course, multiplier = self._said.settled(pay, budget.budget, held_by(budget))
        own = UnitSums(model, loss, examples, course.sampler, clipped, words)
        self.recipe = recipe_of(model, loss, examples, course, multiplier, clipped, words, own.allowance())
        if clipped.adaptive is not None:
            check_adaptive(clipped.adaptive, course.correlation, multiplier, course.sampler)
        _ = self.recipe.mechanism  # an absurd noise is refused here
        ranks = words.together
        self._sums = own if ranks is None else Leader(own, ranks, examples, model, self.recipe)
        self.model = model
        self._account = budget
        self._radius = None if self.recipe.radius is None else Radius(self.recipe.radius)
        kept = [*([] if self._radius is None else [self._radius]), *words.kept]
        self._keeping = Keeping(words.checkpoint, model, kept)
        self._tranches: Tranches | None = None
        self._open = ExitStack()

    def price(self) -> Cost:
        """Return what all steps cost, without charging them."""
        return self._account.price(self.recipe.whole())

    def ways(self) -> Ways:
        """Return what both ways to pay would take, and which is cheaper for this account; nothing is charged."""
        return self._said.ways(self.recipe, self._account)

    @property
    def clip(self) -> float:
        """The clip of the next step: where it adapts it moves by what was released, so it is public."""
        return float(self.recipe.clip) if self._radius is None else self._radius.clip

    @property
    def settled(self) -> tuple[Trained, ...]:
        """What was settled so far, a tranche each, with receipts where there are any."""
        return () if self._tranches is None else tuple(self._tranches.settled)

    @property
    def step(self) -> int:
        """How many steps are behind it."""
        return 0 if self._tranches is None else self._tranches.next_step

    def __enter__(self) -> Self:
        if self._tranches is not None:
            raise ArgumentError("a training is entered once; make another one to go on from its checkpoint", "SRD-A003")
        done = self._keeping.resume(self.recipe.identity)
        self._tranches = Tranches(self._account, self.recipe, self._keep, done)
        if isinstance(self._sums, Leader):
            self._open.enter_context(self._sums)
        ahead = self._open.enter_context(NoiseAhead(self.recipe.mechanism.law, self.recipe.parameters))
        alone = isinstance(self.recipe.correlation, Independent)
        self._noisy: Noisy = (NoisyMean if alone else CorrelatedMean)(self.recipe, ahead)
        return self

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: TracebackType | None) -> None:
        try:
            if self._tranches is None:
                return
            if error is None or isinstance(error, KeyboardInterrupt):
                self._tranches.settle()
            else:
                self._tranches.fail(error)
        finally:
            self._open.close()

    def __iter__(self) -> Iterator[Step]:
        if self._tranches is None:
            raise ArgumentError("open the training first: with training as steps: for step in steps: …", "SRD-A003")
        while (found := self._tranches.advance()) is not None:
            step = Step(self, *found)
            yield step
            if not step.taken:
                raise ArgumentError("call step.gradient() once in every step, or leave the loop", "SRD-A003")

    def _released(self, plan: TrainingPlan, within: int) -> Tensor:
        """Return the noisy mean gradient of a step that was charged."""
        self._sums.measure_in(self.clip)
        total = self._sums.sum(within)
        mean = self._noisy.release(total.sum, plan.grant_of_step(), within)
        if self._radius is not None:
            mean *= self._radius.clip
            self._radius.follow(total.norms, plan)
        return mean

    def _trained(self) -> list[tuple[str, nn.Parameter]]:
        return [(name, each) for name, each in self.model.named_parameters() if each.requires_grad]

    def _forget(self) -> None:
        for _, each in self._trained():
            each.grad = None

    def _scatter(self, mean: Tensor) -> None:
        start = 0
        for _, each in self._trained():
            each.grad = mean[start : start + each.numel()].view_as(each).to(each.dtype)
            start += each.numel()

    def _keep(self, step: int) -> str:
        return self._keeping.keep(self.recipe.identity, step)


class Step:
    """One step of a training: `gradient` computes it, once."""

    def __init__(self, training: Training, plan: TrainingPlan, within: int) -> None:
        self.number = plan.first + within
        self.taken = False
        self._training = training
        self._plan = plan
        self._within = within

    def gradient(self) -> None:
        """Put the noisy mean of the clipped gradients of a fresh sample into ``.grad`` of every parameter."""
        if self.taken:
            raise GrantError("this step was taken; every step is charged for one gradient", "SRD-G001")
        self.taken = True
        training = self._training
        assert training._tranches is not None  # noqa: S101  (steps come from a training that was entered)
        training._tranches.step_is_run()
        training._forget()  # the last step's memory is given back first
        training._scatter(muted(lambda: training._released(self._plan, self._within), MUTE))
