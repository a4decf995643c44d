"""Opacus as it is, in the fastest of its modes for each model, with its own noise (not the secure one)."""

from __future__ import annotations

import time
import warnings
from functools import cache
from importlib.metadata import version
from typing import Any

import torch
from torch import Tensor, nn

warnings.filterwarnings("ignore")
from opacus import PrivacyEngine  # noqa: E402

from sides.learning_tasks import TASKS, THREADS, Task, cancelling, column, timed  # noqa: E402

torch.set_num_threads(THREADS)
Timing = tuple[float, int, dict[str, Any]]

MODES = {"CNN": ("ghost", "functorch"), "MLP": ("ghost",), "transformer": ("ghost", "hooks")}
"""Those that can be fastest; on the MLP all others hold 1.8 million numbers for each example."""


def versions() -> dict[str, str]:
    return {"opacus": version("opacus"), "torch": torch.__version__}


class Private:
    """A model, an optimizer and a loss that Opacus has made private."""

    def __init__(self, model: nn.Module, data: tuple[Tensor, Tensor], mode: str, noise: float, loss: nn.Module) -> None:
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data), batch_size=len(data[1]))
        found = PrivacyEngine().make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.01 if noise else 1.0),
            data_loader=loader,
            noise_multiplier=noise,
            max_grad_norm=1.0,
            poisson_sampling=False,
            grad_sample_mode=mode,
            criterion=loss,
        )
        self.model, self.optimizer = found[0], found[1]
        self.loss = found[2] if mode == "ghost" else loss

    def step(self, inputs: Tensor, targets: Tensor) -> None:
        self.optimizer.zero_grad()
        self.loss(self.model(inputs), targets).backward()
        self.optimizer.step()


class Fastest:
    """The fastest mode on one task, found by trying each."""

    def __init__(self, model: str) -> None:
        self.task: Task = TASKS[model]
        self.inputs, self.targets = self.task.data()
        took = {mode: self._try(mode) for mode in MODES[model]}
        self.mode = min(took, key=lambda mode: took[mode][0])
        self._private = took[self.mode][1]

    def _try(self, mode: str) -> tuple[float, Private]:
        few = self.inputs[: self.task.batch], self.targets[: self.task.batch]
        private = Private(self.task.model(), few, mode, 1.0, nn.CrossEntropyLoss())
        times = []
        for _ in range(3):
            started = time.perf_counter()
            private.step(*few)
            times.append(time.perf_counter() - started)
        return min(times), private

    def step(self) -> None:
        drawn = torch.randint(0, self.task.size, (self.task.batch,))
        self._private.step(self.inputs[drawn], self.targets[drawn])


@cache
def _begun(model: str) -> Fastest:
    return Fastest(model)


def step(model: str) -> Timing:
    fastest = _begun(model)
    seconds, units, values = timed(model, fastest.task.steps, fastest.step)
    return seconds, units, values | {"mode": fastest.mode}


def _moved(model: nn.Module, inputs: Tensor, targets: Tensor, loss: nn.Module) -> float:
    """Return the norm of the sum over both examples, clipped to 1 each, in ghost mode and without noise."""
    before = [each.detach().clone() for each in model.parameters()]
    Private(model, (inputs, targets), "ghost", 0.0, loss).step(inputs, targets)
    squares = [(one - two).square().sum() for one, two in zip(before, model.parameters(), strict=True)]
    return 2 * float(torch.stack(squares).sum().sqrt())


def cancelled(commons: list[float], seeds: int) -> Timing:
    torch.set_num_threads(1)
    worst = max(_moved(*cancelling(common, seed), nn.CrossEntropyLoss()) for common in commons for seed in range(seeds))
    torch.set_num_threads(THREADS)
    return 1.0, 1, {"moved": worst}


def columns() -> Timing:
    return 1.0, 1, {"moved": _moved(*column(), nn.MSELoss()) / 2}
