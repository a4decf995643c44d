"""Small worlds for federated training: hospitals with skewed labels, and a linear model in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from sordino.learn.federation.parties import Patients
from sordino.learn.run.examples import examples

PARAMETERS = 6


def skewed(hospitals: int = 5, each: int = 200) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return features and labels by hospital: the first has mostly zeros, the last mostly ones."""
    dice = np.random.default_rng(3)
    found = []
    for place in range(hospitals):
        labels = (dice.random(each) < (place + 1) / (hospitals + 1)).astype(np.int64)
        features = dice.normal(size=(each, PARAMETERS - 1)) + np.where(labels, 1.0, -1.0)[:, None] * 0.7
        found.append((np.hstack([features, np.ones((each, 1))]), labels))
    return found


def step(weights: np.ndarray, records: tuple[np.ndarray, ...]) -> Any:
    """Return what one patient proposes: a step of logistic regression."""
    x, y = records
    chance = 1 / (1 + np.exp(-(x @ weights)))
    return ((y - chance)[:, None] * x).sum(0)


def patients(world: list[tuple[np.ndarray, np.ndarray]]) -> list[Patients]:
    return [Patients(examples(f"hospital {place}", x, y, size=len(x)), step) for place, (x, y) in enumerate(world)]


def accuracy(weights: np.ndarray, world: list[tuple[np.ndarray, np.ndarray]]) -> float:
    return float(np.mean([((x @ weights > 0) == y).mean() for x, y in world]))
