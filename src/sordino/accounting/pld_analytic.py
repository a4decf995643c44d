"""The exact curve of Gaussian noise: no grid is needed where nothing but Gaussian noise was added.

**Source**: Balle, Wang 2018, Theorem 8: δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ). With the Mills ratio R(x) = Φ(−x)/φ(x)
this is φ(x)·(R(x) − R(y)) for x = ε/μ − μ/2, y = ε/μ + μ/2, because φ(x) = e^ε·φ(y).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq
from scipy.special import erfcx

_ROUNDING = 2.0**-46


def delta_bounds(mu: float, epsilon: float) -> tuple[float, float]:
    """Return floats not above and not below δ(ε) of Gaussian noise with the sensitivity μ in standard deviations."""
    x, y = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    first, second = _mills(x), _mills(y)
    if math.isinf(first):
        # so far to the left that δ is 1 up to a tail that float64 does not see, less e^ε·Φ(−y)
        return 1.0 - 2 * math.exp(-x * x / 2), 1.0
    density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    # an argument off by a unit of roundoff changes φ(x) by about x² of them
    error = _ROUNDING * (1 + x * x) * first
    return max(0.0, density * (first - second - error)), min(1.0, density * (first - second + error))


def epsilon_bounds(mu: float, delta: float) -> tuple[float, float]:
    """Return floats not above and not below ε(δ) of the same noise, and at least 0."""
    return (
        _crossing(lambda epsilon: delta_bounds(mu, epsilon)[0], mu, delta) * (1 - _ROUNDING),
        _crossing(lambda epsilon: delta_bounds(mu, epsilon)[1], mu, delta) * (1 + _ROUNDING),
    )


def _crossing(curve: Callable[[float], float], mu: float, delta: float) -> float:
    """Return where the decreasing `curve` falls to `delta`."""
    if curve(0.0) <= delta:
        return 0.0
    high = mu * mu / 2 + mu
    while curve(high) > delta:
        high *= 2
    return float(brentq(lambda epsilon: curve(epsilon) - delta, 0.0, high, xtol=1e-15 * high, rtol=1e-14, maxiter=500))


def _mills(x: float) -> float:
    return math.sqrt(math.pi / 2) * float(erfcx(x / math.sqrt(2)))
