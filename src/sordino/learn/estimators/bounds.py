"""Declared bounds of columns, as diffprivlib spells them: a pair of numbers, or of lists with one for each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sordino.errors import ArgumentError

from .whole_rows import Floats, boxed, unboxed


@dataclass(frozen=True, eq=False)
class Bounds:
    """The lower and upper end of every column."""

    low: Floats
    high: Floats

    def boxed(self, rows: Floats) -> Floats:
        """Return rows clipped, in whole multiples of half a column's width from its middle (``whole_rows.py``)."""
        return boxed(rows, self.low, self.high)

    def unboxed(self, scaled: Floats) -> Floats:
        """Return numbers from [−1, 1] in the columns' own measure."""
        return unboxed(scaled, self.low, self.high)

    @property
    def half(self) -> Floats:
        """Half the width of every column."""
        found: Floats = self.high / 2 - self.low / 2
        return found

    @property
    def middle(self) -> Floats:
        """The middle of every column."""
        found: Floats = self.low / 2 + self.high / 2
        return found

    def words(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return both ends as a plan spells them."""
        return tuple(self.low.tolist()), tuple(self.high.tolist())


def declared_bounds(name: str, given: Any, columns: int) -> Bounds | None:
    """Return the bounds that were declared for so many columns, None if there are none; refuse what is no such pair."""
    if given is None:
        return None
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ArgumentError(
            f"{name} must be a pair (lowest, highest), each a number or one number for each column", "SRD-A001"
        )
    try:
        low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), (columns,)).copy() for end in given)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{name} must hold numbers, one for all columns or one for each of {columns}", "SRD-A001"
        ) from None
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
        raise ArgumentError(f"{name} must be finite, and no lowest above its highest", "SRD-A002")
    return Bounds(low, high)
