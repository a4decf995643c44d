"""sordino's trainings: clipped sums, whole steps with sampling and exact noise, memory, and the ledger's growth."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import sordino as so
from sides.learning_tasks import CLASSES, TASKS, THREADS, TINY, Task, cancelling, column, layers, peak_growth, timed
from sordino.errors import ArgumentError
from sordino.learn.descent.task import fields_of
from sordino.learn.gradients import ClippedGradients, Field

torch.set_num_threads(THREADS)
Timing = tuple[float, int, dict[str, Any]]
EACH = nn.CrossEntropyLoss(reduction="none")


def versions() -> dict[str, str]:
    return {"sordino": version("sordino"), "torch": torch.__version__}


class Ours:
    """A training of one of the tasks, with every default."""

    def __init__(self, task: Task) -> None:
        self.task = task
        inputs, targets = self.task.data()
        self._inputs, self._targets = inputs, targets
        self._examples = so.learn.examples("made-up", inputs.numpy(), targets.numpy(), size=self.task.size)

    def begin(self) -> None:
        self._model = self.task.model()
        self._optimizer = torch.optim.SGD(self._model.parameters(), lr=0.01)
        self._training = so.learn.Training(
            self._model,
            nn.CrossEntropyLoss(),
            self._examples,
            budget=so.account(self._examples, so.unlimited("a benchmark")),
            batch=self.task.batch,
            steps=10**6,
            clip=1.0,
            noise=1.0,
        )
        self._steps = iter(self._training.__enter__())

    def run(self, steps: int) -> None:
        self.begin()
        for _ in range(steps):
            self.step()

    def step(self) -> None:
        next(self._steps).gradient()
        self._optimizer.step()

    @cached_property
    def _of_batches(self) -> ClippedGradients:
        """Clipped sums whose passes suit batches of one size; those of a training leave room for larger samples."""
        inputs, targets = fields_of(self._examples, self._model)
        return ClippedGradients(self._model, EACH, inputs=inputs, targets=targets, clip=1.0, likely=self.task.batch)

    def clipped(self) -> None:
        """Take a step without noise: clipped sums over a batch of the very size of the plain one."""
        drawn = torch.randint(0, self.task.size, (self.task.batch,))
        sums = self._of_batches.sum(self._inputs[drawn], self._targets[drawn]).gradients
        for name, each in self._model.named_parameters():
            each.grad = sums[name].div_(self.task.batch)
        self._optimizer.step()


@cache
def _begun(model: str) -> Ours:
    found = Ours(TASKS[model])
    found.begin()
    return found


def step(model: str) -> Timing:
    ours = _begun(model)
    return timed(model, ours.task.steps, ours.step)


def clipped(model: str) -> Timing:
    ours = _begun(model)
    return timed(f"{model}, clipped", ours.task.steps, ours.clipped)


def memory(model: str, steps: int) -> Timing:
    tiny, ours = Ours(TINY), Ours(TASKS[model])
    tiny.run(2)
    return 1.0, 1, {"bytes": peak_growth(lambda: ours.run(steps))}


def _moved(gradients: ClippedGradients, inputs: Tensor, targets: Tensor) -> float:
    """Return how far the sum moves when its first example leaves, in units of what it may."""
    whole = gradients.sum(inputs, targets).gradients
    less = gradients.sum(inputs[1:], targets[1:]).gradients
    squares = [(whole[name].double() - less[name].double()).square().sum() for name in whole]
    return float(torch.stack(squares).sum().sqrt()) / gradients.bound(len(inputs))


def cancelled(commons: list[float], seeds: int) -> Timing:
    def moved(common: float, seed: int) -> float:
        model, inputs, targets = cancelling(common, seed)
        fields = {"inputs": Field(tuple(inputs.shape[1:])), "targets": Field((), "int64", below=2)}
        return _moved(ClippedGradients(model, EACH, **fields, clip=1.0, micro_batch=2), inputs, targets)

    torch.set_num_threads(1)
    worst = max(moved(common, seed) for common in commons for seed in range(seeds))
    torch.set_num_threads(THREADS)
    return 1.0, 1, {"moved": worst}


def columns() -> Timing:
    model, inputs, targets = column()
    fields: dict[str, Any] = {"inputs": Field((3,)), "targets": Field((1,)), "clip": 1.0, "micro_batch": 2}
    each = nn.MSELoss(reduction="none")
    try:
        ClippedGradients(model, each, **fields)
        refused = False
    except ArgumentError as error:
        refused = error.code == "SRD-T104"
    gradients = ClippedGradients(model, lambda found, wanted: each(found, wanted).flatten(), **fields)
    return 1.0, 1, {"moved": _moved(gradients, inputs, targets), "refused": refused}


def _ledger_bytes(model: Callable[[], nn.Module], tranches: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        dice = np.random.default_rng(0)
        rows = dice.normal(size=(64, 784)).astype(np.float32)
        given = so.learn.examples("made-up", rows, dice.integers(0, CLASSES, 64), size=64)
        with so.open(Path(folder) / "budget.db") as ledger:
            account = ledger.account(given, so.budget(epsilon=1000, delta="1e-5"))
            words: dict[str, Any] = {"batch": 8, "steps": tranches, "tranche": 1, "clip": 1.0, "noise": 4}
            so.learn.train(model(), nn.CrossEntropyLoss(), given, budget=account, **words)
        return sum(file.stat().st_size for file in Path(folder).iterdir())


def ledger_growth(few: int, many: int) -> Timing:
    """Return by how many bytes all files of a ledger grow for each tranche: a tiny model, and one of 1.9 million."""
    models = {"small": lambda: nn.Linear(784, CLASSES), "large": layers}
    grown = {
        name: (_ledger_bytes(model, many) - _ledger_bytes(model, few)) / (many - few) for name, model in models.items()
    }
    return 1.0, 1, grown
