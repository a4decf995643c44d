"""Vectors of units in the inner loop of every replay: as one text, ``"0 100000000000 250"``, and as one whole number.

As a number a vector has 64 bits for each column, so that a replay adds and compares all columns at once. Units stay
below 2⁶² (``accounting/units.py``). So the sum of two columns stays below 2⁶³ and never runs into the next one; it has
its bit 62 set exactly if it passes `SATURATED`. With bit 63 of every column set beforehand, caps minus sum borrows from
no neighbour, and keeps bit 63 exactly in those columns where the sum is within the cap.
"""

from __future__ import annotations

import re
import struct
from functools import lru_cache
from operator import add as plain_sum

from sordino.accounting.columns import Vector
from sordino.accounting.units import SATURATED

_TEXT = re.compile(r"(?:0|[1-9][0-9]{0,18})(?: (?:0|[1-9][0-9]{0,18}))*", re.ASCII)
_LANE = 64


def vector_text(vector: Vector) -> str:
    """Return the one spelling of `vector`: decimal whole numbers with a space between."""
    return " ".join(map(str, vector))


@lru_cache(maxsize=4096)
def read_vector(text: str) -> Vector:
    """Return the vector that `text` spells; ``vector_text(read_vector(text)) == text``."""
    vector = tuple(map(int, text.split(" "))) if _TEXT.fullmatch(text) else ()
    if not vector or max(vector) > SATURATED:
        raise ValueError("amounts are whole numbers of units, none beyond saturation, with one space between")
    return vector


def summed(spent: Vector, charge: Vector) -> Vector:
    """Return what `accounting.columns.add` returns, for vectors of one length that are known to be vectors of units."""
    after = tuple(map(plain_sum, spent, charge))
    return after if max(after) <= SATURATED else tuple(min(units, SATURATED) for units in after)


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
