"""A student: learns from few noisy labels of public things, and from how all public things lie beside each other.

Labels spread along a graph that joins each thing to its nearest ones; then a linear model is fitted to what they came
to. Few labels reach far that way, and wrong ones among them are outvoted.

**Guarantee**: post-processing of the labels: it costs nothing, whatever is done with it.
**Assumes**: the features are of public things. Whatever else they were computed from is used, and nobody has paid.
**Source**: Zhou, Bousquet, Lal, Weston, Schölkopf 2004 (spreading); Papernot et al. 2017 (semi-supervised students).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, sparse

from sordino.arguments import whole
from sordino.errors import ArgumentError

from .plan import Labels

Matrix = NDArray[np.float64]

_FAR = 0.95
"""How much of a thing's own label is replaced by those of its neighbours, in each round."""
_ROUNDS = 60
_RIDGE = 0.03
"""Of the mean variance of a feature, added to all of them."""
_AT_ONCE = 1000


@dataclass(frozen=True, eq=False)
class Student:
    """A linear model, and the labels that it was fitted to. Build it with `student`."""

    labels: NDArray[np.int64]
    """A label for each public thing."""
    mean: Matrix
    weights: Matrix

    def predict(self, features: ArrayLike) -> NDArray[np.int64]:
        """Return the class of each thing, by its features."""
        found: NDArray[np.int64] = ((np.asarray(features, dtype=np.float64) - self.mean) @ self.weights).argmax(axis=1)
        return found


def student(features: ArrayLike, labels: Labels | ArrayLike, *, classes: int, nearest: int = 8) -> Student:
    """Return a student of public things: their features, a row each, and labels, −1 for things that have none.

    >>> x = np.concatenate([np.arange(20.0), np.arange(100.0, 120.0)])[:, None]
    >>> taught = student(x, np.where(x[:, 0] == 3, 0, np.where(x[:, 0] == 110, 1, -1)), classes=2, nearest=3)
    >>> taught.predict([[0.0], [119.0]]).tolist()
    [0, 1]
    """
    rows = np.asarray(features, dtype=np.float64)
    known = np.asarray(labels.labels if isinstance(labels, Labels) else labels)
    count, near = whole("classes", classes, least=2), whole("nearest", nearest, least=1)
    if rows.ndim != 2 or known.shape != rows.shape[:1] or known.dtype.kind not in "iu":
        raise ArgumentError(
            "a student needs one row of features and one whole number as label for each thing", "SRD-A001"
        )
    if not np.isfinite(rows).all() or len(rows) <= near or known.max(initial=-1) >= count or known.max(initial=-1) < 0:
        raise ArgumentError(
            "a student needs features that are numbers, more things than `nearest`, and at least one label, all below "
            "`classes`",
            "SRD-A002",
        )
    found = _spread(_graph(rows, near), known, count)
    return Student(found, *_fitted(rows, found, count))


def _graph(rows: Matrix, nearest: int) -> Any:
    """Return how close each thing is to its nearest ones, symmetric, divided by the roots of both things' sums."""
    squares = np.square(rows).sum(axis=1)
    places = np.empty((len(rows), nearest), dtype=np.intp)
    apart = np.empty((len(rows), nearest))
    for start in range(0, len(rows), _AT_ONCE):
        here = slice(start, start + _AT_ONCE)
        distances = np.maximum(squares[here, None] + squares - 2 * (rows[here] @ rows.T), 0)
        distances[np.arange(len(distances)), np.arange(start, start + len(distances))] = np.inf
        places[here] = np.argpartition(distances, nearest - 1, axis=1)[:, :nearest]
        apart[here] = np.take_along_axis(distances, places[here], axis=1)
    reach = np.sqrt(apart.max(axis=1))
    weights = np.exp(-apart / np.maximum(reach[:, None] * reach[places], np.finfo(float).tiny))
    whose = np.repeat(np.arange(len(rows)), nearest)
    one_way = sparse.csr_array((weights.ravel(), (whose, places.ravel())), shape=(len(rows), len(rows)))
    both = one_way.maximum(one_way.T)
    roots = 1 / np.sqrt(np.maximum(both.sum(axis=1), np.finfo(float).tiny))
    return both.multiply(roots[:, None]).multiply(roots[None, :]).tocsr()


def _spread(graph: Any, known: NDArray[Any], classes: int) -> NDArray[np.int64]:
    """Return a label for everything: where most of the spreading labels come to, each class weighed alike."""
    own = np.zeros((len(known), classes))
    own[known >= 0, known[known >= 0]] = 1
    found = own
    for _ in range(_ROUNDS):
        found = _FAR * (graph @ found) + (1 - _FAR) * own
    share = found / np.maximum(found.sum(axis=0), np.finfo(float).tiny)
    best: NDArray[np.int64] = share.argmax(axis=1)
    return best


def _fitted(rows: Matrix, labels: NDArray[np.int64], classes: int) -> tuple[Matrix, Matrix]:
    """Return the mean of the features and the weights of a ridge regression on the labels."""
    mean = rows.mean(axis=0)
    centred = rows - mean
    squares = centred.T @ centred
    squares[np.diag_indices_from(squares)] += _RIDGE * max(float(np.trace(squares)) / len(squares), 1e-12)
    wanted = np.eye(classes)[labels]
    return mean, linalg.solve(squares, centred.T @ (wanted - wanted.mean(axis=0)), assume_a="pos")
