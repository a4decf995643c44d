"""From margins of classes to labels and probabilities: one margin where there are two classes, else one for each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .releases import Floats

_LARGEST = 1e300


def possible_margins(margins: Floats) -> Floats:
    """Return margins that are numbers: absurd rows have large ones, or none at all."""
    return np.clip(np.nan_to_num(margins, nan=0.0), -_LARGEST, _LARGEST)


def likeliest(margins: Floats, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the class with the largest margin; a single class is everybody's."""
    places = (margins > 0).astype(int) if margins.ndim == 1 else np.argmax(margins, axis=1)
    found: NDArray[Any] = classes[np.minimum(places, len(classes) - 1)]
    return found


def probabilities(margins: Floats, kinds: int) -> Floats:
    """Return the probability of each of so many classes."""
    if kinds == 1:
        return np.ones((len(margins), 1))
    if margins.ndim == 1:
        margins = np.column_stack([-margins / 2, margins / 2])
    odds = np.exp(margins - margins.max(axis=1, keepdims=True))
    found: Floats = odds / odds.sum(axis=1, keepdims=True)
    return found
