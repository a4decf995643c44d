"""What is publicly known about tables: kinds, bounds, keys, who owns a row, how much one person may weigh.

All of it is declared by the data's owner, and none of it is ever read from the data. Declarations are *enforced*, not
trusted: values are clipped to their bounds, rows outside of the declared keys are left out, and whoever has more rows
or groups than declared is cut down to the limits, each by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from fractions import Fraction
from types import MappingProxyType

from sordino.accounting.bound import ROW, Unit
from sordino.accounting.digest import spelled_once
from sordino.accounting.neighbours import Neighbours

from .kinds import Kind, Range

KeyValue = str | int | bool | date | datetime | None


@spelled_once
@dataclass(frozen=True)
class Column:
    """What is known about one column: of a table, or derived by an expression."""

    kind: Kind
    range: Range | None = None
    """Numbers are clipped to it when they are added up. None: not known; it can be found privately, for a price."""
    keys: tuple[KeyValue, ...] | None = None
    """All values that rows may be grouped by, in the order in which they are returned. None: not known."""
    nullable: bool = True
    """If False, a missing number counts as the middle of the range, so that COUNT(x) is COUNT(*)."""
    granularity: float | None = None
    """The finest step that matters, for quantiles. None: chosen from the range."""


@dataclass(frozen=True)
class Limits:
    """How much one person may weigh in one question; None where nothing is declared."""

    rows: int | None = None
    """Rows in all."""
    groups: int | None = None
    """Groups in which a person has any rows."""
    rows_per_group: int | None = None


@dataclass(frozen=True)
class OwnedByRow:
    """Every row is a unit of its own."""


@dataclass(frozen=True)
class OwnedByColumn:
    """A column identifies the person. Rows in which it is NULL belong to nobody and are left out."""

    column: str


@dataclass(frozen=True)
class OwnedByParent:
    """A foreign key leads to a parent table, which knows its owner: orders → customers, items → orders → customers.

    A row whose key is found with several owners in the parent counts once for each of them.
    """

    column: str
    parent: str
    parent_column: str


@dataclass(frozen=True)
class OwnedByDay:
    """What a person did on one day is a unit: a column identifies the person, and the table's blocks say the day.

    Rows in which either is missing belong to nobody and are left out.
    """

    column: str


@dataclass(frozen=True)
class Public:
    """Nobody's: the table is public and protects no one."""


Owner = OwnedByRow | OwnedByColumn | OwnedByParent | OwnedByDay | Public


@dataclass(frozen=True)
class Blocks:
    """Every day has a budget of its own: `column` of `table` says on which day (or at which time) a row lies.

    With `per_unit` the unit is a (person, day). Without it people are protected, of each of whom only the rows of the
    first day count; or single rows. Days before `first` and after `last` cannot be asked about. See ``blocks.py``.
    """

    table: str
    column: str
    kind: Kind
    per_unit: bool
    first: date | None = None
    last: date | None = None


@spelled_once
@dataclass(frozen=True)
class Table:
    """The public face of one table."""

    name: str
    columns: Mapping[str, Column]
    owner: Owner
    limits: Limits = Limits()
    hidden: Mapping[str, str] = field(default_factory=dict)
    """Columns that exist but cannot be asked about, each with the reason and the remedy."""
    blocks: Blocks | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))
        object.__setattr__(self, "hidden", MappingProxyType(dict(self.hidden)))

    @property
    def is_public(self) -> bool:
        """Whether nobody is protected in it."""
        return isinstance(self.owner, Public)


@dataclass(frozen=True)
class Personal:
    """An ε for each public class of people; `column` of `table` says who is in which. See ``personal.py``."""

    table: str
    column: str
    kind: Kind
    classes: tuple[tuple[KeyValue, Fraction], ...]


@spelled_once
@dataclass(frozen=True)
class Schema:
    """The tables that a question may speak about, and who is protected in all of them.

    `unit` is `ROW`, or a `Unit` named after what identifies a person. All private tables have owners of one sort: rows,
    or people of that unit.
    """

    name: str
    tables: Mapping[str, Table] = field(default_factory=dict)
    unit: Unit = ROW
    personal: Personal | None = None
    views: Mapping[str, str] = field(default_factory=dict)
    """Subqueries that the data's owner has named, as SQL; each may speak of tables and of the views before it."""
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    """Against which change of one unit it is protected."""
    within: str | None = None
    """The public column within whose values rows are replaced; how many have each value is not protected."""
    after_looking: tuple[str, ...] = ()
    """The columns, and tables with limits, that were declared after the owner had looked at the data."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", MappingProxyType(dict(self.tables)))
        object.__setattr__(self, "views", MappingProxyType(dict(self.views)))

    def before(self, view: str) -> Schema:
        """Return what a view may speak of: all tables, and the views that were named before it."""
        names = list(self.views)
        earlier = names[: names.index(view)]
        return replace(self, views={name: self.views[name] for name in earlier})

    @property
    def blocks(self) -> Blocks | None:
        """What says on which day each row lies, where days have budgets of their own."""
        return next((table.blocks for table in self.tables.values() if table.blocks is not None), None)

    @property
    def by_row(self) -> bool:
        """Whether single rows are protected."""
        return self.unit == ROW or self.within is not None
