"""Adult and scikit-learn's digits as numbers, the same for all sides; what is known beforehand is public.

Adult is read in place (``adult.data`` and ``adult.test`` of the UCI repository): as 14 columns of numbers, categories
by number, or with a column of its own for each category. Capital gain and loss are logarithms; numbers lie in [0, 1].
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

NUMBERS = {0: (17, 90), 2: (12_285, 1_490_400), 4: (1, 16), 10: (0, 99_999), 11: (0, 4_356), 12: (1, 99)}
LOGARITHMS = (10, 11)


def adult(folder: str, coded: bool) -> dict[str, Any]:
    """Return rows to learn from and rows to judge by; `coded` gives each category a column."""
    tables = [_read(Path(folder) / name) for name in ("adult.data", "adult.test")]
    names = {
        column: sorted({row[column] for table in tables for row in table}) for column in set(range(14)) - set(NUMBERS)
    }
    x, x_test = (np.column_stack([_column(table, c, names, coded) for c in range(14)]) for table in tables)
    y, y_test = (np.array([row[14] == ">50K" for row in table]).astype(int) for table in tables)
    high = np.ones(x.shape[1]) if coded else np.array([1.0 if c in NUMBERS else len(names[c]) - 1.0 for c in range(14)])
    nominal = [not coded and column in names for column in range(x.shape[1])]
    return {"x": x, "y": y, "x_test": x_test, "y_test": y_test, "high": high, "nominal": nominal, "norm": 3.4}


def digits() -> dict[str, Any]:
    """Return scikit-learn's digits; every fifth is to judge by."""
    x, y = load_digits(return_X_y=True)
    test = np.arange(len(x)) % 5 == 0
    return {
        "x": x[~test],
        "y": y[~test],
        "x_test": x[test],
        "y_test": y[test],
        "high": np.full(64, 16.0),
        "nominal": [False] * 64,
        "norm": 75.0,
    }


def middles() -> dict[str, Any]:
    """Return the sixteen pixels in the middle of each of scikit-learn's digits."""
    found, middle = digits(), [8 * row + column for row in range(2, 6) for column in range(2, 6)]
    cut = {name: found[name][:, middle] for name in ("x", "x_test")}
    return {**found, **cut, "high": np.full(16, 16.0), "nominal": [False] * 16}


def data(source: str, folder: str, coded: bool) -> dict[str, Any]:
    """Return a set of rows by its name."""
    if source == "middles of digits":
        return middles()
    return digits() if source == "digits" else adult(folder, coded)


def _read(path: Path) -> list[list[str]]:
    rows = [[part.strip() for part in line.strip().rstrip(".").split(",")] for line in path.read_text().splitlines()]
    return [row for row in rows if len(row) == 15]


def _column(table: list[list[str]], column: int, names: dict[int, list[str]], coded: bool) -> Any:
    if column in names:
        numbers = np.array([names[column].index(row[column]) for row in table])
        return np.eye(len(names[column]))[numbers] if coded else numbers.astype(float)
    low, high = NUMBERS[column]
    values = np.array([float(row[column]) for row in table])
    return np.log1p(values) / np.log1p(high) if column in LOGARITHMS else (values - low) / (high - low)


def quality(kind: str, model: Any, told: dict[str, Any]) -> float:
    """Return how good a fitted model is: accuracy, R², the part of variance kept, or minus the error."""
    x, y = told["x_test"], told["y_test"]
    if kind in ("linear", "ridge"):
        wanted = x[:, -1]
        found = np.asarray(model.predict(x[:, :-1])).ravel()
        return float(1 - ((wanted - found) ** 2).sum() / ((wanted - wanted.mean()) ** 2).sum())
    if kind == "scaler":
        return -float(np.mean(np.abs(model.mean_ - told["x"].mean(axis=0)) / told["high"]))
    if kind == "pca":
        centred = x - x.mean(axis=0)
        basis, _ = np.linalg.qr(np.asarray(model.components_).T)
        return float(((centred @ basis) ** 2).sum() / (centred**2).sum())
    if kind == "kmeans":
        distances = ((x[:, None, :] - np.asarray(model.cluster_centers_)[None]) ** 2).sum(axis=2)
        return -float(distances.min(axis=1).mean() / ((x - x.mean(axis=0)) ** 2).sum(axis=1).mean())
    return float(np.mean(model.predict(x) == y))
