"""The declaration of a whole data set: its tables, and whose each row is. Checked before any engine is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from sordino.accounting.bound import ROW, Unit
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import shown
from sordino.errors import ArgumentError, QuestionError

from .by_day import DaysDeclaration
from .declare import PersonalDeclaration, TableDeclaration
from .metadata import OwnedByColumn, OwnedByDay, OwnedByParent, OwnedByRow, Owner, Public

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_MOST_PARTS = 3


@dataclass(frozen=True)
class Declaration:
    """Everything that is said about a data set: `unit` is who is protected in all of its private tables.

    **Guarantee**: every private table leads to a unit of this one sort: a row, or a person identified by a column of
    the table or of one that it reaches by foreign keys.
    """

    name: str
    unit: Unit
    tables: Mapping[str, TableDeclaration]
    remarks: tuple[str, ...] = ()
    """What stood in a file of declarations and was not used, and why."""
    personal: PersonalDeclaration | None = None
    views: Mapping[str, str] = field(default_factory=dict)
    """Subqueries with a name, as SQL; ``sql.views`` reads them when the tables are known."""
    blocks: DaysDeclaration | None = None
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    """Against which change of one unit it is protected."""
    within: str | None = None
    """The public column within whose values rows are replaced, so that how many have each value is public."""
    looked: Mapping[str, str] | None = None
    """What was declared when the owner looked at the data (``looked.py``); None if nobody did."""

    def __post_init__(self) -> None:
        checked_relation(self.neighbours)
        if self.within is not None:
            self._check_within()
        object.__setattr__(self, "tables", MappingProxyType(dict(self.tables)))
        object.__setattr__(self, "views", MappingProxyType(dict(self.views)))
        checked_name("the data set's name", self.name)
        for name in self.tables:
            checked_table_name(name)
        for name in self.views:
            checked_name("a view's name", name)
        if len({name.lower() for name in self.tables}) < len(self.tables):
            raise ArgumentError("names of tables must differ in more than upper and lower case", "SRD-A003")
        private = {name: table for name, table in self.tables.items() if not table.is_public}
        if not private:
            raise ArgumentError("a data set has one private table at least: so.private(…)", "SRD-A003")
        for name, table in private.items():
            self._check_owner(name, table)
        if self.blocks is not None:
            self._check_blocks(self.blocks)

    def owner(self, name: str) -> Owner:
        """Return whose the rows of a table are."""
        table = self.tables[name]
        if table.is_public:
            return Public()
        if table.parent is not None:
            return OwnedByParent(*table.parent)
        if table.unit is None:
            return OwnedByRow()
        return OwnedByDay(table.unit) if self.blocks is not None and self.blocks.per_unit else OwnedByColumn(table.unit)

    def identities(self, name: str) -> frozenset[str]:
        """Return the columns of a table by which its rows find their owner, or another table's rows find theirs."""
        own = (self.tables[name].unit, (self.tables[name].parent or (None,))[0])
        children = (table.parent for table in self.tables.values() if table.parent is not None)
        return frozenset(filter(None, (*own, *(column for _, parent, column in children if parent == name))))

    def at(self, sources: Mapping[str, Any]) -> Declaration:
        """Return the same declaration with other sources for the tables named, each of which must be declared."""
        for name in sources:
            if name not in self.tables:
                raise QuestionError(f"a source was given for table {unknown(name, self.tables)}", "SRD-Q201")
        tables = {
            name: replace(table, source=sources.get(name, table.source), columns=dict(table.columns))
            for name, table in self.tables.items()
        }
        return replace(self, tables=tables)

    def _check_within(self) -> None:
        private = [table for table in self.tables.values() if not table.is_public]
        fits = self.unit == ROW and self.neighbours is Neighbours.REPLACE_ONE and len(private) == 1
        if not isinstance(self.within, str) or not fits or self.blocks is not None or self.personal is not None:
            raise ArgumentError(
                "within names a column of the one private table, in which single rows are replaced: "
                'unit=so.ROW, neighbours=so.Neighbours.REPLACE_ONE, within="state"; people with several rows, days and '
                "classes have no such relation",
                "SRD-A003",
            )
        checked_name("the column within which rows are replaced", self.within)

    def _check_blocks(self, blocks: DaysDeclaration) -> None:
        if not isinstance(blocks, DaysDeclaration):
            raise ArgumentError(f"blocks must be so.days(…), not {type(blocks).__name__}", "SRD-A001")
        if (self.unit == ROW) != (blocks.protects == "row"):
            raise ArgumentError(
                f"the data set protects each {self.unit.name}, and days each {blocks.protects}; "
                + ('write protects="row"' if self.unit == ROW else 'write protects="person" or "person-day"'),
                "SRD-A003",
            )
        if self.personal is not None:
            raise ArgumentError("people have days with budgets of their own, or classes, not both", "SRD-A003")

    def _check_owner(self, name: str, table: TableDeclaration) -> None:
        owned = table.unit is not None or table.parent is not None
        if self.unit == ROW and owned:
            raise QuestionError(
                f"table {name!r} names an owner, but the data set protects single rows; leave out unit and parent, "
                "or protect people by naming them: unit='customer'",
                "SRD-Q203",
            )
        if self.unit != ROW and not owned:
            raise QuestionError(
                f"table {name!r} does not say whose its rows are; name the column by unit=…, the way to it by "
                'parent={"customer_id": "customers.id"}, or declare the table as so.public(…)',
                "SRD-Q203",
            )
        seen = [name]
        while table.parent is not None:
            name = table.parent[1]
            if name in seen:
                raise QuestionError(f"tables {' → '.join([*seen, name])} lead in a circle to no owner", "SRD-Q203")
            seen.append(name)
            table = self._parent(seen[-2], name)

    def _parent(self, child: str, name: str) -> TableDeclaration:
        if name not in self.tables:
            raise QuestionError(f"table {child!r} has the parent {unknown(name, self.tables)}", "SRD-Q201")
        if self.tables[name].is_public:
            raise QuestionError(
                f"table {child!r} has the public parent {name!r}, which knows no owner; choose a private one",
                "SRD-Q203",
            )
        return self.tables[name]


def person(given: Any) -> Unit:
    """Return the unit that a name or a `Unit` stands for."""
    if isinstance(given, Unit):
        return given
    if not isinstance(given, str) or not given:
        raise ArgumentError(
            f"unit must be the name of what identifies a person, or so.ROW for single rows, not {shown(given)}",
            "SRD-A001",
        )
    if given == ROW.name:
        raise ArgumentError(
            f"{shown(given)} is how single rows are called: use so.ROW to protect them, or name the person otherwise "
            "(rename the column if that is its name)",
            "SRD-A003",
        )
    return Unit(given)


def checked_relation(given: Any) -> Neighbours:
    """Return a neighbouring relation, or say which there are."""
    if not isinstance(given, Neighbours):
        raise ArgumentError(
            "neighbours must be so.Neighbours.ADD_REMOVE, REPLACE_ONE or ZERO_OUT, in YAML add-remove, replace-one "
            "or zero-out",
            "SRD-A001",
        )
    return given


def checked_name(what: str, name: Any) -> str:
    """Return a name that can stand in a question without quotes."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ArgumentError(
            f"{what} must be a word of up to 63 letters, digits and underscores, not beginning with a digit, "
            f"not {shown(name)}",
            "SRD-A001",
        )
    return name


def checked_table_name(name: Any) -> str:
    """Return a table's name: a word, or up to three with dots in between, as in ``lake.sales.orders``."""
    parts = name.split(".") if isinstance(name, str) else [name]
    for part in parts:
        checked_name("a table's name (or each part of it between dots)" if len(parts) > 1 else "a table's name", part)
    if len(parts) > _MOST_PARTS:
        raise ArgumentError(
            f"a table's name has {_MOST_PARTS} parts at most: catalogue.schema.table, not {shown(name)}", "SRD-A001"
        )
    return str(name)


def unknown(name: str, known: Any) -> str:
    """Say that a name is not there, and which is near."""
    near = get_close_matches(name, [str(each) for each in known], n=3, cutoff=0.6)
    there = f"did you mean {', '.join(map(shown, near))}?" if near else f"there are {', '.join(map(shown, known))}"
    return f"{shown(name)}, which does not exist; {there}"
