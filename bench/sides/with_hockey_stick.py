"""The hockey-stick test of DP-Auditorium (Kong, Medina, Ribero, Syed 2023), written after the paper, with the best
classifier given to it for nothing.

Of the first input's draws a part 1/(1 + e^ε) is used and of the second's the rest; a claim of ε is false if a
classifier tells more than e^ε/(1 + e^ε) of them right, by Hoeffding's inequality over the n test draws. Half of all
draws count as training. If the claim is not refuted all is done anew with twice the draws, the chance to be wrong
shared.
"""

from __future__ import annotations

from math import exp, log, sqrt
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

CHANCE = 1e-6
FIRST = 500
ROUNDS = 12


def versions() -> dict[str, str]:
    return {}


def draws_to_refute(scale: float, epsilon: float, seeds: int) -> tuple[float, int, dict[str, float]]:
    started = perf_counter()
    found = [_refuted_after(scale, epsilon, np.random.default_rng(seed)) for seed in range(seeds)]
    return perf_counter() - started, seeds, {"draws": float(median(found))}


def _refuted_after(scale: float, epsilon: float, rng: Any) -> int:
    """Return the draws on each side, those of earlier rounds included; the more frequent label is the input 0."""
    drawn, rare = 0, 1 / (1 + exp(epsilon))
    cut = (1 + epsilon * scale) / 2  # above it the likelihood ratio exceeds e^ε
    for doubling in range(ROUNDS):
        size = FIRST * 2**doubling
        drawn += 2 * size
        few = round(rare * size)
        ones, zeros = 1 + rng.laplace(0, scale, few), rng.laplace(0, scale, size - few)
        right = np.count_nonzero(ones >= cut) + np.count_nonzero(zeros < cut)
        if right / size - sqrt(log(ROUNDS / CHANCE) / (2 * size)) > 1 - rare:
            return drawn
    return drawn
