"""Neighbouring inputs to try a mechanism on.

**Source**: Ding, Wang, Wang, Zhang, Kifer 2018 (StatDP), Section 5.2, for the patterns of lists: on them the known
wrong variants of noisy max and of the sparse vector technique all show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    return tuple((table, _left_out(table, place)) for place in _spread(range(_rows(table)), most))


def with_one_replaced(table: Any, by: Iterable[Any] | None = None, most: int = 16) -> tuple[Pair, ...]:
    """Return a table beside itself with one row replaced: neighbours where the number of rows is public.

    The rows put in are those of `by`, at least the ends of what a row may be; the table's own, if they are left out. Of
    all places and rows `most` are taken, spread over them. Such pairs are neighbours of a claim about replacing alone.
    """
    rows = _rows(table)
    others = list(by) if by is not None else [_row(table, place) for place in range(rows)]
    tried = [(place, other) for place in range(rows) for other in others if not _same(_row(table, place), other)]
    return tuple((table, _with_row(_left_out(table, place), place, other)) for place, other in _spread(tried, most))


def with_one_doubled(table: Any, most: int = 8) -> tuple[Pair, ...]:
    """Return a table with one row twice beside the table, for `most` rows: who counts equal rows may betray them."""
    rows = _rows(table)
    return tuple((_with_row(table, rows, _row(table, place)), table) for place in _spread(range(rows), most))


def emptied(table: Any, most: int = 8) -> tuple[Pair, ...]:
    """Return a table of one row beside the empty one, for `most` rows of `table`: what is special there may show."""
    empty = _kept(table, [])
    return tuple((_kept(table, [place]), empty) for place in _spread(range(_rows(table)), most))


def _rows(table: Any) -> int:
    rows = len(table)
    if rows == 0:
        raise ArgumentError("the table must have at least one row to leave out, replace or double", "SRD-V001")
    return rows


def _spread(things: Sequence[Any], most: int) -> list[Any]:
    """Return some things, spread over all, the first and the last among them."""
    places = np.unique(np.linspace(0, len(things) - 1, min(len(things), whole("most", most, least=1))).round())
    return [things[int(place)] for place in places]


def _left_out(table: Any, place: int) -> Any:
    return _kept(table, [other for other in range(len(table)) if other != place])


def _kept(table: Any, places: list[int]) -> Any:
    """Return a table of some of the rows."""
    if isinstance(table, np.ndarray):
        return table[np.array(places, dtype=int)]
    if hasattr(table, "iloc"):
        return table.iloc[places]
    if isinstance(table, Sequence) and not isinstance(table, str):
        return [table[place] for place in places]
    raise ArgumentError(
        f"rows can be left out of a list, an array or a data frame, not of {type(table).__name__}", "SRD-V001"
    )


def _row(table: Any, place: int) -> Any:
    return table.iloc[[place]] if hasattr(table, "iloc") else table[place]


def _same(row: Any, other: Any) -> bool:
    if hasattr(row, "iloc"):
        return bool(row.reset_index(drop=True).equals(_as_frame(row, other).reset_index(drop=True)))
    return bool(np.array_equal(row, other)) if isinstance(row, np.ndarray) else bool(row == other)


def _with_row(table: Any, place: int, row: Any) -> Any:
    """Return a table with a row put in before `place`."""
    if isinstance(table, np.ndarray):
        return np.insert(table, place, row, axis=0)
    if hasattr(table, "iloc"):
        from pandas import concat

        return concat([table.iloc[:place], _as_frame(table, row), table.iloc[place:]])
    return [*table[:place], row, *table[place:]]


def _as_frame(like: Any, row: Any) -> Any:
    """Return a row of a data frame as a frame of one row: from such a frame, or from a value for each column."""
    if hasattr(row, "iloc"):
        return row
    values = row if isinstance(row, Mapping) else dict(zip(like.columns, row, strict=True))
    return type(like)([values], columns=like.columns)
