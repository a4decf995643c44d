"""Arithmetic on noisy numbers: values, and the band in which each of them may lie.

A `Band` holds, for every group, a value and the ends of an interval around it; what is exact has equal ends. Booleans
are bands as well: 0 and 1 are false and true, and the band from 0 to 1 says that the noise could have decided either
way. NaN is NULL. Every operation is total and follows the rules of expressions over rows (see ``lowering``).

**Guarantee**: whatever numbers within their bands the arguments have, the result of an operation on them, if it is not
NULL, is within the band of its result. (Interval arithmetic; Moore 1966. It never claims too little: x − x is not 0.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .convolution import Floats

LARGEST = 1e150
_FLUSH = 2.0**-450  # x + this − this is x for ordinary x, and 0 for what is too small
LARGEST_WHOLE = 2.0**53
_FINE = 2.0**20  # remainders of reals are taken in steps of 1/2^20
_FINE_REACH = 2.0**42

Function = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Band:
    """Values with their intervals."""

    value: Floats
    low: Floats
    high: Floats

    @classmethod
    def exact(cls, value: Floats) -> Band:
        """Return numbers that no noise is in."""
        return cls(value, value, value)

    @property
    def sure(self) -> bool:
        """Whether no noise is in any of them."""
        return bool(np.all((self.low == self.high) | np.isnan(self.value)))


def tamed(x: Floats) -> Floats:
    """Return NULL for what is beyond ±10^150, and 0 for what is too small to tell from it."""
    return np.where(np.abs(x) <= LARGEST, x + _FLUSH - _FLUSH, np.nan)


def whole(x: Floats) -> Floats:
    """Return NULL for what is too large for a whole number."""
    return np.where(np.abs(x) < LARGEST_WHOLE, x, np.nan)


def _band(value: Floats, low: Floats, high: Floats) -> Band:
    missing = np.isnan(value)
    return Band(value, np.where(missing, np.nan, low), np.where(missing, np.nan, high))


def rising(function: Function, finish: Function = tamed) -> Callable[..., Band]:
    """Return the operation of a function that never falls in any argument, and is applied to the ends likewise."""

    def operation(*arguments: Band) -> Band:
        value = finish(function(*(argument.value for argument in arguments)))
        low = function(*(argument.low for argument in arguments))
        high = function(*(argument.high for argument in arguments))
        return _band(value, low, high)

    return operation


def negate(x: Band) -> Band:
    """Return −x."""
    return Band(-x.value, -x.high, -x.low)


def subtract(x: Band, y: Band) -> Band:
    """Return x − y."""
    return ADD(x, negate(y))


def absolute(x: Band) -> Band:
    """Return |x|."""
    low, high = np.abs(x.low), np.abs(x.high)
    around_zero = (x.low <= 0) & (x.high >= 0)
    return Band(np.abs(x.value), np.where(around_zero, 0.0, np.minimum(low, high)), np.maximum(low, high))


def multiply(x: Band, y: Band) -> Band:
    """Return x·y."""
    return _corners(np.multiply, x, y)


def divide(x: Band, y: Band) -> Band:
    """Return x/y, NULL for y = 0; if y could be 0 the quotient could be anything."""
    value = tamed(np.divide(x.value, np.where(y.value == 0, np.nan, y.value)))
    around_zero = (y.low <= 0) & (y.high >= 0)
    safe = Band(*(np.where(around_zero, 1.0, part) for part in (y.value, y.low, y.high)))
    quotient = _corners(np.divide, x, safe)
    return _band(value, np.where(around_zero, -np.inf, quotient.low), np.where(around_zero, np.inf, quotient.high))


def modulo(x: Band, y: Band) -> Band:
    """Return the remainder, with the sign of x, NULL for y = 0; where noise is in it, any remainder that y allows."""
    value = _remainder(x.value, y.value)
    divisor, dividend = absolute(y), absolute(x)
    most = np.minimum(divisor.high, dividend.high) + 1 / _FINE
    exact = (x.low == x.high) & (y.low == y.high)
    low = np.where(exact, value, np.where(x.low < 0, -most, 0.0))
    return _band(value, low, np.where(exact, value, np.where(x.high > 0, most, 0.0)))


def _remainder(x: Floats, y: Floats) -> Floats:
    """Return the remainder: of whole numbers exactly, of reals in steps of 2^-20, of what is too large NULL."""
    integral = (np.floor(x) == x) & (np.floor(y) == y) & (np.maximum(np.abs(x), np.abs(y)) < LARGEST_WHOLE)
    fine = (np.abs(x) < _FINE_REACH) & (np.abs(y) < _FINE_REACH)
    steps = [np.where(fine, np.floor(number * _FINE + 0.5), np.nan) for number in (x, y)]
    dividend, divisor = (np.where(integral, number, step) for number, step in zip((x, y), steps, strict=True))
    remainder = np.fmod(dividend, np.where(divisor == 0, np.nan, divisor))
    return np.where(integral, remainder, remainder / _FINE)


def power(x: Band, y: Band) -> Band:
    """Return x^y, NULL where it is not real or x = 0 and y < 0."""
    value = _real_power(x.value, y.value)
    positive = x.low > 0
    safe = Band(*(np.where(positive, part, 1.0) for part in (x.value, x.low, x.high)))
    corners = _corners(np.power, safe, y)
    exact = (x.low == x.high) & (y.low == y.high)
    square = (y.low == 2) & (y.high == 2)
    squared = multiply(absolute(x), absolute(x))
    low = np.select([exact, square, positive], [value, squared.low, corners.low], -np.inf)
    high = np.select([exact, square, positive], [value, squared.high, corners.high], np.inf)
    return _band(value, low, high)


def _real_power(x: Floats, y: Floats) -> Floats:
    undefined = (x == 0) & (y < 0)
    result = tamed(np.power(np.where(undefined, np.nan, x), y))
    return np.where(np.isnan(x) | np.isnan(y), np.nan, result)  # NumPy says that NaN⁰ and 1^NaN are 1


def _corners(function: Function, x: Band, y: Band) -> Band:
    """Apply a function that is monotone in each argument alone: the extremes are among four corners; 0·∞ counts 0."""
    corners = [function(left, right) for left in (x.low, x.high) for right in (y.low, y.high)]
    corners = [np.where(np.isnan(corner), 0.0, corner) for corner in corners]
    return _band(tamed(function(x.value, y.value)), np.minimum.reduce(corners), np.maximum.reduce(corners))


def _root(x: Floats) -> Floats:
    return np.sqrt(np.maximum(x, 0.0))


def square_root(x: Band) -> Band:
    """Return √x, NULL below 0."""
    return _band(np.sqrt(np.where(x.value < 0, np.nan, x.value)), _root(x.low), _root(x.high))


def logarithm(x: Band) -> Band:
    """Return ln x, NULL for x ≤ 0."""
    value = np.log(np.where(x.value <= 0, np.nan, x.value))
    low, high = (np.log(np.maximum(end, 0.0)) for end in (x.low, x.high))
    return _band(tamed(value), low, high)


def _nearest(x: Floats) -> Floats:
    return np.floor(x + 0.5)


def equal(x: Band, y: Band) -> Band:
    """Return whether x = y; sure only if both are exact or far apart."""
    possible = (x.low <= y.high) & (y.low <= x.high)
    certain = (x.low == x.high) & (y.low == y.high) & possible
    return _truth(x.value == y.value, certain, possible, x, y)


def less(x: Band, y: Band) -> Band:
    """Return whether x < y."""
    return _truth(x.value < y.value, x.high < y.low, x.low < y.high, x, y)


def less_equal(x: Band, y: Band) -> Band:
    """Return whether x ≤ y."""
    return _truth(x.value <= y.value, x.high <= y.low, x.low <= y.high, x, y)


def member(x: Band, values: tuple[Any, ...]) -> Band:
    """Return whether x is one of the values."""
    found = np.isin(x.value, np.array(values, dtype=np.float64))
    ordered = np.sort(np.array(values, dtype=np.float64))
    possible = np.searchsorted(ordered, x.high, side="right") > np.searchsorted(ordered, x.low)
    return _truth(found, found & (x.low == x.high), possible, x)


def _truth(value: Any, certain: Any, possible: Any, *arguments: Band) -> Band:
    missing = np.any([np.isnan(argument.value) for argument in arguments], axis=0)
    parts = (np.where(missing, np.nan, part.astype(np.float64)) for part in (value, certain, possible))
    return Band(*parts)


def negation(x: Band) -> Band:
    """Return NOT x."""
    return Band(1 - x.value, 1 - x.high, 1 - x.low)


def _all(*truths: Floats) -> Floats:
    """Kleene's AND: false wins over NULL, NULL over true."""
    stacked = np.stack(truths)
    return np.where(np.any(stacked == 0, axis=0), 0.0, np.where(np.any(np.isnan(stacked), axis=0), np.nan, 1.0))


def _any(*truths: Floats) -> Floats:
    return 1 - _all(*(1 - truth for truth in truths))


def case(*arguments: Band) -> Band:
    """Return the value of the first condition that is true, else the last argument; the band holds all that may be."""
    conditions, branches, default = arguments[:-1:2], arguments[1::2], arguments[-1]
    value = np.select([condition.value == 1 for condition in conditions], [b.value for b in branches], default.value)
    reached = np.ones(len(value), dtype=bool)
    low, high = np.full(len(value), np.inf), np.full(len(value), -np.inf)
    for condition, branch in zip(conditions, branches, strict=True):
        here = reached & (condition.high == 1)
        low = np.where(here, np.fmin(low, branch.low), low)
        high = np.where(here, np.fmax(high, branch.high), high)
        reached &= ~(condition.low == 1)
    low = np.where(reached, np.fmin(low, default.low), low)
    return _band(value, low, np.where(reached, np.fmax(high, default.high), high))


def coalesce(*arguments: Band) -> Band:
    """Return the first that is not NULL."""
    result = arguments[0]
    for argument in arguments[1:]:
        missing = np.isnan(result.value)
        result = Band(
            np.where(missing, argument.value, result.value),
            np.where(missing, argument.low, result.low),
            np.where(missing, argument.high, result.high),
        )
    return result


def null_if(x: Band, y: Band) -> Band:
    """Return NULL where x = y, else x."""
    return _band(np.where(equal(x, y).value == 1, np.nan, x.value), x.low, x.high)


ADD = rising(np.add)

NUMBERS: dict[str, Callable[..., Band]] = {
    "add": ADD,
    "subtract": subtract,
    "multiply": multiply,
    "divide": divide,
    "modulo": modulo,
    "power": power,
    "negate": negate,
    "abs": absolute,
    "sqrt": square_root,
    "exp": rising(np.exp),
    "ln": logarithm,
    "least": rising(lambda *numbers: np.fmin.reduce(numbers)),
    "greatest": rising(lambda *numbers: np.fmax.reduce(numbers)),
    "sign": rising(np.sign, whole),
    "floor": rising(np.floor, whole),
    "ceil": rising(np.ceil, whole),
    "round": rising(_nearest, whole),
    "to_real": rising(np.positive),
    "to_integer": rising(_nearest, whole),
    "equal": equal,
    "not_equal": lambda x, y: negation(equal(x, y)),
    "less": less,
    "less_equal": less_equal,
    "greater": lambda x, y: less(y, x),
    "greater_equal": lambda x, y: less_equal(y, x),
    "and": rising(_all, np.positive),
    "or": rising(_any, np.positive),
    "not": negation,
    "is_null": lambda x: Band.exact(np.isnan(x.value).astype(np.float64)),
    "case": case,
    "coalesce": coalesce,
    "nullif": null_if,
}
"""What each operation does to numbers and booleans."""
