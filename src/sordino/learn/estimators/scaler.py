"""Columns brought to mean 0 and variance 1 by noisy moments.

**Guarantee**: released are how many rows there are, and for every column the sums of z and z², with z in [−1, 1] the
clipped value. A row that comes or goes moves that vector by at most √(1 + 2·columns) in the 2-norm and 1 + 2·columns in
the 1-norm.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sordino.accounting.bound import Bound
from sordino.mechanisms.grid import Grid

from .bounds import Bounds
from .finding import BOUNDS_SHARE
from .plan import Sum
from .private import Boxed, Learned, finding_sums
from .releases import Floats, Releases
from .whole_rows import BITS, ONE, totals

_GRID = Grid(-2 * BITS, exact=True)


@dataclass(eq=False, repr=False, kw_only=True)
class StandardScaler(OneToOneFeatureMixin, TransformerMixin, Boxed):  # type: ignore[misc]  # scikit-learn has no types
    """Standardize columns: subtract the noisy mean and divide by the noisy standard deviation.

    Args:
        epsilon: what a fit spends.
        bounds: a pair of lowest and highest values, each one number or one for each column; found if left out.
        copy: whether `transform` leaves what it gets as it is.
        with_mean: whether to subtract the mean.
        with_std: whether to divide by the standard deviation.
        budget: the account of the data.
        delta: the δ of a fit, that of the account if left out.
        rho: what a fit spends in zero-concentrated privacy, with ``epsilon=None``.
    """

    copy: bool = True
    with_mean: bool = True
    with_std: bool = True

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn means and variances; charged before a row is looked at."""
        rows = self._rows(X)
        spending, declared = self._spending(), self._declared(rows.shape[1])
        sums = finding_sums(bounds=rows.shape[1] if declared is None else None, classes=False)
        sums.append(moments_sum(rows.shape[1], 1 - BOUNDS_SHARE * len(sums)))
        words = {"bounds": None if declared is None else declared.words()}

        def run(releases: Releases) -> Learned:
            bounds = self._found(rows, releases, declared)
            count, mean, variance = moments(rows, bounds, releases)
            scale = np.sqrt(np.where(variance > 0, variance, 1.0))
            return {"n_samples_seen_": count, "mean_": mean, "var_": variance, "scale_": scale}

        return self._learn(self._plan(spending, sums, words), run)

    def transform(self, X: Any) -> Floats:
        """Return the columns standardized; a missing value stays missing."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        with np.errstate(over="ignore"):
            if self.with_mean:
                rows = rows - self.mean_
            return rows / self.scale_ if self.with_std else rows

    def inverse_transform(self, X: Any) -> Floats:
        """Return standardized columns in their own measure."""
        check_is_fitted(self)
        rows = np.asarray(X, dtype=np.float64)
        if self.with_std:
            rows = rows * self.scale_
        return rows + self.mean_ if self.with_mean else rows


def moments_sum(columns: int, share: Fraction) -> Sum:
    """Return the sum of 1, z and z² of so many columns."""
    return Sum("moments", Bound.vector(l0=1 + 2 * columns, linf=1), share, _GRID)


def moments(rows: Floats, bounds: Bounds, releases: Releases) -> tuple[int, Floats, Floats]:
    """Return how many rows there are, and means and variances in the columns' own measure; all noisy.

    The moments are made possible ones (a variance is not negative, nor above what bounds allow): post-processing.
    """
    z = bounds.boxed(rows)
    exact = np.concatenate([[len(z) * ONE**2], totals(z) * ONE, totals(z * z)])
    noisy = releases.noisy("moments", exact)
    count = max(float(noisy[0]), 1.0)
    columns = z.shape[1]
    mean = np.clip(noisy[1 : 1 + columns] / count, -1, 1)
    square = np.clip(noisy[1 + columns :] / count, 0, 1)
    variance = np.clip(square - mean**2, 0, 1)
    return round(count), bounds.unboxed(mean), variance * bounds.half**2
