"""Small worlds that the tests of learning share: examples that a line divides, and a model that can find it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

import sordino as so
from sordino.data.account import DataAccount
from sordino.learn.run.examples import Examples, examples

BUDGET = so.budget(epsilon=4, delta="1e-5")


def divided(count: int = 400, **words: Any) -> Examples:
    dice = np.random.default_rng(7)
    x = dice.normal(size=(count, 4)).astype(np.float32)
    return examples("marks", x, (x[:, 0] > 0).astype(np.int64), **({"size": count} | words))


def account(given: Examples, budget: so.Budget = BUDGET) -> DataAccount[Examples]:
    return so.account(given, budget)


def model() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
