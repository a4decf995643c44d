"""pure-ldp's clients: one call a value."""

from __future__ import annotations

from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np


def versions() -> dict[str, str]:
    return {"pure-ldp": version("pure-ldp"), "numpy": np.__version__}


def randomize(way: str, people: int, domain: int, epsilon: float) -> tuple[float, int, dict[str, Any]]:
    """Return how long one report takes."""
    client = _client(way, domain, epsilon)
    values = (np.random.default_rng(1).integers(0, domain, people) + 1).tolist()
    started = perf_counter()
    for value in values:
        client.privatise(value)
    return perf_counter() - started, people, {}


def _client(way: str, domain: int, epsilon: float) -> Any:
    if way == "k-ary":
        from pure_ldp.frequency_oracles.direct_encoding import DEClient

        return DEClient(epsilon=epsilon, d=domain)
    if way == "hadamard":
        from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer

        return HadamardResponseClient(epsilon, domain, HadamardResponseServer(epsilon, domain).get_hash_funcs())
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    return UEClient(epsilon=epsilon, d=domain, use_oue=way == "unary")
