"""Noisy sums of products of columns: all that linear regression, principal components and covariances need.

A row is the vector (1, x, y): x the columns, y the targets if there are any, all brought to [−1, 1]. Released are the
sums of 1, x, y, of x·xᵀ (its upper half) and of x·yᵀ.

**Guarantee**: with ‖x‖₂² ≤ s, ‖x‖₁ ≤ t and k targets a row that comes or goes moves the released vector by at most
√(1 + s + q + k + s·k) in the 2-norm, where q = (c² + c)/2 for c columns in a box (s = c), and q = s² else, and by at
most 1 + t + (t² + s)/2 + k + t·k in the 1-norm.
**Proof.** Σ_{i≤j} xᵢ²xⱼ² = (‖x‖₂⁴ + Σxᵢ⁴)/2, which is at most s², and at most (c² + c)/2 if no |xᵢ| is above 1;
Σ_{i≤j} |xᵢxⱼ| = (‖x‖₁² + ‖x‖₂²)/2. The other parts are products of norms. ∎
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sordino.accounting.bound import Bound
from sordino.mechanisms.grid import Grid

from .plan import Sum
from .releases import Floats, Releases
from .whole_rows import BITS, ONE, gram, products, totals

PRODUCTS = Grid(-2 * BITS, exact=True)
"""The grid of products of two whole rows."""


@dataclass(frozen=True)
class Rows:
    """What is known of every row: how many columns it has, and how long it is at most."""

    columns: int
    boxed: bool
    """Whether each column is in [−1, 1] by itself; else the whole row has a 2-norm of at most 1."""
    targets: int = 0

    @property
    def square(self) -> int:
        """The largest squared 2-norm."""
        return self.columns if self.boxed else 1

    @property
    def sum_of_sizes(self) -> Fraction:
        """The largest 1-norm, rounded up."""
        return Fraction(self.columns) if self.boxed else root_up(self.columns)

    def bound(self) -> Bound:
        """Return what one row can move (see the module's proof)."""
        c, s, t, k = self.columns, self.square, self.sum_of_sizes, self.targets
        q = Fraction(c * c + c, 2) if self.boxed else Fraction(s * s)
        l0 = 1 + c + c * (c + 1) // 2 + k + c * k
        return Bound(l0, 1 + t + (t * t + s) / 2 + k + t * k, 1 + s + q + k + s * k, Fraction(1))

    def sum(self, share: Fraction) -> Sum:
        """Return the sum of all these products."""
        return Sum("products", self.bound(), share, PRODUCTS)


@dataclass(frozen=True, eq=False)
class Moments:
    """Noisy moments, in the measure of [−1, 1]: how many rows, means, and centred sums of products."""

    count: float
    mean: Floats
    target_mean: Floats
    scatter: Floats
    """Of columns, centred: count times their covariance."""
    cross: Floats
    """Of columns with targets, centred."""
    deviation: float
    """The standard deviation of the noise in every number."""


def noisy_moments(x: Floats, y: Floats, kept: Floats, releases: Releases) -> Moments:
    """Return the moments of whole rows; those that are not `kept` (0 rather than 1) count as if they were not there."""
    columns, targets = x.shape[1], y.shape[1]
    x, y = x * kept[:, None], y * kept[:, None]
    upper = np.triu_indices(columns)
    exact = np.concatenate(
        [
            [int(kept.sum()) * ONE**2],
            totals(x) * ONE,
            totals(y) * ONE,
            gram(x)[upper],
            products(x, y).ravel(),
        ]
    )
    one, linear, target, square, cross = np.split(
        releases.noisy("products", exact), np.cumsum([1, columns, targets, len(upper[0])])
    )
    whole = np.zeros((columns, columns))
    whole[upper] = square
    whole = whole + np.triu(whole, 1).T
    count = max(float(one[0]), 1.0)
    mean, target_mean = np.clip(linear / count, -1, 1), np.clip(target / count, -1, 1)
    scatter = whole - count * np.outer(mean, mean)
    centred = cross.reshape(columns, targets) - count * np.outer(mean, target_mean)
    return Moments(count, mean, target_mean, scatter, centred, releases.deviation("products"))


def root_up(value: int) -> Fraction:
    """Return a fraction that is the root of a whole number or a little above."""
    return Fraction(math.isqrt(value * 2**40) + 1, 2**20)
