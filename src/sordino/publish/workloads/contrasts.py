"""Marginals by contrasts: what columns say together beyond what fewer of them say, each measured once, in closed form.

A table of counts falls into one part for each set T of columns: what is constant along all other columns and adds up
to 0 along each of T. A marginal of S is made of the parts of all T ⊆ S. Along a column of n cells the part is measured
by n·I − 11ᵀ, which is whole-numbered and n times a projection; so the products for T have AᵀA = Πn²·(the projection
onto the part), and noise of variance σ² on each of them tells about this part, and of nothing else.

**Guarantee**: the products of whole counts are whole; one row moves them by a vector of squared norm Πn(n − 1), the
same for all rows. `shares` divides ρ between the parts with the least sum of squared errors over the workload:
with σ_T² = p_T/(2ρ_T), Σ v_T·σ_T² under Σ ρ_T = ρ is least at ρ_T ∝ √(p_T·v_T).
**Source**: Xiao, He, Zhang & Kifer 2023 (ResidualPlanner), Theorems 4.4 and 5.2, whose parts have correlated Gaussian
noise in real numbers; here they are measured with independent noise on integers, at the same error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.neighbours import Neighbours

Columns = tuple[int, ...]
Reals = NDArray[np.float64]
_FINEST = 10**9


@dataclass(frozen=True)
class Parts:
    """The parts that marginals of `wanted` sets of columns are made of; column i has `sizes[i]` cells."""

    sizes: tuple[int, ...]
    wanted: tuple[Columns, ...]

    @cached_property
    def all(self) -> tuple[Columns, ...]:
        """Every part, the total first. A column of one cell has none."""
        found = {
            part
            for whole in self.wanted
            for count in range(len(whole) + 1)
            for part in combinations(whole, count)
            if all(self.sizes[each] > 1 for each in part)
        }
        return tuple(sorted(found, key=lambda part: (len(part), part)))

    def cells(self, columns: Columns) -> int:
        """Return the number of cells of a marginal."""
        return math.prod(self.sizes[each] for each in columns)

    def moves(self, part: Columns, rows: int, unit: Unit, neighbours: Neighbours) -> Bound:
        """Return how far the products of a part can move when one unit with at most `rows` rows changes.

        **Proof**: along one column, n·I − 11ᵀ has columns of squared norm n(n − 1), inner product −n with each other,
        1-norm 2(n − 1) and no entry beyond n − 1; products of columns multiply all of these. A unit's counts are a mean
        of 0 and of `rows` times single cells, and norms are convex. Two cells agree along some columns and differ along
        the others, at least one: all ways are tried. ∎
        """
        sizes = [self.sizes[each] for each in part]
        squared = math.prod(n * (n - 1) for n in sizes)
        longest, largest = math.prod(2 * (n - 1) for n in sizes), math.prod(n - 1 for n in sizes)
        if neighbours is Neighbours.REPLACE_ONE:
            inner = [
                math.prod(-n if at in differ else n * (n - 1) for at, n in enumerate(sizes))
                for count in range(1, len(sizes) + 1)
                for differ in combinations(range(len(sizes)), count)
            ]
            squared = max([squared, *(2 * squared - 2 * each for each in inner)])
            longest, largest = 2 * longest, 2 * largest
        return Bound(
            self.cells(part),
            Fraction(rows * longest),
            Fraction(rows**2 * squared),
            Fraction(rows * largest),
            neighbours,
            unit,
        )

    def weights(self) -> dict[Columns, float]:
        """Return v_T: the squared errors of all wanted cells together, for noise of variance 1 on the products of T."""
        found = dict.fromkeys(self.all, 0.0)
        for whole in self.wanted:
            for part in self._within(whole):
                found[part] += self.cells(whole) * self._each(part, whole)
        return found

    def shares(self) -> dict[Columns, Fraction]:
        """Return the share of ρ of each part; together at most 1."""
        weights = self.weights()
        root = {
            part: math.sqrt(weights[part] * math.prod(self.sizes[each] * (self.sizes[each] - 1) for each in part))
            for part in self.all
        }
        whole = sum(root.values())
        return {part: Fraction(max(int(each / whole * _FINEST), 1), _FINEST + len(root)) for part, each in root.items()}

    def variance(self, whole: Columns, noise: Mapping[Columns, float]) -> float:
        """Return the variance of each cell of a marginal, from the variance of the noise of each part."""
        return sum(noise[part] * self._each(part, whole) for part in self._within(whole))

    def _within(self, whole: Columns) -> list[Columns]:
        return [part for part in self.all if set(part) <= set(whole)]

    def _each(self, part: Columns, whole: Columns) -> float:
        kept = math.prod((self.sizes[each] - 1) / self.sizes[each] ** 3 for each in part)
        return kept / math.prod(self.sizes[each] ** 2 for each in whole if each not in part)

    def marginal(self, whole: Columns, noisy: Mapping[Columns, NDArray[np.int64]]) -> Reals:
        """Return the unbiased estimate of a marginal of least variance, from the noisy products of its parts."""
        found: Reals = np.zeros([self.sizes[each] for each in whole])
        for part in self._within(whole):
            own = products(noisy[part]) / math.prod(self.sizes[each] ** 2 for each in part)
            shape = [self.sizes[each] if each in part else 1 for each in whole]
            found = found + own.reshape(shape) / math.prod(self.sizes[each] for each in whole if each not in part)
        return found


def products(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (n·I − 11ᵀ) applied along every axis: whole numbers of whole numbers."""
    for axis in range(table.ndim):
        table = table.shape[axis] * table - table.sum(axis=axis, keepdims=True)
    return table


def summed(table: NDArray[np.int64], whole: Columns, part: Columns) -> NDArray[np.int64]:
    """Return the marginal of `part` from that of `whole`."""
    found: NDArray[np.int64] = np.asarray(
        table.sum(axis=tuple(at for at, each in enumerate(whole) if each not in part))
    )
    return found


def all_of(count: int, order: int) -> tuple[Columns, ...]:
    """Return all sets of `order` of `count` columns."""
    return tuple(combinations(range(count), order))


def largest(wanted: Sequence[Columns]) -> tuple[Columns, ...]:
    """Return the sets that lie in no other: what must be counted."""
    return tuple(one for one in wanted if not any(set(one) < set(other) for other in wanted))
