"""One rank of the trainings that `test_parallel` judges: a process of its own, started with its number and a folder."""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn

import sordino as so
from sordino.errors import ArgumentError, RunError
from sordino.learn.descent.train import train
from sordino.learn.descent.training import Training
from sordino.learn.run.examples import Examples

UNITS, WIDTH = 200, 4_000
FLAT: dict[str, Any] = {"batch": 100, "clip": 3}
COUNTED: dict[str, Any] = {"batch": 100, "clip": 1}
LEARNT: dict[str, Any] = {"batch": UNITS, "clip": 1}


def flat_loss(out: Tensor, _: Tensor) -> Tensor:
    """A loss without a slope, so that all that is left is noise."""
    return out[:, 0] * 0


def steep_loss(out: Tensor, _: Tensor) -> Tensor:
    """A loss whose gradient at the bias is 1, so that a sum counts units."""
    return out[:, 0]


def flat() -> nn.Module:
    return nn.Linear(1, WIDTH, bias=False)


def counter() -> nn.Module:
    made = nn.Linear(1, 1)
    made.weight.requires_grad_(False)
    return made


def learnt() -> nn.Module:
    torch.manual_seed(1)
    return nn.Linear(4, 2)


def world(features: int) -> Examples:
    dice = np.random.default_rng(7)
    x = dice.normal(size=(UNITS, features)).astype(np.float32)
    return so.learn.examples("marks", x, (x[:, 0] > 0).astype(np.int64), size=UNITS, classes=2)


def account(given: Any) -> Any:
    return so.account(given, so.unlimited("made-up examples"))


def gradients(model: nn.Module, loss: Any, given: Any, ranks: Any, words: dict[str, Any], **more: Any) -> Any:
    """Lead a training and return the noisy mean of each step, or follow it."""
    if not ranks.leads:
        return so.learn.follow(model, loss, given, together=ranks, **words)
    training = Training(model, loss, given, budget=account(given), together=ranks, **words, **more)
    found = []
    with training as steps:
        for step in steps:
            step.gradient()
            trained = [each.grad.flatten() for each in model.parameters() if each.grad is not None]
            found.append(torch.cat(trained).numpy().copy())
    return np.stack(found)


def fails(given: Any, ranks: Any) -> str:
    """Return how a training ends in which the other rank is handed other examples, as many of them."""
    x = np.full((UNITS, 4), ranks.rank, np.float32)
    others = so.learn.examples("marks", x, np.zeros(UNITS, np.int64), size=UNITS)
    data = account(given)
    try:
        if ranks.leads:
            train(learnt(), steep_loss, others, budget=data, together=ranks, steps=2, noise=1, **LEARNT)
        else:
            so.learn.follow(learnt(), steep_loss, others, together=ranks, **LEARNT)
    except RunError as error:
        return f"{len(data.history)} {error.__context__} {error}"
    return "went on"


def differs(given: Any, ranks: Any) -> str:
    """Return how a training ends whose ranks were told different clips."""
    data = account(given)
    try:
        if ranks.leads:
            train(learnt(), steep_loss, given, budget=data, together=ranks, steps=2, noise=1, **LEARNT)
        else:
            so.learn.follow(learnt(), steep_loss, given, together=ranks, **(LEARNT | {"clip": 2}))
    except ArgumentError as error:
        return f"{len(data.history)} {error}"
    return "went on"


def dies(given: Any, ranks: Any) -> str:
    """Return how a training ends in which the other rank's process goes away in its second step."""
    data = account(given)
    if not ranks.leads:
        taken, calls = ranks.added, []

        def once(*words: Any) -> Any:
            calls.append(1)
            if len(calls) == 2:
                os._exit(9)
            return taken(*words)

        ranks.added = once
        so.learn.follow(learnt(), steep_loss, given, together=ranks, **LEARNT)
    try:
        train(learnt(), steep_loss, given, budget=data, together=ranks, steps=4, tranche=4, noise=1, **LEARNT)
    except RunError as error:
        return f"{len(data.history)} {error.__context__}"
    return "went on"


def main(rank: int, folder: Path) -> None:
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2, timeout=timedelta(seconds=60)
    )
    ranks = so.learn.Ranks()
    small = world(1)
    noise = gradients(flat(), flat_loss, small, ranks, FLAT, steps=6, noise=1)
    counts = gradients(counter(), steep_loss, small, ranks, COUNTED, steps=300, noise="0.001")
    sums = gradients(learnt(), nn.CrossEntropyLoss(), world(4), ranks, LEARNT, steps=1, noise="0.001")
    weights = learnt()
    if ranks.leads:
        train(
            weights,
            nn.CrossEntropyLoss(),
            world(4),
            budget=account(world(4)),
            together=ranks,
            steps=3,
            noise=1,
            **LEARNT,
        )
    else:
        so.learn.follow(weights, nn.CrossEntropyLoss(), world(4), together=ranks, **LEARNT)
    ended = [fails(world(4), ranks), differs(world(4), ranks)]
    last = torch.cat([each.detach().flatten() for each in weights.parameters()]).numpy()
    if not ranks.leads:
        np.savez(folder / "follower.npz", last=last, ended=ended)
    ended.append(dies(world(4), ranks))
    np.savez(folder / "leader.npz", noise=noise, counts=counts, sums=sums, last=last, ended=ended)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
