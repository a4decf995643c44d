"""Pure ε-differential privacy: exact sums, and what pure ε implies in the other calculi.

**Source**: Dwork, McSherry, Nissim, Smith 2006 (sums); for sampling, Li, Qardaji, Su 2012, Theorem 1 (Poisson) and
Balle, Barthe, Gaboardi 2018, Theorem 9 (fixed size): ε becomes ln(1 + rate·(e^ε − 1)).
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from sordino.arguments import Number, rational, rounded_up
from sordino.errors import UnsupportedError

from .approximate import own_delta, remaining
from .curve import curve
from .event import Event
from .relation import parts
from .rounding import decimal_rounded_up, deltas_rounded_up, lifted

_TINY = Fraction(1, 10**12)
_HUGE = 1000
_SMALL = Decimal("1e-12")


def total(event: Event) -> Fraction:
    """Return the sum of the pure ε's of all that `event` runs, exactly.

    **Guarantee**: outside of the events' own failures (`approximate.own_delta`, 0 for most), the whole is ε-DP, also
    when each part is chosen after seeing the results of the earlier ones.
    """
    return sum((curve(part, "pure")(part) * count for part, count in parts(event).items()), Fraction(0))


def known(event: Event) -> Fraction | None:
    """Return `total`, or None where something that `event` runs has no pure ε."""
    try:
        return total(event)
    except UnsupportedError:
        return None


def epsilon(event: Event, delta: Number) -> float:
    """Return the sum of the pure ε's, rounded up, if `delta` covers the events' own failures; it needs no more."""
    remaining(event, delta)
    return rounded_up(total(event))


def delta(event: Event, epsilon: Number) -> float:
    """Return the least δ that pure ε's which add up to E imply at `epsilon`, rounded up: (e^E − e^ε)/(e^E + 1).

    The events' own failures add to it. It is the curve of randomized response, of which every E-DP event is a
    post-processing (Kairouz, Oh, Viswanath 2015, Theorem 2.5).
    """
    at, most = rational("epsilon", epsilon, least=0), total(event)
    own = rounded_up(own_delta(event))
    if at >= most:
        return own
    gap, size = rounded_up(most - at), rounded_up(most)
    return deltas_rounded_up(own, lifted(-math.expm1(-gap) / (1 + math.exp(-size))))


def sampled(epsilon: Fraction, rate: Fraction) -> Fraction:
    """Return ln(1 + rate·(e^ε − 1)), rounded up: the pure ε of an ε-DP event on a random share `rate` of the units."""
    if rate == 1 or epsilon > _HUGE:
        return epsilon
    if epsilon <= _TINY:
        # ln(1+x) ≤ x and e^ε − 1 ≤ ε + ε² for ε ≤ 1
        return min(epsilon, rate * (epsilon + epsilon**2))
    return min(epsilon, decimal_rounded_up(lambda e, q: _log_of_1_plus(q * (e.exp() - 1)), epsilon, rate))


def _log_of_1_plus(x: Decimal) -> Decimal:
    """Return ln(1 + x); a small x, of which 1 + x would lose the digits, by the series, which is then above it."""
    return (1 + x).ln() if x > _SMALL else x - x**2 / 2 + x**3 / 3


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
