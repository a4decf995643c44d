"""Columns of a table in whole numbers, and back: categories as they are declared, numbers and dates in cells.

A number's cells lie between public `edges`; what is beyond the first or the last is in the first or last cell. Values
have coordinates: numbers are their own, dates are days, times are seconds. Where a value is missing it has a cell of
its own, the last.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import shown
from sordino.data.kinds import Kind
from sordino.data.metadata import Column, KeyValue, Table
from sordino.errors import ArgumentError
from sordino.publish.measuring import Axis, column_axis
from sordino.query.model.expression import ColumnRef, Expression, Literal
from sordino.query.model.literals import literal
from sordino.query.model.operations import call

from .constraints import Between, Constraint, Never

FINEST_CELLS = 512
"""How many cells a number has before they are merged to bins."""
_SECONDS = datetime(1970, 1, 1)
_LATTICE = {Kind.INTEGER: Fraction(1), Kind.DATE: Fraction(1), Kind.TIMESTAMP: Fraction(1)}


@dataclass(frozen=True)
class Field:
    """A column as cells: `keys` of a category, or `edges` of a number, a date or a time."""

    name: str
    kind: Kind
    keys: tuple[KeyValue, ...] | None = None
    edges: tuple[Fraction, ...] = ()
    step: Fraction | None = None
    """Values are whole multiples of it, counted from the first edge; None for reals of any size."""
    missing: bool = False
    """Whether there is a cell for missing numbers. Categories list None among their keys."""
    forced: tuple[Fraction, ...] = ()
    """Edges within that constraints need, so that they hold for all of a cell or for none."""

    @property
    def numeric(self) -> bool:
        """Whether cells are parts of a range."""
        return self.keys is None

    @property
    def parts(self) -> int:
        """The number of cells that hold values."""
        return len(self.edges) - 1 if self.keys is None else len(self.keys)

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.parts + (self.missing and self.numeric)

    def axis(self, column: Column) -> Axis:
        """Return how an engine finds the cells."""
        if self.keys is not None:
            return column_axis(self.name, replace(column, keys=self.keys))
        here = ColumnRef(self.kind, self.name)
        place = self._place(here, 0, self.parts)
        absent = literal(None) if self.missing else literal(self.parts // 2)
        keys = (*range(self.parts), *((None,) if self.missing else ()))
        return Axis(self.name, call("case", call("is_null", here), absent, place), keys)

    def _place(self, here: Expression, first: int, end: int) -> Expression:
        """Return the cell of a value that lies in one of these, by halving."""
        if end - first == 1:
            return literal(first)
        middle = (first + end) // 2
        below = call("less", here, self._constant(self.edges[middle]))
        return call("case", below, self._place(here, first, middle), self._place(here, middle, end))

    def _constant(self, coordinate: Fraction) -> Literal:
        if self.kind is Kind.REAL or (self.kind is Kind.INTEGER and coordinate.denominator > 1):
            return Literal(Kind.REAL, float(coordinate))
        return literal(value_of(self.kind, coordinate))

    def merged(self, edges: Sequence[Fraction]) -> Field:
        """Return the same column in fewer cells."""
        return replace(self, edges=tuple(edges))

    def lowest(self) -> NDArray[np.float64]:
        """Return the least coordinate of each part."""
        return np.array([float(each) for each in self.edges[:-1]])

    def highest(self) -> NDArray[np.float64]:
        """Return the greatest coordinate of each part."""
        return np.array([float(each - (self.step or 0)) for each in self.edges[1:]])

    def within(self, given: tuple[KeyValue, ...] | Between) -> NDArray[np.bool_]:
        """Return which cells lie within what a constraint names; its ends are edges, so a cell does or does not."""
        if self.keys is not None and isinstance(given, tuple):
            for value in given:
                if value not in self.keys:
                    raise ArgumentError(f"{shown(value)} is not among the keys of {self.name!r}", "SRD-P102")
            return np.array([each in given for each in self.keys])
        if isinstance(given, Between):
            low, high = (coordinate_of(self.name, self.kind, each) for each in (given.low, given.high))
            return np.array([at is not None and low <= at < high for at in self._coordinates()])
        inside = np.zeros(self.size, dtype=np.bool_)
        for value in given:
            inside[self.part_of(value)] = True
        return inside

    def part_of(self, value: Any) -> slice:
        """Return the cell of a number's value, as a slice of all cells; empty if it is outside."""
        if value is None:
            return slice(self.parts, self.size)
        at = coordinate_of(self.name, self.kind, value)
        place = bisect_right(self.edges, at) - 1
        return slice(place, place + 1) if 0 <= place < self.parts else slice(0, 0)

    def _coordinates(self) -> list[Fraction | None]:
        if self.keys is not None:
            return [None if each is None else coordinate_of(self.name, self.kind, each) for each in self.keys]
        return [*self.edges[:-1], *([None] * (self.size - self.parts))]


def fields_of(
    table: Table, columns: Iterable[str], constraints: Iterable[Constraint], ranges: Mapping[str, tuple[Any, Any]]
) -> tuple[Field, ...]:
    """Return all columns in their finest cells; refuse one of which too little is publicly known."""
    found = []
    for name in columns:
        if name not in table.columns:
            why = table.hidden.get(name, f"there are {', '.join(table.columns)}")
            raise ArgumentError(f"the table {table.name!r} has no column {shown(name)} to publish: {why}", "SRD-P101")
        nevers = [cell for each in constraints if isinstance(each, Never) for cell in each.cells]
        wanted = [given for other, given in nevers if other == name]
        found.append(_field(name, table.columns[name], wanted, ranges.get(name)))
    return tuple(found)


def _field(name: str, column: Column, wanted: list[Any], given: tuple[Any, Any] | None) -> Field:
    kind = column.kind
    if column.keys is not None:
        return Field(name, kind, column.keys)
    if kind is Kind.BOOLEAN:
        return Field(name, kind, (False, True, *((None,) if column.nullable else ())))
    if given is not None and kind is not Kind.TEXT:
        low, high = (coordinate_of(name, kind, each) for each in given)
    elif column.range is not None:
        low, high = column.range.low, column.range.high
    else:
        raise ArgumentError(_unknown(name, kind), "SRD-P004")
    step = _LATTICE.get(kind) or (None if column.granularity is None else Fraction(str(column.granularity)))
    return _numbered(Field(name, kind, None, (), step, column.nullable), low, high, _ends(name, kind, step, wanted))


def _ends(name: str, kind: Kind, step: Fraction | None, wanted: list[Any]) -> set[Fraction]:
    """Return where the cells must end that constraints name."""
    ends = set[Fraction]()
    for given in wanted:
        if isinstance(given, Between):
            ends |= {coordinate_of(name, kind, given.low), coordinate_of(name, kind, given.high)}
            continue
        for value in (each for each in given if each is not None):
            if step is None:
                raise ArgumentError(
                    f"{name!r} is real, so no value of it stands alone; say never({name}=so.publish.between(low, "
                    "high))",
                    "SRD-P102",
                )
            ends |= {coordinate_of(name, kind, value), coordinate_of(name, kind, value) + step}
    return ends


def _numbered(field: Field, low: Fraction, high: Fraction, wanted: set[Fraction]) -> Field:
    """Return the field with its finest edges: parts alike, ends of constraints, and 0, often a value of its own."""
    step = field.step
    if step is None:
        ends = {low + (high - low) * place / FINEST_CELLS for place in range(FINEST_CELLS + 1)}
        last, forced = high, wanted
    else:
        points = math.floor((high - low) / step) + 1
        width = step * math.ceil(Fraction(points, FINEST_CELLS))
        last = low + points * step
        ends = {low + width * place for place in range(math.ceil(points * step / width))} | {last}
        forced = {low + step * math.ceil((each - low) / step) for each in wanted}
        ends |= {each for each in (Fraction(0), step) if (each - low) % step == 0}
    edges = {each for each in ends | forced if low <= each <= last}
    within = tuple(sorted(each for each in forced if low < each < last))
    return replace(field, edges=tuple(sorted(edges)), forced=within)


def _unknown(name: str, kind: Kind) -> str:
    if kind is Kind.TEXT:
        return f"column {name!r} is a text without declared keys, so its values are not public; declare so.keys([…])"
    if kind.is_number:
        return f"column {name!r} has no bounds, so its cells are not public; declare so.bounds(low, high)"
    return f"column {name!r} has no range, so its cells are not public; say ranges={{{name!r}: (first, last)}}"


def coordinate_of(name: str, kind: Kind, value: Any) -> Fraction:
    """Return where a value lies among others of its kind; refuse one of another kind."""
    if kind is Kind.DATE and type(value) is date:
        return Fraction(value.toordinal())
    if kind is Kind.TIMESTAMP and isinstance(value, date):
        moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
        there = moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
        return Fraction(math.floor((there - _SECONDS).total_seconds()))
    if kind.is_number and isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        return Fraction(str(value)) if isinstance(value, float) else Fraction(value)
    raise ArgumentError(f"{name!r} is {kind.value}, and what is said of it is {type(value).__name__}", "SRD-P102")


def value_of(kind: Kind, coordinate: Fraction) -> Any:
    """Return the value that lies at a coordinate."""
    if kind is Kind.DATE:
        return date.fromordinal(int(coordinate))
    if kind is Kind.TIMESTAMP:
        return _SECONDS + timedelta(seconds=int(coordinate))
    return int(coordinate) if kind is Kind.INTEGER else float(coordinate)
