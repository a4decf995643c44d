"""What comes out of a map: estimates of its cells, and a page, an image and a GeoJSON that show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import Number
from sordino.errors import ArgumentError
from sordino.publish.files import arrays_from_bytes, arrays_to_bytes
from sordino.publish.intervals import reach
from sordino.publish.nested import Reals
from sordino.publish.released import Released, Saved

from .map_geojson import geojson
from .map_image import drawn
from .map_marks import SUPPRESSED, WORDS, Rules
from .map_page import page
from .map_reading import MapReading, reading_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURED, IMAGE, PAGE, GEOJSON = "measured.npz", "map.png", "map.html", "map.geojson"
_ALONE = {".html": PAGE, ".png": IMAGE, ".geojson": GEOJSON, ".json": GEOJSON}


@dataclass(frozen=True, eq=False)
class HeatMap(Released):
    """A map in cells, row by row from the south-west."""

    box: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)
    """West, south, east, north."""
    shape: tuple[int, int] = (1, 1)
    """Rows and columns."""
    counted: str = "rows"
    """What the cells count: rows, or people."""
    rules: Rules = field(default_factory=Rules)
    noise: tuple[float, ...] = ()
    """The variance of the noise of each partition, from the finest up."""
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """Regions, and their noisy counts."""

    @cached_property
    def reading(self) -> MapReading:
        """How the noisy counts are read."""
        return reading_of(list(self.noise), self.arrays)

    @property
    def cells(self) -> Reals:
        """The estimate of each cell, at least 0."""
        return self.reading.cells.reshape(self.shape)

    @property
    def deviation(self) -> Reals:
        """The standard deviation of each cell's unbiased estimate. How rows lie within a region is not in it."""
        return self.reading.deviation.reshape(self.shape)

    @property
    def marks(self) -> NDArray[np.uint8]:
        """How each cell is shown: 0 its number, 1 zero, 2 uncertain, 3 suppressed."""
        return self.rules.marks(self.cells, self.deviation)

    def half_width(self, confidence: Number = 0.95) -> Reals:
        """Return half the width of an interval of each cell's unbiased estimate."""
        return self.deviation * reach(confidence)

    def inside(self, west: float, south: float, east: float, north: float) -> float:
        """Return the estimate of a box; a cell that is partly inside counts by its part."""
        rows = _overlap(self.box[1], self.box[3], self.shape[0], south, north)
        columns = _overlap(self.box[0], self.box[2], self.shape[1], west, east)
        return float(rows @ self.cells @ columns)

    def plot(self) -> Figure:
        """Draw the map with axes and a legend."""
        from .map_picture import drawn_map

        return drawn_map(self)

    def save(self, folder: str | Path) -> Path:
        """Write all files into a folder; or, if a .html, .png or .geojson is named, that one alone."""
        place = Path(folder)
        alone = _ALONE.get(place.suffix.lower())
        if alone is None:
            return super().save(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(self.files[alone])
        return place

    def measured(self) -> dict[str, Any]:
        """Return the map's frame, its rules and its noise."""
        return {
            "box": list(self.box),
            "shape": list(self.shape),
            "counted": self.counted,
            "rules": {
                "uncertain": self.rules.uncertain,
                "suppress": self.rules.suppress,
                "confidence": str(self.rules.confidence),
            },
            "noise": list(self.noise),
        }

    def contents(self) -> Mapping[str, bytes]:
        """Return the noisy counts, and what shows them."""
        cells, off, marks = self.cells, self.half_width(self.rules.confidence), self.marks
        image = drawn(cells, marks)
        return {
            MEASURED: arrays_to_bytes(self.arrays),
            IMAGE: image,
            GEOJSON: geojson(self.box, cells, off, marks),
            PAGE: self._page(image, cells, off, marks).encode(),
        }

    def _page(self, image: bytes, cells: Reals, off: Reals, marks: NDArray[np.uint8]) -> str:
        hidden = marks == SUPPRESSED
        west, south, east, north = self.box
        numbers = {
            "rows": self.shape[0],
            "columns": self.shape[1],
            "west": west,
            "south": south,
            "east": east,
            "north": north,
            "words": list(WORDS),
            "marks": marks.ravel().tolist(),
            "cells": np.where(hidden, 0, cells.round()).astype(int).ravel().tolist(),
            "off": np.where(hidden, 0, np.ceil(off)).astype(int).ravel().tolist(),
        }
        said = self.plan.said()
        facts = {
            "data": str(said.get("dataset")),
            "counted": self.counted,
            "protected": f"each {said.get('unit')}, {said.get('neighbours')}",
            "spent": str(said.get("spend")),
            "outside of the box": "counts nowhere",
        }
        title = f"{self.counted.capitalize()} of {said.get('dataset')}"
        return page(title, image, numbers, self.rules.legend(self.deviation), facts)


def _overlap(low: float, high: float, count: int, start: float, end: float) -> Reals:
    if not start <= end:
        raise ArgumentError("a box is west, south, east, north, and its ends are not before its beginnings", "SRD-P402")
    edges = np.linspace(low, high, count + 1)
    shared = np.minimum(edges[1:], end) - np.maximum(edges[:-1], start)
    found: Reals = np.clip(shared / np.diff(edges), 0.0, 1.0)
    return found


def load(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> HeatMap:
    """Return a release as it was."""
    said = manifest["measured"]
    rules = said["rules"]
    return HeatMap(
        Saved(manifest),
        None,
        tuple(said["box"]),
        tuple(said["shape"]),
        said["counted"],
        Rules(rules["uncertain"], rules["suppress"], rules["confidence"]),
        tuple(said["noise"]),
        arrays_from_bytes(files[MEASURED]),
    )
