"""Gaussian differential privacy (Dong, Roth, Su 2022): μ² adds up; exact for unsampled Gaussian noise, and only for it.

**Sources**: Balle, Wang 2018, Theorem 8 (δ as a function of ε) and Algorithm 1 (analytic calibration); Dong, Roth, Su
2022, Corollary 3.3 (composition). Never used here by a central limit: sampled or other noise is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import scipy

from sordino.arguments import Number, probability, rational, rounded_down, rounded_up
from sordino.errors import ArgumentError

from .approximate import own_delta, remaining, target
from .curve import Floats, curve
from .event import Event
from .mills import drop, mills
from .relation import parts
from .rounding import deltas_rounded_up, lifted

_EPS = float(np.finfo(np.float64).eps)
_LEAST = float(np.finfo(np.float64).tiny)
_FARTHEST = 38.0  # in deviations: beyond it every δ is below the least float
_MOST_MU = 1e6  # beyond it the digits of x are gone, and so is privacy
_MOST_EPSILON = 1e100


def mu_squared(event: Event) -> Fraction:
    """Return the exact sum of sensitivity²/variance over all Gaussians that `event` runs."""
    return sum((curve(part, "gaussian")(part) * count for part, count in parts(event).items()), Fraction(0))


def mu(event: Event) -> float:
    """Return μ, rounded up: telling neighbours apart is at least as hard as telling N(0, 1) from N(μ, 1)."""
    return math.sqrt(rounded_up(mu_squared(event))) * (1 + 2 * _EPS)


def epsilon(event: Event, delta: Number) -> float:
    """Return the exact ε of Gaussian noise at δ, rounded up."""
    left = remaining(event, delta)
    if left == 0:
        raise ArgumentError("delta must exceed the events' own: Gaussian noise is never purely private", "SRD-A003")
    return epsilon_of(mu(event), _below(left))


def delta(event: Event, epsilon: Number) -> float:
    """Return the exact δ of Gaussian noise at ε, rounded up."""
    at = min(rounded_down(rational("epsilon", epsilon, least=0)), _MOST_EPSILON)
    return deltas_rounded_up(rounded_up(own_delta(event)), delta_of(mu(event), at))


def delta_of(mu: float, epsilon: float) -> float:
    """Return Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ), rounded up, to one part in 10¹⁰ for every μ up to 1000.

    With x = ε/μ − μ/2 and the Mills ratio R this is φ(x)·(R(x) − R(x + μ)), since e^ε·φ(x + μ) = φ(x). It falls with x,
    so x is rounded down by more than it can be off; what is left errs by less than the lift (``mills.py``). Never 0
    unless μ is: that would claim pure privacy.
    """
    if not 0 < mu < _MOST_MU:
        return 0.0 if mu == 0 else 1.0
    x = epsilon / mu - mu / 2 - 2 * _EPS * (epsilon / mu + mu)
    if x > _FARTHEST:
        return _LEAST
    density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    if x < -5:
        # the second term is at most 2e-6: no cancellation
        return min(1.0, lifted(float(scipy.special.ndtr(-x)) - density * mills(x + mu)))
    return min(1.0, max(lifted(density * drop(x, mu)), _LEAST))


def epsilon_of(mu: float, delta: float) -> float:
    """Return the least ε (to one part in 10¹²) with ``delta_of(mu, ε) <= delta``."""
    if delta_of(mu, 0.0) <= delta:
        return 0.0
    if not mu < _MOST_MU or delta <= _LEAST:
        return math.inf
    high = 1.0
    while delta_of(mu, high) > delta:
        high *= 2
    return _bisect(lambda e: delta_of(mu, e) <= delta, 0.0, high)


def analytic_sigma(epsilon: Number, delta: Number) -> float:
    """Return the least σ, rounded up, with which Gaussian noise on an answer of sensitivity 1 is (ε, δ)-DP.

    >>> round(analytic_sigma(1, "1e-5"), 4)
    3.7306
    """
    at = _below(rational("epsilon", epsilon, above=0))
    left = _below(target(probability("delta", delta)))
    high = 1.0
    while delta_of(1 / high, at) > left:
        high *= 2
    low = high
    while delta_of(1 / low, at) <= left:
        low /= 2
    return _bisect(lambda sigma: delta_of(1 / sigma, at) <= left, low, high)


def classic_sigma(epsilon: Number, delta: Number) -> float:
    """Return √(2·ln(1.25/δ))/ε, only to compare: it is proven for ε ≤ 1 alone and is never the least σ.

    **Source**: Dwork, Roth 2014, Theorem A.1. Above ε = 1 it may claim more privacy than there is.
    """
    exact, small = rational("epsilon", epsilon, above=0), probability("delta", delta)
    return math.sqrt(2 * math.log(1.25 / float(small))) / float(exact)


def trade_off(mu: float, false_positives: Floats) -> Floats:
    """Return the least false negative rate of any attack with the given false positive rates: Φ(Φ⁻¹(1−x) − μ)."""
    return np.asarray(
        scipy.special.ndtr(-scipy.special.ndtri(np.asarray(false_positives, dtype=np.float64)) - mu)
    )  # 1 − x would lose a small x


def _bisect(safe: Callable[[float], bool], low: float, high: float) -> float:
    """Return the safe end of an interval of relative width 10⁻¹², given that `high` is safe and `low` is not."""
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if safe(middle) else (middle, high)
    return high


def _below(value: Fraction) -> float:
    return math.nextafter(rounded_down(value), 0.0)
