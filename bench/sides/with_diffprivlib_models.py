"""diffprivlib's models, at pure ε: it has no others."""

from __future__ import annotations

import warnings
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
from diffprivlib import models

from .estimator_data import data, quality


def versions() -> dict[str, str]:
    return {"diffprivlib": version("diffprivlib"), "scikit-learn": version("scikit-learn")}


def fits(kind: str, source: str, folder: str, epsilon: float, runs: int) -> tuple[float, int, dict[str, Any]]:
    """Return the mean quality of so many fits."""
    told = data(source, folder, coded=kind in ("logistic", "bayes"))
    found, seconds = [], 0.0
    warnings.simplefilter("ignore")
    for _ in range(runs):
        model = _model(kind, told, epsilon)
        started = perf_counter()
        model.fit(*((told["x"][:, :-1], told["x"][:, -1]) if kind in ("linear", "ridge") else (told["x"], told["y"])))
        seconds += perf_counter() - started
        found.append(quality(kind, model, told))
    return seconds, runs, {"value": float(np.mean(found)), "deviation": float(np.std(found))}


def _model(kind: str, told: dict[str, Any], epsilon: float) -> Any:
    box, classes = (np.zeros(len(told["high"])), told["high"]), sorted(set(told["y"].tolist()))
    inner = box[0][:-1], box[1][:-1]
    norm = float(np.sqrt((told["high"] ** 2).sum()))
    build: dict[str, Any] = {
        "logistic": lambda: models.LogisticRegression(epsilon=epsilon, data_norm=told["norm"]),
        "bayes": lambda: models.GaussianNB(epsilon=epsilon, bounds=box),
        "forest": lambda: models.RandomForestClassifier(epsilon=epsilon, bounds=box, classes=classes),
        "linear": lambda: models.LinearRegression(epsilon=epsilon, bounds_X=inner, bounds_y=(0, float(box[1][-1]))),
        "ridge": lambda: models.LinearRegression(epsilon=epsilon, bounds_X=inner, bounds_y=(0, float(box[1][-1]))),
        "scaler": lambda: models.StandardScaler(epsilon=epsilon, bounds=box),
        "pca": lambda: models.PCA(5, epsilon=epsilon, bounds=box, data_norm=norm),
        "kmeans": lambda: models.KMeans(10, epsilon=epsilon, bounds=box),
    }
    return build[kind]()
