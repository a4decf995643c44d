"""Draws by half words: where the guide knows the answer, the rest of a word is never drawn.

The guide looks at 16 bits of a draw's first word, which choose the cell, and at the j bits of its offset. With j ≤ 16
both fit into 32 bits. The other 32 bits of the word are fair and independent of these, so it makes no difference when
they are drawn: here only where the guide leaves a draw open. Then the word is whole, and everything else is as if it
had been drawn at once.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from .keystream import BitSource, Words

Halves = NDArray[np.uint32]

CELL_BITS = 16
MOST_OFFSET_BITS = 32 - CELL_BITS
OPEN = np.iinfo(np.int32).min
"""In a guide of 32 bits: this cell does not lie in one box."""

_CHUNK = 1 << 15  # draws at once: their halves, their cells and the guide stay in the processor's cache
_UPPER = 1 if sys.byteorder == "little" else 0
_ALL = np.uint64(2**32 - 1)


def guided_by_halves(
    out: NDArray[np.int32], guide: NDArray[np.int32], offset_mask: int, source: BitSource
) -> tuple[NDArray[np.int64], Halves]:
    """Fill `out` by the guide; return the places that it leaves open, ascending, and their halves."""
    places, left_open = [np.empty(0, np.int64)], [np.empty(0, np.uint32)]
    cells = np.empty(min(_CHUNK, len(out)), dtype=np.int64)
    mask = np.uint32(offset_mask)
    for start in range(0, len(out), _CHUNK):
        part = out[start : start + _CHUNK]
        halves = source.words((len(part) + 1) // 2).view(np.uint32)[: len(part)]
        cell = cells[: len(part)]
        np.copyto(cell, halves.view(np.uint16)[_UPPER::2])
        # Every cell is in range; "clip" only spares take() the copy that "raise" would make.
        np.take(guide, cell, out=part, mode="clip")
        unsure = np.flatnonzero(part == OPEN)
        places.append(unsure + start)
        left_open.append(halves[unsure])
        part += np.bitwise_and(halves, mask, out=halves).view(np.int32)
    return np.concatenate(places), np.concatenate(left_open)


def completed(halves: Halves, offset_bits: int, source: BitSource) -> Words:
    """Return the whole words of some halves: 32 - j bits of U, 32 fresh ones that follow them, and the offset."""
    wide = halves.astype(np.uint64)
    fresh = source.words(len(halves)) & _ALL
    offset = wide & np.uint64((1 << offset_bits) - 1)
    shift = np.uint64(offset_bits)
    found: Words = wide >> shift << np.uint64(32 + offset_bits) | fresh << shift | offset
    return found
