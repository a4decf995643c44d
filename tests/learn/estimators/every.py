"""Every estimator of the room, with all that can be declared declared, and rows to fit it to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sordino as so
from sordino.accounting.neighbours import Neighbours
from sordino.learn import estimators

VANISHING = 10**12
"""An ε at which noise vanishes: some of scikit-learn's checks compare two fits."""

DECLARED: dict[str, dict[str, Any]] = {
    "StandardScaler": {"bounds": (-1, 1)},
    "LinearRegression": {"bounds_X": (-1, 1), "bounds_y": (-1, 1)},
    "Ridge": {"data_norm": 1, "bounds_y": (-1, 1)},
    "LogisticRegression": {"data_norm": 1, "classes": (0, 1)},
    "GaussianNB": {"bounds": (-1, 1), "classes": (0, 1)},
    "PCA": {"bounds": (-1, 1)},
    "EmpiricalCovariance": {"data_norm": 1},
    "KMeans": {"bounds": (-1, 1), "n_clusters": 2, "random_state": 0},
    "HistogramDensity": {"bounds": (-1, 1), "bins": 3},
    "RandomForestClassifier": {
        "bounds": (-1, 1),
        "classes": (0, 1),
        "n_estimators": 3,
        "max_depth": 2,
        "random_state": 0,
    },
    "ExplainableBoostingClassifier": {"bounds": (-1, 1), "classes": (0, 1), "max_rounds": 2, "random_state": 0},
    "ExplainableBoostingRegressor": {"bounds": (-1, 1), "bounds_y": (-1, 1), "max_rounds": 2, "random_state": 0},
}
NAMES = sorted(DECLARED)
UNSCORED = {"StandardScaler", "PCA", "EmpiricalCovariance", "KMeans", "HistogramDensity"}


def account(budget: Any = None, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Any:
    """Return an account of some rows; without a cap if no budget is given."""
    rows = so.learn.examples("rows", np.zeros((2, 2)), size=100, neighbours=neighbours)
    return so.account(rows, so.unlimited("a test") if budget is None else budget)


def estimator(name: str, budget: Any, **words: Any) -> Any:
    """Return an estimator with all declared, and what else is said."""
    kind: Callable[..., Any] = getattr(estimators, name)
    return kind(**{**DECLARED[name], "budget": budget, **words})


def rows(count: int, columns: int = 2, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return made-up rows in [−1, 1] and labels that follow from them, but for some."""
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, (count, columns))
    return x, (x[:, 0] + 0.3 * random.standard_normal(count) > 0).astype(np.int64)
