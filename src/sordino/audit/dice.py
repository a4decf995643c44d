"""Repeatable randomness for those who attack: nothing that is drawn here ever protects anybody."""

from __future__ import annotations

import numpy as np

Dice = np.random.Generator


def dice(seed: int | None = None) -> Dice:
    """Return a generator that gives the same numbers for the same seed, or fresh ones without."""
    return np.random.default_rng(seed)
