"""interpret: its DP-EBM, at (ε, δ)."""

from __future__ import annotations

import warnings
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
from interpret.privacy import DPExplainableBoostingClassifier

from .estimator_data import data, quality


def versions() -> dict[str, str]:
    return {"interpret-core": version("interpret-core")}


def fits(source: str, folder: str, epsilon: float, delta: float, runs: int) -> tuple[float, int, dict[str, Any]]:
    """Return the mean accuracy of so many fits."""
    told = data(source, folder, coded=False)
    warnings.simplefilter("ignore")
    found, seconds = [], 0.0
    for run in range(runs):
        model = DPExplainableBoostingClassifier(
            epsilon=epsilon,
            delta=delta,
            feature_types=["nominal" if each else "continuous" for each in told["nominal"]],
            privacy_bounds={place: (0.0, float(high)) for place, high in enumerate(told["high"])},
            n_jobs=1,
            random_state=run,
        )
        started = perf_counter()
        model.fit(told["x"], told["y"])
        seconds += perf_counter() - started
        found.append(quality("boosting", model, told))
    return seconds, runs, {"value": float(np.mean(found)), "deviation": float(np.std(found))}
