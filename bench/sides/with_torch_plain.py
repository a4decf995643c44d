"""Plain PyTorch: a step without any privacy."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import nn

from sides.learning_tasks import TASKS, THREADS, TINY, Task, peak_growth, timed

torch.set_num_threads(THREADS)
Timing = tuple[float, int, dict[str, Any]]


def versions() -> dict[str, str]:
    return {"torch": torch.__version__}


class Plain:
    """A training of one of the tasks."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.inputs, self.targets = self.task.data()

    def begin(self) -> None:
        self._model = self.task.model()
        self._loss = nn.CrossEntropyLoss()
        self._optimizer = torch.optim.SGD(self._model.parameters(), lr=0.01)

    def run(self, steps: int) -> None:
        self.begin()
        for _ in range(steps):
            self.step()

    def step(self) -> None:
        drawn = torch.randint(0, self.task.size, (self.task.batch,))
        self._optimizer.zero_grad()
        self._loss(self._model(self.inputs[drawn]), self.targets[drawn]).backward()
        self._optimizer.step()


@cache
def _begun(model: str) -> Plain:
    found = Plain(TASKS[model])
    found.begin()
    return found


def step(model: str) -> Timing:
    plain = _begun(model)
    return timed(model, plain.task.steps, plain.step)


def memory(model: str, steps: int) -> Timing:
    tiny, plain = Plain(TINY), Plain(TASKS[model])
    tiny.run(2)
    return 1.0, 1, {"bytes": peak_growth(lambda: plain.run(steps))}
