"""What is kept of torch's objects, and what a training refuses to go on with, before anything is charged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from learn.worlds import account, divided, model
from sordino.errors import ArgumentError
from sordino.learn.descent.train import train

LOSS = nn.CrossEntropyLoss()
WORDS: dict[str, Any] = {"batch": 100, "steps": 4, "tranche": 2, "clip": 1, "noise": 2}
MakeOptimizer = Callable[[Any], torch.optim.Optimizer]


def adam(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.Adam(parameters, lr=0.01)


def plain(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.1)


def in_two_groups(parameters: Any) -> torch.optim.Optimizer:
    first, *others = parameters
    return torch.optim.SGD([{"params": [first]}, {"params": others}], lr=0.1)


@pytest.mark.parametrize(("first", "then"), [(plain, adam), (adam, plain), (plain, in_two_groups)])
def test_another_optimizer_is_refused_before_anything_is_charged(
    first: MakeOptimizer, then: MakeOptimizer, tmp_path: Path
) -> None:
    given, path = divided(), tmp_path / "run.npz"

    def stop(step: int, _of: int) -> None:
        if step == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(model(), LOSS, given, budget=account(given), optimizer=first, checkpoint=path, tell=stop, **WORDS)
    kept, data = path.read_bytes(), account(given)
    with pytest.raises(ArgumentError, match=r"another optimizer.*SRD-T001"):
        train(model(), LOSS, given, budget=data, optimizer=then, checkpoint=path, **WORDS)
    assert data.history == ()
    assert path.read_bytes() == kept
    run = train(model(), LOSS, given, budget=data, optimizer=first, checkpoint=path, **WORDS)
    assert [each.plan.first for each in run.settled] == [3]


def test_a_checkpoint_that_could_not_be_written_is_refused_before_anything_is_charged(tmp_path: Path) -> None:
    given = divided()
    data = account(given)
    for path in (tmp_path / "missing" / "run.npz", tmp_path):
        with pytest.raises(ArgumentError, match="a folder that is there"):
            train(model(), LOSS, given, budget=data, checkpoint=path, **WORDS)
    assert data.history == ()
