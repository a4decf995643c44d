"""What a hierarchy releases: the noisy measurements, and two kinds of tables that are computed from them.

**unbiased** estimates are right on average, and come with intervals; they are not whole, and can be negative. Add up
these, not the others, where many small counts matter. **whole** tables are non-negative integers that add up over
places and over cells; they are a little too high where there is nobody.

The files: `measurements.npz` (noisy counts of levels and queries), `whole.npz` (whole numbers of the leaves' cells; all
others are their sums), `places.parquet` (the tree), `column-0.parquet` and so on (what cells are called).
The unbiased estimates are a function of the measurements and of σ² in the manifest, so they are computed when they are
asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.accounting.part import not_protected
from sordino.arguments import probability, shown
from sordino.data.metadata import Column, KeyValue
from sordino.errors import ArgumentError
from sordino.noise import DiscreteGaussian
from sordino.publish.files import arrays_to_bytes, table_to_bytes
from sordino.publish.measuring import Axis, edges_of
from sordino.publish.released import Released

from .contrasts import Columns, Contrasts, Floats, summed
from .integers import Whole
from .least_squares import LeastSquares
from .tree import Tree
from .widths import half_widths

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEAST = 1e-9


@dataclass(frozen=True)
class Cell:
    """A column of the grid, and what its values are called."""

    name: str
    labels: tuple[KeyValue, ...]

    @classmethod
    def of(cls, axis: Axis, column: Column, bins: Mapping[str, int]) -> Cell:
        """Return the column of an axis; parts of a range are called by their ends."""
        if axis.name not in bins or column.range is None:
            return cls(axis.name, axis.keys)
        ends = [f"{end:g}" for end in edges_of(column.range, axis.size)]
        return cls(axis.name, tuple(f"{low} to {high}" for low, high in pairwise(ends)))


@dataclass(frozen=True, eq=False)
class PlaceTables(Released):
    """Counts of every place of a tree."""

    tree: Tree
    cells: tuple[Cell, ...]
    queries: Mapping[str, Columns]
    noise: tuple[Mapping[Columns, Fraction], ...]
    """For each level from the top down, σ² of the noise on each query that was asked; 0 where totals are public."""
    measurements: tuple[Mapping[Columns, NDArray[np.int64]], ...]
    """For each level from the top down, the noisy counts of each query that was asked: places × cells."""
    leaves: Whole
    """The whole numbers of the lowest level: places × cells."""

    @cached_property
    def solver(self) -> LeastSquares:
        """Least squares for measurements with this noise."""
        return solver_of(self.tree, self.shape, self.noise)

    @cached_property
    def estimates(self) -> list[Floats]:
        """The unbiased estimates of each level's cells, from the top down: places × cells."""
        return self.solver.estimates(self.measurements)

    @cached_property
    def integers(self) -> list[Whole]:
        """The whole numbers of each level's cells, from the top down: places × cells."""
        return self.tree.summed(self.leaves)

    def unbiased(self, level: str, query: str | None = None, *, confidence: float = 0.95) -> pa.Table:
        """Return a level's estimates with intervals, of a query or of all cells: one row for each place and cell."""
        number, columns = self.tree.level(level), self.columns_of(query)
        estimate = self.estimated(number, columns)
        width = self.widths(number, columns, confidence)[:, None]
        found = {"estimate": estimate, "low": estimate - width, "high": estimate + width}
        return pa.table(self._labels(number, columns) | {name: each.reshape(-1) for name, each in found.items()})

    def whole(self, level: str, query: str | None = None, *, confidence: float = 0.95) -> pa.Table:
        """Return a level's whole numbers, of a query or of all cells, with intervals.

        The intervals are those of the unbiased estimates, cut down to the whole numbers from 0 on that they hold: they
        cover the true count with the same confidence. A whole number itself may lie outside of its interval.
        """
        number, columns = self.tree.level(level), self.columns_of(query)
        count = summed(self.integers[number], self.shape, columns)
        estimate = self.estimated(number, columns)
        width = self.widths(number, columns, confidence)[:, None]
        high = np.maximum(np.floor(estimate + width), 0)
        low = np.clip(np.ceil(estimate - width), 0, high)
        found = {"count": count, "low": low.astype(np.int64), "high": high.astype(np.int64)}
        return pa.table(self._labels(number, columns) | {name: each.reshape(-1) for name, each in found.items()})

    def plot(self) -> Figure:
        """Return a figure: for each level and query, how far off places are, by their size."""
        from .picture import draw

        return draw(self)

    def to_parquet(self, folder: str | Path) -> Path:
        """Write both kinds of tables of every level, with all cells, as Parquet files; returns the folder."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        for number, level in enumerate(self.tree.levels):
            for kind, table in (("unbiased", self.unbiased(level)), ("whole", self.whole(level))):
                (place / f"{number + 1}-{kind}.parquet").write_bytes(table_to_bytes(table))
        return place

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values in each column of the grid."""
        return tuple(len(cell.labels) for cell in self.cells)

    def columns_of(self, query: str | None) -> Columns:
        """Return the columns that a query counts by, all for None; refuse one that was not declared."""
        if query is None:
            return tuple(range(len(self.cells)))
        if query not in self.queries:
            raise ArgumentError(
                f"there is no query {shown(query)}; there are {', '.join(map(shown, self.queries))}", "SRD-P203"
            )
        return self.queries[query]

    def estimated(self, level: int, columns: Columns) -> Floats:
        """Return the unbiased estimates of counts by some columns: places × cells."""
        return np.asarray(summed(self.estimates[level], self.shape, columns), np.float64)

    def widths(self, level: int, columns: Columns, confidence: float) -> Floats:
        """Return half the width of each place's intervals: the same for all of its cells."""
        exact = float(probability("confidence", confidence))
        noise = self.noise[level].get(columns)
        variances = self.solver.variances_of(level, columns)
        return half_widths(variances, None if noise is None else float(noise), exact)

    def _labels(self, level: int, columns: Columns) -> dict[str, pa.Array]:
        """Return a column for each level down to this one and for each that is counted by, one row for each count."""
        cells = [self.cells[column] for column in columns]
        shape = tuple(len(cell.labels) for cell in cells)
        places, each = self.tree.sizes[level], int(np.prod(shape, dtype=np.int64))
        rows = pa.array(np.repeat(np.arange(places), each))
        found = {name: pa.array(labels).take(rows) for name, labels in self.tree.path(level).items()}
        for place, cell in enumerate(cells):
            index = np.tile(np.indices(shape)[place].reshape(-1), places)
            found[cell.name] = pa.array(list(cell.labels)).take(pa.array(index))
        return found

    def measured(self) -> dict[str, Any]:
        """Return sizes, columns, queries, the variance of all noise, and what is not protected."""
        said = self.plan.said()
        return {
            "levels": list(self.tree.levels),
            "places": list(self.tree.sizes),
            "columns": {cell.name: len(cell.labels) for cell in self.cells},
            "queries": [[name, list(query)] for name, query in self.queries.items()],
            "noise": [
                {name: str(level[query]) for name, query in self.queries.items() if query in level}
                for level in self.noise
            ],
            "people": int(self.leaves.sum()),
            "not_protected": list(not_protected(said["unit"], said["neighbours"])),
        }

    def contents(self) -> Mapping[str, bytes]:
        """Return measurements, whole numbers of the leaves, and what these are about."""
        noisy = {
            f"{number}-{place}": _small(level[query])
            for number, level in enumerate(self.measurements)
            for place, query in enumerate(self.queries.values())
            if query in level
        }
        labels = {
            f"column-{place}.parquet": pa.table({cell.name: list(cell.labels)}) for place, cell in enumerate(self.cells)
        }
        return {
            "measurements.npz": arrays_to_bytes(noisy),
            "whole.npz": arrays_to_bytes({"leaves": _small(self.leaves)}),
            "places.parquet": table_to_bytes(pa.table(self.tree.path(len(self.tree.levels) - 1))),
            **{name: table_to_bytes(table) for name, table in labels.items()},
        }


def solver_of(tree: Tree, shape: tuple[int, ...], noise: Sequence[Mapping[Columns, Fraction]]) -> LeastSquares:
    """Return least squares over a tree for discrete Gaussian noise of so much σ² on each level's queries."""
    variances = [{query: _variance(each) for query, each in level.items()} for level in noise]
    return LeastSquares(tree.first_children, tree.sizes[-1], Contrasts(shape), variances)


def _variance(sigma_squared: Fraction) -> float:
    """Return the variance of noise on whole numbers, next to none where σ is small; never 0, to weigh by it."""
    return max(DiscreteGaussian(sigma_squared).variance, _LEAST) if sigma_squared else _LEAST


def _small(counts: NDArray[np.int64]) -> NDArray[np.integer[Any]]:
    """Return the same whole numbers in as few bytes as all of them fit into."""
    least, most = (int(counts.min()), int(counts.max())) if counts.size else (0, 0)
    for kind in (np.int16, np.int32):
        if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max:
            return counts.astype(kind)
    return counts
