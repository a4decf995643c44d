"""What to measure for a workload: a matrix of whole numbers whose noisy products with the counts answer it best.

The best expected error of Gaussian noise is a convex problem: over X = AᵀA with diagonal at most 1, the least
tr(WᵀW·X⁻¹). For multipliers d on the diagonal the best X is D^−½·(D^½·WᵀW·D^½)^½·D^−½; those of the solution make
its diagonal 1, and are found by d ← d·diag(X)², from coarse to fine. `gap` bounds how far from the optimum it is:
every d is a proof, by the dual problem, that no strategy is better than tr((D^½·WᵀW·D^½)^½)²/Σd.

**Guarantee**: the strategy that is used is rounded to whole numbers, and everything (sensitivity, decoding, errors) is
of the rounded matrix. Its products with whole counts are whole, and noise is added to them in whole numbers: nothing
leaks by which numbers can occur. `moves` is what one unit can change, computed exactly from the whole numbers.
**Source**: Li et al. 2015 (the problem); Denisov, McMahan, Rush, Smith & Thakurta 2022, Theorem 3.2 (the fixed point);
Yuan et al. 2016 (convexity).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.neighbours import Neighbours

from .gram import Kind, Reals, Workload

_LONGEST_COLUMN = 2**16
"""The norm of columns, in steps: rounding changes them by less than a part in 4,000."""
_CLOSE = 1.012
_COARSEST = 16
_FITTING_STEPS = 500
_MOST_STEPS = 30


@dataclass(frozen=True, eq=False)
class Strategy:
    """Queries with whole coefficients, one in each row."""

    matrix: NDArray[np.int64]

    def products(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the queries' exact answers."""
        found: NDArray[np.int64] = self.matrix @ counts
        return found

    @cached_property
    def inner(self) -> Reals:
        """AᵀA, exactly: each of its numbers is whole and below 2⁵³, and so is each partial sum."""
        real = self.matrix.astype(float)
        found: Reals = real.T @ real
        return found

    def moves(self, rows: int, unit: Unit, neighbours: Neighbours) -> Bound:
        """Return how far the products can move when one unit with at most `rows` rows changes.

        **Proof**: a unit's counts v ≥ 0 are whole with Σv ≤ k, so v is a mean of 0 and of k times single cells, and a
        norm of Av, being convex, is largest at one of these: k·‖A_i‖. A unit that is replaced moves by A(v − w),
        largest likewise at k·‖A_i − A_j‖ or k·‖A_i‖; the former is at most ‖A_i‖ + ‖A_j‖ in the norms that are not
        computed. ∎
        """
        size = np.abs(self.matrix)
        squared = self.inner.diagonal()
        twice = 1
        if neighbours is Neighbours.REPLACE_ONE:
            apart = squared[:, None] + squared[None, :] - 2 * self.inner
            squared, twice = np.maximum(apart.max(1), squared), 2
        longest, largest = int(size.sum(0).max()), int(size.max())
        return Bound(
            len(self.matrix),
            Fraction(twice * rows * longest),
            Fraction(rows**2 * int(squared.max())),
            Fraction(twice * rows * largest),
            neighbours,
            unit,
        )

    @cached_property
    def covariance(self) -> Reals:
        """The covariance of decoded cells, for noise of variance 1 on each product."""
        found: Reals = np.asarray(np.linalg.inv(self.inner), dtype=np.float64)
        return found

    def decoded(self, noisy: NDArray[np.int64]) -> Reals:
        """Return the unbiased estimate of the counts of least variance."""
        found: Reals = self.covariance @ (self.matrix.T @ noisy.astype(float))
        return found

    def nonnegative(self, plain: Reals) -> Reals:
        """Return the cells ≥ 0 whose products are nearest to those of `plain`, by 500 accelerated steps.

        **Source**: Beck & Teboulle 2009. The noise is spread evenly over the products, so nearness is measured there.
        """
        rate = 1 / float(np.linalg.eigvalsh(self.inner)[-1])
        found: Reals = np.maximum(plain, 0.0)
        previous, ahead, pace = found, found, 1.0
        for _ in range(_FITTING_STEPS):
            found = np.maximum(ahead - rate * (self.inner @ (ahead - plain)), 0.0)
            faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
            ahead, previous, pace = found + (pace - 1) / faster * (found - previous), found, faster
        return found

    def mean_squared_error(self, workload: Workload) -> float:
        """Return the mean squared error of all queries of a workload, for noise of variance 1 on each product."""
        return float(np.vdot(workload.gram(), self.covariance)) / workload.queries


@dataclass(frozen=True, eq=False)
class Optimum:
    """A nearly best X, as D^−½·U·diag(values)·Uᵀ·D^−½ up to a factor, and how far from the best it can be."""

    weights: Reals
    values: Reals
    vectors: Reals
    gap: float


def optimum(kind: Kind, cells: int) -> Optimum:
    """Return what is within 1.2 % of the least sum of squared errors, or as close as 30 steps come."""
    weights = np.ones(min(cells, _COARSEST))
    while True:
        gram = Workload(kind, len(weights)).gram()
        for step in range(_MOST_STEPS):
            found, diagonal = _solved(gram, weights)
            if found.gap < _CLOSE or step == _MOST_STEPS - 1:
                break
            weights = weights * diagonal**2
        if len(weights) == cells:
            return found
        weights = _finer(weights, min(2 * len(weights), cells))


def _solved(gram: Reals, weights: Reals) -> tuple[Optimum, Reals]:
    root = np.sqrt(weights)
    squares, vectors = np.linalg.eigh(gram * np.outer(root, root))
    values = np.sqrt(np.maximum(squares, squares[-1] * np.finfo(float).eps))
    own = (vectors**2) @ values
    diagonal = own / weights
    primal, dual = diagonal.max() * own.sum(), values.sum() ** 2 / weights.sum()
    return Optimum(weights, values, vectors, float(primal / dual)), diagonal


def _finer(weights: Reals, cells: int) -> Reals:
    few = len(weights)
    places, known = (np.arange(cells) + 0.5) / cells, (np.arange(few) + 0.5) / few
    found: Reals = np.exp(np.interp(places, known, np.log(weights)))
    return found


@lru_cache(maxsize=8)
def strategy_for(kind: Kind, cells: int) -> Strategy:
    """Return the strategy for all queries of a kind, in whole numbers."""
    best = optimum(kind, cells)
    exact = (np.sqrt(best.values)[:, None] * best.vectors.T) / np.sqrt(best.weights)
    longest = np.sqrt((exact**2).sum(0).max())
    return Strategy(np.rint(exact * (_LONGEST_COLUMN / longest)).astype(np.int64))
