"""A small country for tests: its places, its people, and hierarchies of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import sordino as so
from sordino.publish.hierarchies.tree import Tree
from sordino.publish.publication import Publication

LEVELS = ("state", "county", "tract")
PLACES = {
    "state": ["A", "A", "A", "B", "B", "B"],
    "county": ["A1", "A1", "A2", "B1", "B1", "B1"],
    "tract": ["t1", "t2", "t3", "t4", "t5", "t6"],
}
QUERIES = {"total": [], "sex by age": ["sex", "age"], "race": ["race"], "cells": ["sex", "age", "race"]}
COLUMNS = {
    "tract": so.column(kind="text"),
    "sex": so.keys(["f", "m"]),
    "age": so.keys([0, 1, 2]),
    "race": so.keys(["x", "y"]),
}


def country() -> Tree:
    """Return the places."""
    return so.publish.tree(PLACES, LEVELS)


def rows(people: int, seed: int = 0) -> pa.Table:
    """Return people, some of whom live nowhere, or have no race that is listed."""
    dice = np.random.default_rng(seed)
    return pa.table(
        {
            "person": np.arange(people),
            "tract": dice.choice([*PLACES["tract"], "sea"], people, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.05, 0.05]),
            "sex": dice.choice(["f", "m"], people),
            "age": dice.choice([0, 1, 2], people, p=[0.2, 0.5, 0.3]),
            "race": dice.choice(["x", "y", "z"], people, p=[0.8, 0.15, 0.05]),
        }
    )


def people(source: Any, *, unit: Any = "person", limit: int = 1, **words: Any) -> Any:
    """Declare people."""
    limits = None if unit is so.ROW else so.limits(rows=limit)
    return so.dataset("people", source, unit=unit, columns=COLUMNS, limits=limits, **words)


def counted(data: Any, budget: Any, **words: Any) -> Publication[Any]:
    """Return a hierarchy of people, to be priced and run."""
    return so.publish.hierarchy(so.account(data, budget), country(), **{"queries": QUERIES, **words})


def truth(table: pa.Table) -> np.ndarray:
    """Return the exact counts of the leaves' cells, row by row: tracts × sex × age × race."""
    found = np.zeros((6, 2, 3, 2), np.int64)
    for row in table.to_pylist():
        if row["tract"] != "sea" and row["race"] != "z":
            place = PLACES["tract"].index(row["tract"])
            found[place, "fm".index(row["sex"]), row["age"], "xy".index(row["race"])] += 1
    return found
