"""A test in the style of DP-Sniper (Bichsel, Steffen, Bogunovic, Vechev 2021), written after the paper.

A logistic classifier is trained on half of the draws; its score is cut where a probability c of the first input lies
above; the event is measured on the other half by Clopper–Pearson bounds. If ε is not shown to be above the claim, all
is done anew with twice the draws. The chance to be wrong is shared among both directions, the c's and the rounds.
"""

from __future__ import annotations

from math import log
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import scipy

CHANCE = 1e-6
FIRST = 500
ROUNDS = 12
SHARES = (0.01, 0.1, 0.4)
"""The paper's c = 0.01 is for large ε; at ε = 1 larger ones serve it better, so it may try three."""


def versions() -> dict[str, str]:
    return {"scipy": scipy.__version__}


def draws_to_refute(scale: float, epsilon: float, seeds: int) -> tuple[float, int, dict[str, float]]:
    started = perf_counter()
    found = [_refuted_after(scale, epsilon, np.random.default_rng(seed)) for seed in range(seeds)]
    return perf_counter() - started, seeds, {"draws": float(median(found))}


def _refuted_after(scale: float, epsilon: float, rng: Any) -> int:
    """Return the draws on each side, those of earlier rounds included."""
    drawn, chance = 0, CHANCE / (2 * ROUNDS * len(SHARES))
    for doubling in range(ROUNDS):
        size = FIRST * 2**doubling
        drawn += 2 * size
        train = [value + rng.laplace(0, scale, size) for value in (1, 0)]
        test = [value + rng.laplace(0, scale, size) for value in (1, 0)]
        slope = _logistic(*train)
        for likely, unlikely in ((0, 1), (1, 0)):
            sign = slope if likely == 0 else -slope
            for share in SHARES:
                cut = np.quantile(sign * train[likely], 1 - share)
                hits, misses = (int(np.count_nonzero(sign * test[side] >= cut)) for side in (likely, unlikely))
                if _shown(hits, misses, size, chance) > epsilon:
                    return drawn
    return drawn


def _logistic(first: Any, second: Any) -> float:
    """Return the slope of a logistic regression of which input an output came from, by Newton's method."""
    outputs = np.concatenate([first, second])
    rows = np.column_stack([outputs, np.ones(len(outputs))])
    truth = np.repeat([1.0, 0.0], [len(first), len(second)])
    weights = np.zeros(2)
    for _ in range(10):
        odds = scipy.special.expit(rows @ weights)
        curvature = (rows * (odds * (1 - odds))[:, None]).T @ rows + 1e-6 * np.eye(2)
        weights += np.linalg.solve(curvature, rows.T @ (truth - odds))
    return float(weights[0])


def _shown(hits: int, misses: int, draws: int, chance: float) -> float:
    """Return the lower bound on ε by Clopper–Pearson bounds, half of the chance for each."""
    if hits == 0 or misses == draws:
        return 0.0
    low = scipy.special.betaincinv(hits, draws - hits + 1, chance / 2)
    high = scipy.special.betaincinv(misses + 1, draws - misses, 1 - chance / 2)
    return log(low / high) if low > 0 else 0.0
