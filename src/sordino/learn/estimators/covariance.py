"""The covariance matrix of columns, made a possible one: no eigenvalue is negative.

**Guarantee**: all that is released are the sums of ``second_moments.py``, and what finds bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .moments_of_rows import CentredMoments
from .private import Learned
from .releases import Floats, Releases


@dataclass(eq=False, repr=False, kw_only=True)
class EmpiricalCovariance(CentredMoments):
    """Location and covariance of columns.

    Args:
        epsilon: what a fit spends.
        bounds: lowest and highest values of the columns; found if left out and there is no `data_norm`.
        data_norm: the 2-norm to which rows are scaled down, in place of `bounds`.
        assume_centered: whether the columns' means are 0 already, and need not be learned.
        budget: the account of the data.
        delta: the δ of a fit, that of the account if left out.
        rho: what a fit spends in zero-concentrated privacy, with ``epsilon=None``.
    """

    assume_centered: bool = False

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn location and covariance; charged before a row is looked at."""
        rows = self._rows(X)
        plan = self._moments_plan(rows.shape[1])

        def run(releases: Releases) -> Learned:
            _, mean, covariance = self._noisy_covariance(rows, releases, centred=not self.assume_centered)
            return {"location_": mean, "covariance_": possible(covariance)}

        return self._learn(plan, run)

    @property
    def precision_(self) -> Floats:
        """The (pseudo-)inverse of the covariance."""
        found: Floats = np.linalg.pinv(self.covariance_, hermitian=True)
        return found


def possible(matrix: Floats) -> Floats:
    """Return the nearest symmetric matrix without negative eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    found: Floats = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return found
