"""Linear and ridge regression from noisy sufficient statistics, with a ridge that adapts to the noise.

**Guarantee**: all that is released are the sums of ``second_moments.py``, and what finds bounds; coefficients are
post-processing.
**Source**: Wang 2018 (AdaSSP), Algorithm 2. The ridge lifts the least eigenvalue of the scatter to what its noise can
be, σ·√(c·ln(2c²/0.05)) for c columns. There, that eigenvalue is a third release; here it is read off the noisy matrix
itself, so that the matrix has the share that it would have taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sordino.arguments import rational

from .bounds import Bounds, declared_bounds
from .finding import BOUNDS_SHARE, bounds_sum, find_bounds
from .plan import Sum
from .private import Learned
from .releases import Floats, Releases
from .scoring import ScoredTargets
from .second_moments import Moments, Rows, noisy_moments
from .targets import read_targets, unfound_targets
from .whole_rows import weighted, within_norm

_MISSED = 0.05
"""The chance with which the noise is larger than the ridge takes it for."""


@dataclass(eq=False, repr=False, kw_only=True)
class LinearRegression(ScoredTargets):
    """Least squares. Columns are clipped to `bounds_X`, targets to `bounds_y`; a row without a target counts for none.

    Args:
        epsilon: what a fit spends.
        bounds_X: lowest and highest values of the columns; found if left out.
        bounds_y: lowest and highest value of the target, or of each of several; found if left out.
        fit_intercept: whether there is a constant.
        data_norm: the 2-norm to which rows are scaled down, in place of `bounds_X`: far less noise for rows that are
            short though they have many columns, as those of categories coded one by one.
        budget: the account of the data.
        delta: the δ of a fit, that of the account if left out.
        rho: what a fit spends in zero-concentrated privacy, with ``epsilon=None``.
        score_epsilon: what a score spends; a tenth of what a fit does if left out.
    """

    bounds_X: Any = None  # noqa: N815  (diffprivlib calls it so)
    bounds_y: Any = None
    fit_intercept: bool = True
    data_norm: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Learn coefficients; charged before a row is looked at."""
        rows, targets = self._rows(X), read_targets(X, y)
        spending, columns, outputs = self._spending(), rows.shape[1], targets.reshape(len(targets), -1).shape[1]
        norm = None if self.data_norm is None else float(rational("data_norm", self.data_norm, above=0))
        box = declared_bounds("bounds_X", self.bounds_X, columns)
        box_y = declared_bounds("bounds_y", self.bounds_y, outputs)
        sums: list[Sum] = [] if box is not None or norm is not None else [bounds_sum(columns)]
        if box_y is None:
            sums.append(bounds_sum(outputs, "bounds of y"))
        shape = Rows(columns, norm is None, outputs)
        sums.append(shape.sum(1 - BOUNDS_SHARE * len(sums)))
        words = {
            "bounds_X": None if box is None else box.words(),
            "bounds_y": None if box_y is None else box_y.words(),
            "data_norm": norm,
            "targets": outputs,
        }

        def run(releases: Releases) -> Learned:
            return self._fitted(rows, targets, norm, box, box_y, releases)

        fitted = self._carry_out(self._plan(spending, sums, words), run)
        if not fitted.learned:
            raise unfound_targets()
        return self._keep(fitted)

    def _fitted(
        self,
        rows: Floats,
        targets: Floats,
        norm: float | None,
        box: Bounds | None,
        box_y: Bounds | None,
        releases: Releases,
    ) -> Learned:
        y = targets.reshape(len(targets), -1)
        y = np.where(np.isfinite(y), y, np.nan)
        if norm is not None:
            x, box = within_norm(rows, norm), Bounds(np.full(rows.shape[1], -norm), np.full(rows.shape[1], norm))
        else:
            box = _found(rows, releases, "bounds") if box is None else box
            x = box.boxed(rows)
        if box_y is None:
            low, high = find_bounds(y, releases, "bounds of y")
            if np.isnan(low).any():
                return {}
            box_y = Bounds(low, high)
        kept = np.asarray(~np.isnan(y).any(axis=1), dtype=np.float64)
        moments = noisy_moments(x, box_y.boxed(y), kept, releases)
        coef, intercept = solved(moments, box, box_y, self._penalty(box), centred=self.fit_intercept)
        one = targets.ndim == 1
        return {
            "coef_": coef[0] if one else coef,
            "intercept_": float(intercept[0]) if one else intercept,
            "missing_": box.middle,
            "bounds_y_": (box_y.low, box_y.high),
        }

    def _penalty(self, box: Bounds) -> Floats:
        """Return what is added to the diagonal of the scatter, besides what its noise asks for."""
        return np.zeros(len(box.low))

    def predict(self, X: Any) -> Floats:
        """Return the targets; a missing value counts as the middle of its column's bounds."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        found = weighted(np.where(np.isnan(rows), self.missing_, rows), np.atleast_2d(self.coef_))
        targets: Floats = (found[:, 0] if self.coef_.ndim == 1 else found) + self.intercept_
        return targets


@dataclass(eq=False, repr=False, kw_only=True)
class Ridge(LinearRegression):
    """Least squares with a penalty of `alpha` times the squared coefficients.

    Args:
        alpha: the penalty. Noise adds to it what it needs.
        epsilon: what a fit spends; all other words are those of `LinearRegression`.
    """

    alpha: Any = field(default=1.0, kw_only=False)

    def _spending(self) -> Any:
        rational("alpha", self.alpha, least=0)
        return super()._spending()

    def _penalty(self, box: Bounds) -> Floats:
        return float(self.alpha) / np.maximum(box.half, np.finfo(float).tiny) ** 2


def solved(moments: Moments, box: Bounds, box_y: Bounds, penalty: Floats, *, centred: bool) -> tuple[Floats, Floats]:
    """Return coefficients (a row for each target) and constants in the data's own measure."""
    columns = len(box.low)
    scatter, cross = moments.scatter, moments.cross
    if not centred:  # about the data's own zero rather than about the mean
        zero, zero_y = _zero(box), _zero(box_y)
        scatter = scatter + moments.count * np.outer(moments.mean - zero, moments.mean - zero)
        cross = cross + moments.count * np.outer(moments.mean - zero, moments.target_mean - zero_y)
    values, vectors = np.linalg.eigh(scatter + np.diag(penalty))
    reach = moments.deviation * math.sqrt(columns * math.log(2 * columns**2 / _MISSED))
    ridge = max(0.0, reach - float(values[0]))
    inner = vectors @ ((vectors.T @ cross) / np.maximum(values + ridge, _LEAST)[:, None])
    narrow = box.half <= 0
    coef = (inner * box_y.half / np.where(narrow, 1.0, box.half)[:, None]).T
    coef[:, narrow] = 0.0
    if not centred:
        return coef, np.zeros(len(coef))
    return coef, box_y.unboxed(moments.target_mean) - coef @ box.unboxed(moments.mean)


_LEAST = 1e-12


def _zero(box: Bounds) -> Floats:
    """Return where 0 of every column lies in the measure of [−1, 1]."""
    found: Floats = -box.middle / np.where(box.half > 0, box.half, 1.0)
    return found


def _found(rows: Floats, releases: Releases, name: str) -> Bounds:
    low, high = find_bounds(rows, releases, name)
    return Bounds(np.where(np.isnan(low), -1.0, low), np.where(np.isnan(high), 1.0, high))
