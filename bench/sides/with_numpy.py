"""NumPy's samplers: floating point, from a generator that is not cryptographic. What to compare speed with."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

_GENERATOR = np.random.default_rng()


def versions() -> dict[str, str]:
    return {"numpy": np.__version__}


def laplace(scale: float, size: int) -> tuple[float, int, dict[str, Any]]:
    started = perf_counter()
    _GENERATOR.laplace(0.0, scale, size)
    return perf_counter() - started, size, {}


def gaussian(scale: float, size: int) -> tuple[float, int, dict[str, Any]]:
    started = perf_counter()
    _GENERATOR.normal(0.0, scale, size)
    return perf_counter() - started, size, {}
