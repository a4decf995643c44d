"""A sequence that is known to fall, under noise: the nearest falling sequence, and a band around it.

Neither needs data beyond the noisy sequence. **The fit** is the falling sequence nearest to it in squares, a mean in
each of its blocks; long stretches of equal values so lose nearly all noise.
**The band**: the true value at i is at most the mean of any window before it, and at least that of any behind it. The
sequence is cut into windows of 1, of 2, of 4, … places. Means of noise in these are beyond a public width with
probabilities that are 1 − confidence together. **Guarantee**: with probability at least `confidence`, the band holds
all true values at once. The widths are Chernoff's, from the law of the noise.
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
    low, high = np.zeros(size), np.full(size, np.inf)
    lengths = [2**power for power in range(size.bit_length())]
    for length in lengths:
        windows = size // length
        width = _width(growth, most, length, (1 - confidence) / (2 * len(lengths) * windows))
        means = noisy[: windows * length].reshape(windows, length).mean(axis=1)
        ends = np.arange(1, windows + 1) * length - 1
        high[ends] = np.minimum(high[ends], means + width)
        begins = ends - length + 1
        low[begins] = np.maximum(low[begins], means - width)
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
