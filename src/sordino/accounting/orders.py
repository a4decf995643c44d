"""Which Rényi orders an (ε, δ) filter watches, what part of δ each one gets, and the cap that follows from it.

**Conversion** (Canonne, Kamath, Steinke 2020, Proposition 12): if the Rényi divergence of order α between the outputs
on neighbours is at most c, in both directions, they are (ε, δ)-close for

    δ = exp((α − 1)(c − ε)) · (1 − 1/α)^α / (α − 1),

so a cap c = ε + ln(α/(α − 1)) + (ln δ + ln α)/(α − 1) guarantees (ε, δ). All of it is computed with 50 decimal digits
and rounded to whole units in the direction that each name says.

**Choice.** A union bound over orders needs their δ's to add up to the budget's (``filter.py``), but not to be equal.
Half goes to the *principal* order: the one that is best for Gaussian noise, and so for whatever adds up like it. The
others stand at ratios of 1.5 around it, up to 4096, and share the other half so that order α gets δ in proportion to
exp(−0.02·ε·(α − 1)): a high order needs next to none, because its cap falls by only ln(1/share)/(α − 1). Orders that
could admit nothing are left out. What watching many orders costs, in the amount of Gaussian noise that is admitted
against the single best order chosen with hindsight: 3 to 9 % for ε from 0.1 to 10 and δ from 10⁻⁹ to 10⁻⁵ (with δ/K at
each of the same K orders it would be 13 to 28 %).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    localcontext,
)
from fractions import Fraction

import numpy as np

from .units import LARGEST_CAP, PER_EPSILON

HIGHEST_ORDER = 4096
"""Beyond it nothing is gained: order ∞, which needs no δ, is within ln(1/δ)/4096 of it."""
LOWEST_ORDER = 1.25
_RATIO = 1.5
_DECAY = 0.02
_PRINCIPAL_SHARE = 0.5
_LEAST_WEIGHT = 1e-30
_SLACK = Fraction(2**40 - 1, 2**40)  # shares are floats: together they stay below 1 by more than they round


@contextmanager
def fifty_digits() -> Iterator[None]:
    """Compute with decimals of 50 digits inside; every rounding error is then far below one unit.

    Nothing of the caller's own context is kept: its exponent limits or traps must not move a cap.
    """
    traps = [InvalidOperation, DivisionByZero, Overflow]
    with localcontext(Context(50, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX, capitals=1, clamp=0, flags=[], traps=traps)):
        yield


def decimal(value: Fraction) -> Decimal:
    """Return `value` to the digits of the context."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def cap_rounded_down(order: float, epsilon: Fraction, delta: Fraction) -> int:
    """Return the largest divergence of `order`, in units, that guarantees (`epsilon`, `delta`); it may be negative."""
    with fifty_digits():
        units = (decimal(epsilon) - _offset(order, delta)) * PER_EPSILON
        return min(int(units.to_integral_value(ROUND_FLOOR)) - 1, LARGEST_CAP)


def epsilon_rounded_up(order: float, divergence: int, delta: Fraction) -> Fraction:
    """Return an ε, of whole units, for which a divergence of `order`, in units, guarantees (ε, `delta`)."""
    with fifty_digits():
        units = divergence + _offset(order, delta) * PER_EPSILON
        return Fraction(max(int(units.to_integral_value(ROUND_CEILING)) + 1, 0), PER_EPSILON)


def _offset(order: float, delta: Fraction) -> Decimal:
    """Return ε − c of the conversion at `order` and `delta`."""
    above = Decimal(order) - 1
    return (above / Decimal(order)).ln() - (decimal(delta).ln() + Decimal(order).ln()) / above


def delta_rounded_up(order: float, cap: int, epsilon: Fraction) -> Fraction:
    """Return the δ that a divergence of `cap` units at `order` leaves at `epsilon`; at most 1, at least e⁻¹⁰⁰⁰."""
    with fifty_digits():
        alpha = Decimal(order)
        exponent = (alpha - 1) * (Decimal(cap) / PER_EPSILON - decimal(epsilon))
        logarithm = exponent + alpha * (1 - 1 / alpha).ln() - (alpha - 1).ln()
        return Fraction(min(max(logarithm, Decimal(-1000)), Decimal(0)).exp()) * (1 + Fraction(1, 10**35))


def orders_and_caps(epsilon: Fraction, delta: Fraction) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Return the finite orders for an (ε, δ) filter, ascending, and the cap of each in units.

    Both are empty where no finite order can admit anything.
    """
    principal = _principal(float(epsilon), float(delta))
    orders = _spread(principal)
    while principal in orders:
        caps = [
            cap_rounded_down(order, epsilon, delta * share)
            for order, share in zip(orders, _shares(orders, principal, float(epsilon)), strict=True)
        ]
        if min(caps) > 0:
            return tuple(orders), tuple(caps)
        orders = [order for order, cap in zip(orders, caps, strict=True) if cap > 0]
    return (), ()


def _principal(epsilon: float, delta: float) -> float:
    """Return the whole order at which the cap leaves most room for a divergence that grows linearly with the order."""
    alpha = np.arange(2.0, HIGHEST_ORDER + 1)
    room = epsilon - np.log1p(-1 / alpha) + (math.log(delta * _PRINCIPAL_SHARE) + np.log(alpha)) / (alpha - 1)
    return float(alpha[np.argmax(room / alpha)])


def _spread(principal: float) -> list[float]:
    """Return orders at ratios of 1.5 around the principal one: whole numbers, or quarters below 4."""
    steps = range(-math.ceil(math.log(8 * principal, _RATIO)), math.ceil(math.log(HIGHEST_ORDER, _RATIO)))
    spread = {_rounded(1 + (principal - 1) * _RATIO**step) for step in steps}
    spaced = {order for order in spread if LOWEST_ORDER <= order <= HIGHEST_ORDER / 1.25}
    return sorted(spaced | {principal, float(HIGHEST_ORDER)})


def _rounded(order: float) -> float:
    return float(round(order)) if order >= 4 else round(order * 4) / 4


def _shares(orders: list[float], principal: float, epsilon: float) -> list[Fraction]:
    """Return the part of δ that each order gets; together at most 1."""
    weights = np.exp(-_DECAY * epsilon * (np.array(orders) - 1)).clip(min=_LEAST_WEIGHT)
    place = orders.index(principal)
    weights[place] = 0.0
    weights[place] = weights.sum() * _PRINCIPAL_SHARE / (1 - _PRINCIPAL_SHARE) or 1.0
    return [Fraction(float(weight)) * _SLACK for weight in weights / weights.sum()]
