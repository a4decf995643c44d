"""Scores as releases: how well a model does on rows that belong to people is itself about people.

`score` is charged to the model's account, `score_public` is free and for rows that are nobody's.

**Guarantee**: for classes, a row that comes or goes moves the numbers of rows right and wrong by 1 in all. For targets,
released are the number of rows, and the sums of z, z² and of the squared half distance of z from its prediction, each
at most 1 in size, with z the target in [−1, 1] of its bounds.
**Assumes**: a row's prediction depends on that row alone (``whole_rows.weighted``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from sordino.accounting.bound import Bound
from sordino.arguments import rational

from .bounds import Bounds
from .finding import in_steps, numbered
from .plan import Sum
from .private import Labelled, Learned, PrivateEstimator
from .releases import Floats, Releases
from .second_moments import PRODUCTS
from .spending import Spending, spending_of
from .targets import read_targets
from .whole_rows import ONE, totals

SCORE_PARTS = 10
"""A score spends this part of what a fit does, if nothing else was said."""


@dataclass(eq=False, repr=False, kw_only=True)
class Scored(PrivateEstimator):
    """What `score` spends: `score_epsilon`, or a tenth of what a fit does."""

    score_epsilon: Any = None

    def _score_spending(self) -> Spending:
        if self.score_epsilon is not None:
            return spending_of(self.budget, self.score_epsilon, self.delta, None)
        epsilon, rho = (
            None if each is None else rational(name, each, above=0) / SCORE_PARTS
            for name, each in (("epsilon", self.epsilon), ("rho", self.rho))
        )
        return spending_of(self.budget, epsilon, self.delta, rho)


class ScoredClasses(ClassifierMixin, Scored, Labelled):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier with a score to pay for."""

    classes_: NDArray[Any]
    predict: Callable[[Any], NDArray[Any]]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def score(self, X: Any, y: Any) -> float:
        """Return the noisy share of rows that get their own class; charged."""
        check_is_fitted(self)
        rows, labels = self._rows(X, reset=False), self._labels(X, y)
        asked = Sum("right and wrong", Bound.vector(l0=2, linf=1, l1=1), Fraction(1))

        def run(releases: Releases) -> Learned:
            found = numbered(self.predict(rows), self.classes_)
            right = int(np.sum(found == numbered(labels, self.classes_)))
            noisy = np.maximum(releases.noisy(asked.name, in_steps(np.array([right, len(rows) - right]))), 0.0)
            return {"score": float(noisy[0] / noisy.sum()) if noisy.sum() > 0 else 0.5}

        return float(self._carry_out(self._plan(self._score_spending(), [asked], {}, ".score"), run).learned["score"])

    def score_public(self, X: Any, y: Any) -> float:
        """Return the share of rows that get their own class, exactly; free, so for public rows only."""
        return float(np.mean(self.predict(X) == self._labels(X, y)))


class ScoredTargets(RegressorMixin, Scored):  # type: ignore[misc]
    """A regressor with a score to pay for; `bounds_y_` holds the bounds of its targets."""

    bounds_y_: tuple[Floats, Floats]
    predict: Callable[[Any], Floats]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def score(self, X: Any, y: Any) -> float:
        """Return the noisy R² of targets clipped to their bounds, the mean of several targets; charged."""
        check_is_fitted(self)
        rows, targets = self._rows(X, reset=False), read_targets(X, y)
        outputs = len(self.bounds_y_[0])
        asked = Sum("errors", Bound.vector(l0=1 + 3 * outputs, linf=1), Fraction(1), PRODUCTS)

        def run(releases: Releases) -> Learned:
            return {"score": self._determination(rows, targets, releases)}

        return float(self._carry_out(self._plan(self._score_spending(), [asked], {}, ".score"), run).learned["score"])

    def _determination(self, rows: Floats, targets: Floats, releases: Releases) -> float:
        box = Bounds(*self.bounds_y_)
        wanted = targets.reshape(len(targets), -1)
        kept = np.isfinite(wanted).all(axis=1)
        z = box.boxed(wanted[kept])
        off = np.trunc((z - box.boxed(self.predict(rows[kept]).reshape(len(z), -1))) / 2)
        exact = np.concatenate([[len(z) * ONE**2], totals(z) * ONE, totals(z * z), totals(off * off)])
        count, linear, square, wrong = np.split(releases.noisy("errors", exact), np.cumsum([1, z.shape[1], z.shape[1]]))
        spread = np.maximum(square - linear**2 / max(float(count[0]), 1.0), releases.deviation("errors"))
        return float(np.mean(1 - 4 * np.maximum(wrong, 0.0) / spread))

    def score_public(self, X: Any, y: Any) -> float:
        """Return R², exactly; free, so for public rows only."""
        wanted, found = np.asarray(y, dtype=np.float64), self.predict(X)
        return float(
            np.mean(1 - ((wanted - found) ** 2).sum(axis=0) / ((wanted - wanted.mean(axis=0)) ** 2).sum(axis=0))
        )
