"""What the sum of n discrete Gaussians costs, of variance σ² each: noise that n parties add, each its share.

The sum is not a discrete Gaussian. Its mass at z is e^{−z²/(2nσ²)} times a factor h(z) that is nearly constant:

**Lemma**: ln h moves by at most T = Σ_{k<n} ln((1 + 2θₖ)/(1 − 2θₖ)), θₖ = Σ_{m≥1} exp(−2π²σ²m²·k/(k+1)). *Proof* by
adding one party after the other. Where k of them have the factor g, the next sum is, over x, of e^{−x²/(2kσ²)}·g(x)·
e^{−(z−x)²/(2σ²)}, that is e^{−z²/(2(k+1)σ²)} times Σₓ g(x)·e^{−(x−c)²/(2s²)} with s² = σ²k/(k+1) and some c. By the
summation formula of Poisson, Σₓ e^{−(x−c)²/(2s²)} lies within s√(2π)·(1 ± 2θₖ), whatever c is, and is largest at c = 0.
So h lies between inf g and sup g, times that.

**Theorem**: D_α(Z + Δ ‖ Z) ≤ α·Δ²/(2nσ²) + T, at every real α > 1. *Proof*: the loss is at most T more than that of
e^{−z²/(2nσ²)}, which is linear in z. And E[e^{tZ}] ≤ e^{t²nσ²/2}, since for each party E[e^{tX}] is e^{t²σ²/2} times
the quotient of the sum above at c = tσ² and at c = 0. So what is left is the moment of a Gaussian loss. Coordinates add
up; one that does not move costs nothing.

It is the first bound of Kairouz, Liu, Steinke 2021, Proposition 14, with about 4 in place of their 10 before the sum.
As T ≤ αT, the sum is also ρ-zCDP with ρ = Δ²/(2nσ²) + T for each coordinate that moves.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sordino.arguments import rounded_down, rounded_up
from sordino.errors import UnsupportedError

from .curve import Floats
from .events import SummedDiscreteGaussian
from .rounding import lifted

_LEAST_VARIANCE = Fraction(1, 4)
_TERMS = 200
_ROOM = 1 + 1e-9  # exp(−x) has a relative error of x units of roundoff, and x ≤ 750
_LEAST = float(np.finfo(np.float64).tiny)


@lru_cache(maxsize=1024)
def unevenness(parties: int, variance: Fraction) -> Fraction:
    """Return T, rounded up; 0 for one party. Refuse noise that is so narrow that its steps show."""
    if parties == 1:
        return Fraction(0)
    if variance < _LEAST_VARIANCE:
        raise UnsupportedError(
            "a sum of discrete Gaussians is priced where each party's variance is at least 1/4 of a squared step; use "
            "a finer grid, or describe what one party alone adds",
            "SRD-C016",
        )
    counts = np.arange(1, min(parties - 1, _TERMS) + 1, dtype=np.float64)
    chances = np.maximum(np.exp(-2 * math.pi**2 * rounded_down(variance) * counts / (counts + 1)), _LEAST)
    thetas = chances / (1 - chances**3) * _ROOM
    terms = np.log1p(2 * thetas) - np.log1p(-2 * thetas)
    rest = max(parties - 1 - _TERMS, 0)  # each no more than the last one here
    return (Fraction(float(np.sum(terms))) + rest * Fraction(float(terms[-1]))) * Fraction(_ROOM)


def _gaussian_part(event: SummedDiscreteGaussian) -> Fraction:
    return event.sensitivity_squared / (2 * event.parties * event.variance)


def summed_rho(event: SummedDiscreteGaussian) -> Fraction:
    """Return Δ²/(2nσ²) + T for each coordinate that moves."""
    return _gaussian_part(event) + event.coordinates * unevenness(event.parties, event.variance)


def summed_renyi(event: SummedDiscreteGaussian, orders: Floats) -> Floats:
    """Return α·Δ²/(2nσ²) + T for each coordinate that moves."""
    uneven = rounded_up(event.coordinates * unevenness(event.parties, event.variance))
    return lifted(orders * rounded_up(_gaussian_part(event)) + uneven)
