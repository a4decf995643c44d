"""What server and hospitals agree on, and the folder that the test keeps it in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

import sordino as so
from sordino.learn import federation

FOLDER = Path(os.environ["SORDINO_TEST_STUDY"])
HOSPITALS, PARAMETERS = 3, 6
STUDY = federation.population("study", members=HOSPITALS, unit="patient", size=200)
BUDGET = so.budget(epsilon=8, delta="1e-5")
TERMS: dict[str, Any] = {"rounds": 2, "clip": 1, "rate": "0.5", "epsilon": 4, "delta": "1e-5"}


def identity(number: int) -> federation.Identity:
    return federation.Identity((FOLDER / f"identity-{number}").read_bytes())


def roster() -> federation.Roster:
    publics = [(FOLDER / f"public-{number}").read_bytes() for number in range(HOSPITALS)]
    return federation.Roster.of(publics, threshold=2, colluding=0)


def records(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a hospital's patients: unequal in number, skewed in what they have."""
    dice = np.random.default_rng(number)
    labels = (dice.random(20 + 20 * number) < (number + 1) / 4).astype(np.int64)
    features = dice.normal(size=(len(labels), PARAMETERS)) + np.where(labels, 1.0, -1.0)[:, None]
    return features, labels
