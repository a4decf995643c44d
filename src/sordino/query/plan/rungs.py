"""Where the ends of a quantile's interval are looked for: rungs around the value that was chosen before them.

Rungs are one bucket wide beside the value and a quarter of their distance from it further off. There are about eighty
of them rather than thousands of buckets, and an end misses its aim by the logarithm of how many there are to choose
from, so intervals are a third narrower for the same ε.

**Guarantee**: a rung is a run of buckets that depends on the number of buckets and on the value, which is released, and
on nothing else; so an end chosen among rungs costs what one chosen among buckets does (adaptive composition).
**Proof** that an interval of rungs covers what one of buckets would: rungs are disjoint and hold every bucket, so they
are a coarser histogram of the same rows, and the tail bound of ``grouped_choice.py`` holds for it. The low end is the
low end of its rung, and the high end the high end.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]

_WIDER = 4


@lru_cache(maxsize=64)
def _edges(buckets: int) -> Places:
    """Return how far from the value each rung begins, in buckets, and where the last one ends."""
    distances = [0]
    while distances[-1] < buckets:
        distances.append(distances[-1] + max(1, distances[-1] // _WIDER))
    return np.array([-distance for distance in distances[:0:-1]] + distances, dtype=np.int64)


def count(buckets: int) -> int:
    """Return how many rungs there are for a histogram of so many buckets."""
    return len(_edges(buckets)) - 1


def starts(value: int, buckets: int) -> Places:
    """Return the bucket with which each rung around a value begins, and where the last one ends, within the range."""
    return np.clip(_edges(buckets) + value, 0, buckets)


def to_rungs(places: Places, values: Places, buckets: int) -> Places:
    """Return the rung around its value in which each bucket lies."""
    return np.searchsorted(_edges(buckets), places - values, side="right") - 1


def to_buckets(rungs: Places, values: Places, buckets: int, *, upper: bool) -> Places:
    """Return the first (or last) bucket of each rung; −1 and `buckets` where that lies beyond the range."""
    edges = _edges(buckets)
    known = np.clip(rungs, 0, len(edges) - 2)
    places = values + (edges[known + 1] - 1 if upper else edges[known])
    beyond = np.where(rungs < 0, -1, np.where(rungs > known, buckets, places))
    return np.clip(beyond, -1, buckets)
