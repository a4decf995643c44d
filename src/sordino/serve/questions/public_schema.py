"""What a service tells about a data set, as the schema that method calls are checked against.

It is what is public, and good enough to find mistakes where they are made: the service reads every question again by
what is declared there, so that nothing rests on what was told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from sordino.accounting.bound import Unit
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Blocks, Column, Limits, Schema, Table
from sordino.errors import ArgumentError

from .tables import OWNERS

Told = Mapping[str, Any]

_KEYS: dict[Kind, Callable[[str], Any]] = {Kind.DATE: date.fromisoformat, Kind.TIMESTAMP: datetime.fromisoformat}


def schema_of(told: Told) -> Schema:
    """Return the schema of what a service tells about a data set; refused if that has no tables."""
    if told.get("tables") is None:
        raise ArgumentError("this data set is no table, so questions cannot be asked about it", "SRD-A003")
    tables = {each["name"]: _table(each, told.get("blocks")) for each in told["tables"]}
    views = {each["name"]: each["sql"] for each in told["views"]}
    return Schema(told["name"], tables, Unit(told["unit"]), views=views)


def _table(told: Told, blocks: Told | None) -> Table:
    columns = {each["name"]: _column(each) for each in told["columns"]}
    owner = {name: value for name, value in told["owned"].items() if name != "by"}
    has_days = blocks is not None and blocks["table"] == told["name"]
    return Table(
        told["name"],
        columns,
        OWNERS[told["owned"]["by"]](**owner),
        Limits(**told["limits"]),
        told["hidden"],
        _blocks(blocks, columns) if blocks is not None and has_days else None,
    )


def _column(told: Told) -> Column:
    kind, keys, bounds = Kind(told["kind"]), told.get("keys"), told.get("bounds")
    read = _KEYS.get(kind)
    values = None if keys is None else tuple(key if read is None or key is None else read(key) for key in keys)
    # Where not all keys were told, those that were are good enough to be checked against.
    spread = None if bounds is None else Range(*(Fraction(str(end)) for end in bounds))
    return Column(kind, spread, values, told["nullable"], told.get("granularity"))


def _blocks(told: Told, columns: Mapping[str, Column]) -> Blocks:
    first, last = (None if told[end] is None else date.fromisoformat(told[end]) for end in ("first", "last"))
    return Blocks(told["table"], told["days"], columns[told["days"]].kind, told["per_unit"], first, last)
