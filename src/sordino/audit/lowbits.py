"""What the last bits of floats give away, asked of whatever returns doubles for numbers.

Every sum of doubles leaves traces, so this is told beside the verdict on the law of the outputs, and is part of it only
where the auditor was asked to judge low bits, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sordino.accounting.curve import Floats

from .attacks.floating_point import ImpossibleOutputs, impossible_outputs
from .numbering import as_array
from .subject import Release


def asked_of_floats(
    pair: tuple[Any, Any], release: Release, sample: Any, draws: int, confidence: float
) -> ImpossibleOutputs | None:
    """Return what low bits show of a pair, by so many draws a side; None without doubles, or numbers as inputs.

    Of rows of numbers the first is looked at of which the two inputs have different ones; of a number that is made of
    a list, that list's sum is taken for the true answer.
    """
    if not _doubles(sample):
        return None
    first, second = (_numbers(value) for value in pair)
    if first is None or second is None:
        return None
    outputs = as_array(sample)
    width = outputs[0].size
    place = None
    if outputs.ndim > 1:
        if not len(first) == len(second) == width or np.array_equal(first, second):
            return None
        place = int(np.flatnonzero(first != second)[0])
    one, other = (float(side.sum() if place is None else side[place]) for side in (first, second))
    values = {one: pair[0], other: pair[1]}
    if len(values) < 2:
        return None

    def draw(value: float, count: int) -> Floats:
        # An endless number has no bits to look at; zero is on every grid.
        found = np.asarray(release(values[value], count), dtype=float)
        found = np.where(np.isfinite(found), found, 0.0)
        return np.asarray(found if place is None else found.reshape(count, -1)[:, place])

    return impossible_outputs(draw, one, other, draws=draws, confidence=confidence)


def _doubles(sample: Any) -> bool:
    found = as_array(sample)
    return isinstance(found, np.ndarray) and found.dtype == np.float64 and bool(np.isfinite(found).all())


def _numbers(value: Any) -> Floats | None:
    """Return an input that is a number or a list of numbers as an array."""
    if isinstance(value, str | bytes) or not isinstance(value, int | float | np.number | np.ndarray | Sequence):
        return None
    found = as_array(value if isinstance(value, np.ndarray | Sequence) else [value])
    if isinstance(found, np.ndarray) and found.ndim == 0:
        return None
    usable = isinstance(found, np.ndarray) and found.size and np.isfinite(found).all()
    return np.asarray(found.astype(float).ravel()) if usable else None
