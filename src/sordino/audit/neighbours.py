"""Neighbouring inputs to try a mechanism on.

**Source**: Ding, Wang, Wang, Zhang, Kifer 2018 (StatDP), Section 5.2, for the patterns of lists: on them the known
wrong variants of noisy max and of the sparse vector technique all show.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sordino.arguments import whole
from sordino.errors import ArgumentError

Pair = tuple[Any, Any]


def scalars(distance: float = 1, at: Iterable[float] = (0,)) -> tuple[Pair, ...]:
    """Return numbers that are `distance` apart, from each of the points `at` upwards.

    >>> scalars(2)
    ((2, 0),)
    """
    return tuple((point + distance, point) for point in at)


def lists(size: int, distance: float = 1, at: float = 0) -> tuple[Pair, ...]:
    """Return lists of `size` answers, all equal to `at` in one, each moved by at most `distance` in the other.

    One above, one below, all above, all below, half above, one above and the rest below, one below and the rest above,
    and two lists of which both halves move against each other.
    """
    length = whole("size", size, least=1)
    half = length // 2
    level, up, down = [at] * length, at + distance, at - distance
    moved = [
        [up, *level[1:]],
        [down, *level[1:]],
        [up] * length,
        [down] * length,
        [up] * half + level[half:],
        [up, *[down] * (length - 1)],
        [down, *[up] * (length - 1)],
    ]
    crossed = ([up] * half + level[half:], level[:half] + [up] * (length - half))
    # A list of one makes some patterns the same.
    found = [(level, other) for other in moved] + [crossed]
    return tuple(pair for place, pair in enumerate(found) if pair[0] != pair[1] and pair not in found[:place])


def without_one(table: Any, most: int = 8) -> tuple[Pair, ...]:
    """Return a table (a list, an array or a data frame) beside itself without one row, for `most` rows spread over it.

    The first and the last row are always among them. Give tables whose extremes stand out: whoever is unlike all others
    is the one that a wrong mechanism betrays.
    """
    rows = len(table)
    if rows == 0:
        raise ArgumentError("the table must have at least one row to leave out", "SRD-V001")
    places = np.unique(np.linspace(0, rows - 1, min(rows, whole("most", most, least=1))).round().astype(int))
    return tuple((table, _left_out(table, int(place))) for place in places)


def _left_out(table: Any, place: int) -> Any:
    if isinstance(table, np.ndarray):
        return np.delete(table, place, axis=0)
    if hasattr(table, "iloc"):
        return table.iloc[np.delete(np.arange(len(table)), place)]
    if isinstance(table, Sequence) and not isinstance(table, str):
        return [*table[:place], *table[place + 1 :]]
    raise ArgumentError(
        f"rows can be left out of a list, an array or a data frame, not of {type(table).__name__}", "SRD-V001"
    )
