"""`train`: the loop that most people would write, with progress that shows the step and the price, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from sordino.arguments import Number
from sordino.data.account import DataAccount
from sordino.learn.run.examples import Examples

from .ran import Run
from .task import Loss
from .training import Training

MakeOptimizer = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]
Tell = Callable[[int, int], None]
"""Told how many of how many steps are behind the training: all that may be shown of it."""

_RATE = 0.5
_MOMENTUM = 0.9


def train(
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
    optimizer: MakeOptimizer | None = None,
    schedule: Callable[[torch.optim.Optimizer], torch.optim.lr_scheduler.LRScheduler] | None = None,
    checkpoint: str | Path | None = None,
    micro_batch: int = 128,
    per_owner: int = 8,
    tell: Tell | None = None,
) -> Run:
    """Train `model` on `examples` with DP-SGD, charged to `budget` tranche by tranche, and return it with its receipt.

    The words are those of `Training`. `optimizer` makes an optimizer from the parameters, as
    ``lambda parameters: torch.optim.Adam(parameters, lr=1e-3)``; if left out, SGD with momentum. `schedule` makes a
    schedule of learning rates from the optimizer, stepped after every step. `tell` is told of the progress.
    """
    descent = _sgd(model.parameters()) if optimizer is None else optimizer(model.parameters())
    rates = None if schedule is None else schedule(descent)
    training = Training(
        model,
        loss,
        examples,
        budget=budget,
        batch=batch,
        clip=clip,
        epochs=epochs,
        steps=steps,
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        noise=noise,
        sampling=sampling,
        clipping=clipping,
        tranche=tranche,
        checkpoint=checkpoint,
        kept=[descent] if rates is None else [descent, rates],
        micro_batch=micro_batch,
        per_owner=per_owner,
    )
    model.train()
    with training as each_step:
        for step in each_step:
            step.gradient()
            descent.step()
            if rates is not None:
                rates.step()
            if tell is not None:
                tell(step.number + 1, training.recipe.steps)
    model.eval()
    return Run(model, budget, training.recipe, training.settled)


def _sgd(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=_RATE, momentum=_MOMENTUM)
