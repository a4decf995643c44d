"""k-means by a few noisy rounds of Lloyd's algorithm.

**Guarantee**: released are the sums of 1, z and z² of all rows once, which say where the data is, and in each
round, for each cluster, how many rows are nearest to its centre and the sum of their z. A row is in one cluster, so
one that comes or goes moves 1 + columns numbers by at most 1 each. Nearest by exact comparison of distances that are
added up column by column, so that a row's cluster depends on that row and the (public) centres alone.
**Source**: Su, Cao, Li, Bertino, Jin 2016 (noisy Lloyd, few rounds). First centres are spread points of the noisy
normal distribution, which is public by then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sordino.accounting.bound import Bound
from sordino.arguments import whole

from .finding import BOUNDS_SHARE
from .plan import Sum
from .private import Boxed, Learned, finding_sums
from .public_chance import public_chance
from .releases import Floats, Releases
from .scaler import moments_sum
from .second_moments import PRODUCTS
from .whole_rows import ONE, totals

_ROUNDS = 6
_WHERE_SHARE = Fraction(1, 10)
_CANDIDATES = 20


@dataclass(eq=False, repr=False, kw_only=True)
class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Boxed):  # type: ignore[misc]  # scikit-learn has no types
    """Clusters around centres.

    `labels_`, which scikit-learn's contract asks for, are the clusters of the very rows that were handed over: nothing
    of them is released, and they are never pickled.

    Args:
        n_clusters: how many.
        epsilon: what a fit spends.
        bounds: lowest and highest values of the columns; found if left out.
        random_state: of the first centres, which no row has a say in; not of the noise.
        budget: the account of the data.
        delta: the δ of a fit, that of the account if left out.
        rho: what a fit spends in zero-concentrated privacy, with ``epsilon=None``.
    """

    n_clusters: int = field(default=8, kw_only=False)
    random_state: Any = None

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("labels_", None)
        return state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn centres; charged before a row is looked at."""
        rows = self._rows(X)
        spending, columns, count = self._spending(), rows.shape[1], whole("n_clusters", self.n_clusters, least=1)
        chance, box = public_chance(self.random_state), self._declared(columns)
        sums = finding_sums(bounds=columns if box is None else None, classes=False)
        left = 1 - BOUNDS_SHARE * len(sums)
        nearest = Bound.vector(l0=1 + columns, linf=1)
        sums += [
            moments_sum(columns, left * _WHERE_SHARE),
            Sum("nearest", nearest, left * (1 - _WHERE_SHARE), PRODUCTS, times=_ROUNDS),
        ]
        words = {"bounds": None if box is None else box.words(), "clusters": count}

        def run(releases: Releases) -> Learned:
            bounds = self._found(rows, releases, box)
            z = bounds.boxed(rows)
            centres = _first_centres(z, bounds.half, count, chance, releases)
            for _ in range(_ROUNDS):
                centres = _moved(z, bounds.half, centres, releases)
            return {"cluster_centers_": bounds.unboxed(centres), "n_iter_": _ROUNDS, "missing_": bounds.middle}

        self._learn(self._plan(spending, sums, words), run)
        self.labels_ = self.predict(X)
        return self

    def transform(self, X: Any) -> Floats:
        """Return the distance of each row from each centre; a missing value counts as the middle of its bounds."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        return np.sqrt(_squares(np.where(np.isfinite(rows), rows, self.missing_), self.cluster_centers_))

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the number of the nearest centre of each row."""
        found: NDArray[np.int32] = np.argmin(self.transform(X), axis=1).astype(np.int32)
        return found

    @property
    def _n_features_out(self) -> int:
        return int(self.cluster_centers_.shape[0])


def _first_centres(z: Floats, half: Floats, count: int, chance: Any, releases: Releases) -> Floats:
    """Return points of the noisy normal distribution, each the farthest of some from those before."""
    columns = z.shape[1]
    noisy = releases.noisy("moments", np.concatenate([[len(z) * ONE**2], totals(z) * ONE, totals(z * z)]))
    rows = max(float(noisy[0]), 1.0)
    mean = np.clip(noisy[1 : 1 + columns] / rows, -1, 1)
    width = np.sqrt(np.clip(noisy[1 + columns :] / rows - mean**2, 0, 1))
    points = np.clip(mean + width * chance.standard_normal((count * _CANDIDATES, columns)), -1, 1)
    chosen = points[:1]
    while len(chosen) < count:
        chosen = np.vstack([chosen, points[np.argmax(_squares(points * half, chosen * half).min(axis=1))]])
    found: Floats = chosen
    return found


def _moved(z: Floats, half: Floats, centres: Floats, releases: Releases) -> Floats:
    """Return the noisy means of the rows nearest to each centre; a centre with hardly any row stays where it is."""
    nearest = np.argmin(_squares(z / ONE * half, centres * half), axis=1)  # in the columns' own measure
    exact = np.stack(
        [
            np.concatenate([[np.count_nonzero(nearest == place) * ONE**2], totals(z[nearest == place]) * ONE])
            for place in range(len(centres))
        ]
    )
    noisy = releases.noisy("nearest", exact)
    enough = noisy[:, :1] > max(2 * releases.deviation("nearest"), 0.5)
    means = np.clip(noisy[:, 1:] / np.maximum(noisy[:, :1], 1.0), -1, 1)
    return np.where(enough, means, centres)


def _squares(rows: Floats, centres: Floats) -> Floats:
    """Return squared distances, added up column by column: the same for a row wherever it stands."""
    found = np.zeros((len(rows), len(centres)))
    with np.errstate(over="ignore"):  # what is that far away is far from all
        for column, places in zip(rows.T, centres.T, strict=True):
            found += (column[:, None] - places) ** 2
    return found
