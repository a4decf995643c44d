"""sordino's estimators, at (ε, δ)."""

from __future__ import annotations

from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import sordino as so
from sordino import learn

from .estimator_data import data, quality


def versions() -> dict[str, str]:
    return {"sordino": so.__version__, "scikit-learn": version("scikit-learn"), "numpy": np.__version__}


def fits(
    kind: str, source: str, folder: str, epsilon: float, delta: float, runs: int
) -> tuple[float, int, dict[str, Any]]:
    """Return the mean quality of so many fits."""
    told = data(source, folder, coded=kind in ("logistic", "bayes"))
    found, seconds = [], 0.0
    for _ in range(runs):
        rows = learn.examples("rows", told["x"], told["y"], size=len(told["x"]))
        model = _model(kind, told).set_params(
            epsilon=epsilon, budget=so.account(rows, so.budget(epsilon=epsilon, delta=delta))
        )
        started = perf_counter()
        model.fit(*((told["x"][:, :-1], told["x"][:, -1]) if kind in ("linear", "ridge") else (told["x"], told["y"])))
        seconds += perf_counter() - started
        found.append(quality(kind, model, told))
    return seconds, runs, {"value": float(np.mean(found)), "deviation": float(np.std(found))}


def shortfall(source: str, folder: str, epsilon: float, delta: float, runs: int) -> tuple[float, int, dict[str, Any]]:
    """Return by how many points logistic regression is below scikit-learn's without privacy."""
    told = data(source, folder, coded=True)
    plain = LogisticRegression(max_iter=2000).fit(told["x"], told["y"]).score(told["x_test"], told["y_test"])
    seconds, units, values = fits("logistic", source, folder, epsilon, delta, runs)
    return seconds, units, {"value": 100 * (plain - values["value"]), "plain": plain}


def _model(kind: str, told: dict[str, Any]) -> Any:
    box, classes = (np.zeros(len(told["high"])), told["high"]), sorted(set(told["y"].tolist()))
    inner = box[0][:-1], box[1][:-1]
    types = ["nominal" if each else "continuous" for each in told["nominal"]]
    models: dict[str, Any] = {
        "logistic": lambda: learn.LogisticRegression(data_norm=told["norm"], classes=classes),
        "bayes": lambda: learn.GaussianNB(bounds=box, classes=classes),
        "forest": lambda: learn.RandomForestClassifier(bounds=box, classes=classes),
        "boosting": lambda: learn.ExplainableBoostingClassifier(bounds=box, classes=classes, feature_types=types),
        "linear": lambda: learn.LinearRegression(bounds_X=inner, bounds_y=(0, float(box[1][-1]))),
        "ridge": lambda: learn.Ridge(bounds_X=inner, bounds_y=(0, float(box[1][-1]))),
        "scaler": lambda: learn.StandardScaler(bounds=box),
        "pca": lambda: learn.PCA(5, bounds=box),
        "kmeans": lambda: learn.KMeans(10, bounds=box),
    }
    return models[kind]()
