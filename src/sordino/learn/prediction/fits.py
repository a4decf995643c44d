"""Models for private predictions that are asked for by name: quick, closed forms, without a model library.

Each gets the examples of one part and returns a function from things to classes. Examples with NaN or without a class
are left out; a part that has none left fails, and so abstains.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import one_of
from sordino.learn.run.rows import Array, Batch
from sordino.learn.run.voting import Fit, Predict

_RIDGE = 1.0


def nearest_mean(part: Batch) -> Predict:
    """Return the class whose examples' mean is nearest."""
    features, labels = _known(part)
    classes = np.unique(labels)
    means = np.stack([features[labels == each].mean(0) for each in classes])
    return lambda asked: classes[((_flat(asked)[:, None, :] - means) ** 2).sum(2).argmin(1)]


def least_squares(part: Batch) -> Predict:
    """Return the class with the largest score, each a linear function fitted by ridge regression."""
    features, labels = _known(part)
    classes = np.unique(labels)
    known = _with_one(features)
    gram = known.T @ known + _RIDGE * np.eye(known.shape[1])
    scores = np.linalg.solve(gram, known.T @ (labels[:, None] == classes))
    return lambda asked: classes[(_with_one(_flat(asked)) @ scores).argmax(1)]


FITS: dict[str, Fit] = {"nearest-mean": nearest_mean, "least-squares": least_squares}


def fit_of(name: str) -> Fit:
    """Return how the models of a name are fitted."""
    return FITS[one_of("model", name, tuple(FITS))]


def _known(part: Batch) -> tuple[NDArray[np.float64], Array]:
    features, labels = _flat(part[0]), part[1]
    kept = np.isfinite(features).all(1) & (labels >= 0)
    return features[kept], labels[kept]


def _flat(given: Array) -> NDArray[np.float64]:
    return given.reshape(len(given), -1).astype(np.float64)


def _with_one(given: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.hstack([given, np.ones((len(given), 1))])
