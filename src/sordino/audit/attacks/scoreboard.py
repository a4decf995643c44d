"""Whom a record belongs to, where records are long and sparse: score every candidate, believe only a clear winner.

**Source**: Narayanan, Shmatikov 2008, *Robust de-anonymization of large sparse datasets*, sections 4 and 5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
_LARGEST_PART = 1_000_000
"""Scores that are held at a time."""


def best_matches(scores: Scores, eccentricity: float) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return for each row the column with the highest score, and whether it stands out.

    It stands out if it leads the second by `eccentricity` standard deviations of all the row's scores.
    """
    best = np.argmax(scores, axis=1).astype(np.int64)
    if scores.shape[1] < 2:
        return best, np.any(scores > 0, axis=1)
    second, first = np.partition(scores, scores.shape[1] - 2, axis=1)[:, -2:].T
    spread = scores.std(axis=1)
    return best, np.asarray((first - second > eccentricity * spread) & (first > 0))


def in_parts(rows: int, columns: int, scores_of: Callable[[slice], Any]) -> Iterator[tuple[slice, Scores]]:
    """Yield the scores of all rows against all columns, so many rows at a time as fit."""
    step = max(1, _LARGEST_PART // max(columns, 1))
    for start in range(0, rows, step):
        part = slice(start, min(start + step, rows))
        yield part, scores_of(part)
