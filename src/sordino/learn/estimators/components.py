"""Principal components from a noisy matrix of second moments.

**Guarantee**: all that is released are the sums of ``second_moments.py``, and what finds bounds.
**Source**: Dwork, Talwar, Thakurta, Zhang 2014 (Analyze Gauss), Algorithm 1; the mean is noisy as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sordino.arguments import rational, whole
from sordino.errors import ArgumentError

from .moments_of_rows import CentredMoments
from .private import Learned
from .releases import Floats, Releases
from .whole_rows import weighted


@dataclass(eq=False, repr=False, kw_only=True)
class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CentredMoments):  # type: ignore[misc]  # scikit-learn has no types
    """Principal component analysis.

    Args:
        n_components: how many, or the part of the (noisy) variance that they must hold; all if left out.
        epsilon: what a fit spends.
        data_norm: the 2-norm to which rows are scaled down, in place of `bounds`.
        centered: whether the columns' means are 0 already, and need not be learned.
        bounds: lowest and highest values of the columns; found if left out and there is no `data_norm`.
        whiten: whether components are scaled to variance 1.
        budget: the account of the data.
        delta: the δ of a fit, that of the account if left out.
        rho: what a fit spends in zero-concentrated privacy, with ``epsilon=None``.
    """

    n_components: Any = field(default=None, kw_only=False)
    centered: bool = False
    whiten: bool = False

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn components; charged before a row is looked at."""
        rows = self._rows(X)
        self._check_components(rows.shape[1])
        plan = self._moments_plan(rows.shape[1])

        def run(releases: Releases) -> Learned:
            count, mean, covariance = self._noisy_covariance(rows, releases, centred=not self.centered)
            return self._components(count, mean, covariance)

        return self._learn(plan, run)

    def _check_components(self, columns: int) -> None:
        if isinstance(self.n_components, float):
            rational("n_components", self.n_components, above=0, most=1)
        elif self.n_components is not None:
            whole("n_components", self.n_components, least=1)
            if self.n_components > columns:
                raise ArgumentError(
                    f"n_components ({self.n_components}) must not exceed the number of columns, n_features={columns}",
                    "SRD-A002",
                )

    def _components(self, count: float, mean: Floats, covariance: Floats) -> Learned:
        values, vectors = np.linalg.eigh(covariance)
        variance, components = np.maximum(values[::-1], 0.0), vectors.T[::-1]
        largest = np.argmax(np.abs(components), axis=1)  # signs are a matter of taste: the largest place is positive
        components = components * np.sign(components[np.arange(len(components)), largest])[:, None]
        ratio = variance / max(float(variance.sum()), np.finfo(float).tiny)
        kept = len(variance) if self.n_components is None else self.n_components
        if isinstance(kept, float):
            kept = min(int(np.searchsorted(np.cumsum(ratio), kept - 1e-12)) + 1, len(variance))
        return {
            "components_": components[:kept],
            "explained_variance_": variance[:kept],
            "explained_variance_ratio_": ratio[:kept],
            "singular_values_": np.sqrt(variance[:kept] * max(count - 1, 1.0)),
            "mean_": mean,
            "n_components_": int(kept),
            "noise_variance_": float(variance[kept:].mean()) if kept < len(variance) else 0.0,
        }

    def transform(self, X: Any) -> Floats:
        """Return rows by their components; a missing value counts as the column's mean."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False) - self.mean_
        found = weighted(np.where(np.isfinite(rows), rows, 0.0), self.components_)
        whitened: Floats = found / self._widths if self.whiten else found
        return whitened

    def inverse_transform(self, X: Any) -> Floats:
        """Return rows in their own columns, given their components."""
        check_is_fitted(self)
        rows = np.asarray(X, dtype=np.float64) * (self._widths if self.whiten else 1.0)
        found: Floats = rows @ self.components_ + self.mean_
        return found

    @property
    def _widths(self) -> Floats:
        found: Floats = np.sqrt(np.maximum(self.explained_variance_, np.finfo(float).eps))
        return found

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])
