"""Relations: what stands between the tables and the final grouping, as frozen trees.

**Invariant** (one person's rows are their own business). Of every private relation R there are functions R_p such that
R(D) = ⊎_p R_p(D_p, public tables): the rows of a person depend on that person's rows and on public tables, on nobody
else and on no order of storage. Each node below keeps it, which its docstring says why; nothing else can be built. So
whatever is bounded per owner at the end is bounded for whoever comes or goes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Literal

from sordino.data.metadata import Column, Table

from .days import Days
from .expression import ColumnRef, Expression
from .ranges import hull

NamedExpression = tuple[str, Expression, Column]
"""A name, an expression, and what is known about its result."""
Summary = tuple[str, str, Expression | None, Column]
"""Name, function (count, sum, mean, min, max, count_distinct), argument (None: of rows), column of the result."""
Order = tuple[tuple[Expression, bool], ...]
"""Expressions, and whether descending."""
Window = tuple[str, str, Expression | None, tuple[Expression, ...], Order, Column]
"""Name, function (row_number, rank, count, sum, mean, min, max, lag, lead), argument, partition besides the owner,
order (only for row_number, rank, lag and lead), column of the result."""


Behind = tuple[tuple["Relation", str | Expression], ...]
"""What a column holds: an expression over a relation below, or the name of its column that is handed on. One for each
branch of a union; nothing where the column begins."""


@dataclass(frozen=True)
class Relation(ABC):
    """A node. `columns` are its visible columns; who owns a row travels unseen beside them."""

    sides: ClassVar[tuple[str, ...]] = ()
    """The fields that hold one relation each."""

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, Column]:
        """What is known about each visible column."""

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations right below."""
        return tuple(getattr(self, side) for side in self.sides)

    def walk(self) -> Iterator[Relation]:
        """Yield this relation and all below, the outer ones first."""
        yield self
        for below in self.inputs:
            yield from below.walk()

    def behind(self, name: str) -> Behind:
        """Return what a column holds: by default the column of that name of the first relation below."""
        return ((self.inputs[0], name),)

    @property
    def is_public(self) -> bool:
        """Whether it speaks about nobody."""
        return all(below.is_public for below in self.inputs)

    @property
    def copies(self) -> Counter[str]:
        """For row-level privacy: how many rows of this relation one row of each private table can become."""
        merged: Counter[str] = Counter()
        for below in self.inputs:
            merged |= below.copies
        return merged


@dataclass(frozen=True)
class Scan(Relation):
    """All rows of a table. Private: each row has its owner, by the table's declaration.

    Where days have budgets of their own, the rows of `days` alone (see ``blocks.py``).
    """

    table: Table
    days: Days | None = None

    def behind(self, _: str) -> Behind:
        """Return nothing: its columns begin here."""
        return ()

    @property
    def columns(self) -> Mapping[str, Column]:
        """What is known about each visible column."""
        return self.table.columns

    @property
    def is_public(self) -> bool:
        """Whether it speaks about nobody."""
        return self.table.is_public

    @property
    def copies(self) -> Counter[str]:
        """How many rows one row of each private table can become."""
        return Counter() if self.is_public else Counter({self.table.name: 1})


@dataclass(frozen=True)
class Constants(Relation):
    """A column of constants that stand in the question's text (``UNNEST(['a', 'b'])``): public, one row for each."""

    name: str
    column: Column
    """Its keys are the constants, all of them different."""

    def behind(self, _: str) -> Behind:
        """Return nothing: its column begins here."""
        return ()

    @property
    def columns(self) -> Mapping[str, Column]:
        """What is known about the one column."""
        return MappingProxyType({self.name: self.column})


@dataclass(frozen=True)
class _OneInput(Relation):
    """What nodes above one relation share."""

    sides: ClassVar[tuple[str, ...]] = ("source",)
    source: Relation

    @property
    def columns(self) -> Mapping[str, Column]:
        """What is known about each visible column."""
        return self.source.columns


@dataclass(frozen=True)
class Filter(_OneInput):
    """The rows for which `condition` is true. Row by row, so the invariant holds."""

    condition: Expression


def _computed(outputs: tuple[NamedExpression, ...], source: Relation, name: str) -> Behind:
    found = next((expression for output, expression, _ in outputs if output == name), None)
    return () if found is None else ((source, found.name if isinstance(found, ColumnRef) else found),)


@dataclass(frozen=True)
class Project(_OneInput):
    """New columns from old ones, row by row. The owner travels along even when it is not among them."""

    outputs: tuple[NamedExpression, ...]

    @property
    def columns(self) -> Mapping[str, Column]:
        """What is known about each visible column."""
        return MappingProxyType({name: column for name, _, column in self.outputs})

    def behind(self, name: str) -> Behind:
        """Return what a column is computed from."""
        return _computed(self.outputs, self.source, name)


@dataclass(frozen=True)
class Join(Relation):
    """Rows of `left` with rows of `right` that agree on `on` (pairs of columns; NULL agrees with nothing).

    The visible columns are all of the left and, renamed by `right_names`, those of the right.
    *Public right*: a person's rows meet public rows: the invariant holds. Under row-level privacy the right side is cut
    to one row for each key, so that a row stays one row (`single` says so).
    *Private right*: both sides must be joined on their owners, which `on_owner` says and the engine enforces by joining
    on the owner itself: a person's rows meet that person's rows only. Never under row-level privacy.
    A left join keeps unmatched left rows, which are their owner's, too.
    """

    sides = ("left", "right")
    left: Relation
    right: Relation
    on: tuple[tuple[str, str], ...]
    how: Literal["inner", "left"]
    right_names: tuple[tuple[str, str], ...]
    """(name in right, name in the result) for each column of the right that is kept."""
    on_owner: bool = False
    single: bool = False

    @property
    def columns(self) -> Mapping[str, Column]:
        """What is known about each visible column."""
        right = {
            new: replace(self.right.columns[old], nullable=self.how == "left" or self.right.columns[old].nullable)
            for old, new in self.right_names
        }
        return MappingProxyType({**self.left.columns, **right})

    def behind(self, name: str) -> Behind:
        """Return the column of the side that it comes from."""
        old = next((old for old, new in self.right_names if new == name), None)
        return ((self.left, name),) if old is None else ((self.right, old),)


@dataclass(frozen=True)
class SemiJoin(_OneInput):
    """The rows of `source` for which `members` has (or, `negated`, has not) a row that agrees on `on`.

    *Public members*: row by row. *Private members*: matched on the owner as well (`on_owner`), so only a person's own
    rows decide. `on` may be empty then: does this person have any such row?
    """

    sides = ("source", "members")
    members: Relation
    on: tuple[tuple[str, str], ...]
    negated: bool = False
    on_owner: bool = False

    @property
    def copies(self) -> Counter[str]:
        """How many rows one row of each private table can become."""
        return self.source.copies


@dataclass(frozen=True)
class UnionAll(Relation):
    """All rows of several relations of the same columns, all private or all public. Each row keeps its owner."""

    branches: tuple[Relation, ...]

    @property
    def columns(self) -> Mapping[str, Column]:
        """What is known about each visible column."""
        known = [branch.columns for branch in self.branches]
        return MappingProxyType({name: hull([columns[name] for columns in known]) for name in known[0]})

    def behind(self, name: str) -> Behind:
        """Return the column of each branch."""
        return tuple((branch, name) for branch in self.branches)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations right below."""
        return self.branches

    @property
    def copies(self) -> Counter[str]:
        """A row of a table that is read by two branches can become two rows."""
        merged: Counter[str] = Counter()
        for branch in self.branches:
            merged += branch.copies
        return merged


@dataclass(frozen=True)
class PerPerson(_OneInput):
    """An inner GROUP BY whose keys include the owner: each person's rows are summarised by themselves.

    Sums are of whole steps of 2^-20, so that no order of summation matters. Not under row-level privacy.
    Of a public relation: its groups, which speak about nobody, and have no owner among their keys.
    """

    keys: tuple[NamedExpression, ...]
    """One of them is a column that holds the owner, if there are owners."""
    summaries: tuple[Summary, ...]

    @property
    def columns(self) -> Mapping[str, Column]:
        """What is known about each visible column."""
        named = {name: column for name, _, column in self.keys}
        return MappingProxyType({**named, **{name: column for name, _, _, column in self.summaries}})

    def behind(self, name: str) -> Behind:
        """Return what a key is computed from; summaries begin here."""
        return _computed(self.keys, self.source, name)


@dataclass(frozen=True)
class Windowed(_OneInput):
    """Columns computed over windows of each person's own rows: the partition always includes the owner.

    Orders are completed by all visible columns, so that only equal rows can change places: no scan order matters.
    """

    windows: tuple[Window, ...]

    @property
    def columns(self) -> Mapping[str, Column]:
        """What is known about each visible column."""
        return MappingProxyType({**self.source.columns, **{window[0]: window[-1] for window in self.windows}})

    def behind(self, name: str) -> Behind:
        """Return a column of the rows; windows begin here."""
        return () if any(window[0] == name for window in self.windows) else ((self.source, name),)


# ---- how far joins may multiply rows -------------------------------------------------------------------------------
# They are cut before they do. Otherwise a question could make one person's few rows so many that the engine runs out
# of memory, or of time, if and only if that person is in the data.

MOST_COPIES = 10_000
"""How many rows all public joins of a question together can make of one."""
MOST_ROWS = 1_000
"""How many rows of one person go into each side of a private join."""


def joins(relation: Relation) -> Iterator[Join]:
    """Yield all joins in a tree, the outer ones first."""
    return (each for each in relation.walk() if isinstance(each, Join))


def most_per_key(relation: Relation) -> int:
    """Return how many rows of a key each public join of a tree keeps, so that all together keep to `MOST_COPIES`."""
    many = sum(1 for each in joins(relation) if each.right.is_public and not each.left.is_public)
    return int(MOST_COPIES ** (1 / max(many, 1)))
