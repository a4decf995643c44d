"""The sort of data that questions are about: tables, on any engine that ``data`` opens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from fractions import Fraction
from functools import partial
from typing import Any

from sordino.accounting.any_account import AnyAccount
from sordino.data.dataset import Dataset, open_dataset
from sordino.data.declarations_file import from_dict
from sordino.data.metadata import (
    Blocks,
    Column,
    OwnedByColumn,
    OwnedByDay,
    OwnedByParent,
    OwnedByRow,
    Owner,
    Public,
    Schema,
    Table,
)
from sordino.data.ownership import Declaration
from sordino.errors import QuestionError
from sordino.query.ask import TableAccount
from sordino.query.engine.memory import Memory
from sordino.query.sql.views import check_views, view_columns
from sordino.serve.kinds.page import Page
from sordino.serve.kinds.sort import Sort

_KEYS_SHOWN = 1000

OWNERS: dict[str, type[Owner]] = {
    "row": OwnedByRow,
    "column": OwnedByColumn,
    "person-day": OwnedByDay,
    "parent": OwnedByParent,
    "nobody": Public,
}
"""By whom rows are owned, as it is told; what else is told of an owner are its fields."""
_TOLD = {owner: word for word, owner in OWNERS.items()}


class Outline:
    """What is declared about tables, in place of them."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.name, self.unit, self.neighbours = schema.name, schema.unit, schema.neighbours

    def check_ready(self) -> None:
        """Accept: whether something can be run is for the account to say, and those that quote refuse it."""

    def table(self, name: str) -> Any:
        """Refuse: there is no data behind it."""
        raise QuestionError(f"table {name!r} cannot be read where prices are found", "SRD-Q201")


def _open(declaration: Declaration) -> Dataset:
    found = open_dataset(declaration)
    check_views(found.schema)
    return found


def _on(dataset: Any) -> Callable[[AnyAccount], TableAccount]:
    """Return a data set that was opened, on any account; what was translated for one is shared by all."""
    return partial(TableAccount, dataset, memory=Memory(dataset.schema, dataset.table))


def _carried(before: Declaration, given: Declaration) -> Iterator[tuple[str, object, object]]:
    """Yield the days, the owners of rows and the classes: by others, what was spent was spent on somebody else."""
    if before.blocks is not None and given.blocks is not None:
        yield "the column of days", before.blocks.column, given.blocks.column
    for name in before.tables.keys() & given.tables.keys():
        if not before.tables[name].is_public:
            yield f"the owner of a row in table {name!r}", before.owner(name), given.owner(name)
    yield "the column and the ε of each class", before.personal, given.personal


def public(found: Dataset) -> dict[str, Any]:
    """Return what is publicly known about tables: columns, whose rows are, views, days."""
    schema = found.schema
    return {
        "engine": found.engine,
        "tables": [_table(table) for table in schema.tables.values()],
        "views": [
            {"name": name, "sql": text, "columns": _columns(view_columns(name, schema))}
            for name, text in schema.views.items()
        ],
        "personal": schema.personal is not None,
        "blocks": None if schema.blocks is None else _blocks(schema.blocks),
    }


def _blocks(blocks: Blocks) -> dict[str, Any]:
    ends = {"first": blocks.first, "last": blocks.last}
    said = {name: None if day is None else day.isoformat() for name, day in ends.items()}
    return {"days": blocks.column, "table": blocks.table, "per_unit": blocks.per_unit, **said}


def _table(table: Table) -> dict[str, Any]:
    limits = {name: getattr(table.limits, name) for name in ("rows", "groups", "rows_per_group")}
    return {
        "name": table.name,
        "owned": {"by": _TOLD[type(table.owner)], **vars(table.owner)},
        "limits": {name: value for name, value in limits.items() if value is not None},
        "columns": _columns(table.columns),
        "hidden": dict(table.hidden),
    }


def _columns(columns: Mapping[str, Column]) -> list[dict[str, Any]]:
    return [_column(name, column) for name, column in columns.items()]


def _column(name: str, column: Column) -> dict[str, Any]:
    said: dict[str, Any] = {"name": name, "kind": column.kind.value, "nullable": column.nullable}
    if column.range is not None:
        said["bounds"] = [_number(column.range.low), _number(column.range.high)]
    if column.granularity is not None:
        said["granularity"] = column.granularity
    if column.keys is not None:
        said["keys"] = [_plain(key) for key in column.keys[:_KEYS_SHOWN]]
        said["keys_in_all"] = len(column.keys)
    return said


def _number(exact: Fraction) -> int | float:
    return exact.numerator if exact.denominator == 1 else float(exact)


def _plain(key: Any) -> Any:
    return key.isoformat() if isinstance(key, date) else key


def _page(told: Mapping[str, Any]) -> Page:
    from .table_words import page_of  # a process that finds prices needs no pages

    return page_of(told)


TABLES = Sort(
    name="tables",
    read=from_dict,
    sources=lambda declared: {f"table {name!r}": table.source for name, table in declared.tables.items()},
    open=_open,
    outline=lambda dataset: Outline(dataset.schema),
    public=public,
    on=_on,
    carried=_carried,
    page=_page,
)
