"""A box on the map in cells: which rows are counted where, and how much one unit can change.

**Rule**: a row whose coordinates are missing, are no numbers or lie outside of the box counts nowhere, and does not use
up any of its owner's rows or sites either: rows are left out before contributions are bounded. What lies on the upper
ends of the box counts in the last cells.
**Guarantee**: counts of D and of D without one unit differ within `bound` at the cells, and within `bound(groups=True)`
in any partition of the cells, for each of at most k rows or sites is in one part.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.accounting.bound import Bound
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Schema, Table
from sordino.errors import ArgumentError
from sordino.publish.measuring import Axis, bounding_of, marginal, number_axis, table_of, under
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import ColumnRef, Expression, Literal
from sordino.query.model.operations import call
from sordino.query.model.relation import Filter, Scan
from sordino.query.model.task import Monomial, Task


@dataclass(frozen=True)
class Grid:
    """`rows` × `columns` cells of a box, from the south and from the west, over two columns of a table."""

    schema: Schema
    table: str
    latitude: str
    longitude: str
    south_north: Range
    west_east: Range
    rows: int
    columns: int
    sites: int | None
    """Of each person at most so many cells count, each once. None: every row counts."""

    @property
    def private(self) -> Table:
        """The table that is published."""
        return table_of(self.schema, self.table)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """West, south, east, north."""
        across, up = self.west_east, self.south_north
        return float(across.low), float(up.low), float(across.high), float(up.high)

    @property
    def axes(self) -> tuple[Axis, Axis]:
        """Both coordinates as cells."""
        table = self.private
        up = number_axis(self.latitude, table.columns[self.latitude], self.south_north, self.rows)
        across = number_axis(self.longitude, table.columns[self.longitude], self.west_east, self.columns)
        return up, across

    @property
    def bounding(self) -> Bounding:
        """How contributions are bounded."""
        if self.sites is None or self.schema.by_row:
            return bounding_of(self.schema, self.private)
        return Bounding("groups", groups=self.sites, rows_per_group=1)

    @property
    def most(self) -> int:
        """In how many cells one unit counts at most, or how many of its rows do."""
        bounding = self.bounding
        return self.sites if self.sites is not None and not self.schema.by_row else bounding.linf * bounding.unit

    def task(self) -> Task:
        """Return what the engine is asked."""
        source = Filter(Scan(self.private), self._inside())
        if self.sites is None:
            return marginal(source, self.axes, self.bounding)
        keys = tuple(axis.key for axis in self.axes)
        return Task(source, keys, self.bounding, monomials=(Monomial(()),), people=True)

    def counts(self, data: Any) -> NDArray[np.int64]:
        """Return the count of each cell, in one row after the other: secret."""
        exact = data.compute(self.task(), noise.uniform(2**62))
        found = exact.sums[0] if self.sites is None else exact.people
        return np.asarray(found, dtype=np.int64).ravel()

    def bound(self, *, groups: bool) -> Bound:
        """Return what one unit can change in the counts of cells, or of `groups` of them.

        **Proof**: a unit adds v ≥ 0 with ‖v‖₁ ≤ k. If sites count, no cell has more than 1 of it, so ‖v‖₂² ≤ k; in
        groups and for rows one part may have all, so ‖v‖₂² ≤ k². ∎
        """
        k = self.most
        largest = k if groups or self.sites is None else 1
        coming = Bound(
            min(k, self.rows * self.columns),
            Fraction(k),
            Fraction(k * largest),
            Fraction(largest),
            unit=self.schema.unit,
        )
        return under(coming, self.schema.neighbours, self.schema.unit)

    def _inside(self) -> Expression:
        tests = []
        for name, range_ in ((self.latitude, self.south_north), (self.longitude, self.west_east)):
            column = ColumnRef(self.private.columns[name].kind, name)
            tests.append(call("greater_equal", column, Literal(Kind.REAL, float(range_.low))))
            tests.append(call("less_equal", column, Literal(Kind.REAL, float(range_.high))))
        return reduce(lambda one, other: call("and", one, other), tests)


def check_coordinate(table: Table, name: str) -> None:
    """Refuse a column that cannot be a coordinate."""
    if name not in table.columns:
        raise ArgumentError(f"{table.name} has no such column; its columns are {', '.join(table.columns)}", "SRD-P401")
    if not table.columns[name].kind.is_number:
        raise ArgumentError(
            f"column {name!r} is {table.columns[name].kind.value}, and a coordinate is a number", "SRD-P401"
        )
