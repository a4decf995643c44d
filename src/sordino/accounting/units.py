"""Prices and budgets as integers of a fixed small unit, so that sums are exact and a database can compare them.

ε, ρ and Rényi divergences are counted in units of 10⁻¹², δ in units of 10⁻¹⁸. Caps are rounded down, prices up, so that
whatever rounds makes a budget last shorter, never longer. Ten times 0.1 is exactly 1; a price of 10⁻¹⁷ is one unit.

Every value stays below 2⁶², so the sum of two fits a signed 64-bit column: a price that is too large to hold, or that
has no finite value, is `SATURATED`, which no cap can cover, and sums stop there (`total`) instead of wrapping around.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

from sordino.arguments import Number, rational
from sordino.errors import ArgumentError

PER_EPSILON = 10**12
"""Units in an ε, ρ or Rényi divergence of 1."""
PER_DELTA = 10**18
"""Units in a δ of 1."""
SATURATED = 2**62 - 1
"""A price beyond every cap."""
LARGEST_CAP = SATURATED - 1


def cap_rounded_down(name: str, value: Number, per: int) -> int:
    """Return the cap `value` in units, rounded down; refuse what is not positive, below one unit or beyond 64 bits."""
    exact = rational(name, value, above=0)
    units = math.floor(exact * per)
    if units < 1:
        raise ArgumentError(
            f"{name} is too small to be a budget: {_short(value)} is less than one unit ({decimal_text(1, per)})",
            "SRD-A002",
        )
    if units > LARGEST_CAP:
        raise ArgumentError(
            f"{name} is too large to be a budget: at most {LARGEST_CAP // per} can be held, not {_short(value)}; "
            "to go without a cap, use unlimited(reason)",
            "SRD-A002",
        )
    return units


def price_rounded_up(name: str, value: Number, per: int) -> int:
    """Return the price `value` in units, rounded up: at least one, and `SATURATED` where it cannot be held."""
    return units_rounded_up(rational(name, value, above=0), per)


def units_rounded_up(value: Fraction | float, per: int) -> int:
    """Return a cost that a curve computed in units, rounded up; exact for fractions and for floats as they are.

    Infinite costs are `SATURATED`. So is NaN: a cost that nobody knows must not be admitted. Zero stays zero.
    """
    if not value < math.inf:
        return SATURATED
    if value < 0:
        raise ArgumentError(f"a cost cannot be negative, but a curve gave {value}", "SRD-A002")
    numerator, denominator = value.as_integer_ratio()
    return min(-(-int(numerator) * per // int(denominator)), SATURATED)


def total(spent: int, charge: int) -> int:
    """Return `spent + charge`, held at `SATURATED`. In SQL: ``LEAST(spent + charge, 4611686018427387903)``."""
    return min(spent + charge, SATURATED)


def times(charge: int, count: int) -> int:
    """Return `charge` paid `count` times, held at `SATURATED`."""
    return min(charge * count, SATURATED)


def exact(units: int, per: int) -> Fraction:
    """Return the number that `units` stand for."""
    return Fraction(units, per)


def decimal_text(units: int, per: int) -> str:
    """Return `units` as the shortest exact decimal: ``decimal_text(100_000_000_000, PER_EPSILON)`` is ``'0.1'``."""
    if units >= SATURATED:
        return "more than any budget"
    whole, rest = divmod(units, per)
    digits = len(str(per)) - 1
    return f"{whole}.{rest:0{digits}d}".rstrip("0").rstrip(".")


def significant(value: Fraction, digits: int, rounding: str) -> Decimal:
    """Return `value` to so many significant digits, rounded as told (``decimal.ROUND_FLOOR`` or ``ROUND_CEILING``)."""
    context = Context(prec=digits, rounding=rounding)
    return context.normalize(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def _short(value: Number) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
