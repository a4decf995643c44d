"""What Toeplitz strategies have in common: totals are Σ hⱼ·yₜ₋ⱼ, with h the series of 1/((1 − x)·c(x)).

The noise of a total is Σ hⱼ·zₜ₋ⱼ, that of the last w steps Σ (hⱼ − hⱼ₋w)·zₜ₋ⱼ.
"""

from __future__ import annotations

import numpy as np

from .people import shifted
from .strategy import Real


def deviations(response: Real, window: int | None) -> Real:
    """Return the standard deviation of each step's total for independent noise of deviation 1.

    >>> deviations(np.ones(4), None).round(3).tolist()
    [1.0, 1.414, 1.732, 2.0]
    """
    found: Real = np.sqrt(np.cumsum(np.square(_windowed(response, window))))
    return found


def reaches(response: Real, window: int | None) -> Real:
    """Return Σ|h| for each step's total."""
    return np.cumsum(np.abs(_windowed(response, window)))


def _windowed(response: Real, window: int | None) -> Real:
    return response if window is None else response - shifted(response, window)
