"""A training in a process of its own, with a real ledger and a checkpoint, that can be killed at any moment."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

import sordino as so
from learn.worlds import divided, model
from sordino.accounting.work import Work
from sordino.data.account import DataAccount
from sordino.learn import Training, banded
from sordino.learn.descent.unit_sums import UnitSums
from sordino.learn.run.checkpoint import Checkpoint
from sordino.ledger.charging import Reserved, Settled

STEPS, TRANCHE = 60, 5
BUDGET = so.budget(epsilon=50, delta="1e-5")
POINTS: dict[str, tuple[Any, str]] = {
    "reserving": (DataAccount, "begin"),
    "a step": (UnitSums, "sum"),
    "saving": (Checkpoint, "save"),
    "putting a checkpoint in place": (os, "replace"),
    "settling": (Work, "finish"),
}
"""Where a training can be killed on purpose: what is called there."""


KINDS: dict[str, dict[str, Any]] = {
    "in tranches": {},
    "in blocks": {"sampling": "separated", "correlation": banded(4), "tranche": 20},
    "whole": {"pay": "whole", "delta": "1e-7", "tranche": None},
}
"""What else is said about a training, by what is charged at once."""


def train(
    folder: Path,
    checkpoint: str = "run.npz",
    point: str | None = None,
    after: bool = False,
    kind: str = "in tranches",
) -> None:
    """Train from the checkpoint on, noting every step before it is run; with `point`, die there the second time."""
    torch.set_num_threads(1)
    if point is not None:
        _die_at(*POINTS[point], after=after)
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with so.open(folder / "budget.db") as house:
        marks = divided()
        words: dict[str, Any] = {"steps": STEPS, "tranche": TRANCHE, "batch": 40, "clip": 1, "noise": 2}
        training = Training(
            net,
            nn.CrossEntropyLoss(),
            marks,
            budget=house.account(marks, BUDGET),
            checkpoint=folder / checkpoint,
            kept=[optimizer],
            **(words | KINDS[kind]),
        )
        with open(folder / "run.log", "ab", buffering=0) as log, training as steps:
            for step in steps:
                log.write(f"{step.number}\n".encode())
                step.gradient()
                optimizer.step()


def _die_at(owner: Any, name: str, *, after: bool) -> None:
    called: Callable[..., Any] = getattr(owner, name)
    calls = 0

    def dying(*given: Any, **words: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2 and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        found = called(*given, **words)
        if calls == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    setattr(owner, name, dying)


class Seen:
    """What a folder shows of its trainings: steps that were run, and what the ledger has of them."""

    def __init__(self, folder: Path) -> None:
        log = folder / "run.log"
        self.ran = [int(line) for line in log.read_text().split()] if log.exists() else []
        with so.open(folder / "budget.db") as house:
            self.sound = house.verify().sound
            entries = list(house.ledger.entries())
        reserved = {each.id: _steps(each) for each in entries if isinstance(each, Reserved)}
        settled = {each.id for each in entries if isinstance(each, Settled)}
        self.charged = sum(reserved.values())
        self.in_flight = [steps for key, steps in reserved.items() if key not in settled]


def _steps(entry: Reserved) -> int:
    event = json.loads(entry.event)
    while "event" in event and "count" not in event:
        event = event["event"]
    return int(event["count"] if "count" in event else event["steps"])
