"""The Mills ratio R(x) = Φ(−x)/φ(x) of the normal law, and how far it drops from x to x + w without cancellation.

R is the Laplace transform of e^{−t²/2} on t > 0, so −R′(x) = 1 − x·R(x), the transform of t·e^{−t²/2}, is completely
monotone: all its even derivatives are positive. A Gauss–Lobatto rule, whose remainder is a negative multiple of such a
derivative, therefore never falls below the integral of −R′, which is the drop.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from .curve import Floats

_SHORT = 0.05  # of max(1, x): drops over less are integrated, others subtracted
_FAR = 40.0  # from here on 1 − x·R(x) is taken from its alternating series, whose next term is below 1e-14 of it
_NODES = np.array([-1.0, -math.sqrt(3 / 7), 0.0, math.sqrt(3 / 7), 1.0])
_WEIGHTS = np.array([0.1, 49 / 90, 32 / 45, 49 / 90, 0.1]) / 2
_SERIES = (-10395.0, 945.0, -105.0, 15.0, -3.0, 1.0)


def mills(x: float) -> float:
    """Return R(x), to a few units of roundoff; infinite below −37."""
    return math.sqrt(math.pi / 2) * float(scipy.special.erfcx(x / math.sqrt(2)))


def drop(x: float, width: float) -> float:
    """Return R(x) − R(x + width), to one part in 10¹¹.

    **Assumes** x ≥ −width/2, as everywhere here. Over a short width the five-point rule is above the truth by less than
    one part in 10¹³: its remainder is 4·10⁻⁷·(w/2)⁸ of the eighth derivative of −R′, at most 400 near 0 and 10!/x¹⁰ far
    out. Over a longer one the difference is at least 1/25 of R(x), so next to no digits are lost.
    """
    if width > _SHORT * max(1.0, x):
        return mills(x) - mills(x + width)
    return width * float(_WEIGHTS @ _slope(x + (1 + _NODES) * (width / 2)))


def _slope(x: Floats) -> Floats:
    """Return −R′(x) = 1 − x·R(x), which is 1/x² − 3/x⁴ + 15/x⁶ − … far out, where the difference would cancel."""
    close = np.minimum(x, _FAR)
    near = 1 - close * (math.sqrt(math.pi / 2) * scipy.special.erfcx(close / math.sqrt(2)))
    inverse = (1 / np.maximum(x, _FAR)) ** 2
    return np.asarray(np.where(x < _FAR, near, inverse * np.polyval(_SERIES, inverse)))
