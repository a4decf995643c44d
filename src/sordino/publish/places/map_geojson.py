"""A map as GeoJSON (RFC 7946): a rectangle for every cell that is not zero."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.publish.nested import Reals

from .map_marks import SUPPRESSED, WORDS, ZERO


def geojson(box: tuple[float, float, float, float], cells: Reals, off: Reals, marks: NDArray[np.uint8]) -> bytes:
    """Return the collection; cells that are left out are zero, and of suppressed ones no number is told."""
    west, south, east, north = box
    rows, columns = cells.shape
    up, across = (north - south) / rows, (east - west) / columns
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Polygon", "coordinates": [_ring(west + c * across, south + r * up, across, up)]},
            "properties": _properties(float(cells[r, c]), float(off[r, c]), int(marks[r, c])),
        }
        for r, c in zip(*np.nonzero(marks != ZERO), strict=True)
    ]
    whole = {
        "type": "FeatureCollection",
        "bbox": [west, south, east, north],
        "sordino": {"rows": rows, "columns": columns, "left out": "cells that are estimated to be 0"},
        "features": features,
    }
    return json.dumps(whole, separators=(",", ":"), allow_nan=False).encode()


def _ring(west: float, south: float, across: float, up: float) -> list[list[float]]:
    corners = ((west, south), (west + across, south), (west + across, south + up), (west, south + up), (west, south))
    return [[round(float(x), 7), round(float(y), 7)] for x, y in corners]


def _properties(cell: float, off: float, mark: int) -> dict[str, Any]:
    if mark == SUPPRESSED:
        return {"mark": WORDS[mark]}
    return {"mark": WORDS[mark], "estimate": round(cell, 2), "half_width": round(off, 2)}
