"""Boosted trees that explain themselves: a sum of one shape for each column, in the manner of DP-EBM.

**Guarantee**: released are the cells of ``binning.py``, the leaves of ``boosting.py``, and what finds bounds, labels. A
class' or target's mean is learned as any shape is. The band around a shape is that of its noise, which is public.
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
from sordino.errors import ArgumentError
from sordino.mechanisms.grid import Grid

from .binning import BIN_SHARE, Binned, binned, cells_sum
from .boosting import SCORE_BITS, Pace, Residuals, Shape, boosted
from .bounds import Bounds, declared_bounds
from .finding import BOUNDS_SHARE, bounds_sum, find_bounds
from .margins import likeliest, probabilities
from .plan import Sum
from .private import Boxed, Learned, finding_sums
from .public_chance import public_chance
from .releases import Floats, Releases
from .scoring import ScoredClasses, ScoredTargets
from .shape_plot import draw_shape
from .softmax import residuals_of
from .targets import read_one_target, unfound_targets
from .whole_rows import BITS, ONE

_LEAVES = Grid(-BITS, exact=True)
_NOMINAL = "nominal"


@dataclass(eq=False, repr=False, kw_only=True)
class Explainable(Boxed):
    """What both kinds share: bins, rounds, shapes."""

    feature_types: Any = None
    max_bins: int = 32
    max_rounds: int = 40
    learning_rate: Any = 0.2
    max_leaves: int = 3
    random_state: Any = None

    def _pace(self, curvature: float) -> Pace:
        return Pace(
            whole("max_rounds", self.max_rounds, least=1),
            float(rational("learning_rate", self.learning_rate, above=0)),
            whole("max_leaves", self.max_leaves, least=2),
            curvature,
        )

    def _nominal(self, columns: int) -> NDArray[np.bool_]:
        """Return which columns are of categories, which need bounds: the lowest and the highest of their numbers."""
        if self.feature_types is None:
            return np.zeros(columns, dtype=bool)
        given = list(self.feature_types)
        if len(given) != columns or not set(given) <= {_NOMINAL, "continuous"}:
            raise ArgumentError("feature_types must say 'continuous' or 'nominal' for each column", "SRD-A001")
        if self.bounds is None and _NOMINAL in given:
            raise ArgumentError(
                "a nominal column holds whole numbers between bounds: declare bounds=(lowest, highest)", "SRD-A003"
            )
        return np.array([each == _NOMINAL for each in given])

    def _boosting_sums(self, columns: int, rounds: int, bound: Bound, share: Fraction) -> list[Sum]:
        leaves = Sum("leaves", bound, share * (1 - BIN_SHARE), _LEAVES, times=rounds * columns)
        return [cells_sum(columns, share * BIN_SHARE), leaves]

    def _boost(
        self,
        rows: Floats,
        bounds: Bounds,
        nominal: NDArray[np.bool_],
        outputs: int,
        residuals: Residuals,
        pace: Pace,
        releases: Releases,
    ) -> Learned:
        columns = binned(rows, bounds, nominal, whole("max_bins", self.max_bins, least=2), releases)
        places = _places(columns, rows)
        shapes = boosted(columns, places, outputs, residuals, pace, public_chance(self.random_state), releases)
        middles = [_mean(column, shape) for column, shape in zip(columns, shapes, strict=True)]
        return {
            "columns_": columns,
            "shapes_": [
                Shape(each.scores - middle, each.deviations) for each, middle in zip(shapes, middles, strict=True)
            ],
            "intercept_": np.sum(middles, axis=0),
            "n_iter_": pace.rounds,
        }

    def _totals(self, X: Any) -> Floats:
        """Return the score of each row: its bins' scores, added up."""
        check_is_fitted(self)
        places = _places(self.columns_, self._rows(X, reset=False))
        total = np.zeros((len(places), len(self.intercept_))) + self.intercept_
        for column, shape in enumerate(self.shapes_):
            total += shape.scores[places[:, column]]
        found: Floats = total
        return found

    def plot(self, column: int, output: int = 0, axes: Any = None) -> Any:
        """Draw what a column adds to the score, with a band of two deviations of the noise; needs matplotlib."""
        check_is_fitted(self)
        place = whole("column", column, least=0, most=len(self.shapes_) - 1)
        shown = whole("output", output, least=0, most=len(self.intercept_) - 1)
        names = getattr(self, "feature_names_in_", None)
        title = f"column {place}" if names is None else str(names[place])
        return draw_shape(self.columns_[place], self.shapes_[place], shown, title, axes)


@dataclass(eq=False, repr=False, kw_only=True)
class ExplainableBoostingClassifier(ScoredClasses, Explainable):
    """Boosted shapes of columns, for two classes or more.

    Args:
        epsilon: what a fit spends.
        bounds: lowest and highest values of the columns; found if left out.
        feature_types: "continuous" or "nominal" (whole numbers that name categories) for each column.
        classes: the labels; found if left out, which takes a δ.
        max_bins: how many bins a continuous column is cut into, at most.
        max_rounds: how often every column has its turn.
        learning_rate: the part of Newton's step that a turn takes.
        max_leaves: how many leaves the tree of a turn has.
        random_state: of splits, which no row has a say in; not of the noise.
        budget: the account of the data.
        delta: the δ of a fit, that of the account if left out.
        rho: what a fit spends in zero-concentrated privacy, with ``epsilon=None``.
        score_epsilon: what a score spends; a tenth of what a fit does if left out.
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Learn shapes; charged before a row is looked at."""
        rows, labels = self._rows(X), self._labels(X, y)
        spending, columns, declared = self._spending(), rows.shape[1], self._declared_classes()
        box, nominal = self._declared(columns), self._nominal(columns)
        two = declared is not None and len(declared) <= 2
        pace = self._pace(0.25 if two else 0.5)
        sums = finding_sums(bounds=columns if box is None else None, classes=declared is None)
        bound = Bound.vector(l0=1, linf=1) if two else Bound(_MANY, Fraction(2), Fraction(2), Fraction(1))
        sums += self._boosting_sums(columns, pace.rounds, bound, 1 - BOUNDS_SHARE * len(sums))
        words = _words(box, nominal, pace) | {"classes": None if declared is None else declared.tolist()}

        def run(releases: Releases) -> Learned:
            bounds = self._found(rows, releases, box)
            classes, places = self._found_classes(labels, releases, declared)
            kinds = max(len(classes), 2)

            def residuals(totals: NDArray[np.int64]) -> Floats:
                return residuals_of([column * 2.0**-SCORE_BITS for column in totals.T], places, kinds)

            known = rows[places >= 0]
            places = places[places >= 0]
            outputs = 1 if kinds == 2 else kinds
            return {"classes_": classes} | self._boost(known, bounds, nominal, outputs, residuals, pace, releases)

        return self._learn(self._plan(spending, sums, words), run)

    def decision_function(self, X: Any) -> Floats:
        """Return the score: of the second class where there are two, of each where there are more."""
        totals = self._totals(X)
        return totals[:, 0] if len(self.classes_) <= 2 else totals

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most likely class."""
        return likeliest(self.decision_function(X), self.classes_)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class."""
        return probabilities(self.decision_function(X), len(self.classes_))


_MANY = 2**20


@dataclass(eq=False, repr=False, kw_only=True)
class ExplainableBoostingRegressor(ScoredTargets, Explainable):
    """Boosted shapes of columns, for a target.

    Args:
        epsilon: what a fit spends.
        bounds: lowest and highest values of the columns; found if left out.
        bounds_y: lowest and highest value of the target; found if left out.
        feature_types: "continuous" or "nominal" (whole numbers that name categories) for each column.
        max_bins: how many bins a continuous column is cut into, at most.
        max_rounds: how often every column has its turn.
        learning_rate: the part of Newton's step that a turn takes.
        max_leaves: how many leaves the tree of a turn has.
        random_state: of splits, which no row has a say in; not of the noise.
        budget: the account of the data.
        delta: the δ of a fit, that of the account if left out.
        rho: what a fit spends in zero-concentrated privacy, with ``epsilon=None``.
        score_epsilon: what a score spends; a tenth of what a fit does if left out.
    """

    bounds_y: Any = None

    def fit(self, X: Any, y: Any) -> Self:
        """Learn shapes; charged before a row is looked at."""
        rows, targets = self._rows(X), read_one_target(X, y)
        spending, columns = self._spending(), rows.shape[1]
        box, nominal, box_y = (
            self._declared(columns),
            self._nominal(columns),
            declared_bounds("bounds_y", self.bounds_y, 1),
        )
        pace = self._pace(0.5)  # of a quarter of the squared distance: residuals are half distances
        sums = finding_sums(bounds=columns if box is None else None, classes=False)
        if box_y is None:
            sums.append(bounds_sum(1, "bounds of y"))
        bound = Bound.vector(l0=1, linf=1)
        sums += self._boosting_sums(columns, pace.rounds, bound, 1 - BOUNDS_SHARE * len(sums))
        words = _words(box, nominal, pace) | {"bounds_y": None if box_y is None else box_y.words()}

        def run(releases: Releases) -> Learned:
            bounds = self._found(rows, releases, box)
            kept = np.isfinite(targets)
            own = targets[kept][:, None]
            limits = Bounds(*find_bounds(own, releases, "bounds of y")) if box_y is None else box_y
            if np.isnan(limits.low).any():
                return {}
            z = limits.boxed(own)

            def residuals(totals: NDArray[np.int64]) -> Floats:
                return np.clip(np.trunc((totals * 2.0 ** (BITS - SCORE_BITS) - z) / 2), -ONE, ONE)

            learned = self._boost(rows[kept], bounds, nominal, 1, residuals, pace, releases)
            return learned | {"bounds_y_": (limits.low, limits.high)}

        fitted = self._carry_out(self._plan(spending, sums, words), run)
        if not fitted.learned:
            raise unfound_targets()
        return self._keep(fitted)

    def predict(self, X: Any) -> Floats:
        """Return the target of each row, within its bounds."""
        totals = self._totals(X)
        return Bounds(*self.bounds_y_).unboxed(np.clip(totals, -1, 1))[:, 0]


def _words(box: Bounds | None, nominal: NDArray[np.bool_], pace: Pace) -> dict[str, Any]:
    """Return what a plan says about a boosting."""
    return {"bounds": None if box is None else box.words(), "nominal": tuple(nominal.tolist()), "pace": pace}


def _places(columns: list[Binned], rows: Floats) -> NDArray[np.intp]:
    return np.stack([each.places(column) for each, column in zip(columns, rows.T, strict=True)], axis=1)


def _mean(column: Binned, shape: Shape) -> Floats:
    """Return the weighted mean of a shape's scores, one for each output."""
    weights = column.weights + 1e-9
    found: Floats = weights @ shape.scores / weights.sum()
    return found
