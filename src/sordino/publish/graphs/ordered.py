"""A sequence that is known to fall, under noise: the nearest falling sequence, and a band around it.

Neither needs data beyond the noisy sequence. **The fit** is the falling sequence nearest to it in squares, a mean in
each of its blocks; long stretches of equal values so lose nearly all noise.
**The band**: the true value at i is at most the mean of any window that ends at i, and at least that of any that begins
there. Means of 1, 2, 4, … noisy values each miss the truth by more than a public width with a small probability, which
for all windows at i together is 1 − confidence. **Guarantee**: at each i the band holds the true value with probability
at least `confidence`. The widths are Chernoff's, from the law of the noise.
**Source**: Hay, Rastogi, Miklau, Suciu 2010 (degrees; isotonic regression); Hengartner & Stark 1995 (the band).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression, minimize_scalar

Floats = NDArray[np.float64]
Growth = Callable[[float], float]
"""The logarithm of the mean of e^(λ·noise), for one draw; infinite where that has no mean."""


def falling(noisy: NDArray[np.int64]) -> Floats:
    """Return the falling sequence nearest to the noisy one, none of it below 0."""
    if not len(noisy):
        return np.zeros(0)
    return np.maximum(np.asarray(isotonic_regression(noisy.astype(np.float64), increasing=False).x), 0.0)


def band(noisy: NDArray[np.int64], growth: Growth, most: float, confidence: float) -> tuple[Floats, Floats]:
    """Return what the true values are above and below; λ is looked for up to `most`."""
    size = len(noisy)
    lengths = [2**power for power in range(max(size, 1).bit_length())]
    missed = (1 - confidence) / (2 * len(lengths))
    summed = np.concatenate([[0.0], np.cumsum(noisy.astype(np.float64))])
    low, high = np.zeros(size), np.full(size, np.inf)
    for length in lengths:
        width = _width(growth, most, length, missed)
        means = (summed[length:] - summed[:-length]) / length
        np.minimum(high[length - 1 :], means + width, out=high[length - 1 :])
        np.maximum(low[: size - length + 1], means - width, out=low[: size - length + 1])
    high = np.maximum(np.minimum.accumulate(high), 0)
    low = np.minimum(np.maximum.accumulate(low[::-1])[::-1], high)
    return low, high


def _width(growth: Growth, most: float, length: int, missed: float) -> float:
    """Return t such that a mean of `length` draws is above t with probability `missed` at most.

    P[mean ≥ t] ≤ e^(length·(growth(λ) − λt)) for every λ, so t = (growth(λ) + ln(1/missed)/length)/λ will do.
    """

    def enough(rate: float) -> float:
        return (growth(rate) - math.log(missed) / length) / rate

    found = minimize_scalar(lambda log: enough(math.exp(log)), bounds=(math.log(most) - 25, math.log(most)))
    return float(enough(math.exp(found.x)))


def laplace_growth(scale: float) -> Growth:
    """Return the growth of integer Laplace noise: (cosh r − 1)/(cosh r − cosh λ), r = 1/scale, for λ < r."""
    rate = 1 / scale

    def growth(at: float) -> float:
        ratio = math.sinh(at / 2) / math.sinh(rate / 2)
        return -math.log1p(-(ratio**2)) if ratio < 1 else math.inf

    return growth


def gaussian_growth(variance: float) -> Growth:
    """Return the growth of Gaussian noise, which no integer one of that parameter exceeds (Canonne et al. 2020)."""
    return lambda at: variance * at * at / 2
