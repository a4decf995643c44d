"""Cells as payloads: whole numbers, lowest byte first, in as many bytes as the largest of them needs."""

from __future__ import annotations

import numpy as np

from sordino.collect.randomizer import Codes, Payloads


def size_of(cells: int) -> int:
    """Return how many bytes name each of so many cells."""
    return max(1, ((cells - 1).bit_length() + 7) // 8)


def packed(cells: Codes, size: int) -> Payloads:
    """Return one row of `size` bytes for each cell."""
    return np.ascontiguousarray(cells.astype("<i8")[:, None].view(np.uint8)[:, :size])


def unpacked(payloads: Payloads) -> Codes:
    """Return the cell of each row; rows have at most seven bytes."""
    wide = np.zeros((len(payloads), 8), dtype=np.uint8)
    wide[:, : payloads.shape[1]] = payloads
    return wide.view("<i8")[:, 0].astype(np.int64)
