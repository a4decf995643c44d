"""One pass over a batch of constant shape: the units' gradients, by rules and one backward pass, or one by one.

By rules where the score knows every call; else by `torch.func`, which differentiates each example by itself; and where
that cannot run either, example after example.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from .forms import Form, Stacked
from .listening import Listener
from .place import Batch
from .score import Following, Step, UnforeseenError

Loss = Callable[[Any, Tensor], Tensor]
"""From the model's outputs and the targets of a batch, one number for each example."""


@dataclass(frozen=True)
class Examples:
    """A batch as the model and the loss take it, and how much each row counts within its unit."""

    inputs: tuple[Tensor, ...]
    targets: Tensor
    weights: Tensor


@dataclass(frozen=True)
class Task:
    """What is trained: a model, its loss, and whether it runs in bfloat16 where torch thinks that it can."""

    model: nn.Module
    loss: Loss
    bfloat16: bool = False

    @property
    def trained(self) -> dict[str, Tensor]:
        """The parameters that are not frozen, each once, by name."""
        return {name: value for name, value in self.model.named_parameters() if value.requires_grad}

    def casting(self) -> AbstractContextManager[Any]:
        """Return the context in which the model runs."""
        return torch.autocast("cpu", torch.bfloat16) if self.bfloat16 else nullcontext()

    def losses(self, examples: Examples) -> Tensor:
        """Return one number for each example."""
        with self.casting():
            return self.loss(self.model(*examples.inputs), examples.targets)


class Pass(Protocol):
    """A way to the units' gradients."""

    def __call__(self, task: Task, examples: Examples, batch: Batch) -> dict[str, Form]:
        """Return the gradients of all units by parameter."""


@dataclass(frozen=True)
class ByRules:
    """One forward and one backward pass, heard by a listener that follows a score."""

    steps: tuple[Step, ...]

    def __call__(self, task: Task, examples: Examples, batch: Batch) -> dict[str, Form]:
        """See `Pass`."""
        reading = Following(self.steps)
        listener = Listener(task.trained, reading, batch)
        with listener:
            losses = task.losses(examples)
        if not reading.finished:
            raise UnforeseenError
        run_backward(losses, listener.anchor, examples.weights)
        return listener.gradients()


def run_backward(losses: Tensor, anchor: Tensor, weights: Tensor) -> None:
    """Run the backward pass, in which listeners take the gradients that they wait for."""
    if losses.requires_grad:
        torch.autograd.grad(losses, anchor, weights.to(losses.dtype), allow_unused=True)


def by_functions(task: Task, examples: Examples, batch: Batch) -> dict[str, Form]:
    """See `Pass`: each example is differentiated by itself, all at once."""
    trained = {name: value.detach() for name, value in task.trained.items()}

    def weighted(parameters: dict[str, Tensor], inputs: tuple[Tensor, ...], target: Tensor, weight: Tensor) -> Tensor:
        batched = tuple(each[None] for each in inputs)
        with task.casting():
            outputs = torch.func.functional_call(task.model, parameters, batched)
            return (task.loss(outputs, target[None]) * weight).sum()

    each = torch.func.vmap(torch.func.grad(weighted), in_dims=(None, 0, 0, 0), randomness="different")
    found = each(trained, examples.inputs, examples.targets, examples.weights)
    return {name: Stacked(by_unit(values, batch)) for name, values in found.items()}


def one_by_one(task: Task, examples: Examples, batch: Batch) -> dict[str, Form]:
    """See `Pass`: a backward pass for each example."""
    names, parameters = list(task.trained), list(task.trained.values())
    found: list[list[Tensor]] = []
    for at in range(batch.examples):
        some = slice(at, at + 1)
        alone = Examples(tuple(each[some] for each in examples.inputs), examples.targets[some], examples.weights[some])
        total = (task.losses(alone) * alone.weights).sum()
        gradients = torch.autograd.grad(total, parameters, allow_unused=True)
        pairs = zip(gradients, parameters, strict=True)
        found.append([torch.zeros_like(value) if got is None else got for got, value in pairs])
    stacks = [torch.stack(values) for values in zip(*found, strict=True)]
    return {name: Stacked(by_unit(values, batch)) for name, values in zip(names, stacks, strict=True)}


def by_unit(values: Tensor, batch: Batch) -> Tensor:
    """Return examples' gradients summed within each unit."""
    return values if batch.rows == 1 else values.unflatten(0, (batch.units, batch.rows)).sum(1)
