"""A map of points, or of the sites of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Literal

from sordino.arguments import Number, one_of, rational, whole
from sordino.data.account import DataAccount
from sordino.data.kinds import Range
from sordino.data.metadata import Schema
from sordino.errors import ArgumentError
from sordino.publish.measuring import shape_of, table_of
from sordino.publish.publication import Publication
from sordino.publish.spending import Form, Spend

from .grid import Grid, check_coordinate
from .map_design import MapDesign, QuadtreeDesign, rounds_of
from .map_marks import Rules
from .map_release import HeatMap, load

__all__ = ["MapRecipe", "QuadtreeRecipe", "heat_map", "load", "read"]

Method = Literal["hierarchy", "grid", "quadtree"]
_METHODS = ("hierarchy", "grid", "quadtree")


def heat_map(
    account: DataAccount[Any],
    latitude: str,
    longitude: str,
    *,
    box: Sequence[Number],
    cells: tuple[int, int] = (64, 64),
    sites: int | None = None,
    method: Method = "hierarchy",
    uncertain: Number = "0.5",
    suppress: Number = 0,
    table: str | None = None,
) -> Publication[HeatMap]:
    """Publish how many rows lie in each cell of a box (west, south, east, north), cut into `cells` (rows, columns).

    With `sites`, people are counted instead: each once in a cell, in at most so many cells. `method` is "hierarchy"
    (blocks of cells are counted too, and all is made to add up, with no cell below 0), "grid" (each cell by itself), or
    "quadtree" (regions are split where noisy counts are large). Cells whose interval is as wide as `uncertain` times
    the estimate look different, and so do those below `suppress`, whose number is not told.

    **Guarantee**: rows outside of the box count nowhere; the others are bounded by the unit before they are counted,
    and everything that leaves is a function of noisy counts whose events are charged (``map_design.py``).
    """
    plain: dict[str, Any] = {"box": box, "cells": cells, "sites": sites, "method": method}
    shown = {"uncertain": uncertain, "suppress": suppress, "table": table}
    recipe = _recipe(account.protected.schema, latitude, longitude, {**plain, **shown})
    return Publication(account, recipe)


@dataclass(frozen=True)
class MapRecipe:
    """A map whose partitions are fixed beforehand."""

    grid: Grid
    flat: bool
    """Whether cells alone are measured."""
    rules: Rules

    name: ClassVar[str] = "heat-map"
    forms: ClassVar[tuple[Form, ...]] = ("pure", "concentrated")
    adapts: ClassVar[bool] = False

    def design(self, spend: Spend) -> MapDesign:
        """Return the noise of each partition."""
        return MapDesign(self, rounds_of(self.grid, spend, flat=self.flat, moving=False))

    def plain(self) -> dict[str, Any]:
        """Return the parameters."""
        return {**_plain(self.grid, self.rules), "method": "grid" if self.flat else "hierarchy"}


@dataclass(frozen=True)
class QuadtreeRecipe:
    """A map whose regions are split where there is something to see."""

    grid: Grid
    rules: Rules

    name: ClassVar[str] = "heat-map"
    forms: ClassVar[tuple[Form, ...]] = ("pure", "concentrated")
    adapts: ClassVar[bool] = True

    def design(self, spend: Spend) -> QuadtreeDesign:
        """Return the noise of each round."""
        return QuadtreeDesign(self, spend, rounds_of(self.grid, spend, flat=False, moving=True))

    def plain(self) -> dict[str, Any]:
        """Return the parameters."""
        return {**_plain(self.grid, self.rules), "method": "quadtree"}


def read(protected: Any, plain: Mapping[str, Any]) -> MapRecipe | QuadtreeRecipe:
    """Return the recipe from its parameters as JSON has them."""
    return _recipe(protected.schema, plain["latitude"], plain["longitude"], plain)


def _recipe(schema: Schema, latitude: str, longitude: str, said: Mapping[str, Any]) -> MapRecipe | QuadtreeRecipe:
    table = table_of(schema, said.get("table"))
    for name in (latitude, longitude):
        check_coordinate(table, name)
    method = one_of("method", said.get("method", "hierarchy"), _METHODS)
    up, across = _box(said["box"])
    rows, columns = (whole("cells", each, least=1, most=2**12) for each in _pair(said.get("cells", (64, 64))))
    sites = None if said.get("sites") is None else whole("sites", said["sites"], least=1, most=2**20)
    grid = Grid(schema, table.name, latitude, longitude, up, across, rows, columns, sites)
    shape_of(grid.axes)
    if sites is None or schema.by_row:
        _ = grid.bounding  # which refuses rows without a limit
    rules = Rules(
        float(rational("uncertain", said.get("uncertain", "0.5"), above=0)),
        float(rational("suppress", said.get("suppress", 0), least=0)),
    )
    return QuadtreeRecipe(grid, rules) if method == "quadtree" else MapRecipe(grid, method == "grid", rules)


def _box(box: Sequence[Number]) -> tuple[Range, Range]:
    if isinstance(box, str) or not hasattr(box, "__len__") or len(box) != 4:
        raise ArgumentError("box must be four numbers: west, south, east, north", "SRD-P402")
    west, south, east, north = (rational("box", each, least=-360, most=360) for each in box)
    if not (west < east and south < north):
        raise ArgumentError(
            "box must be west, south, east, north, with west before east and south before north; a map across the "
            "180th meridian takes longitudes up to 360",
            "SRD-P402",
        )
    return Range(south, north), Range(west, east)


def _pair(cells: Sequence[int]) -> Sequence[int]:
    if isinstance(cells, str) or not hasattr(cells, "__len__") or len(cells) != 2:
        raise ArgumentError("cells must be two whole numbers: rows and columns", "SRD-P402")
    return cells


def _decimal(value: Fraction) -> str:
    """Return a number as it was written: as a decimal, of at most 28 digits."""
    return str(Decimal(value.numerator) / Decimal(value.denominator))


def _plain(grid: Grid, rules: Rules) -> dict[str, Any]:
    west_east, south_north = grid.west_east, grid.south_north
    ends = (west_east.low, south_north.low, west_east.high, south_north.high)
    return {
        "latitude": grid.latitude,
        "longitude": grid.longitude,
        "box": [_decimal(each) for each in ends],
        "cells": [grid.rows, grid.columns],
        "sites": grid.sites,
        "uncertain": rules.uncertain,
        "suppress": rules.suppress,
        "table": grid.table,
    }
