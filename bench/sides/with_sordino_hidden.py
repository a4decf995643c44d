"""sordino's auditor on leaks where nobody looks, and on honest mechanisms of the same forms."""

from __future__ import annotations

from collections import Counter
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import scipy

from sordino.audit import measure

from .hidden_leaks import by_kind

DRAWS = 200_000


def versions() -> dict[str, str]:
    return {"numpy": np.__version__, "scipy": scipy.__version__}


def measured(kind: str, seeds: int) -> tuple[float, int, dict[str, Any]]:
    """Return of each mechanism how often its claim was refuted, and the median bound at the δ shown most often."""
    started, told, judged = perf_counter(), {}, by_kind()[kind]
    for each in judged:
        found = [measure(each.subject, draws=DRAWS, seed=seed, low_bits=each.low_bits) for seed in range(seeds)]
        delta = Counter(one.delta for one in found).most_common(1)[0][0]
        told[each.subject.name] = {
            "caught": sum(one.refuted for one in found),
            "delta": f"{delta:g}",
            "epsilon": median(one.epsilon for one in found if one.delta == delta),
        }
    return perf_counter() - started, seeds * len(judged), told
