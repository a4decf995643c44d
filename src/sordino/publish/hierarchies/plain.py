"""A hierarchy from plain parameters, as services and the command line have them, and a saved one, made again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.errors import ArgumentError
from sordino.publish.files import arrays_from_bytes, table_from_bytes

from .recipe import HierarchyRecipe, recipe_of
from .release import Cell, PlaceTables
from .tree import tree, tree_from_plain


def read(protected: Any, plain: Mapping[str, Any]) -> HierarchyRecipe:
    """Return the recipe for a data set from plain parameters, as `plain` gives them."""
    words = dict(plain)
    tree = tree_from_plain(words.pop("tree", {}))
    unknown = set(words) - {"queries", "shares", "place", "table", "bins"}
    if unknown or "queries" not in words:
        raise ArgumentError("a hierarchy is said by tree, queries, shares, place, table and bins", "SRD-A001")
    given = [words.get(name) for name in ("queries", "shares", "place", "table", "bins")]
    return recipe_of(protected.schema, tree, *given)  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Saved:
    """The plan of a saved release, as its manifest says it."""

    manifest: Mapping[str, Any]

    def said(self) -> dict[str, Any]:
        return {name: said for name, said in self.manifest.items() if name not in ("version", "measured", "files")}


def load(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> PlaceTables:
    """Return a saved release as it was."""
    said = manifest["measured"]
    queries = {str(name): tuple(map(int, query)) for name, query in said["queries"]}
    tables = [table_from_bytes(files[f"column-{place}.parquet"]) for place in range(len(said["columns"]))]
    cells = tuple(Cell(table.column_names[0], tuple(table.column(0).to_pylist())) for table in tables)
    found = tree(table_from_bytes(files["places.parquet"]), said["levels"])
    noise = tuple({queries[name]: Fraction(each) for name, each in level.items()} for level in said["noise"])
    noisy = arrays_from_bytes(files["measurements.npz"])
    measurements = tuple(
        {
            query: noisy[f"{number}-{place}"].astype(np.int64)
            for place, query in enumerate(queries.values())
            if query in level
        }
        for number, level in enumerate(noise)
    )
    whole = arrays_from_bytes(files["whole.npz"])["leaves"].astype(np.int64)
    return PlaceTables(_Saved(manifest), None, found, cells, queries, noise, measurements, whole)
