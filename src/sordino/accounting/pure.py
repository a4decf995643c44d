"""Pure ε-differential privacy: exact sums, and what pure ε implies in the other calculi.

**Source**: Dwork, McSherry, Nissim, Smith 2006 (sums); for sampling, Li, Qardaji, Su 2012, Theorem 1 (Poisson) and
Balle, Barthe, Gaboardi 2018, Theorem 9 (fixed size): ε becomes ln(1 + rate·(e^ε − 1)).
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from .curve import curve
from .event import Event
from .relation import parts
from .rounding import decimal_rounded_up

_TINY = Fraction(1, 10**12)
_HUGE = 1000


def epsilon(event: Event) -> Fraction:
    """Return the sum of the pure ε's of all that `event` runs.

    **Guarantee**: outside of the events' own failures (`approximate.own_delta`, 0 for most), the whole is ε-DP, also
    when each part is chosen after seeing the results of the earlier ones.
    """
    return sum((curve(part, "pure")(part) * count for part, count in parts(event).items()), Fraction(0))


def sampled(epsilon: Fraction, rate: Fraction) -> Fraction:
    """Return ln(1 + rate·(e^ε − 1)), rounded up: the pure ε of an ε-DP event on a random share `rate` of the units."""
    if rate == 1 or epsilon > _HUGE:
        return epsilon
    if epsilon <= _TINY:
        # ln(1+x) ≤ x and e^ε − 1 ≤ ε + ε² for ε ≤ 1
        return min(epsilon, rate * (epsilon + epsilon**2))
    return min(epsilon, decimal_rounded_up(lambda e, q: (1 + q * (e.exp() - 1)).ln(), epsilon, rate))


def rho(epsilon: Fraction) -> Fraction:
    """Return the least ρ such that every ε-DP event is ρ-zCDP: ε·tanh(ε/2), rounded up.

    **Proof.** An ε-DP pair is a post-processing of binary randomized response (Kairouz, Oh, Viswanath 2015, Theorem
    2.5), for which (α−1)·D_α = F((α−½)²) − F(¼) with F(v) = ln cosh(ε√v). F is concave, as tanh(x)/x decreases, so
    the difference is at most F′(¼)·((α−½)² − ¼) = ε·tanh(ε/2)·α(α−1). Equality holds in the limit α → 1. (It is below
    the ε²/2 of Bun and Steinke 2016, Proposition 1.4.)
    """
    if epsilon > _HUGE:
        return epsilon
    if epsilon <= _TINY:
        return epsilon**2 / 2
    return min(epsilon, epsilon**2 / 2, decimal_rounded_up(_tanh_form, epsilon))


def _tanh_form(epsilon: Decimal) -> Decimal:
    shrunk = (-epsilon).exp()
    return epsilon * (1 - shrunk) / (1 + shrunk)
