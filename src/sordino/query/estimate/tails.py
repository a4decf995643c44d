"""How far a weighted sum of noises reaches: the half width of every interval that is not asked elsewhere.

Noises here are whole-numbered: `DiscreteLaplace` and `RoundedGaussian`. Each is a continuous law, rounded:

* `RoundedGaussian` is X rounded, X normal, so it is at most 1/2 away from X;
* `DiscreteLaplace` of scale s is a monotone function of a continuous Laplace variable L of scale s, and at most
  1 − d away from it, d = s·ln(2/(1 + e^(−1/s))), which is below 1/2 and close to it for large s.
  Proof: P[Z ≥ k] = e^(−k/s)/(1 + e^(−1/s)) = P[L ≥ k − d] for k ≥ 1, so let Z = k for L in [k − d, k + 1 − d). ∎

`half_width` is the least half width, up to some thousandths. `envelope` is that of the continuous laws plus all the
rounding: a little wider, and a *norm* in the coefficients, because quantiles of linear functions of a symmetric
log-concave vector are (Meyer and Reisner 1991; Bobkov 2010: they are the support function of its floating body). So
chords of it lie above it, which `Ratio` relies on.

Nothing here is a privacy claim; error bars are, and err on the safe side.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import scipy

from sordino.arguments import Number, probability
from sordino.errors import ArgumentError
from sordino.noise import DiscreteLaplace, RoundedGaussian

from . import laplace_sums
from .convolution import Component, Floats, reach

Noise = DiscreteLaplace | RoundedGaussian
Noises = Sequence[tuple[Noise, float]]
"""Independent noises and the coefficients that they are multiplied by."""

_NOTHING = 1e-18  # a noise of this variance is 0 but for this probability (it is a whole number)
_ROUNDING_TOLERATED = 1e-3
_ABOVE_FLOATS = 1 + 1e-12
_FAINTEST = 1e-100  # a coefficient whose square and inverse are ordinary floats
_LARGEST_RATIO = 64  # of coefficients that are taken for multiples of one step


def half_width(noises: Noises, confidence: Number) -> float:
    """Return t such that |Σ cᵢZᵢ| ≤ t with probability `confidence` or more.

    **Guarantee**: never below the least such t, and above it by less than 1 %.

    >>> half_width([(DiscreteLaplace(10), 2.0)], 0.95)
    60.0
    """
    outside = 1 - probability("confidence", confidence)
    parts, unit = _gathered(noises, float(outside))
    return _half_width(parts, outside) * unit


def envelope(noises: Noises, confidence: Number) -> float:
    """Return a half width that is as safe as `half_width`, and no less than a norm in the coefficients that is safe.

    **Guarantee**: between coefficients c and d, whatever lies on the chord of the two envelopes is a safe half width.
    """
    outside = 1 - probability("confidence", confidence)
    return _one_envelope(noises, outside)


def _one_envelope(noises: Noises, outside: Fraction) -> float:
    parts, unit = _gathered(noises, float(outside))
    return _envelope(parts, outside) * unit


def envelopes(laws: Sequence[Noise], coefficients: Floats, confidence: Number) -> Floats:
    """Return the `envelope` for each column of coefficients (laws × columns)."""
    outside = 1 - probability("confidence", confidence)
    rest = float(outside)
    felt = [place for place, law in enumerate(laws) if law.variance > min(_NOTHING, rest / 1000)]
    sizes = np.abs(coefficients[felt])
    scales = [float(law.scale) for place in felt if isinstance(law := laws[place], DiscreteLaplace)]
    if len(scales) == len(felt) <= laplace_sums.MOST and (sizes.max(axis=0, initial=0.0) > _FAINTEST).all():
        rounding = np.array([_rounding(laws[place]) for place in felt]) @ sizes
        return np.asarray((laplace_sums.reaches(np.array(scales)[:, None] * sizes, rest) + rounding) * _ABOVE_FLOATS)
    columns = (list(zip(laws, column, strict=True)) for column in coefficients.T.tolist())
    return np.array([_one_envelope(column, outside) for column in columns])


def variance(noises: Noises) -> float:
    """Return the variance of the sum."""
    return sum(coefficient**2 * law.variance for law, coefficient in noises)


Gathered = tuple[tuple[Noise, float, int], ...]
"""Laws, sizes of coefficients, and how often each such pair occurs."""


def _gathered(noises: Noises, outside: float) -> tuple[Gathered, float]:
    """Return what is felt of the noises, and a unit, a power of two, in which their coefficients keep their digits.

    Squares and inverses of denormal coefficients leave the range of floats. So sizes are measured by the largest where
    it is extreme, and others are never less than a faint part of it: more noise, hence safe.
    """
    nothing = min(_NOTHING, outside / 1000)
    counted: Counter[tuple[Noise, float]] = Counter()
    for law, coefficient in noises:
        if type(law) not in _DISCRETE:
            raise ArgumentError(
                f"noise must be DiscreteLaplace or RoundedGaussian, not {type(law).__name__}", "SRD-A001"
            )
        if not math.isfinite(coefficient):
            raise ArgumentError("coefficients of noises must be finite", "SRD-A002")
        if coefficient and law.variance > nothing:
            counted[law, abs(float(coefficient))] += 1
    largest = max((size for _, size in counted), default=1.0)
    unit = 1.0 if _FAINTEST <= largest <= 1 / _FAINTEST else 2.0 ** (math.frexp(largest)[1] - 1)
    faint = largest / unit * _FAINTEST
    parts = [(law, max(size / unit, faint), times) for (law, size), times in counted.items()]
    return tuple(sorted(parts, key=lambda part: (type(part[0]).__name__, part[0].variance, part[1]))), unit


@lru_cache(maxsize=4096)
def _half_width(parts: Gathered, outside: Fraction) -> float:
    if not parts:
        return 0.0
    if len(parts) == 1 and parts[0][2] == 1:
        law, size, _ = parts[0]
        return law.tail(1 - outside) * size
    rounding = sum(times * size * _rounding(law) for law, size, times in parts)
    smooth = _envelope(parts, outside)
    if rounding <= _ROUNDING_TOLERATED * smooth:
        return smooth
    components = [_DISCRETE[type(law)](law, size, times) for law, size, times in parts]
    return min(smooth, reach(components, float(outside), _lattice([size for _, size, _ in parts])) * _ABOVE_FLOATS)


@lru_cache(maxsize=4096)
def _envelope(parts: Gathered, outside: Fraction) -> float:
    if not parts:
        return 0.0
    rest = float(outside)
    rounding = sum(times * size * _rounding(law) for law, size, times in parts)
    scales: list[float] = []
    normal = 0.0
    for law, size, times in parts:
        if isinstance(law, DiscreteLaplace):
            scales += [size * float(law.scale)] * times
        else:
            normal += times * size**2 * float(law.sigma_squared)
    if not scales:
        continuous = math.sqrt(normal) * -float(scipy.special.ndtri(rest / 2))
    elif not normal and len(scales) == 1:
        continuous = scales[0] * -math.log(rest)
    elif not normal and len(scales) <= laplace_sums.MOST:
        continuous = float(laplace_sums.reaches(np.array(scales)[:, None], rest)[0])
    else:
        continuous = reach(_continuous(scales, normal), rest)
    return (continuous + rounding) * _ABOVE_FLOATS


def _rounding(law: Noise) -> float:
    """Return how far the noise can be from its continuous law (see the module's proof)."""
    if isinstance(law, RoundedGaussian):
        return 0.5
    scale = float(law.scale)
    return 1 + scale * math.log1p(math.expm1(-1 / scale) / 2)


def _lattice(sizes: Sequence[float]) -> float | None:
    """Return a step of which all sizes are small multiples, if there is one; to twelve digits, as floats go."""
    shares = [Fraction(size / sizes[0]).limit_denominator(_LARGEST_RATIO) for size in sizes]
    close = all(abs(float(share) * sizes[0] / size - 1) < 1e-12 for share, size in zip(shares, sizes, strict=True))
    step = Fraction(1, math.lcm(*(share.denominator for share in shares)))
    return sizes[0] * float(step) if close and step.denominator <= _LARGEST_RATIO else None


def _discrete_laplace(law: Any, size: float, times: int) -> Component:
    scale = float(law.scale)
    total = 1 + math.exp(-1 / scale)
    nothing = 2 * math.log(-math.expm1(-1 / scale))

    def survival(x: Floats) -> Floats:
        return np.exp(-(np.floor(x / size) + 1) / scale) / total

    def log_moment(rate: Floats) -> Floats:
        turn = rate * size
        return nothing - np.log(-np.expm1(turn - 1 / scale)) - np.log(-np.expm1(-turn - 1 / scale))

    return Component(survival, log_moment, size**2 * law.variance, 1 / (scale * size), times)


def _rounded_gaussian(law: Any, size: float, times: int) -> Component:
    deviation = math.sqrt(float(law.sigma_squared))

    def survival(x: Floats) -> Floats:
        return np.asarray(scipy.special.ndtr(-(np.floor(x / size) + 0.5) / deviation))

    def log_moment(rate: Floats) -> Floats:  # the rounding adds 1/2 at most
        return (rate * size * deviation) ** 2 / 2 + rate * size / 2

    return Component(survival, log_moment, size**2 * law.variance, math.inf, times)


_DISCRETE: dict[type, Callable[[Any, float, int], Component]] = {
    DiscreteLaplace: _discrete_laplace,
    RoundedGaussian: _rounded_gaussian,
}


def _continuous(scales: Sequence[float], normal: float) -> list[Component]:
    parts = [_laplace(scale, times) for scale, times in Counter(scales).items()]
    return [*parts, _normal(math.sqrt(normal))] if normal else parts


def _laplace(scale: float, times: int) -> Component:
    def survival(x: Floats) -> Floats:
        return np.exp(-x / scale) / 2

    return Component(survival, lambda rate: -np.log1p(-((rate * scale) ** 2)), 2 * scale**2, 1 / scale, times)


def _normal(deviation: float) -> Component:
    def survival(x: Floats) -> Floats:
        return np.asarray(scipy.special.ndtr(-x / deviation))

    return Component(survival, lambda rate: (rate * deviation) ** 2 / 2, deviation**2, math.inf)
