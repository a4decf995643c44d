"""A map as an image: a PNG of coloured squares, written here so that a release needs no drawing library."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from sordino.publish.nested import Reals

from .map_marks import SHOWN, SUPPRESSED, UNCERTAIN, ZERO

_LOW, _HIGH = np.array([254, 217, 142]), np.array([127, 20, 22])
_DOUBT_LOW, _DOUBT_HIGH = np.array([222, 235, 247]), np.array([107, 147, 196])
_NOTHING, _WITHHELD, _STRIPE = np.array([246, 246, 243]), np.array([120, 120, 120]), np.array([186, 186, 186])
_WIDEST = 1024


def shades(cells: Reals) -> Reals:
    """Return how strong each cell's colour is, from 0 to 1: the root of its estimate, to the largest."""
    most = float(cells.max(initial=1.0))
    found: Reals = np.sqrt(np.maximum(cells, 0.0) / max(most, 1.0))
    return found


def colours(cells: Reals, marks: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return red, green and blue of each cell; what is suppressed has one colour whatever it is."""
    shade = shades(np.where(marks == SUPPRESSED, 0.0, cells))[..., None]
    found = np.where((marks == SHOWN)[..., None], _LOW + shade * (_HIGH - _LOW), _NOTHING)
    doubt = _DOUBT_LOW + shade * (_DOUBT_HIGH - _DOUBT_LOW)
    found = np.where((marks == UNCERTAIN)[..., None], doubt, found)
    found = np.where((marks == SUPPRESSED)[..., None], _WITHHELD, found)
    return np.where((marks == ZERO)[..., None], _NOTHING, found).round().astype(np.uint8)


def drawn(cells: Reals, marks: NDArray[np.uint8]) -> bytes:
    """Return the PNG, north up; what is suppressed is striped."""
    times = max(1, _WIDEST // max(cells.shape))
    image = np.kron(colours(cells, marks), np.ones((times, times, 1), dtype=np.uint8))
    withheld = np.kron(marks == SUPPRESSED, np.ones((times, times), dtype=bool))
    row, column = np.indices(withheld.shape)
    image[withheld & ((row + column) % 4 < 2)] = _STRIPE
    return png(image[::-1])


def png(image: NDArray[np.uint8]) -> bytes:
    """Return an image of rows × columns × 3 as PNG (RFC 2083)."""
    rows, columns = image.shape[:2]
    lines = np.concatenate([np.zeros((rows, 1), dtype=np.uint8), image.reshape(rows, -1)], axis=1).tobytes()
    head = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    chunks = _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(lines, 9)) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
