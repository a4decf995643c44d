"""A hierarchy with its noise: what is measured on every level, and what is made of it.

One pass of the engine counts every cell of every leaf; the counts of upper levels, and of coarser queries, are sums of
these whole numbers. Each level's answer to each query then gets discrete Gaussian noise of its own.

**Guarantee**: all measurements together are the list of events, fixed beforehand. What is released besides is computed
from them and from what is public.
**Proof** that one bound holds for each of them: a unit's rows add a vector v ≥ 0 of whole numbers to the leaves' cells,
and adding up cells keeps ‖v‖₁ and v ≥ 0, from which the bound was derived (``measuring.bound_of``). ∎
**Source**: Abowd et al. 2022 (TopDown); Canonne, Kamath, Steinke 2020, Theorem 14 and Proposition 5 (the noise).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.events import Composed
from sordino.accounting.part import not_protected
from sordino.arguments import Number
from sordino.mechanisms.gaussian import DiscreteGaussian
from sordino.publish.measuring import Axis, counts, marginal, scan, table_of
from sordino.publish.price import Expected
from sordino.publish.publication import Running
from sordino.query.model.bounding import Bounding

from .contrasts import Columns, summed
from .integers import whole_tables
from .least_squares import LeastSquares
from .release import Cell, PlaceTables, solver_of
from .widths import half_widths

if TYPE_CHECKING:
    from .recipe import HierarchyRecipe


@dataclass(frozen=True)
class HierarchyDesign:
    """Everything that one hierarchy runs."""

    recipe: HierarchyRecipe
    bound: Bound
    bounding: Bounding
    noise: tuple[tuple[DiscreteGaussian | None, ...], ...]
    """Levels × queries; None where a query is not asked."""

    def event(self) -> Event:
        """Return the measurements of all levels and queries."""
        events = tuple(mechanism.event(self.bound) for _, _, mechanism in self._measured())
        return events[0] if len(events) == 1 else Composed(events)

    def expected(self, confidence: Number) -> tuple[Expected, ...]:
        """Return, for each level and query, half the width of an interval around an unbiased estimate."""
        found, sure = [], f"{100 * float(confidence):g} %"
        measure = f"half the width of a {sure} interval of an unbiased estimate, in a typical place"
        for level, name in enumerate(self.recipe.tree.levels):
            for query, columns in self.recipe.queries:
                variances, own = self.solver.variances_of(level, columns), self.sigmas[level].get(columns)
                widths = half_widths(variances, None if own is None else float(own), float(confidence))
                typical = np.sqrt(np.mean(widths**2))
                found.append(Expected(f"{name}: {query}", float(typical), measure))
        return tuple(found)

    def notes(self) -> tuple[str, ...]:
        """Return what is not counted, and what is not protected."""
        said = ["rows at places, or with values, that are not listed are counted nowhere"]
        free = not_protected(self.bound.unit.name, self.bound.neighbours.value)
        if self.recipe.exact is not None:
            level = self.recipe.tree.levels[self.recipe.exact]
            said.append(f"totals of each {level} are published exactly; rows without a cell are in them, too")
        return (*said, *(f"{each} is not protected" for each in free))

    def run(self, running: Running) -> PlaceTables:
        """Count the leaves' cells, measure every level, and make both kinds of tables."""
        recipe = self.recipe
        leaves = self._count(running, recipe.axes).reshape(recipe.tree.sizes[-1], -1)
        totals = [] if recipe.part is None else self._totals(self._count(running, (recipe.part,)))
        measurements = self.measure(running, leaves)
        for level, known in zip(measurements, totals, strict=False):
            level[()] = known[:, None]
        running.stage("fitting")
        whole = whole_tables(self.solver.estimates(measurements), recipe.tree.first_children, totals)[-1]
        running.stage("writing")
        return PlaceTables(
            running.plan, None, recipe.tree, self.cells, dict(recipe.queries), self.sigmas, tuple(measurements), whole
        )

    def _count(self, running: Running, axes: tuple[Axis, ...]) -> NDArray[np.int64]:
        task = marginal(scan(table_of(self.recipe.schema, self.recipe.table)), axes, self.bounding)
        return counts(running.data.compute, task, noise.uniform(2**62))  # type: ignore[attr-defined]

    def _totals(self, exact: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the totals of each level down to the one whose totals are public: the same on all neighbours.

        **Proof**: rows are counted by the very column within which they are replaced (``accounting/part.py``). ∎
        """
        found = [exact]
        for first in reversed(self.recipe.tree.first_children[: self.recipe.exact or 0]):
            found.insert(0, np.add.reduceat(found[0], first))
        return found

    def measure(self, running: Running, leaves: NDArray[np.int64]) -> list[dict[Columns, NDArray[np.int64]]]:
        """Return the noisy counts of every level and query from the exact counts of the leaves (leaves × cells)."""
        exact = self.recipe.tree.summed(leaves)
        found: list[dict[Columns, NDArray[np.int64]]] = [{} for _ in exact]
        for level, query, mechanism in self._measured():
            counted = summed(exact[level], self.shape, query)
            found[level][query] = running.release(mechanism, self.bound, counted)
            running.stage("measuring")
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values in each column."""
        return tuple(axis.size for axis in self.recipe.axes[1:])

    @property
    def cells(self) -> tuple[Cell, ...]:
        """For each column its name and what its values are called."""
        known = table_of(self.recipe.schema, self.recipe.table).columns
        return tuple(Cell.of(axis, known[axis.name], dict(self.recipe.bins)) for axis in self.recipe.axes[1:])

    @cached_property
    def sigmas(self) -> tuple[Mapping[Columns, Fraction], ...]:
        """For each level, σ² of the noise on each query that is asked."""
        found: list[dict[Columns, Fraction]] = [{} for _ in self.recipe.tree.levels]
        for level, query, mechanism in self._measured():
            found[level][query] = mechanism.variance
        for level in range(0 if self.recipe.exact is None else self.recipe.exact + 1):
            found[level][()] = Fraction(0)
        return tuple(found)

    @cached_property
    def solver(self) -> LeastSquares:
        """Least squares for measurements with this noise."""
        return solver_of(self.recipe.tree, self.shape, self.sigmas)

    def _measured(self) -> Iterator[tuple[int, Columns, DiscreteGaussian]]:
        for level, row in enumerate(self.noise):
            for (_, query), mechanism in zip(self.recipe.queries, row, strict=True):
                if mechanism is not None:
                    yield level, query, mechanism
