"""Declaring a table without YAML: a row for each of its columns, from whose fields the declarations are written.

What a column is called and of which kind it is, is public; what is typed beside it is the owner's knowledge from
elsewhere than the data. What is written is the text that the page holds anyway: the owner reads it before it counts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sordino.data.strict_yaml import parse, write
from sordino.errors import ArgumentError

from .forms import Entered, whole_number

KINDS = ("", "integer", "real", "text", "boolean", "date", "timestamp")
"""What a column of a CSV file may be said to be; "" leaves it as it is found."""
_LIMIT = "limit.rows"


def rows_of(found: Mapping[str, Any], declarations: str) -> list[dict[str, Any]] | None:
    """Return a row of the form for each column, filled in with what is declared; None for more tables than one."""
    tables: Sequence[Mapping[str, Any]] = found.get("tables") or ()
    said = _declared(declarations)
    if len(tables) != 1 or "tables" in said:
        return None
    declared = said.get("columns") or {}
    return [
        {"name": each["name"], "kind": each["kind"], **_texts(declared.get(each["name"]) or {})}
        for each in tables[0]["columns"]
        if each["name"] != said.get("unit")
    ]


def limit_of(declarations: str) -> str:
    """Return how many rows of one person count, as it is declared; "" where nothing is."""
    return str((_declared(declarations).get("limits") or {}).get("rows", ""))


def written(declarations: str, typed: Entered) -> str:
    """Return the declarations with what was typed beside each column, and what else is declared left as it is."""
    said = _declared(declarations)
    if "tables" in said:
        raise ArgumentError("several tables are declared in the text itself, each with its columns", "SRD-A003")
    columns = dict(said.get("columns") or {})
    for name in typed.many.get("column", []):
        now = {**(columns.get(name) or {}), **dict.fromkeys(("bounds", "keys", "kind"))}
        now |= {"bounds": _bounds(name, typed), "keys": _keys(name, typed), "kind": typed[f"kind.{name}"]}
        columns[name] = {word: value for word, value in now.items() if value not in (None, "")}
    said["columns"] = {name: value for name, value in columns.items() if value}
    limits = dict(said.get("limits") or {})
    limits["rows"] = whole_number("rows of one person", typed[_LIMIT]) if typed[_LIMIT] else None
    said["limits"] = {word: value for word, value in limits.items() if value is not None}
    return write({word: value for word, value in said.items() if value not in ({}, None)})


def _declared(declarations: str) -> dict[str, Any]:
    said = parse(declarations, "the declarations")
    if not isinstance(said, dict):
        raise ArgumentError("declarations are a mapping: name, unit, source …", "SRD-A006")
    return dict(said)


def _texts(declared: Mapping[str, Any]) -> dict[str, str]:
    low, high = declared.get("bounds") or ("", "")
    keys = declared.get("keys")
    return {
        "low": str(low),
        "high": str(high),
        "keys": "" if keys is None else ", ".join("NULL" if key is None else str(key) for key in keys),
        "said": str(declared.get("kind") or ""),
    }


def _bounds(name: str, typed: Entered) -> list[Any] | None:
    ends = typed[f"low.{name}"], typed[f"high.{name}"]
    if not any(ends):
        return None
    if not all(ends):
        raise ArgumentError(f"bounds of {name!r} need both ends, or none", "SRD-A003")
    return [_plain(end) for end in ends]


def _keys(name: str, typed: Entered) -> list[Any] | None:
    parts = [part.strip() for part in typed[f"keys.{name}"].split(",")]
    read = str if (typed[f"kind.{name}"] or typed[f"is.{name}"]) == "text" else _plain
    return [None if part == "NULL" else read(part) for part in parts if part] or None


def _plain(text: str) -> Any:
    """Return a whole number or a decimal as such, and everything else as the text that it is."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if type(value) in (int, float) else text
