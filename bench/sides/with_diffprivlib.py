"""diffprivlib: medians by its exponential mechanism with stated bounds."""

from __future__ import annotations

from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
from diffprivlib import tools

from .scores import median_scores


def versions() -> dict[str, str]:
    return {"diffprivlib": version("diffprivlib"), "numpy": np.__version__}


def medians(settings: list[dict[str, Any]], repetitions: int) -> tuple[float, int, dict[str, Any]]:
    tables = {setting["path"]: np.loadtxt(setting["path"], skiprows=1) for setting in settings}
    started = perf_counter()
    found = {
        setting["name"]: [
            float(tools.median(tables[setting["path"]], epsilon=setting["epsilon"], bounds=(0, 100)))
            for _ in range(repetitions)
        ]
        for setting in settings
    }
    seconds = perf_counter() - started
    truth = {setting["name"]: setting["median"] for setting in settings}
    return seconds, repetitions * len(settings), median_scores(found, truth)
