"""The catalogue: data sets as the public may know them: tables, columns, what was declared. Nothing from data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from fractions import Fraction
from typing import Any

from sordino.data.dataset import Dataset
from sordino.data.metadata import Blocks, Column, OwnedByColumn, OwnedByDay, OwnedByParent, OwnedByRow, Public, Table
from sordino.query.sql.views import view_columns
from sordino.serve.asking.premises import Premises
from sordino.serve.keeping.identity import Principal
from sordino.serve.keeping.registry import plain_policy

from .budgets import summary

_KEYS_SHOWN = 1000

_OWNERS: dict[type, Callable[[Any], dict[str, Any]]] = {
    OwnedByRow: lambda _: {"by": "row"},
    OwnedByColumn: lambda owner: {"by": "column", "column": owner.column},
    OwnedByDay: lambda owner: {"by": "person-day", "column": owner.column},
    OwnedByParent: lambda owner: {
        "by": "parent",
        "column": owner.column,
        "parent": owner.parent,
        "parent_column": owner.parent_column,
    },
    Public: lambda _: {"by": "nobody"},
}


def datasets(house: Premises, who: Principal) -> list[dict[str, Any]]:
    """Return all data sets that `who` may know of, in short."""
    found = []
    for name in house.registry.names():
        if who.may_see(name):
            row = house.row(who, name)
            found.append({"name": name, "owner": row.owner, "budget": summary(house, name)})
    return found


def dataset(house: Premises, who: Principal, name: str) -> dict[str, Any]:
    """Return what is publicly known about a data set, its policy and its budget in short."""
    asked = house.asked(who, name)
    row = house.row(who, name)
    found = {
        "name": name,
        "owner": row.owner,
        "registered": row.time,
        "version": row.version,
        **_public(asked.opened.dataset),
        "policy": plain_policy(asked.policy),
        "budget": summary(house, name),
    }
    if who.role == "owner":
        found["declarations"] = row.declarations
    return found


def preview(house: Premises, declarations: str) -> dict[str, Any]:
    """Return what declarations would make public, and the budget that there is under their name already."""
    found = house.open_declared(house.declared(declarations))
    known = house.registry.dataset(found.name) is not None
    return {"name": found.name, "known": known, **_public(found), "budget": summary(house, found.name)}


def _public(found: Dataset) -> dict[str, Any]:
    schema = found.schema
    return {
        "engine": found.engine,
        "unit": schema.unit.name,
        "neighbours": schema.neighbours.value,
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
        "owned": _OWNERS[type(table.owner)](table.owner),
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
