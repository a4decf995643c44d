"""multi-freq-ldpy's clients: one call a value."""

from __future__ import annotations

from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np


def versions() -> dict[str, str]:
    return {"multi-freq-ldpy": version("multi-freq-ldpy"), "numpy": np.__version__}


def randomize(way: str, people: int, domain: int, epsilon: float) -> tuple[float, int, dict[str, Any]]:
    """Return how long one report takes, after the first, which compiles."""
    client = _client(way)
    values = np.random.default_rng(1).integers(0, domain, people).tolist()
    extra = () if way == "k-ary" else (way == "unary",)
    client(values[0], domain, epsilon, *extra)
    started = perf_counter()
    for value in values:
        client(value, domain, epsilon, *extra)
    return perf_counter() - started, people, {}


def _client(way: str) -> Any:
    if way == "k-ary":
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

        return GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

    return UE_Client
