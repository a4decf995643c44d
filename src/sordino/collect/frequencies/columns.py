"""How often each bit of many rows of bytes is 1, without a byte for each bit.

Eight bytes are taken as a word. Shifted by s and masked, each byte of it holds its bit s; 255 such words add up without
a carry between bytes. So a bit costs three operations on words for 64 of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.collect.randomizer import Counts, Payloads

_DEEP = 255  # bytes of ones that add up in a byte
_WIDE = 1 << 15  # bytes of a row of the sum, at most, so that it stays in the processor's cache
_LOWEST = np.uint64(0x0101010101010101)


def column_counts(payloads: Payloads) -> Counts:
    """Return for each bit, the lowest of a byte first, in how many rows it is 1."""
    rows, size = payloads.shape
    totals = np.zeros((8, size), dtype=np.int64)
    # Rows that lie beside each other: whole words of bytes, and no more than fill the depth.
    side = max(8, min(_WIDE // max(size, 1) // 8, -(-rows // (8 * _DEEP))) * 8)
    step = side * _DEEP
    for start in range(0, rows, step):
        block = payloads[start : start + step]
        if len(block) < step:
            block = _filled(block, side)
        _add(np.ascontiguousarray(block).reshape(-1, side * size).view(np.uint64), size, totals)
    return np.ascontiguousarray(totals.T).ravel()


def nothing_beyond(payloads: Payloads, bits: int) -> NDArray[np.bool_]:
    """Tell which rows have no 1 after their first so many bits."""
    if bits % 8 == 0:
        return np.ones(len(payloads), dtype=np.bool_)
    return np.asarray(payloads[:, -1] >> np.uint8(bits % 8) == 0)


def _filled(block: Payloads, side: int) -> Payloads:
    """Return the block with rows of zeros, so that it has a whole number of sides."""
    rows = -(-len(block) // side) * side
    whole = np.zeros((rows, block.shape[1]), dtype=np.uint8)
    whole[: len(block)] = block
    return whole


def _add(words: NDArray[np.uint64], size: int, totals: Counts) -> None:
    for bit in range(8):
        sums = ((words >> np.uint64(bit)) & _LOWEST).sum(axis=0, dtype=np.uint64)
        totals[bit] += sums.view(np.uint8).reshape(-1, size).sum(axis=0, dtype=np.int64)
