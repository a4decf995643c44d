"""The best linear unbiased estimates of all counts of a tree of places, and their variances, in closed form.

Every level of the tree is measured by some queries over one grid of cells, with independent noise. In the basis of
contrasts (``contrasts.py``) all measurements of a place come to one estimate of each coefficient, of variance V, which
depends on level and kind alone. A place's coefficient is the sum of its children's. So each coefficient is a tree of
numbers by itself, of which some are measured, and least squares over it takes two passes:

*up*: a place's estimate from itself and all below it, u, with variance v: its own measurement and the sum of its
children's u are two independent estimates of one number, and are weighted by the inverse of their variances;
*down*: f = u + (v / Σv)·(f of the parent − Σu), where Σ goes over the siblings, itself included.

**Guarantee**: f is the least squares solution over all measurements of all levels, each weighted by the inverse of its
variance; children add up to their parent exactly (but for floats), and so do cells to the queries over them.
**Proof**: with a flat prior and noise of these variances taken as normal, the least squares solution is the posterior's
mean. The posterior of a place given only what is below it is N(u, v), by precision weighting; given the parent's value
x the children's posterior is that of independent N(uᵢ, vᵢ) conditioned on Σxᵢ = x, with means uᵢ + (vᵢ/Σv)(x − Σu) and
variances vᵢ − vᵢ²/Σv; the parent's own posterior then enters by its mean and variance. Variance of the posterior is the
variance of the estimate, as the prior is flat. That no other linear unbiased estimate does better, whatever the law of
the noise, is the theorem of Gauss and Markov. ∎
**Source**: Hay, Rastogi, Miklau, Suciu 2010, Theorem 3 (trees of one number); Chou, Willsky, Benveniste 1994.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contrasts import Columns, Contrasts, Floats

Noise = Sequence[Mapping[Columns, float]]
"""For each level from the top down, the variance of the noise of each query that is asked there."""


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Least squares over one tree. `first_children` has, for each level but the last, where each place's begin."""

    first_children: tuple[NDArray[np.int64], ...]
    leaves: int
    contrasts: Contrasts
    noise: Noise
    """The last level must see every kind of coefficient."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of places of each level."""
        return (*map(len, self.first_children), self.leaves)

    @cached_property
    def measured(self) -> tuple[Floats, ...]:
        """For each level and kind, the variance of a coefficient's estimate from that level alone; infinite if none."""
        found = []
        for level in self.noise:
            precision = np.zeros(self.contrasts.kinds)
            for query, variance in level.items():
                precision[self.contrasts.seen_by(query)] += self.contrasts.times(query) ** 2 / variance
            with np.errstate(divide="ignore"):
                found.append(1 / precision)
        return tuple(found)

    @cached_property
    def _from_below(self) -> tuple[Floats, ...]:
        """For each level, places × kinds: the variance v of the estimate from a place and all below it."""
        found = [np.broadcast_to(self.measured[-1], (self.leaves, self.contrasts.kinds))]
        for first, own in zip(reversed(self.first_children), reversed(self.measured[:-1]), strict=True):
            below = np.add.reduceat(found[0], first, axis=0)
            found.insert(0, 1 / (1 / below + 1 / own))  # own is infinite where nothing was measured
        return tuple(found)

    @cached_property
    def _of_siblings(self) -> tuple[Floats, ...]:
        """For each level but the last, places × kinds: the sum of the children's v."""
        return tuple(
            np.add.reduceat(below, first, axis=0)
            for first, below in zip(self.first_children, self._from_below[1:], strict=True)
        )

    @cached_property
    def variances(self) -> tuple[Floats, ...]:
        """For each level, places × kinds: the variance of a coefficient's final estimate."""
        found = [self._from_below[0]]
        for first, below, siblings in zip(self.first_children, self._from_below[1:], self._of_siblings, strict=True):
            parents = _parents(first, len(below))
            part = below / siblings[parents]
            found.append(below * (1 - part) + part**2 * found[-1][parents])
        return tuple(found)

    def variances_of(self, level: int, query: Columns) -> Floats:
        """Return the variance of each place's estimate of a query's cells: the same for all of them."""
        found: Floats = self.variances[level] @ self.contrasts.shares(query)
        return found

    def estimates(self, measurements: Sequence[Mapping[Columns, NDArray[Any]]]) -> list[Floats]:
        """Return for each level places × cells: the estimates from noisy counts (places × a query's cells)."""
        kinds = self.contrasts.kind_of
        up = [self._own(level, given) for level, given in enumerate(measurements)]
        sums: list[Floats] = []
        for level in reversed(range(len(self.first_children))):
            below = np.add.reduceat(up[level + 1], self.first_children[level], axis=0)
            weight = self._from_below[level] / self._of_siblings[level]
            up[level] += (below - up[level]) * weight[:, kinds]
            sums.insert(0, below)
        for level, first in enumerate(self.first_children):
            off = (up[level] - sums[level]) / self._of_siblings[level][:, kinds]
            up[level + 1] += off[_parents(first, len(up[level + 1]))] * self._from_below[level + 1][:, kinds]
        return [self.contrasts.tables(each) for each in up]

    def _own(self, level: int, given: Mapping[Columns, NDArray[Any]]) -> Floats:
        """Return the coefficients of each place of a level from its own measurements; 0 where there are none."""
        total = np.zeros((self.sizes[level], self.contrasts.cells))
        for query, noisy in given.items():
            weight = self.contrasts.times(query) / self.noise[level][query]
            total[:, self.contrasts.places_of(query)] += self.contrasts.coefficients(noisy, query) * weight
        variance = self.measured[level][self.contrasts.kind_of]
        total *= np.where(np.isfinite(variance), variance, 0)
        return total


def _parents(first: NDArray[np.int64], places: int) -> NDArray[np.int64]:
    """Return for each of `places` the place of its parent, from where each parent's children begin."""
    return np.repeat(np.arange(len(first)), np.diff(np.append(first, places)))
