"""Tables of which some days alone are read, because days have budgets of their own (``model/blocks.py``).

**Guarantee**: what is read are rows of the days given, and of each person only those of that person's first day, found
among all of that person's rows. A row without a day is never read. So a person's rows, and a (person, day)'s, are on
one day whatever the data holds, and if that day is not among those given, nothing of them is read.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

import ibis

from sordino.errors import QuestionError
from sordino.query.model.kinds import Kind
from sordino.query.model.metadata import Blocks, OwnedByColumn, Table
from sordino.query.model.relation import Scan

_FIRST = "first__"


def on_its_days(scan: Scan, table: ibis.Table) -> ibis.Table:
    """Return the rows of a table that a scan may read."""
    face = scan.table
    if face.blocks is None:
        return table
    if scan.days is None:
        raise QuestionError("where days have budgets of their own, a scan must say which days it reads", "SRD-Q107")
    day, conditions = day_of(table, face.blocks), []
    for first, last in scan.days.ranges:
        conditions.append((day >= ibis.literal(first)) & (day <= ibis.literal(last)))
    inside = reduce(or_, conditions, ibis.literal(False))
    if not isinstance(face.owner, OwnedByColumn):
        return table.filter(inside)
    return _first_days(face, table, day, inside)


def day_of(table: ibis.Table, blocks: Blocks) -> Any:
    """Return the day of each row, NULL where it has none."""
    value = table[blocks.column]
    return value.cast("date") if blocks.kind is Kind.TIMESTAMP else value


def _first_days(face: Table, table: ibis.Table, day: Any, inside: Any) -> ibis.Table:
    """Return the rows inside that lie on the first day of whoever owns them."""
    first = day.min().over(group_by=table[face.owner.column])  # type: ignore[union-attr]  # owned by a column
    known = table.mutate(**{_FIRST: first, "inside__": inside, "day__": day})
    return known.filter(known["inside__"] & (known["day__"] == known[_FIRST])).select(*table.columns)
