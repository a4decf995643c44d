"""A histogram as a density: noisy counts of boxes, made a distribution.

**Guarantee**: released is how many rows fall into each box of a public grid: a row that comes or goes moves one count
by 1. A row with a missing value is in no box.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sordino import noise
from sordino.accounting.bound import Bound
from sordino.arguments import whole
from sordino.errors import ArgumentError

from .bounds import Bounds
from .finding import BOUNDS_SHARE, in_steps
from .plan import Sum
from .private import Boxed, Learned, finding_sums
from .releases import Floats, Releases

_MOST_BOXES = 10**6
_USUAL_BOXES = 10**4
_FINE = 2**40


@dataclass(eq=False, repr=False, kw_only=True)
class HistogramDensity(Boxed):
    """The density of columns together, constant in each box.

    Args:
        bins: into how many stretches of equal width each column is cut; boxes are their products. If left out, ten, or
            as many as keep boxes below ten thousand.
        epsilon: what a fit spends.
        bounds: lowest and highest values of the columns; found if left out. What lies beyond counts at the end.
        budget: the account of the data.
        delta: the δ of a fit, that of the account if left out.
        rho: what a fit spends in zero-concentrated privacy, with ``epsilon=None``.
    """

    bins: int | None = field(default=None, kw_only=False)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the density; charged before a row is looked at."""
        rows = self._rows(X)
        columns, box = rows.shape[1], self._declared(rows.shape[1])
        bins = _usual(columns) if self.bins is None else whole("bins", self.bins, least=1)
        if bins**columns > _MOST_BOXES:
            raise ArgumentError(
                f"{bins} bins in each of {columns} columns are more than {_MOST_BOXES:,} boxes; take fewer bins, or "
                "fit a few columns at a time",
                "SRD-A002",
            )
        sums = finding_sums(bounds=columns if box is None else None, classes=False)
        sums.append(Sum("boxes", Bound.scalar(1), 1 - BOUNDS_SHARE * len(sums)))
        words = {"bounds": None if box is None else box.words(), "bins": bins}

        def run(releases: Releases) -> Learned:
            bounds = self._found(rows, releases, box)
            places = _boxes(rows, bounds, bins)
            counts = np.bincount(places[places >= 0], minlength=bins**columns).astype(np.int64)
            noisy = np.maximum(releases.noisy("boxes", in_steps(counts)), 0.0)
            shares = noisy / noisy.sum() if noisy.sum() > 0 else np.full(len(noisy), 1 / len(noisy))
            return {"shares_": shares.reshape((bins,) * columns), "low_": bounds.low, "high_": bounds.high}

        return self._learn(self._plan(self._spending(), sums, words), run)

    def score_samples(self, X: Any) -> Floats:
        """Return the logarithm of the density at each row; −∞ outside of the bounds and where nobody was seen."""
        check_is_fitted(self)
        rows, bounds = self._rows(X, reset=False), Bounds(self.low_, self.high_)
        places = _boxes(rows, bounds, self.shares_.shape[0])
        inside = (places >= 0) & ((rows >= bounds.low) & (rows <= bounds.high)).all(axis=1)
        volume = np.log(np.maximum(2 * bounds.half / self.shares_.shape[0], np.finfo(float).tiny)).sum()
        with np.errstate(divide="ignore"):
            found: Floats = np.log(np.where(inside, self.shares_.ravel()[places], 0.0)) - volume
        return found

    def sample(self, n_samples: int = 1) -> Floats:
        """Return made-up rows of this density; free, as it was released."""
        check_is_fitted(self)
        count, bins = whole("n_samples", n_samples, least=1), self.shares_.shape[0]
        reached = np.cumsum(self.shares_.ravel())
        chosen = np.searchsorted(reached / reached[-1], np.asarray(noise.uniform(_FINE, count)) / _FINE, side="right")
        corner = np.stack(np.unravel_index(chosen, self.shares_.shape), axis=1)
        within = np.asarray(noise.uniform(_FINE, (count, len(self.low_)))) / _FINE
        found: Floats = Bounds(self.low_, self.high_).unboxed((corner + within) / bins * 2 - 1)
        return found


def _usual(columns: int) -> int:
    return max(bins for bins in range(2, 11) if bins == 2 or bins**columns <= _USUAL_BOXES)


def _boxes(rows: Floats, bounds: Bounds, bins: int) -> NDArray[np.int64]:
    """Return the number of each row's box; −1 where a value is missing."""
    missing = np.isnan(rows).any(axis=1)
    width = np.where(bounds.half > 0, bounds.half, 1.0)
    with np.errstate(all="ignore"):
        place = np.floor((np.clip(rows, bounds.low, bounds.high) - bounds.middle) / width * (bins / 2) + bins / 2)
    inner = np.clip(np.nan_to_num(place, nan=0.0), 0, bins - 1).astype(np.int64)
    number = np.zeros(len(rows), dtype=np.int64)
    for column in inner.T:
        number = number * bins + column
    return np.where(missing, -1, number)
