"""Rounding towards more cost: how irrational prices become exact fractions or floats that do not understate.

Exact prices are computed in 60-digit decimals (``exp`` and ``ln`` of `decimal` are correctly rounded) and lifted by one
part in 10²⁵, which is more than all rounding in the short formulas that use them. Float prices are lifted by 2⁻³⁶
(one part in 7·10¹⁰), some 300,000 times the unit roundoff: more than the relative error of any curve of this room,
each of which is written as a sum of terms of one sign or carries an explicit allowance for its cancellation.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import rounded_down

T = TypeVar("T", float, NDArray[np.float64])

LIFT = 1 + 2.0**-36
_DIGITS = 60
_LIFT_EXACT = Decimal(1) + Decimal(10) ** -25
_KEPT = 30
_LEAST = float(np.finfo(np.float64).tiny)
_EPS = float(np.finfo(np.float64).eps)


def lifted(value: T) -> T:
    """Return a nonnegative float price with room for the rounding errors that were made on the way to it."""
    return value * LIFT


def log_rounded_down(value: Fraction) -> float:
    """Return a float not above ln(`value`), for a value in (0, 1]; below the range of floats, too."""
    below = rounded_down(value)
    if below >= _LEAST:
        return math.log(below) * (1 + 2 * _EPS)
    above, under = math.log(value.numerator), math.log(value.denominator)
    return above - under - 4 * _EPS * (above + under)


def exp_rounded_up(exponent: float) -> float:
    """Return a probability not below e^`exponent`: at most 1 and never 0, since a δ of 0 would be another claim."""
    return min(1.0, max(lifted(math.exp(min(exponent, 0.0))), _LEAST))


def deltas_rounded_up(first: float, second: float) -> float:
    """Return the sum of two failure probabilities, rounded up and at most 1."""
    return min(1.0, math.nextafter(first + second, math.inf))


def decimal_rounded_up(formula: Callable[..., Decimal], *values: Fraction) -> Fraction:
    """Return a fraction not below ``formula(*values)``, a positive number, and within one part in 10²⁴ of it.

    **Assumes**: in 60 digits the formula loses at most 33 of them to cancellation.
    """
    with decimal.localcontext() as context:
        context.prec = _DIGITS
        context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
        result = formula(*(Decimal(value.numerator) / Decimal(value.denominator) for value in values)) * _LIFT_EXACT
        context.prec, context.rounding = _KEPT, decimal.ROUND_CEILING
        return Fraction(+result)
