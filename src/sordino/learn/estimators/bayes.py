"""Naive Bayes with a normal distribution for every column and class, from noisy counts and moments.

**Guarantee**: released are for each class how many rows it has, and the sums of z and z² of every column, with z in
[−1, 1] the clipped value. A row is in one class, so one that comes or goes moves 1 + 2·columns numbers by at most 1
each. A row without a class counts for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sordino.arguments import rational
from sordino.errors import ArgumentError

from .finding import BOUNDS_SHARE
from .private import Boxed, Learned, finding_sums
from .releases import Floats, Releases
from .scaler import moments_sum
from .scoring import ScoredClasses
from .whole_rows import ONE, totals, weighted

_WIDEST = 1 / 3
"""The variance of what is anywhere in [−1, 1]."""


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianNB(ScoredClasses, Boxed):
    """Gaussian naive Bayes.

    Args:
        epsilon: what a fit spends.
        bounds: lowest and highest values of the columns; found if left out.
        priors: the probability of each class; learned if left out.
        var_smoothing: the part of the largest variance that is added to all.
        classes: the labels; found if left out, which takes a δ.
        budget: the account of the data.
        delta: the δ of a fit, that of the account if left out.
        rho: what a fit spends in zero-concentrated privacy, with ``epsilon=None``.
        score_epsilon: what a score spends; a tenth of what a fit does if left out.
    """

    priors: Any = None
    var_smoothing: Any = 1e-9

    def fit(self, X: Any, y: Any) -> Self:
        """Learn means and variances; charged before a row is looked at."""
        rows, labels = self._rows(X), self._labels(X, y)
        spending, columns = self._spending(), rows.shape[1]
        box, declared = self._declared(columns), self._declared_classes()
        smoothing = float(rational("var_smoothing", self.var_smoothing, least=0))
        priors = self._declared_priors(declared)
        sums = finding_sums(bounds=columns if box is None else None, classes=declared is None)
        sums.append(moments_sum(columns, 1 - BOUNDS_SHARE * len(sums)))
        words = {
            "bounds": None if box is None else box.words(),
            "classes": None if declared is None else declared.tolist(),
        }

        def run(releases: Releases) -> Learned:
            bounds = self._found(rows, releases, box)
            classes, places = self._found_classes(labels, releases, declared)
            count, mean, variance = class_moments(bounds.boxed(rows), places, len(classes), releases)
            variance = variance + smoothing * variance.max()
            return {
                "classes_": classes,
                "class_count_": count,
                "class_prior_": count / count.sum() if priors is None or len(priors) != len(classes) else priors,
                "theta_": bounds.unboxed(mean),
                "var_": np.maximum(variance * bounds.half**2, _LEAST),
            }

        return self._learn(self._plan(spending, sums, words), run)

    def _declared_priors(self, classes: NDArray[Any] | None) -> Floats | None:
        if self.priors is None:
            return None
        given = np.asarray(self.priors, dtype=np.float64)
        if classes is None or given.shape != classes.shape or (given < 0).any() or not np.isclose(given.sum(), 1):
            raise ArgumentError(
                "priors must be one probability for each of the classes, in their order, and add up to 1; declare "
                "classes=[…] with them",
                "SRD-A003",
            )
        return given

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the joint probability of a row and each class; missing values have no say."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        found = np.empty((len(rows), len(self.classes_)))
        with np.errstate(divide="ignore", over="ignore"):
            for place, (mean, variance) in enumerate(zip(self.theta_, self.var_, strict=True)):
                parts = -0.5 * (np.log(2 * np.pi * variance) + np.minimum((rows - mean) ** 2 / variance, _FAR))
                known = np.where(np.isnan(rows), 0.0, parts)
                found[:, place] = np.log(self.class_prior_[place]) + weighted(known, np.ones((1, known.shape[1])))[:, 0]
        return found

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most likely class."""
        joint = self.predict_joint_log_proba(X)
        found: NDArray[Any] = self.classes_[np.argmax(joint, axis=1)]
        return found

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of each class."""
        joint = self.predict_joint_log_proba(X)
        found: Floats = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
        return found

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class."""
        return np.exp(self.predict_log_proba(X))


_LEAST = 1e-300
_FAR = 1e12


def class_moments(
    z: Floats, places: NDArray[np.int64], kinds: int, releases: Releases
) -> tuple[Floats, Floats, Floats]:
    """Return for each class how many rows it has, and means and variances of its columns in [−1, 1]; noisy.

    Made possible ones: a class has a row at least, and no variance is below what noise alone would make of none.
    """
    exact = np.stack([_class_sums(z[places == kind]) for kind in range(kinds)])
    noisy = releases.noisy("moments", exact)
    columns = z.shape[1]
    count = np.maximum(noisy[:, 0], 1.0)
    mean = np.clip(noisy[:, 1 : 1 + columns] / count[:, None], -1, 1)
    square = np.clip(noisy[:, 1 + columns :] / count[:, None], 0, 1)
    unsure = np.minimum(releases.deviation("moments") / count, _WIDEST)[:, None]
    return count, mean, np.maximum(square - mean**2, unsure)


def _class_sums(z: Floats) -> NDArray[np.int64]:
    return np.concatenate([[len(z) * ONE**2], totals(z) * ONE, totals(z * z)])
