"""Questions to begin with, made from what is publicly known of a data set: they are put into an empty console."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .vocabulary import quoted


def starters(dataset: Mapping[str, Any] | None) -> list[str]:
    """Return a count, and where columns allow it a count by a public key and a mean of a bounded column."""
    tables = [] if dataset is None else [each for each in dataset["tables"] if each["owned"]["by"] != "nobody"]
    if not tables:
        return []
    table = quoted(tables[0]["name"])
    keys = [quoted(each["name"]) for each in tables[0]["columns"] if "keys_in_all" in each]
    bounded = [quoted(each["name"]) for each in tables[0]["columns"] if "bounds" in each and "keys_in_all" not in each]
    found = [f"SELECT COUNT(*) AS total\nFROM {table}"]
    if keys:
        found.append(f"SELECT {keys[0]}, COUNT(*) AS total\nFROM {table}\nGROUP BY {keys[0]}")
    if bounded and keys:
        mean = f"AVG({bounded[0]}) AS mean"
        found.append(f"SELECT {keys[0]}, COUNT(*) AS total, {mean}\nFROM {table}\nGROUP BY {keys[0]}")
    elif bounded:
        found.append(f"SELECT COUNT(*) AS total, AVG({bounded[0]}) AS mean\nFROM {table}")
    return found
