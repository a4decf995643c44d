"""A test in the style of DP-Sniper on the same mechanisms: the bound that it shows at every δ of the claim."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

import scipy

from .hidden_leaks import by_kind

DRAWS = 200_000


def versions() -> dict[str, str]:
    return {"scipy": scipy.__version__}


def measured(kind: str, seeds: int) -> tuple[float, int, dict[str, Any]]:
    """Return of each mechanism the median bound at every δ of its claim."""
    judged = by_kind()[kind]
    from audit.classifier_test import shown_by_a_classifier

    started, told = perf_counter(), {}
    for each in judged:
        told[each.subject.name] = {
            f"{delta:g}": median(
                shown_by_a_classifier(each.subject, DRAWS, delta, seed=1_000 * seed) for seed in range(seeds)
            )
            for delta in each.subject.claim.deltas
        }
    return perf_counter() - started, seeds * len(judged), told
