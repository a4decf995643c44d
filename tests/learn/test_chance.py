"""What torch draws during a step depends on no seed that anybody knows, and tells nothing of who was there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from learn.worlds import account, divided
from sordino.learn.descent.training import Training
from sordino.learn.descent.unit_sums import UnitSums
from sordino.learn.run.examples import examples

LOSS = nn.CrossEntropyLoss()


def shifted(row: Tensor) -> Tensor:
    return row + torch.randn(row.shape)


CASES: dict[str, tuple[nn.Module, dict[str, Any]]] = {
    "dropout": (nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Linear(8, 2)), {}),
    "views": (nn.Linear(4, 2), {"augment": shifted, "views": 2}),
}


def sums_of(count: int, model: nn.Module, words: dict[str, Any]) -> UnitSums:
    whole = divided(400)
    (x, y), _ = whole.people().take(np.arange(count))
    given = examples("marks", x, y, size=400)
    budget = account(given)
    training = Training(model, LOSS, given, budget=budget, batch=400, steps=2, clip=1, noise=1, micro_batch=50, **words)
    assert isinstance(training._sums, UnitSums)
    return training._sums


@pytest.mark.parametrize(("model", "words"), CASES.values(), ids=CASES)
def test_torchs_next_draw_does_not_tell_how_many_came(model: nn.Module, words: dict[str, Any]) -> None:
    after = []
    for count in (120, 330):
        sums = sums_of(count, model, words)
        torch.manual_seed(0)
        sums.sum(0)
        after.append(torch.rand(4))
    assert torch.equal(*after)


@pytest.mark.parametrize(("model", "words"), CASES.values(), ids=CASES)
def test_a_seed_that_somebody_knows_decides_nothing(model: nn.Module, words: dict[str, Any]) -> None:
    sums, found = sums_of(330, model, words), []
    for _ in range(2):
        torch.manual_seed(0)
        found.append(sums.sum(0).sum)
    assert not torch.equal(*found)
