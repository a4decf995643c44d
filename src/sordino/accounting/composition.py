"""Composition of events that each have an (ε, δ): basic, advanced, Kairouz's closed form, and optimal (``optimal.py``).

Each takes an event whose parts all have a pure ε outside of their own failures; others are refused. Failures add up
first, and what is left of the target δ is given to the theorem; that loses no more than the square of δ against the
product form 1 − ∏(1 − δᵢ).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from sordino.arguments import Number, rounded_down, rounded_up

from . import pure
from .approximate import own_delta, remaining
from .curve import curve
from .event import Event
from .optimal import optimal_epsilon
from .relation import parts
from .rounding import decimal_rounded_up, lifted, log_rounded_down

_TINY = Fraction(1, 10**12)
_LARGEST = 700  # an ε whose drift is no less than itself


def claims(event: Event) -> list[tuple[Fraction, int]]:
    """Return (ε, how often) for all that `event` runs, leaving out what costs nothing but its failure."""
    priced = [(curve(part, "pure")(part), count) for part, count in parts(event).items()]
    return [(epsilon, count) for epsilon, count in priced if epsilon > 0]


def basic(event: Event) -> tuple[Fraction, Fraction]:
    """Return the sums of all ε and of all δ, exactly (Dwork, Kenthapadi, McSherry, Mironov, Naor 2006, Theorem 1)."""
    return sum((epsilon * count for epsilon, count in claims(event)), Fraction(0)), own_delta(event)


def advanced(event: Event, delta: Number) -> float:
    """Return ε by advanced composition, rounded up; never more than the basic sum.

    Σ εᵢ(e^{εᵢ} − 1) + √(2·ln(1/δ)·Σ εᵢ²). **Source**: Dwork, Rothblum, Vadhan 2010, Theorem III.3, whose proof
    (Azuma's inequality) holds for different εᵢ as it stands. Kept because others quote it; `kairouz` is never worse.
    """
    return _drift_and_spread(event, delta, _azuma_drift)


def kairouz(event: Event, delta: Number) -> float:
    """Return ε by the closed form of Kairouz, Oh, Viswanath 2015, Theorem 3.5 (different εᵢ), rounded up.

    Σ εᵢ·tanh(εᵢ/2) + √(2·Σ εᵢ²·ln(1/δ)), or the same with ln(e + √(Σ εᵢ²)/δ), or the basic sum, whichever is least.
    """
    return _drift_and_spread(event, delta, pure.rho, alternative=True)


def optimal(event: Event, delta: Number) -> float:
    """Return the least ε that holds for all events with these (ε, δ)'s, rounded up.

    Exact for equal ε's (Kairouz, Oh, Viswanath 2015, Theorem 3.3) and for those on a common lattice that is not too
    fine; else each ε is first rounded up to a lattice (Murtagh, Vadhan 2016, Theorem 1.7): see ``optimal.py`` for by
    how much. Never more than `kairouz`.
    """
    left = remaining(event, delta)
    cap = kairouz(event, delta) if left else rounded_up(basic(event)[0])
    priced = claims(event)
    return cap if not left or not priced else min(cap, optimal_epsilon(priced, rounded_down(left), cap))


def _azuma_drift(epsilon: Fraction) -> Fraction:
    """Return ε·(e^ε − 1), rounded up."""
    if epsilon <= _TINY:
        return epsilon**2 + epsilon**3  # e^ε − 1 ≤ ε + ε² for ε ≤ 1
    return decimal_rounded_up(lambda e: e * (e.exp() - 1), epsilon)


def _drift_and_spread(
    event: Event, delta: Number, drift: Callable[[Fraction], Fraction], alternative: bool = False
) -> float:
    """Return Σ drift(εᵢ) + √(2·ln(1/δ)·Σ εᵢ²); the sums are exact, for a square that is rounded to 0 would be free."""
    left = remaining(event, delta)
    total = rounded_up(basic(event)[0])
    priced = claims(event)
    if left == 0 or any(epsilon > _LARGEST for epsilon, _ in priced):
        return total
    spread = math.sqrt(rounded_up(sum((epsilon**2 * count for epsilon, count in priced), Fraction(0))))
    log_inverse = -log_rounded_down(left)
    if alternative and log_inverse < 700:
        log_inverse = min(log_inverse, math.log(math.e + spread * math.exp(log_inverse)))
    mean = rounded_up(sum((drift(epsilon) * count for epsilon, count in priced), Fraction(0)))
    return min(total, lifted(mean + math.sqrt(2 * log_inverse) * spread))
