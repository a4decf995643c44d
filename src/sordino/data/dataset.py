"""A data set: tables on one engine, and what is publicly known about them. The only thing that knows where data is.

>>> import pyarrow as pa
>>> from sordino.data.declare import bounds, keys
>>> rides = pa.table({"rider": [1, 1, 2], "fare": [9.5, 12.0, 30.0], "city": ["Oslo", "Rome", "Oslo"]})
>>> trips = dataset(
...     "trips", rides, unit="rider", columns={"fare": bounds(0, 100), "city": keys(["Oslo", "Rome", "Bern"])}
... )
>>> print(trips)
Dataset 'trips' on duckdb, protects each rider
table trips, owned by rider
  rider  integer
  fare   real, bounds 0 to 100
  city   text, keys 'Oslo', 'Rome', 'Bern'
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sordino.accounting.bound import ROW, Unit
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.part import within as within_part
from sordino.arguments import shown
from sordino.errors import ArgumentError, QuestionError

from . import describe, postgres_types
from .account import Blocks as BlocksOfLedger
from .by_day import DaysDeclaration, blocks_in, unit_name
from .collations import refuse_collations
from .declare import NOTHING, ColumnDeclaration, PersonalDeclaration, TableDeclaration, private
from .kinds import Kind
from .looked import checked_looked, set_after_looking
from .metadata import Limits, OwnedByColumn, OwnedByDay, OwnedByParent, Personal, Schema, Table
from .ownership import Declaration, checked_name, person, unknown
from .readiness import check_ready
from .reading import Reading, column_of, hidden_because, identity_of, reading_of
from .sources import Connected, connect

if TYPE_CHECKING:
    from .health import Health


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Tables that may be asked about. What it shows of itself is what was declared, and never what is in them."""

    declaration: Declaration
    schema: Schema
    engine: str
    """``duckdb``, ``postgres`` or ``spark``."""
    backend: Any = field(repr=False)
    """The Ibis backend that all tables are on."""
    _tables: Mapping[str, Any] = field(repr=False)
    _files: tuple[str, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """What the owner calls it."""
        return self.schema.name

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self.schema.unit

    @property
    def neighbours(self) -> Neighbours:
        """Against which change of one unit."""
        return self.schema.neighbours

    @property
    def blocks(self) -> BlocksOfLedger | None:
        """What makes budgets of single days sound, or None where days have none."""
        if self.schema.blocks is None:
            return None
        return "unit-per-block" if self.schema.blocks.per_unit else "owner-in-one-block"

    def table(self, name: str) -> Any:
        """Return a table as an Ibis expression: the columns that the schema names, each of its kind's one type.

        For the engine room alone: what is computed from it is secret until it has met noise.
        """
        if name not in self._tables:
            raise QuestionError(f"you asked for table {unknown(name, self._tables)}", "SRD-Q201")
        return self._tables[name]

    def check_ready(self) -> None:
        """Raise `SourceError` if the source does not answer now; reads no data, and is asked before every charge."""
        check_ready(self.name, self.backend, self._files)

    def health(self) -> Health:
        """Return how much of the data counts as it is declared, exactly: for its owner alone, before a budget opens."""
        from .health import health  # no question needs it

        return health(self)

    def with_view(self, name: str, text: str) -> Dataset:
        """Return the data set with a view: a subquery with a name, which can be asked about like a table.

        Whose its rows are, its bounds, keys and limits follow from the tables that it is made from. It may speak of the
        views that are there already. Its text is public, as all that is declared is. It is read when an account opens.
        """
        views = {**self.schema.views, checked_name("a view's name", name): text}
        if len(views) == len(self.schema.views):
            raise ArgumentError(f"there is a view {name!r} already; give this one a name of its own", "SRD-A003")
        declaration, schema = replace(self.declaration, views=views), replace(self.schema, views=views)
        _check_view_names(schema)
        return replace(self, declaration=declaration, schema=schema)

    def to_yaml(self) -> str:
        """Return the declarations as a text that `dataset_from_file` reads; without frames, and without passwords."""
        from .declarations_text import to_yaml  # YAML is slow to load, and no question needs it

        return to_yaml(self.declaration)

    def __repr__(self) -> str:
        return describe.text(self.schema, self.engine)

    def _repr_html_(self) -> str:
        return describe.html(self.schema, self.engine)


def dataset(
    name: str,
    source: Any,
    *,
    unit: str | Unit,
    columns: Mapping[str, ColumnDeclaration] | None = None,
    limits: Limits | None = None,
    personal: PersonalDeclaration | None = None,
    views: Mapping[str, str] | None = None,
    blocks: DaysDeclaration | None = None,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    within: str | None = None,
    looked: Mapping[str, str] | None = None,
) -> Dataset:
    """Declare a data set: where it is, who is protected, and what is publicly known about it.

    *One table*: `source` is a path or pattern of Parquet or CSV files, a pandas, polars or Arrow table, a database URL
    or an Ibis table (see ``sources``); `unit` is the column that identifies a person, or ``so.ROW``. In questions the
    table is called `name`.

    *Several tables*: `source` is a dict from names to ``so.private(…)`` and ``so.public(…)``, which hold their own
    columns and limits; `unit` is what a person is called, or ``so.ROW``.

    With `personal`, people are protected by classes, each with an ε of its own (see ``so.personal``). `views` are
    subqueries with names, to be asked about like tables (see ``Dataset.with_view``). With `blocks`, every day has a
    budget of its own (see ``so.days``). `neighbours` says against which change of one person they are protected: by
    default that they are there or not; with ``so.Neighbours.REPLACE_ONE``, where it is public how many there are, that
    their rows were others. Questions are then charged at that price, which is higher. With `within`, a column, rows are
    only ever replaced by others with the same value there: how many have each value is then public and may be published
    exactly (see ``accounting/part.py``). `looked` is what a health report holds (``health.py``): whatever is declared
    otherwise now is marked as set after looking.

    **Guarantee**: nothing is read from the data but names and types of columns. Declarations are enforced, whatever
    the data holds: values are clipped, other keys left out, whoever has more rows than the limits is cut down.
    **Assumes**: a person is one value of the unit's column, and each row of a private table is about its owner alone.
    """
    if isinstance(source, TableDeclaration):
        raise ArgumentError(
            "so.private(…) and so.public(…) stand in a dict of tables: {'name': so.private(…)}", "SRD-A001"
        )
    whose = person(unit)
    if not isinstance(source, Mapping):
        checked_name("the data set's name", name)
        own = private(source, unit=None if whose == ROW else whose.name, columns=columns, limits=limits)
        tables = {name: own}
    elif columns is not None or limits is not None:
        raise ArgumentError("with several tables, columns and limits belong into so.private(…)", "SRD-A003")
    else:
        tables = _declared(source)
    texts = _view_texts(views)
    return open_dataset(
        Declaration(
            name,
            whose,
            tables,
            personal=personal,
            views=texts,
            blocks=blocks,
            neighbours=neighbours,
            within=within,
            looked=checked_looked(looked),
        )
    )


def _view_texts(given: Mapping[str, str] | None) -> Mapping[str, str]:
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentError('views must be a dict from names to SQL: {"adults": "SELECT … FROM …"}', "SRD-A001")
    return given or {}


def _declared(tables: Mapping[Any, Any]) -> dict[str, TableDeclaration]:
    for name, table in tables.items():
        if not isinstance(table, TableDeclaration):
            raise ArgumentError(
                f"table {shown(name)} must be declared by so.private(…) or so.public(…), not by {type(table).__name__}",
                "SRD-A001",
            )
    return dict(tables)


def open_dataset(declaration: Declaration) -> Dataset:
    """Connect to where the tables are, and check what was declared against the types found there."""
    connected = connect(declaration.tables)
    refuse_collations(connected.engine, connected.backend, list(connected.tables.values()))
    views = {name: _View.of(name, declaration, connected) for name in declaration.tables}
    tables = {name: view.face for name, view in views.items()}
    _check_links(tables)
    if declaration.blocks is not None:
        found = blocks_in(declaration.blocks, tables)
        tables[found.table] = replace(tables[found.table], blocks=found)
    unit = Unit(unit_name(declaration.unit.name, declaration.blocks))
    if declaration.within is not None:
        unit = _replaced_within(unit, declaration.within, tables)
    schema = Schema(
        declaration.name,
        tables,
        unit,
        _personal(declaration, tables),
        views=declaration.views,
        neighbours=declaration.neighbours,
        within=declaration.within,
        after_looking=set_after_looking(declaration),
    )
    _check_view_names(schema)
    return Dataset(
        declaration=declaration,
        schema=schema,
        engine=connected.engine,
        backend=connected.backend,
        _tables=MappingProxyType({name: view.table for name, view in views.items()}),
        _files=connected.files,
    )


def _replaced_within(unit: Unit, column: str, tables: Mapping[str, Table]) -> Unit:
    for table in tables.values():
        if not table.is_public and column not in table.columns:
            raise QuestionError(
                f"within must name a column of {table.name!r}, not {unknown(column, table.columns)}", "SRD-Q201"
            )
    return within_part(unit, column)


@dataclass(frozen=True)
class _View:
    """One table: its public face, and the expression that reads it."""

    face: Table
    table: Any

    @classmethod
    def of(cls, name: str, declaration: Declaration, connected: Connected) -> _View:
        declared, owner = declaration.tables[name], declaration.owner(name)
        source, unreadable = _CORRECTIONS.get(connected.engine, _as_it_is)(connected.tables[name])
        types = dict(source.schema().items())
        readings, hidden = _readings(types, unreadable, declaration.identities(name))
        for column in filter(None, (*declared.columns, getattr(owner, "column", None))):
            if column in hidden:
                raise QuestionError(f"column {name}.{column} cannot be used: {hidden[column]}", "SRD-Q202")
            if column not in types:
                raise QuestionError(f"table {name!r} has no column {unknown(column, types)}", "SRD-Q201")
        if not readings:
            raise QuestionError(
                f"table {name!r} has no column that can be asked about: {next(iter(hidden.values()))}", "SRD-Q202"
            )
        columns = {
            column: column_of(f"{name}.{column}", reading.kind, declared.columns.get(column, NOTHING))
            for column, reading in readings.items()
        }
        expressions = {column: reading.read(source[column]) for column, reading in readings.items()}
        return cls(Table(name, columns, owner, declared.limits, hidden), source.select(**expressions))


def _as_it_is(table: Any) -> tuple[Any, Mapping[str, str]]:
    return table, {}


_CORRECTIONS = {"postgres": postgres_types.corrected}


_RESERVED = re.compile(r"__\d*$")
"""How the engine room calls its own columns (``owner__``, ``place__``): another of that name would be taken for one."""


def _readings(
    types: Mapping[str, Any], unreadable: Mapping[str, str], identities: Set[str]
) -> tuple[dict[str, Reading], dict[str, str]]:
    readings, hidden = {}, {}
    names = Counter(column.lower() for column in types)
    for column, dtype in types.items():
        reading = (identity_of if column in identities else reading_of)(dtype)
        if names[column.lower()] > 1:
            hidden[column] = "another column's name differs only in upper and lower case; rename one of them in a view"
        elif _RESERVED.search(column):
            hidden[column] = "names that end in __ are kept for what is computed here; rename it in a view"
        elif reading is None or column in unreadable:
            hidden[column] = unreadable.get(column) or hidden_because(dtype)
        else:
            readings[column] = reading
    return readings, hidden


def _personal(declaration: Declaration, tables: Mapping[str, Table]) -> Personal | None:
    """Return the classes of people with the table that they are found in."""
    declared = declaration.personal
    if declared is None:
        return None
    private = [name for name, table in tables.items() if not table.is_public]
    table, _, column = declared.column.rpartition(".")
    table = table or private[0]
    if table not in private or column not in tables[table].columns or (len(private) > 1 and "." not in declared.column):
        raise QuestionError(
            f"personal names the column {declared.column!r}, which no private table has; write it as 'table.column' if "
            "there are several",
            "SRD-Q201",
        )
    kind = tables[table].columns[column].kind
    for value, _ in declared.classes:
        column_of(f"{table}.{column}", kind, ColumnDeclaration(keys=(value,)))
    return Personal(table, column, kind, declared.classes)


def _check_view_names(schema: Schema) -> None:
    """Refuse names by which two things would be called."""
    taken = {name.lower() for name in schema.tables}
    for name in schema.views:
        if name.lower() in taken:
            raise ArgumentError(
                f"view {name!r} is called like a table or another view; give it a name of its own", "SRD-A003"
            )
        taken.add(name.lower())


def _check_links(tables: Mapping[str, Table]) -> None:
    """Refuse identities and foreign keys of kinds that cannot be compared: one person would become two."""
    people: dict[Kind, str] = {}
    for name, table in tables.items():
        if isinstance(table.owner, OwnedByColumn | OwnedByDay):
            kind = _identity(name, table, table.owner.column)
            people.setdefault(kind, f"{name}.{table.owner.column}")
        if isinstance(table.owner, OwnedByParent):
            link = table.owner
            parent = tables[link.parent]
            if link.parent_column not in parent.columns:
                raise QuestionError(
                    f"table {link.parent!r} has no column {unknown(link.parent_column, parent.columns)}", "SRD-Q201"
                )
            kinds = _identity(name, table, link.column), _identity(link.parent, parent, link.parent_column)
            if kinds[0] is not kinds[1]:
                raise _different(f"{name}.{link.column}", f"{link.parent}.{link.parent_column}")
    if len(people) > 1:
        raise _different(*people.values())


def _identity(name: str, table: Table, column: str) -> Kind:
    kind = table.columns[column].kind
    if kind not in (Kind.INTEGER, Kind.TEXT):
        raise QuestionError(
            f"column {name}.{column} is {kind.value}, and only whole numbers and texts identify; offer it as a text, "
            f"or, where pandas made whole numbers real as some are missing, write frame[{column!r}].astype('Int64')",
            "SRD-Q203",
        )
    return kind


def _different(one: str, other: str) -> QuestionError:
    return QuestionError(
        f"columns {one} and {other} are of different kinds, so one person could pass for two; make them alike",
        "SRD-Q203",
    )
