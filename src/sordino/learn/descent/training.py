"""A training with one's own loop: each step hands over a noisy mean gradient, and is charged before it is computed.

**Guarantee**: all that leaves is the noisy mean in ``.grad``, the number of the step and the price. Losses, norms, how
many were clipped, who or how many were in a batch, and what went wrong with data stay inside.
**Assumes**: the model and the loss do not keep what they see (no hooks that print, no running statistics).
**Source**: Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar, Zhang 2016, Algorithm 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import torch
from torch import Tensor, nn

from sordino.accounting.any_account import Cost
from sordino.accounting.digest import digest_of
from sordino.accounting.work import muted
from sordino.arguments import Number, rational, whole
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError, GrantError
from sordino.learn.gradients.clipped import ClippedGradients
from sordino.learn.run.account import check_account
from sordino.learn.run.checkpoint import Checkpoint, weights_digest
from sordino.learn.run.examples import Examples, People
from sordino.learn.run.plan import Recipe, Trained, TrainingPlan
from sordino.learn.run.pricing import budget_of_its_own, least_multiplier
from sordino.learn.run.rows import Array
from sordino.learn.run.sampling import Draws, most_drawn, sampler
from sordino.learn.run.tranches import Tranches
from sordino.noise import permutation

from .noise_ahead import NoiseAhead
from .noisy_sum import NoisyMean
from .saved import flattened, restored
from .task import Loss, fields_of, per_example, tensors_of

MUTE = (
    "the training could not go on; what was charged stays charged. Try the model and the loss on made-up examples of "
    "the same shape, or ask the data's owner"
)


class Stateful(Protocol):
    """What torch can take a state from and give it back to."""

    def state_dict(self) -> Any:
        """Return the state."""
        ...

    def load_state_dict(self, state_dict: Any) -> Any:
        """Take a state over."""
        ...


class Training:
    """A training of `model` on `examples`, charged to `budget` in tranches. Used in a ``with``, step by step.

    Args:
        model: any module of torch whose examples do not see each other (batch normalisation is refused).
        loss: from the model's outputs and the labels to a loss, such as ``torch.nn.CrossEntropyLoss()``.
        examples: what is trained on, as `examples(…)` declares it.
        budget: the account that `examples` was opened for.
        batch: how many units a step has on average.
        epochs: how often each unit is seen on average; or `steps`, their number.
        clip: the largest norm of one unit's gradient.
        epsilon: what the training may cost (with `delta`, or the account's δ); or `rho`; or `noise`, the standard
            deviation of the noise in units of the clip.
        sampling: "poisson", "fixed-size" or "one-pass".
        clipping: "flat", "layer" or "automatic".
        tranche: how many steps are charged at once; an epoch if left out.
        checkpoint: a file that the training is kept in after every tranche, and goes on from if it is there.
        kept: what else belongs in a checkpoint: the optimizer, a schedule, an average; whatever has a state_dict.
        micro_batch: how many units are computed at once; less takes less memory.
        per_owner: how many examples of one owner are computed at once, where a unit is an owner.
    """

    def __init__(
        self,
        model: nn.Module,
        loss: Loss,
        examples: Examples,
        *,
        budget: DataAccount[Any],
        batch: int,
        clip: Number,
        epochs: Number | None = None,
        steps: int | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise: Number | None = None,
        sampling: str = "poisson",
        clipping: str = "flat",
        tranche: int | None = None,
        checkpoint: str | Path | None = None,
        kept: Sequence[Stateful] = (),
        micro_batch: int = 128,
        per_owner: int = 8,
    ) -> None:
        check_account(budget, examples)
        samples = sampler(sampling, batch, examples.size)
        radius = rational("clip", clip, above=0)
        self._fields = fields_of(examples, model)
        gradients = ClippedGradients(
            model,
            per_example(loss),
            inputs=self._fields[0],
            targets=self._fields[1],
            clip=float(radius),
            clipping=clipping,
            micro_batch=min(micro_batch, samples.batch),
            per_owner=1 if examples.owners is None else per_owner,
        )
        most = most_drawn(samples.rate, examples.size)
        self._seats = None if gradients.movable else most
        allowance = gradients.allowance(most, seats=self._seats, owners=examples.owners is not None)
        count = _steps(steps, epochs, samples.batch, examples.size)
        if noise is None:
            own = budget_of_its_own(budget.budget, epsilon, delta, rho)
            multiplier = least_multiplier(samples, count, own)
        else:
            multiplier = rational("noise", noise, above=0)
        self.recipe = Recipe(
            examples.name,
            examples.unit,
            samples,
            count,
            _tranche(tranche, samples.least, samples.batch, examples.size),
            sum(each.numel() for each in model.parameters() if each.requires_grad),
            radius,
            Fraction(allowance) / radius,
            multiplier,
            digest_of(_description(model)),
            {"clipping": clipping, "loss": getattr(loss, "__qualname__", type(loss).__qualname__)},
        )
        self.model = model
        self._examples = examples
        self._account = budget
        self._gradients = gradients
        self._kept: tuple[Stateful, ...] = (model, *kept)
        self._path = None if checkpoint is None else Path(checkpoint)
        self._tranches: Tranches | None = None
        self._open = ExitStack()

    def price(self) -> Cost:
        """Return what all steps cost, without charging them."""
        return self._account.price(self.recipe.whole())

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
        done = self._resume()
        self._tranches = Tranches(self._account, self.recipe, self._keep, done)
        ahead = self._open.enter_context(NoiseAhead(self.recipe.mechanism.law, self.recipe.parameters))
        self._noisy = NoisyMean(self.recipe, ahead)
        self._people: People | None = None
        self._draws: Draws | None = None
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
        """Return the noisy mean gradient of a step that was charged: the only place that touches data."""
        if self._people is None:
            self._people = self._examples.people()
        if within == 0 or self._draws is None:
            self._draws = self.recipe.sampler.draws(len(self._people))
        units = self._draws(within)
        seats = None
        if self._seats is not None:  # where numbers depend on the seat, whoever leaves must leave an empty one
            units = units[: self._seats]
            seats = torch.from_numpy(permutation(self._seats)[: len(units)])
        parts, owners = self._people.take(units)
        *inputs, targets = tensors_of(parts, (*self._fields[0], self._fields[1]))
        owner = None if self._examples.owners is None else torch.from_numpy(owners)
        sums = self._gradients.sum(tuple(inputs), targets, owner, seats).gradients
        total = torch.cat([sums[name].flatten() for name, _ in self._trained()])
        return self._noisy.release(total, plan.grant_of_step())

    def _trained(self) -> list[tuple[str, nn.Parameter]]:
        return [(name, each) for name, each in self.model.named_parameters() if each.requires_grad]

    def _scatter(self, mean: Tensor) -> None:
        start = 0
        for _, each in self._trained():
            each.grad = mean[start : start + each.numel()].view_as(each).to(each.dtype)
            start += each.numel()

    def _keep(self, step: int) -> str:
        arrays: dict[str, Array] = {}
        texts = {"0": flattened(self.model.state_dict(), "0", arrays)}
        digest = weights_digest(arrays)
        if self._path is not None:
            for place, each in enumerate(self._kept[1:], 1):
                texts[f"{place}"] = flattened(each.state_dict(), f"{place}", arrays)
            Checkpoint(digest_of(self.recipe), step, arrays, texts).save(self._path)
        return digest

    def _resume(self) -> int:
        found = None if self._path is None else Checkpoint.load(self._path, digest_of(self.recipe))
        if found is None:
            return 0
        for place, each in enumerate(self._kept):
            if f"{place}" in found.texts:
                each.load_state_dict(restored(found.texts[f"{place}"], found.arrays))
        return found.step


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
        training._scatter(muted(lambda: training._released(self._plan, self._within), MUTE))


def _steps(steps: int | None, epochs: Number | None, batch: int, size: int) -> int:
    if (steps is None) == (epochs is None):
        raise ArgumentError("say how long to train: epochs=… or steps=…, one of the two", "SRD-A003")
    if steps is not None:
        return whole("steps", steps, least=1)
    return max(1, math.ceil(rational("epochs", epochs, above=0) * size / batch))


def _tranche(tranche: int | None, least: int, batch: int, size: int) -> int:
    if tranche is None:
        return max(least, math.ceil(Fraction(size, batch)))
    count = whole("tranche", tranche, least=1)
    if count % least:
        raise ArgumentError(f"tranche must be a multiple of {least} steps, which cannot be cut", "SRD-A002")
    return count


def _description(model: nn.Module) -> list[Any]:
    sizes = [[name, list(each.shape), str(each.dtype), each.requires_grad] for name, each in model.named_parameters()]
    return [repr(model), sizes]
