"""Bins of a number, from noisy counts of its finest cells: fine where rows are, coarse where there is only noise.

Cells are merged from the left until a bin holds its share of all rows, and more than noise alone would show; a cell
that holds as much by itself stays alone, and no bin goes over an edge that a constraint needs. All of it is computed
from noisy counts, which were paid for, so it costs nothing more.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_NOISES = 4.0
"""A bin must hold so many standard deviations of its noise."""
_PEAK = 3.0
"""And a cell so many above its share of a bin, to be told apart from its neighbours within."""


def chosen_starts(noisy: Floats, deviation: float, most: int, forced: Collection[int]) -> list[int]:
    """Return the first cell of each bin; `forced` cells begin one, whatever they hold."""
    target = max(float(np.maximum(noisy, 0).sum()) / most, _NOISES * deviation)
    starts, held = [0], 0.0
    for place, count in enumerate(noisy):
        alone = count >= target
        full = held >= target
        if place > starts[-1] and (place in forced or alone or full):
            if not full and len(starts) > 1 and starts[-1] not in forced and not _alone(noisy, starts, target):
                starts.pop()  # what is left over belongs to the bin before
            starts.append(place)
            held = 0.0
        held += float(count)
    return starts


def _alone(noisy: Floats, starts: list[int], target: float) -> bool:
    """Whether the bin before the last is one cell that holds a share by itself."""
    return starts[-1] - starts[-2] == 1 and float(noisy[starts[-2]]) >= target


def shares_within(noisy: Floats, deviation: float, widths: Floats) -> Floats:
    """Return how a bin's rows are spread over its cells: by width, but for cells that stand out beyond noise."""
    plain: Floats = widths / widths.sum()
    held = max(float(noisy.sum()), 0.0)
    peaks = np.where(noisy - held * plain > _PEAK * deviation, noisy - held * plain, 0.0)
    if not peaks.any() or held <= 0:
        return plain
    rest = max(held - float(peaks.sum()), 0.0)
    shares = peaks + rest * plain
    scaled: Floats = shares / shares.sum()
    return scaled
