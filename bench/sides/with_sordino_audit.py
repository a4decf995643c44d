"""sordino's auditor: draws until a false claim is refuted, and the bound on ε of correct mechanisms."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import scipy

from sordino import Bound
from sordino.audit import measure
from sordino.mechanisms import Gaussian, Laplace, RandomizedResponse

ONE = Bound.scalar(1)
CORRECT: dict[str, tuple[Any, Any]] = {
    "laplace": (Laplace.for_epsilon(1, ONE, grid=None), 1),
    "randomized_response": (RandomizedResponse(1), 1),
    "gaussian, δ = 0.01": (Gaussian.for_epsilon(1, "0.01", ONE, grid=None), (1, "0.01")),
    "gaussian, δ = 1e-5": (Gaussian.for_epsilon(1, "1e-5", ONE, grid=None), (1, "1e-5")),
}


def versions() -> dict[str, str]:
    return {"numpy": np.__version__, "scipy": scipy.__version__}


def draws_to_refute(scale: float, epsilon: float, seeds: int) -> tuple[float, int, dict[str, float]]:
    def release(value: float, draws: int, seed: int) -> Any:
        return value + np.random.default_rng(seed).laplace(0, scale, draws)

    started = perf_counter()
    found = [
        measure(release, epsilon, pairs=[(1, 0)], draws=1_000_000, seed=seed).draws_to_refute for seed in range(seeds)
    ]
    return perf_counter() - started, seeds, {"draws": float(median(draws or 10**6 for draws in found))}


def measured(mechanism: str, draws: int) -> tuple[float, int, dict[str, float]]:
    audited, claim = CORRECT[mechanism]
    started = perf_counter()
    found = measure(audited, claim, draws=draws)
    return perf_counter() - started, 1, {"epsilon": found.epsilon, "refuted": float(found.refuted)}
