"""What the data's owner says where every day has a budget of its own: which column is the day, and who is protected.

>>> days("day", protects="person-day", first="2026-06-01")
DaysDeclaration(column='day', protects='person-day', first=datetime.date(2026, 6, 1), last=None)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sordino.arguments import shown
from sordino.errors import ArgumentError, QuestionError

from .kinds import Kind
from .metadata import Blocks, Table

PROTECTS = ("person", "person-day", "row")


@dataclass(frozen=True)
class DaysDeclaration:
    """Every day has a budget of its own. Build it with `days`."""

    column: str
    protects: str
    first: date | None = None
    last: date | None = None

    @property
    def per_unit(self) -> bool:
        """Whether the unit is a (person, day)."""
        return self.protects == "person-day"


def days(
    column: str, *, protects: str, first: date | str | None = None, last: date | str | None = None
) -> DaysDeclaration:
    """Declare that data arrives by day, and that every day of `column` has a budget of its own.

    A question is charged on the days that its WHERE names, and on no others. `protects` says what that promises:

    * ``"person"``: a person is in the data on one day. Of whoever comes again only the rows of the first day count.
    * ``"person-day"``: what a person did on one day is protected, and each receipt says so. Whoever comes on k days is
      protected as k people are.
    * ``"row"``: single rows, where that is the unit.

    Days before `first` and after `last` cannot be asked about; with both, a question that names no days reads all.

    **Guarantee**: of a unit whose day a question does not name nothing is read (``model/blocks.py``).
    **Assumes**: the column stays the same for the life of the budget, and data arrives in the order of days.
    """
    if not isinstance(column, str) or not column:
        raise ArgumentError("days must name the column that says on which day a row lies", "SRD-A001")
    if not isinstance(protects, str) or protects not in PROTECTS:
        raise ArgumentError(
            'protects must be "person" (who is in the data on one day), "person-day" (what a person did on one day is '
            f'protected) or "row", not {shown(protects)}',
            "SRD-A002",
        )
    ends = [None if each is None else _day(name, each) for name, each in (("first", first), ("last", last))]
    if ends[0] is not None and ends[1] is not None and ends[0] > ends[1]:
        raise ArgumentError(f"first ({first}) must not be after last ({last})", "SRD-A003")
    return DaysDeclaration(column, protects, *ends)


def blocks_in(declared: DaysDeclaration, tables: Mapping[str, Table]) -> Blocks:
    """Return the declaration with the table that it is about, which must be the only private one."""
    private = [table for table in tables.values() if not table.is_public]
    if len(private) > 1:
        names = ", ".join(table.name for table in private)
        raise QuestionError(
            f"days have budgets of their own, and there are several private tables ({names}): rows of one would "
            "have to be on the days of another; declare a data set of one private table",
            "SRD-Q206",
        )
    table = private[0]
    if declared.column not in table.columns:
        raise QuestionError(f"table {table.name!r} has no column {declared.column!r} to say the day", "SRD-Q201")
    kind = table.columns[declared.column].kind
    if kind not in (Kind.DATE, Kind.TIMESTAMP):
        raise QuestionError(
            f"column {table.name}.{declared.column} is {kind.value}, and days are dates or times; offer it as a date",
            "SRD-Q206",
        )
    return Blocks(table.name, declared.column, kind, declared.per_unit, declared.first, declared.last)


def unit_name(person: str, declared: DaysDeclaration | None) -> str:
    """Return what the unit is called: where it is what a person did on one day, that is said everywhere."""
    return f"({person}, day)" if declared is not None and declared.per_unit else person


def _day(name: str, given: Any) -> date:
    if isinstance(given, date) and not isinstance(given, datetime):
        return given
    try:
        return date.fromisoformat(given)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} must be a day such as 2026-06-01, not {str(given)[:40]!r}", "SRD-A001") from None
