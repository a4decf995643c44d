"""How a map is measured: blocks of 4 × 4, 16 × 16 … cells beside the cells, or regions that are split where it pays.

**Guarantee** (fixed): every partition is one vector of counts, each row or site is in one region of each; the event
lists the noise of all. **Guarantee** (adaptive): which regions the next partition has depends on noisy counts alone,
and each is again one vector with noise of its own. The claim is what was said, and an account in memory with exactly
that grants each round.
**Source**: Hay et al. 2010 for the levels; Cormode et al. 2012 for shares that grow towards the cells; the stopping by
noisy counts is in the spirit of Zhang, Xiao & Xie 2016 (PrivTree), with all regions measured in each round instead of
a decaying bias, so that nothing but the Laplace mechanism is to be proven.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.events import Composed
from sordino.arguments import Number
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.laplace import Laplace
from sordino.publish.intervals import reach
from sordino.publish.nested import Spread, by_blocks
from sordino.publish.price import Expected
from sordino.publish.publication import Running
from sordino.publish.spending import Spend

from .grid import Grid
from .map_marks import Rules
from .map_reading import MapReading
from .map_release import HeatMap
from .quadtree import SIDE, Partition, blocks_of, sides_of, split, whole

if TYPE_CHECKING:
    from .map_recipe import MapRecipe, QuadtreeRecipe

Noise = Laplace | Gaussian
_GROWTH = Fraction(4, 3)
"""How much larger a share each finer partition has."""
_SPLIT = 4.0
"""A region is split if its estimate is more than so many standard deviations of the next noise."""


@dataclass(frozen=True)
class Round:
    """The noise of one partition."""

    side: int
    """The side of its blocks, in cells."""
    bound: Bound
    mechanism: Noise


def rounds_of(grid: Grid, spend: Spend, *, flat: bool, moving: bool) -> tuple[Round, ...]:
    """Return the partitions from the coarsest, each with its share; `moving` regions may be groups of cells in all."""
    sides = (1,) if flat else sides_of(grid.rows, grid.columns)
    weights = [_GROWTH**place for place in range(len(sides))]
    found = []
    for side, weight in zip(sides, weights, strict=True):
        bound = grid.bound(groups=moving or side > 1)
        part = spend.part(weight / sum(weights))
        mechanism: Noise
        if part.epsilon is not None:
            mechanism = Laplace.for_epsilon(part.epsilon, bound)
        else:
            mechanism = Gaussian.for_rho(part.amount, bound)
        found.append(Round(side, bound, mechanism))
    return tuple(found)


@dataclass(frozen=True)
class MapDesign:
    """All partitions, fixed beforehand."""

    recipe: MapRecipe
    rounds: tuple[Round, ...]

    @property
    def bound(self) -> Bound:
        """What one unit can change in the first thing that is measured."""
        return self.rounds[0].bound

    def event(self) -> Event:
        """Return the noise of all partitions."""
        once = tuple(each.mechanism.event(each.bound) for each in self.rounds)
        return once[0] if len(once) == 1 else Composed(once)

    def expected(self, confidence: Number) -> tuple[Expected, ...]:
        """Return the error of a cell, and of the whole map."""
        grid = self.recipe.grid
        nesting = by_blocks(grid.rows, grid.columns, SIDE)
        noise = [each.mechanism.variance_of_error for each in reversed(self.rounds)]
        spread = Spread(nesting, (*noise, *(np.inf,) * (nesting.levels - len(noise))))
        said = f"half the width of a {float(confidence):.4g} interval"
        cell = math.sqrt(float(spread.of_cells().mean())) * reach(confidence)
        total = math.sqrt(float(spread.of_sums(np.ones((1, nesting.sizes[0])))[0])) * reach(confidence)
        return (Expected("cell", cell, said), Expected("total", total, said))

    def notes(self) -> tuple[str, ...]:
        """Return what is measured, and what counts."""
        return (f"measured: {_blocks(self.rounds)}", *_said(self.recipe.grid))

    def run(self, running: Running) -> HeatMap:
        """Count, and measure each partition."""
        grid = self.recipe.grid
        cells = grid.counts(running.data)
        before = whole(grid.rows, grid.columns)
        partitions, noisy = [], []
        for each in self.rounds:
            blocks = blocks_of(grid.rows, grid.columns, each.side)
            before = split(before, np.ones(before.size, dtype=bool), blocks)
            partitions.append(before)
            noisy.append(running.release(each.mechanism, each.bound, before.added_up(cells)))
            running.stage("measuring")
        running.stage("fitting")
        return _released(running, grid, self.recipe.rules, self.rounds, partitions, noisy)


@dataclass(frozen=True)
class QuadtreeDesign:
    """Partitions of which each splits regions of the one before, where noisy counts say that it pays."""

    recipe: QuadtreeRecipe
    spend: Spend
    rounds: tuple[Round, ...]

    @property
    def bound(self) -> Bound:
        """What one unit can change in the first thing that is measured."""
        return self.rounds[0].bound

    def event(self) -> Event:
        """Return the claim."""
        return self.spend.claim()

    def expected(self, confidence: Number) -> tuple[Expected, ...]:
        """Return the error of the whole map; that of a cell depends on the data."""
        return (
            Expected("cell", math.inf, "regions follow the data; the release says each cell's"),
            Expected("total", self._total() * reach(confidence), "half the width of an interval", at_most=True),
        )

    def _total(self) -> float:
        coarsest = self.rounds[0]
        count = blocks_of(self.recipe.grid.rows, self.recipe.grid.columns, coarsest.side).max() + 1
        return math.sqrt(float(count) * coarsest.mechanism.variance_of_error)

    def notes(self) -> tuple[str, ...]:
        """Return what is measured, and what counts."""
        return (
            f"measured: {_blocks(self.rounds)}, where the coarser ones are not nearly empty",
            "the standard deviation of a cell is of noise alone; rows count as spread evenly in their region",
            *_said(self.recipe.grid),
        )

    def run(self, running: Running) -> HeatMap:
        """Count; measure regions, and split those in which there is enough, round by round."""
        grid = self.recipe.grid
        cells = grid.counts(running.data)
        before = whole(grid.rows, grid.columns)
        chosen = np.ones(1, dtype=bool)
        partitions, noisy = [], []
        for place, each in enumerate(self.rounds):
            before = split(before, chosen, blocks_of(grid.rows, grid.columns, each.side))
            partitions.append(before)
            noisy.append(running.release(each.mechanism, each.bound, before.added_up(cells)))
            running.stage("measuring")
            if place + 1 < len(self.rounds):
                ahead = math.sqrt(self.rounds[place + 1].mechanism.variance_of_error)
                found = _read(self.rounds, partitions, noisy).fitted
                chosen = (found > _SPLIT * ahead) & (before.areas > 1)
        running.stage("fitting")
        return _released(running, grid, self.recipe.rules, self.rounds, partitions, noisy)


def _read(rounds: tuple[Round, ...], partitions: list[Partition], noisy: list[np.ndarray]) -> MapReading:
    noise = [each.mechanism.variance_of_error for each in rounds[: len(partitions)]]
    parents = tuple(each.parent for each in reversed(partitions))
    return MapReading(partitions[-1].region, parents, tuple(reversed(noisy)), tuple(reversed(noise)))


def _released(
    running: Running,
    grid: Grid,
    rules: Rules,
    rounds: tuple[Round, ...],
    partitions: list[Partition],
    noisy: list[np.ndarray],
) -> HeatMap:
    reading = _read(rounds, partitions, noisy)
    counted = "rows" if grid.sites is None or grid.schema.by_row else f"{grid.schema.unit.name} sites"
    shape = (grid.rows, grid.columns)
    return HeatMap(running.plan, None, grid.box, shape, counted, rules, reading.noise, reading.arrays())


def _blocks(rounds: tuple[Round, ...]) -> str:
    return " and ".join([f"blocks of {each.side} × {each.side} cells" for each in rounds[:-1]] + ["the cells"])


def _said(grid: Grid) -> tuple[str, ...]:
    most = (
        f"at most {grid.most} cells of each {grid.schema.unit.name} count, each once"
        if grid.sites is not None and not grid.schema.by_row
        else f"at most {grid.most} rows of each {grid.schema.unit.name} count"
    )
    return (most, "rows outside of the box, or without coordinates, count nowhere")
