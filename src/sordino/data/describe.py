"""How a data set shows itself: by what was declared, as text and for notebooks. No data is within reach here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from html import escape
from typing import Any

from sordino.accounting.neighbours import Neighbours

from . import metadata

_KEYS_SHOWN = 5


def text(schema: metadata.Schema, engine: str) -> str:
    """Return the data set's declaration in lines."""
    tables = [line for table in schema.tables.values() for line in _lines(table)]
    views = [_view_heading(view, schema) for view in schema.views]
    return "\n".join([_title(schema, engine), *tables, *views, *_after_looking(schema)])


def html(schema: metadata.Schema, engine: str) -> str:
    """Return the same as HTML."""
    parts = [f"<p><b>{escape(_title(schema, engine))}</b></p>"]
    parts += [_html_table(_heading(table), table.columns) for table in schema.tables.values()]
    parts += [f"<p>{escape(_view_heading(view, schema))}</p>" for view in schema.views]
    parts += [f"<p>{escape(line)}</p>" for line in _after_looking(schema)]
    return "".join(parts)


def _after_looking(schema: metadata.Schema) -> Iterator[str]:
    """Say what no guarantee covers: it was chosen by somebody who had seen the data."""
    if schema.after_looking:
        yield f"set after looking at the data: {', '.join(schema.after_looking)}"


def _html_table(heading: str, columns: Mapping[str, metadata.Column]) -> str:
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(column.kind.value)}</td><td>{escape(_said(column))}</td></tr>"
        for name, column in columns.items()
    )
    return (
        f"<table><caption>{escape(heading)}</caption>"
        f"<thead><tr><th>column</th><th>kind</th><th>declared</th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _title(schema: metadata.Schema, engine: str) -> str:
    relation = "" if schema.neighbours is Neighbours.ADD_REMOVE else f" under {schema.neighbours.value}"
    return f"Dataset {schema.name!r} on {engine}, protects each {schema.unit.name}{relation}"


def _lines(table: metadata.Table) -> Iterator[str]:
    yield _heading(table)
    yield from _column_lines(table.columns)
    if table.hidden:
        yield f"  not to be asked about: {', '.join(table.hidden)}"


def _column_lines(columns: Mapping[str, metadata.Column]) -> Iterator[str]:
    width = max(map(len, columns), default=0)
    for name, column in columns.items():
        said = _said(column)
        yield f"  {name:<{width}}  {column.kind.value}{', ' if said else ''}{said}"


def _view_heading(view: str, schema: metadata.Schema) -> str:
    return f"view {view}: {' '.join(schema.views[view].split())}"


def _heading(table: metadata.Table) -> str:
    return f"table {table.name}, {_OWNERS[type(table.owner)](table.owner)}{_weight(table.limits)}{_days(table.blocks)}"


_OWNERS: dict[type, Callable[[Any], str]] = {
    metadata.OwnedByRow: lambda _: "each row its own",
    metadata.OwnedByColumn: lambda owner: f"owned by {owner.column}",
    metadata.OwnedByDay: lambda owner: f"owned by {owner.column}, each day apart",
    metadata.OwnedByParent: lambda owner: f"owned through {owner.column} by {owner.parent}.{owner.parent_column}",
    metadata.Public: lambda _: "public",
}


def _days(blocks: metadata.Blocks | None) -> str:
    if blocks is None:
        return ""
    ends = "".join(f" {word} {day}" for word, day in (("from", blocks.first), ("to", blocks.last)) if day is not None)
    return f", each day of {blocks.column}{ends} with a budget of its own"


def _weight(limits: metadata.Limits) -> str:
    named = {"rows": limits.rows, "groups": limits.groups, "rows per group": limits.rows_per_group}
    said = ", ".join(f"{number} {name}" for name, number in named.items() if number is not None)
    return f", at most {said} per person" if said else ""


def _said(column: metadata.Column) -> str:
    said = []
    if column.range is not None:
        said.append(f"bounds {_number(column.range.low)} to {_number(column.range.high)}")
    if column.granularity is not None:
        said.append(f"steps of {column.granularity:g}")
    if column.keys is not None:
        shown = ", ".join(map(repr, column.keys[:_KEYS_SHOWN]))
        said.append(f"keys {shown}" + (f" … {len(column.keys)} in all" if len(column.keys) > _KEYS_SHOWN else ""))
    if not column.nullable:
        said.append("never missing")
    return ", ".join(said)


def _number(exact: Fraction) -> str:
    return str(exact.numerator) if exact.denominator == 1 else f"{float(exact):g}"
