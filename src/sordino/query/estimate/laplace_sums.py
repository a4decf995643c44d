"""How far a sum of a few independent Laplace variables reaches, in closed form and for many sums at once.

For distinct scales bᵢ, P[|ΣLᵢ| > t] = Σᵢ cᵢe^(−t/bᵢ) with cᵢ = Πⱼ bᵢ²/(bᵢ² − bⱼ²), j ≠ i: the characteristic function
Π 1/(1 + bᵢ²s²) taken apart into partial fractions.

**Guarantee**: never below the least t with P[|ΣLᵢ| > t] ≤ `outside`, and above it by less than 1 %.
**Proof**. Scales that are close are first moved apart, upwards, by at most 0.6 % (of four equal ones): a larger scale
only makes a symmetric unimodal sum reach farther (Birnbaum 1948, peakedness). The sum is log-concave, so the logarithm
of P[|ΣLᵢ| > t] is concave in t, and each step of Newton's method, from anywhere, lands where the probability is
`outside` or less: it stays there, and comes closer. As P[|ΣLᵢ| > t] is at least e^(−t/b) for the largest scale b
(peakedness again), and every term is at most |cᵢ| times that, floats err by 2⁻⁵⁰·Σ|cᵢ| relatively, which is below 10⁻⁷;
that much is added. ∎
"""

from __future__ import annotations

import math

import numpy as np

from .convolution import Floats

MOST = 4
"""More scales than this are not taken apart: the coefficients would be too large for floats."""

_APART = 1.002
_LEAST = 1e-6  # of the largest scale
_STEPS = 40
_CLOSE = 1e-7
_FLOAT_ERROR = 1e-7


def reaches(scales: Floats, outside: float) -> Floats:
    """Return t for each column of `scales` (at most `MOST` rows; zeros are allowed, but not all of a column)."""
    apart = _moved_apart(scales)
    largest = apart[-1]
    coefficients = _coefficients(apart)
    aim = math.log(outside)
    reach = -largest * aim
    for _ in range(_STEPS):
        terms = coefficients * np.exp(-reach / apart)
        above = terms.sum(axis=0)
        further = (np.log(above) - aim) * above / (terms / apart).sum(axis=0)
        reach = reach + further
        if np.all(np.abs(further) <= _CLOSE * reach):
            break
    return np.asarray(reach + _FLOAT_ERROR * (reach + largest))


def _moved_apart(scales: Floats) -> Floats:
    """Return the scales of each column in rising order, each above the last by two thousandths or more."""
    ordered = np.sort(scales, axis=0)
    np.maximum(ordered[0], _LEAST * ordered[-1], out=ordered[0])
    for place in range(1, len(ordered)):
        np.maximum(ordered[place], _APART * ordered[place - 1], out=ordered[place])
    return ordered


def _coefficients(scales: Floats) -> Floats:
    squares = (scales / scales[-1]) ** 2
    result: Floats = np.ones_like(squares)
    for place in range(len(squares)):
        for other in range(len(squares)):
            if other != place:
                result[place] *= squares[place] / (squares[place] - squares[other])
    return result
