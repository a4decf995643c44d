"""How far the noise of several servers reaches together: the radius that holds the sum of independent draws.

*Discrete Laplace*: each draw is cut to whole multiples of c, towards zero, which loses at most c − 1 of each; the law
of the sum of what is left is a power of a Fourier transform. c is 1 up to a scale of 512, and 1/256 of the scale or
less beyond, so that the radius is too large by no more than some parts in a thousand.
*Discrete Gaussian*: from a variance of 4 on the sum of m draws is, but for a factor of 1 ± 10⁻¹², a discrete Gaussian
of m times the variance (the lemma of ``accounting.summed_gaussian``); below, a power of a Fourier transform, c = 1.

Floats suffice: the radius is an error bar, never a part of a privacy claim. Where what is to be left outside is too
small for them, the bound is m times the radius of one draw, each at its share of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.arguments import Number, probability

_LEAST_OUTSIDE = Fraction(1, 10**9)
_SMOOTH = 4
_FINE = 512
_CELLS = 256
_FAR = 60.0  # e^−60 is nothing beside what floats can tell
_ALLOWANCE = 1e-12


def reach(law: noise.DiscreteLaplace | noise.DiscreteGaussian, servers: int, confidence: Number) -> int:
    """Return t with P[|X₁ + … + Xₘ| ≤ t] ≥ `confidence` for m independent draws: the least, or a little more."""
    outside = 1 - probability("confidence", confidence)
    if outside < _LEAST_OUTSIDE:
        return servers * law.tail(1 - outside / servers)
    if isinstance(law, noise.DiscreteLaplace):
        return _laplace(float(law.scale), servers, float(outside))
    if law.sigma_squared >= _SMOOTH:
        return noise.DiscreteGaussian(law.sigma_squared * servers).tail(1 - outside * (1 - Fraction(1, 10**6)))
    variance = float(law.sigma_squared)
    width = math.ceil(math.sqrt(2 * _FAR * variance)) + 1
    weights = np.exp(-(np.arange(width + 1) ** 2) / (2 * variance))
    return _radius(weights, servers, float(outside))


def _laplace(scale: float, servers: int, outside: float) -> int:
    cell = 1 if scale <= _FINE else int(scale / _CELLS)
    at_least = _tail_of(scale)(cell * np.arange(math.ceil(_FAR * scale / cell) + 1))
    # One side of the law of what is left: all of zero, then half of each |k| > 0.
    weights = (at_least[:-1] - at_least[1:]) / 2
    weights[0] *= 2
    return cell * _radius(weights, servers, outside) + servers * (cell - 1)


def _tail_of(scale: float) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
    """Return P[|X| ≥ t] = 2r^t/(1 + r) for t ≥ 1, r = e^(−1/scale)."""
    return lambda least: np.where(least == 0, 1.0, 2 * np.exp(-least / scale) / (1 + math.exp(-1 / scale)))


def _radius(weights: NDArray[np.float64], servers: int, outside: float) -> int:
    """Return the least t that holds the sum, from one side of a symmetric law (not normalised)."""
    span = servers * (len(weights) - 1)
    circle = np.zeros(1 << (2 * span + 1).bit_length())
    circle[: len(weights)] = weights
    circle[-len(weights) + 1 :] = weights[:0:-1]
    law = np.fft.irfft(np.fft.rfft(circle / circle.sum()) ** servers, len(circle))
    beyond = 2 * np.cumsum(law[span:0:-1])[::-1]  # P[|sum| > t] at t = 0, 1, …
    return int(np.argmax(np.append(beyond, 0.0) <= outside * (1 - _ALLOWANCE) - _ALLOWANCE))
