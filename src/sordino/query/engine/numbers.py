"""Arithmetic that cannot fail on any row, with one result on all engines.

PostgreSQL raises when a float overflows and when it underflows to zero; casts of NaN and infinity to integers raise
everywhere. So what is stored comes into arithmetic as NULL if it is NaN or beyond ±2^200 (about 10^60), and wherever a
result could nevertheless become too large or too small (``sizes`` knows), the arguments are cut down first.
A division by zero, or a root or logarithm or power that is not a real number, is NULL.

Guards make the operation's own argument harmless, since no engine promises to evaluate CASE in order. exp, ln and power
come from the engines' mathematical libraries, which may differ in the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import ibis

from sordino.data.kinds import Kind
from sordino.query.model.expression import Call, Expression, Literal

from .sizes import TAME, Size, argument_sizes, size_of
from .values import Operation, real

_REACH = 2.0**TAME.bits
_FLUSH = 2.0 ** (53 - TAME.grid)
"""x + this − this is x if x is large, else x rounded to a multiple of 2^-200."""
WHOLE = 2.0**53
"""Reals up to here become integers without a doubt."""
_FINE = 2.0**20
_FINE_REACH = 2.0**42


def kept(value: Any, condition: Any) -> Any:
    """Return the value where the condition holds, else NULL."""
    return ibis.cases((condition, value), else_=ibis.null(value.type()))


def within(value: Any, reach: float) -> Any:
    """Return a real between −reach and reach, else (NaN is above all numbers) NULL."""
    return kept(value, value.between(real(-reach), real(reach)))


def without_nan(value: Any) -> Any:
    """Return a value of any kind, with NULL for NaN."""
    return value.nullif(real(math.nan)) if value.type().is_floating() else value


def cut_constant(value: float, wanted: Size) -> float | None:
    """Return what a constant is as an argument that was cut down to a size."""
    size = size_of(Literal(Kind.REAL, value))
    if size.bits > wanted.bits:
        return None
    return value + _FLUSH - _FLUSH if size.grid > wanted.grid else value


def _argument(expression: Expression, value: Any, wanted: Size) -> Any:
    """Return an argument of arithmetic as a real of the wanted size."""
    if isinstance(expression, Literal):
        constant = None if expression.value is None else cut_constant(float(expression.value), wanted)  # type: ignore[arg-type]
        return ibis.null("float64") if constant is None else real(constant)
    if expression.kind is Kind.INTEGER:
        return value.cast("float64")
    size = size_of(expression)
    is_stored = not (isinstance(expression, Call) and expression.operation in NUMBERS)
    limited = within(value, _REACH) if is_stored or size.bits > wanted.bits else value
    return limited + real(_FLUSH) - real(_FLUSH) if size.grid > wanted.grid else limited


def _arguments(call: Call, values: Sequence[Any]) -> list[Any]:
    sizes = argument_sizes(call)
    return [_argument(*each) for each in zip(call.arguments, values, sizes, strict=True)]


def _arithmetic(compute: Callable[..., Any]) -> Operation:
    """Return the operation that applies `compute` to the arguments as reals."""

    def lower(call: Call, values: Sequence[Any], dialect: str) -> Any:
        del dialect
        return compute(*_arguments(call, values))

    return lower


def _modulo(call: Call, values: Sequence[Any], dialect: str) -> Any:
    """Return the remainder, with the sign of the dividend: of integers exactly, of reals in steps of 2^-20.

    Integers by what may be −1 pass through decimals: of the least 64-bit integer, that remainder raises in DuckDB.
    """
    del dialect
    if any(argument.kind is Kind.REAL for argument in call.arguments):
        steps = [round_half_up(within(value, _FINE_REACH) * real(_FINE)) for value in _arguments(call, values)]
        return (steps[0] % steps[1].nullif(0)).cast("float64") / real(_FINE)
    if isinstance(call.arguments[1], Literal) and call.arguments[1].value not in (0, -1):
        return (values[0] % values[1]).cast("float64")
    dividend, divisor = (value.cast("decimal(38,0)") for value in values)
    return (dividend % divisor.nullif(ibis.literal(0).cast("decimal(38,0)"))).cast("float64")


_LOWEST, _HIGHEST = TAME.grid * -math.log(2) - 40, TAME.bits * math.log(2)
"""e to the one is rounded to zero; e to the other is as large as results may be."""


def _exp(exponent: Any) -> Any:
    bounded = ibis.cases((exponent < real(_LOWEST), real(_LOWEST)), (exponent < real(_HIGHEST), exponent))
    return bounded.exp() + real(_FLUSH) - real(_FLUSH)


def _power(call: Call, values: Sequence[Any], dialect: str) -> Any:
    """Return the power; exponents beyond ±2^53, which are all even numbers to a float, give NULL."""
    base, exponent = _arguments(call, values)
    raise_to = _guarded_power if dialect == "postgres" else _plain_power
    moderate = within(exponent, WHOLE) + real(_FLUSH) - real(_FLUSH)  # so that its product with a logarithm is no less
    return raise_to(base, moderate) + real(_FLUSH) - real(_FLUSH)


def _plain_power(base: Any, exponent: Any) -> Any:
    """Return the power as IEEE 754 has it: what is not a real number is NaN or ∞, and NULL in the end."""
    return within(base**exponent, _REACH)


def _guarded_power(base: Any, exponent: Any) -> Any:
    """Return the same for an engine that raises instead: only powers of moderate size are ever computed."""
    size = exponent * kept(base.abs(), base != real(0)).ln()
    is_real = (base > real(0)) | (exponent.floor().cast("float64") == exponent)
    moderate = is_real & size.between(real(_LOWEST), real(_HIGHEST))
    return ibis.cases(
        ((exponent == real(0)) & base.notnull(), real(1)),
        ((base == real(0)) & (exponent > real(0)), real(0)),
        (is_real & (size < real(_LOWEST)), real(0)),
        else_=kept(base, moderate) ** kept(exponent, moderate),
    )


def round_half_up(value: Any) -> Any:
    """Return the nearest integer, halves upwards: engines' own ROUND differs on 2.5."""
    return (value + real(0.5)).floor()


def _rounding(compute: Callable[[Any], Any]) -> Operation:
    """Return an operation that gives a whole number, NULL beyond ±2^53; integers are whole already."""

    def lower(call: Call, values: Sequence[Any], dialect: str) -> Any:
        del dialect
        return values[0] if call.arguments[0].kind is Kind.INTEGER else compute(within(values[0], WHOLE))

    return lower


def _sign(call: Call, values: Sequence[Any], dialect: str) -> Any:
    del dialect
    return _argument(call.arguments[0], values[0], size_of(call.arguments[0])).sign().cast("int64")


NUMBERS: dict[str, Operation] = {
    "add": _arithmetic(lambda a, b: a + b),
    "subtract": _arithmetic(lambda a, b: a - b),
    "multiply": _arithmetic(lambda a, b: a * b),
    "divide": _arithmetic(lambda a, b: a / kept(b, b != real(0))),
    "modulo": _modulo,
    "power": _power,
    "negate": _arithmetic(lambda a: -a),
    "abs": _arithmetic(lambda a: a.abs()),
    "sqrt": _arithmetic(lambda a: kept(a, a >= real(0)).sqrt()),
    "exp": _arithmetic(_exp),
    "ln": _arithmetic(lambda a: kept(a, a > real(0)).ln()),
    "least": _arithmetic(ibis.least),
    "greatest": _arithmetic(ibis.greatest),
    "sign": _sign,
    "floor": _rounding(lambda a: a.floor()),
    "ceil": _rounding(lambda a: a.ceil()),
    "round": _rounding(round_half_up),
}
"""Operations on numbers; what they give needs no further guard as an argument of one another."""
