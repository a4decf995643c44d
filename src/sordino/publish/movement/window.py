"""The window of a mobility report: regions and days, all public, and the days by which later ones are measured.

A person counts once in a cell, which is a region on a day, however many trips led there; and in at most `visits` cells
in all, chosen among that person's own by a keyed hash.

**Guarantee**: whoever comes or goes moves at most `visits` cells, each by 1. Where every day has a budget of its own
(``so.days``), a unit is a person on one day, or has rows of one day alone, and `visits` is about that day.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound
from sordino.arguments import shown, whole
from sordino.data.kinds import Kind
from sordino.data.metadata import Schema, Table
from sordino.errors import ArgumentError
from sordino.publish.measuring import Axis, column_axis, shape_of, table_of, under
from sordino.query.model.bounding import Bounding
from sordino.query.model.days import Days
from sordino.query.model.expression import ColumnRef
from sordino.query.model.operations import call
from sordino.query.model.relation import Scan
from sordino.query.model.task import Monomial, Task
from sordino.query.release.run import Compute

MOST_DAYS = 3660
_WEEK = 7


@dataclass(frozen=True)
class Window:
    """Which cells are counted, and how often one person may be in them."""

    schema: Schema
    table: Table
    region: str
    day: str
    first: date
    last: date
    baseline: tuple[date, date]
    visits: int

    @classmethod
    def of(
        cls,
        schema: Schema,
        *,
        region: str,
        day: str,
        days: tuple[Any, Any],
        baseline: tuple[Any, Any],
        visits: int | None,
        table: str | None,
    ) -> Window:
        """Return the window; refuse, before anything is priced, what cannot be counted."""
        found = table_of(schema, table)
        first, last = _range("days", days)
        usual = _range("baseline", baseline)
        if not first <= usual[0] <= usual[1] < last:
            raise ArgumentError(
                "the baseline must lie in the window and end before it does: days after it are measured by it",
                "SRD-P702",
            )
        if (last - first).days >= MOST_DAYS:
            raise ArgumentError(f"a window has {MOST_DAYS:,} days at most; take a shorter one", "SRD-P702")
        if (usual[1] - usual[0]).days < _WEEK - 1:
            raise ArgumentError("a baseline has seven days at least, one of each weekday", "SRD-P702")
        kinds = {name: column.kind for name, column in found.columns.items()}
        if kinds.get(day) not in (Kind.DATE, Kind.TIMESTAMP):
            raise ArgumentError(f"day must name a column of dates or times, and {shown(day)} is none", "SRD-P701")
        if region not in kinds:
            raise ArgumentError(f"region must name a column, and {shown(region)} is none", "SRD-P701")
        window = cls(schema, found, region, day, first, last, usual, _visits(schema, found, visits))
        shape_of(window.axes)
        return window

    @property
    def axes(self) -> tuple[Axis, Axis]:
        """Regions, as declared, and days."""
        column = self.table.columns[self.day]
        reference = ColumnRef(column.kind, self.day)
        when = reference if column.kind is Kind.DATE else call("to_date", reference)
        return column_axis(self.region, self.table.columns[self.region]), Axis(self.day, when, tuple(self.days))

    @property
    def days(self) -> Days:
        """All days of the window."""
        return Days.between(self.first, self.last)

    @property
    def charged_days(self) -> tuple[str, ...]:
        """The days that are charged, where each has a budget of its own."""
        return tuple(day.isoformat() for day in self.days) if self.schema.blocks is not None else ()

    @property
    def bounding(self) -> Bounding:
        """How contributions are bounded."""
        if self.schema.by_row:
            return Bounding("row", rows=1)
        return Bounding("groups", groups=self.visits, rows_per_group=1)

    @property
    def bound(self) -> Bound:
        """What one unit can change."""
        cells = min(self.visits, len(self.days) * len(self.axes[0].keys))
        coming = Bound(cells, Fraction(cells), Fraction(cells), Fraction(1), unit=self.schema.unit)
        return under(coming, self.schema.neighbours, self.schema.unit)

    @property
    def usual(self) -> NDArray[np.int64]:
        """The places of the days of the baseline."""
        return np.arange((self.baseline[0] - self.first).days, (self.baseline[1] - self.first).days + 1)

    @property
    def later(self) -> NDArray[np.int64]:
        """The places of the days after the baseline."""
        return np.arange((self.baseline[1] - self.first).days + 1, len(self.days))

    def weekdays(self) -> NDArray[np.int64]:
        """Return the weekday of each day, Monday being 0."""
        return np.array([day.weekday() for day in self.days])

    def people(self, compute: Compute, salt: int) -> NDArray[np.int64]:
        """Return how many people were in each region on each day: secret."""
        days = self.days if self.schema.blocks is not None else None
        relation = replace(Scan(self.table), days=days)
        keys = tuple(axis.key for axis in self.axes)
        task = Task(relation, keys, self.bounding, monomials=(Monomial(()),), people=True)
        found = compute(task, salt).people
        if found is None:
            raise TypeError("the engine was not asked to count people")
        return np.asarray(found, dtype=np.int64).reshape(shape_of(self.axes))


def _visits(schema: Schema, table: Table, given: int | None) -> int:
    if schema.by_row:
        return 1
    if schema.personal is not None:
        raise ArgumentError(
            "this data set protects people by classes, and a report knows no classes; declare it without personal",
            "SRD-P007",
        )
    most = given if given is not None else table.limits.groups
    if most is None:
        raise ArgumentError(
            "nothing says in how many cells (a region on a day) one person may count; say visits=…, or declare "
            "limits=so.limits(groups=…)",
            "SRD-P007",
        )
    return whole("visits", most, least=1, most=2**31)


def _range(name: str, given: Any) -> tuple[date, date]:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ArgumentError(f'{name} must be a pair of dates, as ("2026-01-05", "2026-03-31")', "SRD-P702")
    first, last = (_date(name, each) for each in given)
    if first > last:
        raise ArgumentError(f"{name} must not end before it begins", "SRD-P702")
    return first, last


def _date(name: str, given: Any) -> date:
    if isinstance(given, str):
        try:
            return date.fromisoformat(given)
        except ValueError:
            given = None
    if type(given) is not date:
        raise ArgumentError(f"{name} must be dates, written as 2026-01-05", "SRD-P702")
    return given


def day_names(window: Window) -> list[str]:
    """Return the days as they are written."""
    return [(window.first + timedelta(days=place)).isoformat() for place in range(len(window.days))]


def region_name(region: Any) -> Any:
    """Return the key of a region as JSON can hold it."""
    return region if region is None or isinstance(region, int | str) else str(region)
