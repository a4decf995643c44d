"""The exact curve of Gaussian noise: no grid is needed where nothing but Gaussian noise was added.

**Source**: Balle, Wang 2018, Theorem 8: δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ). With the Mills ratio R(x) = Φ(−x)/φ(x)
this is φ(x)·(R(x) − R(y)) for x = ε/μ − μ/2, y = ε/μ + μ/2, because φ(x) = e^ε·φ(y). All is done in logarithms, so that
no δ is too small.

**Rounding**: δ falls with x, so x is moved by more than it can be off, a few units of roundoff of y; the rest errs by
less than one part in 10¹⁰ (``mills.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import scipy

from sordino.accounting.mills import drop, mills
from sordino.arguments import rounded_down, rounded_up

_ROUNDING = 2.0**-36
_SEARCH = 2.0**-40  # how far off, relatively, a root may be
_EPS = float(np.finfo(np.float64).eps)
_LARGEST = 1e100  # an ε beyond which squares overflow


def delta_bounds(mu: float, epsilon: Fraction) -> tuple[float, float]:
    """Return floats not above and not below δ(ε) of Gaussian noise with the sensitivity μ in standard deviations."""
    if mu == 0:
        return 0.0, 0.0
    low = math.exp(_log_delta(mu, rounded_up(epsilon), -1))
    high = math.exp(_log_delta(mu, min(rounded_down(epsilon), _LARGEST), 1))
    return max(0.0, math.nextafter(low, 0.0)), min(1.0, math.nextafter(high, 1.0))


def epsilon_bounds(mu: float, delta: Fraction) -> tuple[float, float]:
    """Return floats not above and not below ε(δ) of the same noise, and at least 0."""
    if mu == 0:
        return 0.0, 0.0
    target = _log(delta)
    return (
        _crossing(lambda epsilon: _log_delta(mu, epsilon, -1), mu, target) * (1 - _SEARCH),
        _crossing(lambda epsilon: _log_delta(mu, epsilon, 1), mu, target) * (1 + _SEARCH),
    )


def _log_delta(mu: float, epsilon: float, direction: int) -> float:
    """Return ln δ(ε), rounded up or down by all that can be off."""
    x = epsilon / mu - mu / 2 - direction * 2 * _EPS * (epsilon / mu + mu)
    if math.isinf(mills(x)):
        # so far to the left that δ is 1 up to a tail that float64 does not see, less e^ε·Φ(−y)
        return 0.0 if direction > 0 else math.log1p(-2 * math.exp(-x * x / 2))
    gap = drop(x, mu)
    off = direction * (_ROUNDING + 4 * _EPS * x * x)
    return min(0.0, math.log(gap) - x * x / 2 - math.log(2 * math.pi) / 2 + off) if gap > 0 else -math.inf


def _log(probability: Fraction) -> float:
    """Return the logarithm, good to a few units of roundoff of itself and of 1."""
    if 2 * probability > 1:
        return math.log1p(-float(1 - probability))
    if probability > Fraction(1, 10**300):
        return math.log(float(probability))
    return -math.log(probability.denominator // probability.numerator)


def _crossing(curve: Callable[[float], float], mu: float, target: float) -> float:
    """Return where the decreasing `curve` falls to `target`."""
    if curve(0.0) <= target:
        return 0.0
    high = mu * mu / 2 + mu
    while curve(high) > target:
        high *= 2
    # brentq takes no infinite values
    below = target - 1.0
    return float(
        scipy.optimize.brentq(
            lambda x: max(curve(x), below) - target, 0.0, high, xtol=1e-15 * high, rtol=1e-14, maxiter=500
        )
    )
