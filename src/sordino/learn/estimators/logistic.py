"""Logistic regression by a few noisy steps, each brought to scale by a noisy matrix of second moments.

**Guarantee**: rows are scaled down to a 2-norm of `data_norm` and get a constant ½ for the intercept, so ‖u‖₂² ≤ 5/4
in units of that norm. Released are the upper half of Σuuᵀ once (a row moves it by at most 5/4 in the 2-norm, see
``second_moments.py``), and `steps` gradients Σ(p − e)uᵀ, where p are the probabilities at the weights so far and e
marks the row's class: ‖p − e‖₂² ≤ 2 and ‖p − e‖₁ ≤ 2, or 1 and 1 with two classes, where one column says it all.
**Source**: Böhning 1992: ½·Σuuᵀ for each class (¼ with two) bounds the curvature everywhere, so a step by its inverse
never overshoots, whatever the weights. Steps are Newton's, but for a matrix that is released once. What the noise of
that matrix makes unsure is damped: σ·√c is added, c its size.

**Finite precision.** Weights are public, so they are rounded to multiples of 2⁻²⁰; margins are then exact whole
numbers (``whole_rows.py``), probabilities are looked up by them in a table, and gradients are exact sums again. A row's
own numbers do not depend on who else is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sordino.accounting.bound import Bound
from sordino.arguments import rational, whole

from .finding import BOUNDS_SHARE, CLASSES_SHARE, MOST_CLASSES, classes_sum, find_norm, norm_sum
from .margins import likeliest, possible_margins, probabilities
from .plan import Sum
from .private import Learned
from .releases import Floats, Releases
from .scoring import ScoredClasses
from .second_moments import PRODUCTS, root_up
from .softmax import MOST_COLUMNS, WEIGHT_LIMIT, residuals
from .whole_rows import ONE, gram, products, weighted, with_constant, within_norm

_STEPS = 8
_CURVATURE_SHARE = Fraction(3, 10)
_CONSTANT = Fraction(1, 2)
_SQUARE = 1 + _CONSTANT**2


@dataclass(eq=False, repr=False, kw_only=True)
class LogisticRegression(ScoredClasses):
    """Logistic regression, with two classes or more (multinomial).

    Args:
        epsilon: what a fit spends.
        data_norm: the 2-norm to which rows are scaled down; found if left out.
        C: the inverse of the penalty on squared weights.
        fit_intercept: whether there is a constant.
        max_iter: the most steps; eight are taken at most, as each has a share of ε.
        classes: the labels; found if left out, which takes a δ.
        budget: the account of the data.
        delta: the δ of a fit, that of the account if left out.
        rho: what a fit spends in zero-concentrated privacy, with ``epsilon=None``.
        score_epsilon: what a score spends; a tenth of what a fit does if left out.
    """

    data_norm: Any = None
    C: Any = 1.0
    fit_intercept: bool = True
    max_iter: int = 100

    def fit(self, X: Any, y: Any) -> Self:
        """Learn weights; charged before a row is looked at."""
        rows, labels = self._rows(X), self._labels(X, y)
        spending, declared = self._spending(), self._declared_classes()
        norm = None if self.data_norm is None else float(rational("data_norm", self.data_norm, above=0))
        penalty = 1 / float(rational("C", self.C, above=0))
        whole("the number of columns", rows.shape[1], most=MOST_COLUMNS)
        steps = min(whole("max_iter", self.max_iter, least=1), _STEPS)
        sums: list[Sum] = [] if norm is not None else [norm_sum()]
        if declared is None:
            sums.append(classes_sum())
        left = 1 - BOUNDS_SHARE * (norm is None) - CLASSES_SHARE * (declared is None)
        kinds = MOST_CLASSES if declared is None else len(declared)
        sums += descent_sums(rows.shape[1], kinds, steps, left)
        words = {"data_norm": norm, "classes": None if declared is None else declared.tolist(), "penalty": penalty}

        def run(releases: Releases) -> Learned:
            length = find_norm(rows, releases) if norm is None else norm
            classes, places = self._found_classes(labels, releases, declared)
            u = with_constant(within_norm(rows, length), int(ONE * _CONSTANT) if self.fit_intercept else 0)
            weights = descended(u, places, len(classes), steps, penalty / length**2, releases)
            coef, constant = weights[:, 1:] / length, weights[:, 0] * float(_CONSTANT)
            return {"classes_": classes, "coef_": coef, "intercept_": constant, "n_iter_": np.array([steps])}

        return self._learn(self._plan(spending, sums, words), run)

    def decision_function(self, X: Any) -> Floats:
        """Return the margin: of the second class where there are two, of each where there are more."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        margins = possible_margins(weighted(np.where(np.isfinite(rows), rows, 0.0), self.coef_) + self.intercept_)
        found: Floats = margins[:, 0] if len(self.classes_) <= 2 else margins
        return found

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most likely class; what is not a finite number counts as 0."""
        return likeliest(self.decision_function(X), self.classes_)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class."""
        return probabilities(self.decision_function(X), len(self.classes_))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of each class."""
        return np.log(self.predict_proba(X))


def descent_sums(columns: int, kinds: int, steps: int, share: Fraction) -> list[Sum]:
    """Return the sums of a descent (see the module's guarantee): the curvature once, a gradient for each step."""
    size, width = columns + 1, root_up(columns) + _CONSTANT
    curvature = Bound(size * (size + 1) // 2, (width**2 + _SQUARE) / 2, _SQUARE**2, Fraction(1))
    several = kinds > 2
    spread = 2 if several else 1
    gradient = Bound(size * (kinds if several else 1), width * spread, _SQUARE * spread, Fraction(1))
    return [
        Sum("curvature", curvature, share * _CURVATURE_SHARE, PRODUCTS),
        Sum("gradient", gradient, share * (1 - _CURVATURE_SHARE), PRODUCTS, times=steps),
    ]


def descended(
    u: Floats, places: NDArray[np.int64], kinds: int, steps: int, penalty: float, releases: Releases
) -> Floats:
    """Return weights, a row for each class (one where there are two or fewer) and the constant's first."""
    u = u * (places >= 0)[:, None]  # a row without a class counts for nothing
    size = u.shape[1]
    upper = np.triu_indices(size)
    half = np.zeros((size, size))
    half[upper] = releases.noisy("curvature", gram(u)[upper])
    values, vectors = np.linalg.eigh(half + np.triu(half, 1).T)
    rate = 0.5 if kinds > 2 else 0.25
    ridge = np.full(size, penalty)
    ridge[0] = 0.0
    damping = rate * releases.deviation("curvature") * np.sqrt(size)
    matrix = (vectors * (rate * np.maximum(values, 0.0))) @ vectors.T + np.diag(ridge + damping + _LEAST)
    inverse = np.linalg.inv(matrix)
    weights = np.zeros((kinds if kinds > 2 else 1, size))
    if kinds < 2:
        return weights
    for _ in range(steps):
        slope = releases.noisy("gradient", products(residuals(u, weights, places, kinds), u))
        weights = weights - (slope + weights * ridge) @ inverse
        weights = np.clip(weights, -WEIGHT_LIMIT, WEIGHT_LIMIT)
    return weights


_LEAST = 1e-9
