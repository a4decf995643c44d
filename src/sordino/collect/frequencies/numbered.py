"""Whole numbers in the bytes of payloads, the lowest byte first."""

from __future__ import annotations

import numpy as np

from sordino.collect.randomizer import Codes, Payloads

_WORDS = (1, 2, 4, 8)  # bytes that processors know as numbers


def bytes_below(limit: int) -> int:
    """Return how many bytes hold every number below `limit`."""
    return max(1, ((limit - 1).bit_length() + 7) // 8)


def written(numbers: Codes, size: int) -> Payloads:
    """Return each number in `size` bytes."""
    if size in _WORDS:
        return numbers.astype(f"<u{size}").view(np.uint8).reshape(-1, size)
    return np.ascontiguousarray(numbers.astype("<i8")[:, None].view(np.uint8)[:, :size])


def read(payloads: Payloads) -> Codes:
    """Return the number in each row of at most eight bytes; one of 2⁶³ or more comes out negative."""
    if payloads.shape[1] in _WORDS:
        return np.ascontiguousarray(payloads).view(f"<u{payloads.shape[1]}")[:, 0].astype(np.int64)
    wide = np.zeros((len(payloads), 8), dtype=np.uint8)
    wide[:, : payloads.shape[1]] = payloads
    return wide.view("<i8")[:, 0].astype(np.int64)
