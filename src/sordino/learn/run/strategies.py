"""Bands of whole numbers for correlated noise, and how far off the weights will be with each.

Weights are sums of the steps' noisy sums, so what counts is the noise of prefix sums: with A the matrix of summation
and noise of deviation σ on Cx, step t of AC⁻¹z. Its mean square over the steps is σ²·‖AC⁻¹‖²/n in the Frobenius norm,
and σ² is the noise multiplier squared times the gain of C. Both are public, hence so is the choice.

Columns are those of a power Aᵃ, the coefficients of (1 − x)⁻ᵃ, cut after so many steps, times 256 and rounded. With
a = ½, the square root, a column that is not cut is all but the best; the fewer bands there are for so many steps, the
larger the best a is. It is found among a few for Σcⱼ²·‖AC⁻¹‖², which is the error where a unit's steps do not meet.
Against a search over all columns this adds ½ % to the error at most in the cases that were tried (60 to 1,000 steps, 4
to 64 bands), where the square root adds up to 14 %; rounding moves the error by less than a hundredth up to 400 bands.
**Source**: Fichtenberger, Henzinger, Upadhyay 2023 (the square root); Kalinin, Lampert 2024 (banded square root).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.signal import lfilter

from .sampling import Column

_SCALE = 256
_POWERS = tuple(each / 40 for each in range(20, 41))
MOST_BANDS = 64
"""Bands that are tried unasked: a training holds twice as many past sums in memory."""


def power(bands: int, exponent: float) -> Column:
    """Return the first entries of a power of summation, in whole 256ths; they do not increase up to the power of 1.

    >>> power(4, 0.5)
    (256, 128, 96, 80)
    """
    entry, column = 1.0, []
    for place in range(bands):
        column.append(max(1, round(_SCALE * entry)))
        entry *= (place + exponent) / (place + 1)
    return tuple(column)


def best_power(bands: int, steps: int) -> Column:
    """Return the column of so many bands with the least error over so many steps, where a unit's do not meet.

    >>> best_power(1, 100)
    (256,)
    """
    return min((power(bands, each) for each in _POWERS), key=lambda column: _error_alone(column, steps))


def candidates(most: int, steps: int) -> Iterator[Column]:
    """Yield columns of 1, 2, 4, … bands, up to `most`, each the best for so many steps."""
    bands = 1
    while bands < most:
        yield best_power(bands, steps)
        bands *= 2
    yield best_power(max(1, most), steps)


def prefix_error(column: Column, steps: int) -> float:
    """Return ‖AC⁻¹‖/√n: the root mean square, over steps, of the noise of prefix sums, for noise of deviation 1 on Cx.

    AC⁻¹ is Toeplitz with the column h of the series 1/((1 − x)·c(x)), and hₜ stands in n − t of its rows.

    >>> round(prefix_error((1,), 3) ** 2, 6)  # of 1, 2 and 3 independent draws
    2.0
    """
    summed = lfilter([1.0], np.asarray(column, dtype=np.float64), np.ones(steps))
    return math.sqrt(float(np.dot(np.arange(steps, 0, -1), np.square(summed))) / steps)


def _error_alone(column: Column, steps: int) -> float:
    return math.sqrt(sum(each**2 for each in column)) * prefix_error(column, steps)
