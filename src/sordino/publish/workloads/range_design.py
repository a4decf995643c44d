"""Ways to measure a row of cells, each with its noise: a tree of groups, or the best strategy; the better one by price.

**Guarantee**: a `TreeWay` counts every row once on each level that is measured, with noise of its own for each level:
its event lists them all. A `StrategyWay` adds Gaussian noise to whole-numbered products (``strategy.py``), once. Which
way is taken follows from the workload, the number of cells and the spend alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.events import Composed
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.laplace import Laplace
from sordino.publish.nested import by_fanout
from sordino.publish.publication import Running
from sordino.publish.spending import Spend

from .gram import Workload
from .range_reading import StrategyReading, TreeReading
from .strategy import Strategy, strategy_for

FANOUTS = (2, 4, 8, 16, 32, 64)
MOST_OPTIMISED = 1024
"""Strategies for more cells would take minutes; beyond, the best tree is measured."""
_MOST_PREFIXES = 1024


@dataclass(frozen=True)
class TreeWay:
    """Counts of cells, of groups of `fanout` cells, of groups of those, as far as there are at least two."""

    cells: int
    fanout: int
    bound: Bound
    """What one unit can change in the counts of each level."""
    mechanisms: tuple[Laplace | Gaussian, ...]
    """One for each level that is measured, from the cells up."""

    @property
    def name(self) -> str:
        """What notes call it."""
        levels = len(self.mechanisms)
        return f"a tree of {levels} levels, {self.fanout} parts to a group" if levels > 1 else "every cell by itself"

    def event(self) -> Event:
        """Return the noise of all levels."""
        once = tuple(each.event(self.bound) for each in self.mechanisms)
        return once[0] if len(once) == 1 else Composed(once)

    @cached_property
    def reading(self) -> TreeReading:
        """How what is measured is read."""
        return TreeReading(self.cells, self.fanout, tuple(each.variance_of_error for each in self.mechanisms))

    def measured(self, running: Running, exact: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """Return noisy counts of each level."""
        found = {}
        levels = self.reading.nesting.added_up(exact)
        for level, (mechanism, counts) in enumerate(zip(self.mechanisms, levels, strict=False)):
            found[f"level_{level}"] = running.release(mechanism, self.bound, counts)
            running.stage("measuring")
        return found


@dataclass(frozen=True)
class StrategyWay:
    """The products of the best strategy for a workload, in whole numbers."""

    matrix: NDArray[np.int64]
    bound: Bound
    """What one unit can change in the products."""
    mechanism: Gaussian

    name = "the best strategy for the workload"

    @cached_property
    def reading(self) -> StrategyReading:
        """How what is measured is read."""
        return StrategyReading(Strategy(self.matrix), self.mechanism.variance_of_error)

    def event(self) -> Event:
        """Return the noise of all products."""
        return self.mechanism.event(self.bound)

    def measured(self, running: Running, exact: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """Return the noisy products, and the strategy that they are of."""
        noisy = running.release(self.mechanism, self.bound, self.reading.strategy.products(exact))
        running.stage("measuring")
        return {"products": noisy, "strategy": self.matrix}


Way = TreeWay | StrategyWay


def ways(workload: Workload, spend: Spend, counted: Bound, rows: int) -> tuple[Way, ...]:
    """Return the ways there are for so much: a unit has `rows` rows at most, and moves counts within `counted`."""
    cells = workload.cells
    fanouts = sorted({min(each, cells) for each in (*FANOUTS, cells)} - {1}) or [2]
    found: list[Way] = [_tree(cells, fanout, spend, counted) for fanout in fanouts]
    if spend.rho is not None and 1 < cells <= MOST_OPTIMISED:
        strategy = strategy_for(workload.kind, cells)
        moved = strategy.moves(rows, counted.unit, counted.neighbours)
        found.append(StrategyWay(strategy.matrix, moved, Gaussian.for_rho(spend.rho, moved)))
    return tuple(found)


def _tree(cells: int, fanout: int, spend: Spend, bound: Bound) -> TreeWay:
    levels = max(by_fanout(cells, fanout).levels - 1, 1)
    part = spend.part(Fraction(1, levels))
    noise: Laplace | Gaussian
    if part.epsilon is not None:
        noise = Laplace.for_epsilon(part.epsilon, bound)
    else:
        noise = Gaussian.for_rho(part.amount, bound)
    return TreeWay(cells, fanout, bound, (noise,) * levels)


def typical_error(way: Way, workload: Workload) -> float:
    """Return the root mean square error of the unbiased answers to a workload.

    Of P_0 = 0 and n estimated prefixes P_i, all ranges are the differences, and Σ_{i<j} Var(P_j − P_i) is
    (n + 1)·Σ Var(P_i) − Var(Σ P_i). Of more than 1,024 prefixes, evenly spaced ones speak for all.
    """
    n = workload.cells
    if isinstance(way, StrategyWay):
        return float(np.sqrt(way.reading.strategy.mean_squared_error(workload) * way.reading.noise))
    ends = np.unique(np.linspace(1, n, min(n, _MOST_PREFIXES)).round().astype(int))
    prefixes = float(way.reading.variances((np.arange(n)[None, :] < ends[:, None]).astype(float)).mean())
    if workload.kind == "prefixes":
        return float(np.sqrt(prefixes))
    together = float(way.reading.variances(np.arange(n, 0, -1, dtype=float)[None, :])[0])
    return float(np.sqrt(((n + 1) * n * prefixes - together) / workload.queries))


def best_way(workload: Workload, spend: Spend, counted: Bound, rows: int) -> tuple[Way, float]:
    """Return the way with the least typical error, and that error; of equal ones the first."""
    found = [(way, typical_error(way, workload)) for way in ways(workload, spend, counted, rows)]
    return min(found, key=lambda each: each[1])
