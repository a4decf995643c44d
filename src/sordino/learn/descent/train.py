"""`train`: the loop that most people would write, with progress that shows the step and the price, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn
from torch.optim.lr_scheduler import LRScheduler
from torch.optim.swa_utils import AveragedModel

from sordino.keywords import given
from sordino.learn.run.examples import Examples

from .averaging import averaging
from .ran import Run
from .task import Loss
from .training import Training
from .words import Steps, Tell, TrainWords, takes

_RATE = 0.5
_MOMENTUM = 0.9


@takes(TrainWords)
def train(model: nn.Module, loss: Loss, examples: Examples, words: TrainWords) -> Run:
    """Train `model` on `examples` with DP-SGD or DP-FTRL, charged to `budget`, and return it with its receipt.

    * `model`, `loss`, `examples`: as in `Training`.
    """
    descent = sgd(model.parameters()) if words.optimizer is None else words.optimizer(model.parameters())
    rates = None if words.schedule is None else words.schedule(descent)
    averaged = None if words.average is None else averaging(model, words.average)
    kept = [each for each in (descent, rates, averaged) if each is not None]
    training = Training(model, loss, examples, **given(words, Steps), kept=kept)
    descend(training, descent, rates, averaged, words.tell)
    shown = model if averaged is None else averaged.module.eval()
    return Run(shown, words.budget, training.recipe, training.settled, model)


def descend(
    training: Training,
    descent: torch.optim.Optimizer,
    rates: LRScheduler | None = None,
    averaged: AveragedModel | None = None,
    tell: Tell | None = None,
) -> None:
    """Take all steps of a training: the noisy mean, the optimizer, the schedule of learning rates, the average."""
    training.model.train()
    with training as each_step:
        for step in each_step:
            step.gradient()
            descent.step()
            if rates is not None:
                rates.step()
            if averaged is not None:
                averaged.update_parameters(training.model)
            if tell is not None:
                tell(step.number + 1, training.recipe.steps)
    training.model.eval()


def sgd(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """Return the optimizer of whoever names none: SGD with momentum."""
    return torch.optim.SGD(parameters, lr=_RATE, momentum=_MOMENTUM)
