"""Arithmetic that cannot fail on any row, with one result on all engines.

PostgreSQL raises when a float overflows and when it underflows to zero; casts of NaN and infinity to integers raise
everywhere. So numbers are *tame*: NULL, or within ±10^150 and a multiple of 2^-503. Products and quotients of two tame
numbers are then neither above 10^302 nor, unless zero, below 10^-303: the operation itself is safe, and its result is
made tame again. What cannot be held (NaN, ±∞, anything beyond ±10^150) is NULL, as is a division by zero.

Guards are inside the operation's own arguments, since no engine promises that CASE is evaluated in order; and each
mentions what it guards once, since a text in which every level repeats the one below twice grows as 2^depth. What
makes that possible: LEAST and GREATEST skip NULL and take NaN for the largest number on all three engines, so
``NULLIF(LEAST(x, top), top)`` is x below `top`, and NULL for NULL, NaN and all above.

exp, ln and power come from the engines' mathematical libraries, which may differ in the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import ibis

from .expression import Call, Expression, Literal
from .kinds import Kind
from .lowering_values import Operation, real

LARGEST = 1e150
_BEYOND = math.nextafter(LARGEST, math.inf)
_LARGEST_BITS = 499
"""Whatever is tame is below 2 to this power."""
_FLUSH = 2.0**-450
"""x + this − this is x for ordinary x, and for tiny ones the nearest multiple of 2^-503: a zero without a CASE."""
_BELOW_ZERO = -(2.0**-600)
"""Negative, and closer to zero than any tame number."""

WHOLE = 2.0**53
"""Reals up to here become integers without a doubt."""
_FINE = 2.0**20
"""Steps of 1/2^20, in which remainders of reals are taken."""
_FINE_REACH = 2.0**42


def below(value: Any, bound: float) -> Any:
    """Return the value where it is below the bound, else (NULL, NaN, larger) NULL."""
    return ibis.least(value, real(bound)).nullif(real(bound))


def above(value: Any, bound: float) -> Any:
    """Return the value where it is above the bound, else (NULL, smaller) NULL. NaN is above all."""
    return ibis.greatest(value, real(bound)).nullif(real(bound))


def within(value: Any, reach: float) -> Any:
    """Return the value where it lies strictly between −reach and reach, else NULL."""
    return above(below(value, reach), -reach)


def without_nan(value: Any) -> Any:
    """Return a value of any kind, with NULL for NaN."""
    return value.nullif(real(math.nan)) if value.type().is_floating() else value


def tame_constant(value: float) -> float | None:
    """Return what a constant is as an operand of arithmetic."""
    return value + _FLUSH - _FLUSH if abs(value) <= LARGEST else None


def _flushed(value: Any) -> Any:
    return value + real(_FLUSH) - real(_FLUSH)


def _limited(value: Any, bits: int) -> Any:
    """Return the value where it is at most 10^150; `bits` (it is below 2 to that) may show that it always is."""
    return value if bits < _LARGEST_BITS else within(value, _BEYOND)


def operand(expression: Expression, value: Any) -> Any:
    """Return a number as a tame real."""
    if isinstance(expression, Literal):
        constant = None if expression.value is None else tame_constant(float(expression.value))  # type: ignore[arg-type]
        return ibis.null("float64") if constant is None else real(constant)
    if expression.kind is Kind.INTEGER:
        return value.cast("float64")
    if isinstance(expression, Call) and expression.operation in _TAME:
        return value
    return _flushed(within(value, _BEYOND))


def bits_of(expression: Expression) -> int:
    """Return b such that the tame operand is below 2^b, whatever the data."""
    if isinstance(expression, Literal):
        return math.frexp(float(expression.value or 0))[1]  # type: ignore[arg-type]
    if expression.kind is Kind.INTEGER:
        return 64
    rule = _BITS.get(expression.operation) if isinstance(expression, Call) else None
    parts = [bits_of(part) for part in expression.parts] if rule else []
    return _LARGEST_BITS if rule is None else min(rule(parts), _LARGEST_BITS)


def _sum_bits(parts: list[int]) -> int:
    return max(parts) + 1


_BITS: dict[str, Callable[[list[int]], int]] = {
    "add": _sum_bits,
    "subtract": _sum_bits,
    "multiply": sum,
    "negate": max,
    "abs": max,
    "least": max,
    "greatest": max,
    "ln": lambda _: 10,
}


def _arithmetic(compute: Callable[..., Any]) -> Operation:
    """Return the operation that applies `compute` to the arguments as tame reals."""

    def lower(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
        del dialect
        return compute(*(operand(*pair) for pair in zip(call.arguments, arguments, strict=True)))

    return lower


def _bounded(compute: Callable[..., Any], bits: Callable[[list[int]], int], *, flush: bool) -> Operation:
    """Return an operation whose result may be too large or (`flush`) too small to be tame."""

    def lower(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
        result = _arithmetic(compute)(call, arguments, dialect)
        limited = _limited(result, bits([bits_of(argument) for argument in call.arguments]))
        return _flushed(limited) if flush and not _all_integers(call) else limited

    return lower


def _all_integers(call: Call) -> bool:
    """Whether no argument is a fraction, so that sums and products are not, either."""
    return all(argument.kind is Kind.INTEGER for argument in call.arguments)


def _divide(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    del dialect
    dividend, divisor = (operand(*pair) for pair in zip(call.arguments, arguments, strict=True))
    integers = _all_integers(call)
    quotient = dividend / divisor.nullif(real(0))
    return quotient if integers else _flushed(within(quotient, _BEYOND))


def _modulo(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    """Return the remainder, with the sign of the dividend: of integers exactly, of reals in steps of 2^-20.

    Integers by what may be −1 pass through decimals: of the least 64-bit integer, that remainder raises in DuckDB.
    """
    del dialect
    if _all_integers(call):
        if isinstance(call.arguments[1], Literal) and call.arguments[1].value not in (0, -1):
            return (arguments[0] % arguments[1]).cast("float64")
        dividend, divisor = (argument.cast("decimal(38,0)") for argument in arguments)
        return (dividend % divisor.nullif(ibis.literal(0).cast("decimal(38,0)"))).cast("float64")
    steps = [
        (within(operand(*pair), _FINE_REACH) * real(_FINE) + real(0.5)).floor()
        for pair in zip(call.arguments, arguments, strict=True)
    ]
    return (steps[0] % steps[1].nullif(0)).cast("float64") / real(_FINE)


_TOO_HIGH, _TOO_LOW = 346.0, -360.0
"""e to the one is above 10^150; e to the other is flushed to zero."""


def _exp(exponent: Any) -> Any:
    missing_is_too_high = ibis.coalesce(exponent, real(_TOO_HIGH))
    safe = below(ibis.greatest(missing_is_too_high, real(_TOO_LOW)), _TOO_HIGH)
    return _flushed(within(safe.exp(), _BEYOND))


_POWER_REACH = 690.0
"""Powers between e^-690 and e^690 can be computed by whoever raises on overflow and underflow."""


def _power(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    base, exponent = (operand(*pair) for pair in zip(call.arguments, arguments, strict=True))
    raised = (_guarded_power if dialect == "postgres" else _plain_power)(base, exponent)
    return _flushed(within(raised, _BEYOND))


def _plain_power(base: Any, exponent: Any) -> Any:
    """Return NaN or ∞ where the power is not a real number, as IEEE 754 has it."""
    return base**exponent


def _guarded_power(base: Any, exponent: Any) -> Any:
    """Return the same for an engine that raises instead: only powers of moderate size are ever computed."""
    size = exponent * base.abs().nullif(real(0)).ln()
    is_whole = ibis.coalesce(within(exponent, WHOLE).floor().cast("float64") == exponent, exponent.notnull())
    is_real = (base > real(0)) | is_whole
    moderate = is_real & (size.abs() < real(_POWER_REACH))
    safe_base = ibis.cases((moderate, base), else_=ibis.null("float64"))
    safe_exponent = ibis.cases((moderate, exponent), else_=ibis.null("float64"))
    return ibis.cases(
        ((exponent == real(0)) & base.notnull(), real(1)),
        ((base == real(0)) & (exponent > real(0)), real(0)),
        (is_real & (size <= real(-_POWER_REACH)), real(0)),
        else_=safe_base**safe_exponent,
    )


def _rounding(compute: Callable[[Any], Any]) -> Operation:
    """Return an operation that gives a whole number; integers are whole already."""

    def lower(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
        del dialect
        if call.arguments[0].kind is Kind.INTEGER:
            return arguments[0]
        return compute(within(operand(call.arguments[0], arguments[0]), WHOLE))

    return lower


def round_half_up(value: Any) -> Any:
    """Return the nearest integer, halves upwards: engines' own ROUND differs on 2.5."""
    return (value + real(0.5)).floor()


def _sign(call: Call, arguments: Sequence[Any], dialect: str) -> Any:
    del dialect
    return operand(call.arguments[0], arguments[0]).sign().cast("int64")


NUMBERS: dict[str, Operation] = {
    "add": _bounded(lambda a, b: a + b, _sum_bits, flush=False),
    "subtract": _bounded(lambda a, b: a - b, _sum_bits, flush=False),
    "multiply": _bounded(lambda a, b: a * b, sum, flush=True),
    "divide": _divide,
    "modulo": _modulo,
    "power": _power,
    "negate": _arithmetic(lambda a: -a),
    "abs": _arithmetic(lambda a: a.abs()),
    "sqrt": _arithmetic(lambda a: above(a, _BELOW_ZERO).sqrt()),
    "exp": _arithmetic(_exp),
    "ln": _arithmetic(lambda a: above(a, 0.0).ln()),
    "least": _arithmetic(ibis.least),
    "greatest": _arithmetic(ibis.greatest),
    "sign": _sign,
    "floor": _rounding(lambda a: a.floor()),
    "ceil": _rounding(lambda a: a.ceil()),
    "round": _rounding(round_half_up),
}
_TAME = frozenset(NUMBERS)
