"""Tables as pages show them: whose rows they hold, and what is publicly known about each column, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sordino.serve.dashboard.pages import number
from sordino.serve.kinds.page import Page

_KEYS_AT_ONCE = 12

_KINDS = {
    "integer": "whole number",
    "real": "number",
    "text": "text",
    "boolean": "true or false",
    "date": "date",
    "timestamp": "date and time",
}

_OWNED: dict[str, Callable[[Mapping[str, Any], str], str]] = {
    "row": lambda _, unit: f"Each row belongs to one {unit} and is protected on its own.",
    "column": lambda owned, unit: f"The column {owned['column']} says to which {unit} a row belongs.",
    "person-day": lambda owned, unit: (
        f"A row belongs to whoever {owned['column']} names, on the row's day: each {unit}."
    ),
    "parent": lambda owned, unit: (
        f"A row belongs to the {unit} of the row in {owned['parent']} whose {owned['parent_column']} is its "
        f"{owned['column']}."
    ),
    "nobody": lambda _, unit: f"This table is public: it holds nothing about any {unit}.",
}


def page_of(told: Mapping[str, Any]) -> Page:
    """Return what the page of a data set shows of its tables and views."""
    tables = [
        {"name": table["name"], "owned": _owner_words(table, told["unit"]), "hidden": table["hidden"]}
        | {"columns": [_column_words(column) for column in table["columns"]]}
        for table in told["tables"]
    ]
    views = [{**view, "columns": [_column_words(column) for column in view["columns"]]} for view in told["views"]]
    blocks = None if told["blocks"] is None else _block_words(told["blocks"])
    return Page({"engine": told["engine"], "blocks": blocks, "tables": tables, "views": views}, "tables.html")


def _block_words(blocks: Mapping[str, Any]) -> str:
    """Say that days have budgets of their own, and which."""
    days = f"Every day of {blocks['table']}.{blocks['days']} has a budget of its own"
    ends = [f"{word} {blocks[end]}" for word, end in (("from", "first"), ("to", "last")) if blocks[end]]
    return " ".join([days, *ends]) + ": a question is charged to the days that it reads."


def _owner_words(table: Mapping[str, Any], unit: str) -> str:
    """Say whose the rows of a table are, and how many of one person's count."""
    limits = table["limits"]
    said = [_OWNED[table["owned"]["by"]](table["owned"], unit)]
    if "rows" in limits:
        said.append(f"At most {limits['rows']} rows of each {unit} count in one question.")
    if "groups" in limits:
        each = f", and {limits['rows_per_group']} rows in each" if "rows_per_group" in limits else ""
        said.append(f"Each {unit} counts in at most {limits['groups']} groups{each}.")
    return " ".join(said)


def _column_words(column: Mapping[str, Any]) -> dict[str, Any]:
    """Say what is public about a column: its kind, where its values lie, and the keys that it may have."""
    said = []
    if "bounds" in column:
        low, high = column["bounds"]
        said.append(f"from {number(low)} to {number(high)}; what lies beyond counts as the nearer end")
    if "granularity" in column:
        said.append(f"in steps of {column['granularity']}")
    keys = column.get("keys", [])
    shown = ", ".join(str(key) for key in keys[:_KEYS_AT_ONCE])
    if keys:
        more = column["keys_in_all"] - len(keys[:_KEYS_AT_ONCE])
        said.append(f"one of {shown}" + (f" and {number(more)} more" if more else ""))
    return {
        "name": column["name"],
        "kind_words": _KINDS.get(column["kind"], column["kind"]) + ("" if column["nullable"] else ", never missing"),
        "public": "; ".join(said) or "nothing: no bounds, no keys",
    }
