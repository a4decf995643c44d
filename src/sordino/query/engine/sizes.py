"""How large and how fine the reals in an expression can be, whatever the data: decides where they must be cut.

A `Size` says that |x| ≤ 2^bits, and that x is a multiple of 2^-grid (so that, unless it is zero, |x| ≥ 2^-grid). Both
hold for the *rounded* results of floating-point arithmetic, too: a sum of multiples of 2^-g is one, and so is a product
of multiples of 2^-g and 2^-h one of 2^-(g+h), since rounding only ever goes to a coarser grid of powers of two.

As long as bits ≤ 1020 and grid ≤ 1074, no engine can overflow or underflow. An operation that could go beyond first
cuts its arguments down to `TAME`: they are rounded to multiples of 2^-200, and if that is not enough, they are NULL
beyond ±2^200 (about 10^60). The latter takes five columns multiplied with each other, so it is rare.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from sordino.data.kinds import Kind
from sordino.query.model.expression import Call, Expression, Literal

_MOST_BITS, _FINEST_GRID = 1020, 1074
"""Floats reach a little further than the one, and are all multiples of 2 to minus the other."""


@dataclass(frozen=True)
class Size:
    """Bounds on a real: |x| ≤ 2^bits, and x is a multiple of 2^-grid."""

    bits: int
    grid: int

    @property
    def is_safe(self) -> bool:
        """Whether no such number is too large or too small for a float."""
        return self.bits <= _MOST_BITS and self.grid <= _FINEST_GRID


TAME = Size(200, 200)
STORED = Size(TAME.bits, _FINEST_GRID)
"""Any float within ±2^200, the finest included: how a column of reals comes into arithmetic."""
INTEGERS = Size(64, 0)


def size_of(expression: Expression) -> Size:
    """Return the size of a number as an argument of arithmetic."""
    if isinstance(expression, Literal):
        return _of_constant(float(expression.value or 0))  # type: ignore[arg-type]
    if expression.kind is Kind.INTEGER:
        return INTEGERS
    if isinstance(expression, Call) and expression.operation in SIZES:
        return SIZES[expression.operation](*argument_sizes(expression))
    return STORED


def argument_sizes(call: Call) -> list[Size]:
    """Return the sizes of all arguments, cut down as little as makes the operation safe."""
    sizes = [size_of(argument) for argument in call.arguments]
    coarser = [Size(size.bits, min(size.grid, TAME.grid)) for size in sizes]
    smaller = [Size(min(size.bits, TAME.bits), size.grid) for size in coarser]
    return next((each for each in (sizes, coarser) if SIZES[call.operation](*each).is_safe), smaller)


def _of_constant(value: float) -> Size:
    bits = math.frexp(value)[1]
    return Size(bits, max(0, 1 - math.frexp(math.ulp(value))[1])) if value else Size(0, 0)


def _product(a: Size, b: Size) -> Size:
    return Size(a.bits + b.bits, a.grid + b.grid)


def _sum(a: Size, b: Size) -> Size:
    return Size(max(a.bits, b.bits) + 1, max(a.grid, b.grid))


def _quotient(a: Size, b: Size) -> Size:
    """The least quotient is 2^-(a.grid + b.bits), and its last place is 53 bits below."""
    return Size(a.bits + b.grid, a.grid + b.bits + 53)


def _coarsest(*sizes: Size) -> Size:
    return Size(max(size.bits for size in sizes), max(size.grid for size in sizes))


def _root(a: Size) -> Size:
    return Size(max(a.bits, 1), a.grid // 2 + 54)


SIZES: dict[str, Callable[..., Size]] = {
    "add": _sum,
    "subtract": _sum,
    "multiply": _product,
    "divide": _quotient,
    "negate": _coarsest,
    "abs": _coarsest,
    "least": _coarsest,
    "greatest": _coarsest,
    "sqrt": _root,
    "ln": lambda _: Size(10, 110),
    "exp": lambda _: TAME,
    "power": lambda *_: TAME,
    "modulo": lambda *_: Size(64, 20),
}
"""The size of each operation's result, from the sizes of its arguments."""
