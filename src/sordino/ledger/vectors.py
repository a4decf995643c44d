"""Vectors of units as one text, ``"0 100000000000 250"``, and their sums: the inner loop of every replay."""

from __future__ import annotations

import re
from functools import lru_cache
from operator import add as plain_sum

from sordino.accounting.columns import Vector
from sordino.accounting.units import SATURATED

_TEXT = re.compile(r"(?:0|[1-9][0-9]{0,18})(?: (?:0|[1-9][0-9]{0,18}))*", re.ASCII)


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
