"""Group privacy: what a guarantee for one unit says about k units that change together (a family).

Where the event is at hand, recalculating it under ``bound.group(k)`` is never worse; these are for bare guarantees.
"""

from __future__ import annotations

import math
from fractions import Fraction

from sordino.arguments import Number, rational, rounded_up, whole

from .approximate import target
from .rounding import lifted


def approximate(epsilon: Number, delta: Number, size: int) -> tuple[Fraction, float]:
    """Return (kε, δ·(e^{kε} − 1)/(e^ε − 1)), the second rounded up and at most 1.

    **Proof.** By a chain of k neighbours: the i-th link's δ is multiplied by e^{(i−1)ε}. Vadhan 2017, "The complexity
    of differential privacy", Lemma 2.2 states it with the larger k·e^{kε}·δ.
    """
    exact, small = rational("epsilon", epsilon, least=0), target(delta)
    k = whole("size", size, least=1)
    if small == 0:
        return k * exact, 0.0
    one = rounded_up(exact)
    if k * exact > 700:
        return k * exact, 1.0
    factor = math.expm1(k * one) / math.expm1(one) if one else rounded_up(Fraction(k))
    return k * exact, min(1.0, lifted(rounded_up(small) * factor))


def concentrated(rho: Number, size: int) -> Fraction:
    """Return k²·ρ (Bun, Steinke 2016, Proposition 1.9)."""
    return rational("rho", rho, least=0) * whole("size", size, least=1) ** 2
