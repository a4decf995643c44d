"""Tables, met as marginals: how many rows there are in each of some public cells, bounded by the unit.

An `Axis` is a column as whole numbers from 0: how the engine finds them, and what each stands for. A marginal over axes
is one task with public keys, so every cell is known beforehand, and the engine does the counting.

**Guarantee**: `counts` of D and of D without one unit differ by a vector within `bound_of` the same bounding; rows
outside of all cells count nowhere, in both. What comes back is secret and must meet noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.neighbours import Neighbours
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column, KeyValue, Schema, Table
from sordino.errors import ArgumentError
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import ColumnRef, Expression, Literal
from sordino.query.model.literals import literal
from sordino.query.model.operations import call
from sordino.query.model.question import Key
from sordino.query.model.relation import Relation, Scan
from sordino.query.model.task import Monomial, Task
from sordino.query.release.run import Compute

MOST_CELLS = 2**31


@dataclass(frozen=True)
class Axis:
    """A column in whole numbers: the value of `expression` that is `keys[i]` counts in cell i."""

    name: str
    expression: Expression
    keys: tuple[KeyValue, ...]

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.keys)

    @property
    def key(self) -> Key:
        """What the engine groups by."""
        return Key(self.name, self.expression, Column(self.expression.kind, keys=self.keys))


def column_axis(name: str, column: Column) -> Axis:
    """Return the axis of a column whose keys are declared."""
    if column.keys is None:
        raise ArgumentError(
            f"column {name!r} has no declared keys, so its cells are not public; declare keys([…]), or bounds(low, "
            "high) for a number",
            "SRD-P004",
        )
    return Axis(name, ColumnRef(column.kind, name), column.keys)


def number_axis(name: str, column: Column, bounds: Range, cells: int, *, missing: bool = False) -> Axis:
    """Return the axis of a number in `cells` equal parts of its bounds; values outside are clipped to them.

    With `missing`, rows in which there is no number have a cell of their own, the last; else they count nowhere.
    """
    if not column.kind.is_number:
        raise ArgumentError(f"column {name!r} is {column.kind.value}, and only numbers have bounds", "SRD-P004")
    low, high = _real(bounds.low), _real(bounds.high)
    clipped = call("least", call("greatest", ColumnRef(column.kind, name), low), high)
    scaled = call("multiply", call("subtract", clipped, low), _real(cells / (bounds.high - bounds.low)))
    number = call("floor", call("least", scaled, _real(Fraction(cells) - Fraction(1, 2))))
    # LEAST and GREATEST skip what is missing, so it must be made missing again.
    absent = call("is_null", ColumnRef(column.kind, name))
    place = call("case", absent, literal(None), number)
    return Axis(name, place, (*range(cells), *((None,) if missing else ())))


def _real(value: Fraction) -> Literal:
    return Literal(Kind.REAL, float(value))


def edges_of(bounds: Range, cells: int) -> NDArray[np.float64]:
    """Return the ends of the cells of a number: one more than there are cells."""
    steps = [bounds.low + (bounds.high - bounds.low) * place / cells for place in range(cells + 1)]
    return np.array([float(each) for each in steps])


def shape_of(axes: Sequence[Axis]) -> tuple[int, ...]:
    """Return the sizes of axes; refuse more cells than can be counted."""
    shape = tuple(axis.size for axis in axes)
    if math.prod(shape) > MOST_CELLS:
        raise ArgumentError(
            f"{' × '.join(axis.name for axis in axes)} has {math.prod(shape):,} cells, and 2³¹ is the most that are "
            "counted at once; take fewer columns together, or coarser cells",
            "SRD-P005",
        )
    return shape


def marginal(relation: Relation, axes: Sequence[Axis], bounding: Bounding) -> Task:
    """Return the task that counts the rows of each cell."""
    shape_of(axes)
    return Task(relation, tuple(axis.key for axis in axes), bounding, monomials=(Monomial(()),))


def counts(compute: Compute, task: Task, salt: int) -> NDArray[np.int64]:
    """Return the rows in each cell, in the shape of the axes and in units of the bounding's weight: secret."""
    shape = tuple(len(key.column.keys or ()) for key in task.keys)
    found: NDArray[np.int64] = np.asarray(compute(task, salt).sums[0], dtype=np.int64).reshape(shape)
    return found


def table_of(schema: Schema, name: str | None) -> Table:
    """Return the private table that is published: the one there is, or the one that is named."""
    if name is not None and not isinstance(name, str):
        raise ArgumentError("table must be the name of a table", "SRD-P006")
    private = [each for each, table in schema.tables.items() if not table.is_public]
    if name is None and len(private) == 1:
        return schema.tables[private[0]]
    if name not in private:
        raise ArgumentError(f"say which table is published, table=…: {', '.join(private)}", "SRD-P006")
    return schema.tables[name]


def scan(table: Table) -> Relation:
    """Return all rows of a table; refused where every day has a budget of its own."""
    if table.blocks is not None:
        raise ArgumentError(
            f"each day of {table.name!r} has a budget of its own, and this recipe reads all days at once; declare the "
            "data without blocks=so.days(…), or publish a report that is made by day",
            "SRD-P009",
        )
    return Scan(table)


def bounding_of(schema: Schema, table: Table) -> Bounding:
    """Return how contributions are bounded: by the row, or by so many rows of a person as are declared."""
    if schema.by_row:
        return Bounding("row", rows=1)
    if schema.personal is not None:
        raise ArgumentError(
            "this data set protects people by classes, and a publication knows no classes; declare it without personal",
            "SRD-P007",
        )
    if table.limits.rows is None:
        raise ArgumentError(
            f"nothing says how many rows of {table.name!r} one {schema.unit.name} may have, so one could fill any "
            "cell; declare limits=so.limits(rows=…)",
            "SRD-P007",
        )
    return Bounding("sample", rows=table.limits.rows)


def bound_of(schema: Schema, bounding: Bounding, cells: int) -> Bound:
    """Return what one unit can change in the counts of `cells` disjoint cells.

    **Proof**: a unit's rows add a vector v ≥ 0 of whole numbers with ‖v‖₁ ≤ k, k rows being the most; so ‖v‖₂² ≤ k². ∎
    """
    rows = bounding.linf * bounding.unit
    coming = Bound(min(cells, bounding.linf), Fraction(rows), Fraction(rows**2), Fraction(rows), unit=schema.unit)
    return under(coming, schema.neighbours, schema.unit)


def under(coming: Bound, neighbours: Neighbours, unit: Unit) -> Bound:
    """Return the bound of counts under the relation of the data, from that of a unit that comes or goes.

    **Proof** for a unit that is replaced: v leaves and w comes, both at least 0 in every cell. So
    ‖v − w‖₂² ≤ ‖v‖₂² + ‖w‖₂² and ‖v − w‖∞ ≤ max(‖v‖∞, ‖w‖∞), while 1-norm and number of cells add up. A unit whose
    place is emptied moves the counts as one that goes. ∎
    """
    if neighbours is Neighbours.ADD_REMOVE:
        return replace(coming, unit=unit)
    if neighbours is Neighbours.ZERO_OUT:
        return replace(coming, unit=unit, neighbours=neighbours)
    return Bound(2 * coming.l0, 2 * coming.l1, 2 * coming.l2_squared, coming.linf, neighbours, unit)


def labels_of(axis: Axis) -> list[Any]:
    """Return what the cells of an axis stand for, in order."""
    return list(axis.keys)
