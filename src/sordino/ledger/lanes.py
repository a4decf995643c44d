"""A vector of units packed into one whole number, 64 bits for each column, so that a replay adds and compares at once.

Units stay below 2⁶² (``accounting/units.py``). So the sum of two columns stays below 2⁶³ and never runs into the next
one; it has its bit 62 set exactly if it passes `SATURATED`. With bit 63 of every column set beforehand, caps minus sum
borrows from no neighbour, and keeps bit 63 exactly in those columns where the sum is within the cap.
"""

from __future__ import annotations

import struct
from functools import lru_cache

from sordino.accounting.columns import Vector

_LANE = 64


@lru_cache(maxsize=4096)
def packed(vector: Vector) -> int:
    """Return `vector` as one number, its first column lowest."""
    return int.from_bytes(struct.pack(f"<{len(vector)}Q", *vector), "little")


def unpacked(number: int, width: int) -> Vector:
    """Return the vector of `width` columns that `number` holds."""
    return struct.unpack(f"<{width}Q", number.to_bytes(width * _LANE // 8, "little"))


class Lanes:
    """Sums of vectors against one vector of caps."""

    __slots__ = ("_over", "_own_delta", "_raised", "_rest", "width")

    def __init__(self, caps: Vector) -> None:
        self.width = len(caps)
        ones = packed((1,) * self.width)
        self._over = ones << (_LANE - 2)
        tops = ones << (_LANE - 1)
        self._raised = packed(caps) + tops
        self._own_delta = 1 << (_LANE - 1)
        self._rest = tops - self._own_delta

    def add(self, spent: int, charge: int) -> int:
        """Return the sum of two packed vectors, each column held at `SATURATED`."""
        after = spent + charge
        over = after & self._over
        if over:  # in those columns: all bits below the one that says so, and not itself
            return (after | (over - (over >> _LANE - 2))) ^ over
        return after

    def fits(self, spent: int) -> bool:
        """Return whether a packed vector is within the caps: its own δ, and some other column."""
        within = self._raised - spent
        return bool(within & self._own_delta) and bool(within & self._rest)
