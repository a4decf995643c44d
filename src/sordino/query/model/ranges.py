"""What is known about an expression from what is known about its columns: kind, range, keys, whether NULL can be.

A range is only ever used to clip the *final* expression, and to list whole numbers as keys, so a wrong one would cost
accuracy, never privacy. It is exact all the same: interval arithmetic on fractions.

Keys are known for a column that declares them; for whatever is true or false; for the month, quarter, weekday and hour
of a date; for constants; and for CASE and COALESCE whose every branch has keys: they stand in the question's own text,
so they are public; and for few whole numbers computed from bounded ones (``FLOOR(age / 10) * 10``). NULL is not among
such keys: rows whose key is NULL are left out, unless the column declares NULL. COALESCE hands on the NULL of its last
branch alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

from sordino.data.kinds import Kind
from sordino.data.metadata import Column, KeyValue
from sordino.errors import QuestionError

from . import spans
from .expression import Call, ColumnRef, Expression, Literal
from .literals import exact, is_null
from .spans import ANY, Span

_Part = TypeVar("_Part")

_PART_ENDS: dict[object, tuple[int, int]] = {
    "year": (1, 9999),
    "quarter": (1, 4),
    "month": (1, 12),
    "week": (1, 53),
    "day": (1, 31),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
    "weekday": (1, 7),
    "day_of_year": (1, 366),
}
_STEP = Fraction(1, 2**20)
_ARITHMETIC = frozenset(
    {"add", "subtract", "multiply", "divide", "modulo", "power", "negate", "abs", "sqrt", "exp", "ln", "sign"}
    | {"least", "greatest", "floor", "ceil", "round"}
)
"""What may give NULL where a number leaves ±2^200."""
_KEYED_PARTS = ("quarter", "month", "weekday", "hour")


def derive(expression: Expression, columns: Mapping[str, Column]) -> Column:
    """Return what is known about the expression, given what is known about the columns that it uses.

    >>> from sordino.data.kinds import Range
    >>> from sordino.query.model.literals import literal
    >>> from sordino.query.model.operations import call
    >>> fare = Column(Kind.REAL, Range.of(0, 100))
    >>> derive(call("multiply", ColumnRef(Kind.REAL, "fare"), literal(0.1)), {"fare": fare}).range
    Range(low=Fraction(0, 1), high=Fraction(10, 1))
    """
    known = _known(expression, columns)
    if isinstance(expression, ColumnRef):
        return replace(columns[expression.name], keys=known.keys)
    return Column(
        known.kind, known.span.range if known.kind.is_number else None, keys=known.keys, nullable=known.nullable
    )


def hull(columns: Sequence[Column]) -> Column:
    """Return what is known about a column of a UNION ALL: all ranges together, all keys in order, or nothing."""
    ranges = [column.range for column in columns if column.range is not None]
    united = spans.union(map(Span.of, ranges)).range if len(ranges) == len(columns) else None
    grains = {column.granularity for column in columns}
    return Column(
        columns[0].kind,
        range=united,
        keys=_united_keys(columns),
        nullable=any(column.nullable for column in columns),
        granularity=grains.pop() if len(grains) == 1 else None,
    )


@dataclass(frozen=True)
class _Known:
    """What is known so far, with ends of the range that may be known one by one: GREATEST(n, 0) is not negative."""

    kind: Kind
    span: Span
    keys: tuple[KeyValue, ...] | None
    nullable: bool
    numbers: tuple[Fraction, ...] | None = None
    """All numbers that it can be, where arithmetic on few whole numbers gives them."""


_SpanRule = Callable[[Call, list[_Known]], Span]
_NullRule = Callable[[Call, list[_Known]], bool]


def _known(expression: Expression, columns: Mapping[str, Column]) -> _Known:
    if isinstance(expression, ColumnRef):
        column = columns.get(expression.name)
        if column is None:
            raise QuestionError(f"there is no column {expression.name[:40]!r} here", "SRD-Q103")
        keys = column.keys or ((False, True) if column.kind is Kind.BOOLEAN else None)
        return _Known(column.kind, Span.of(column.range), keys, column.nullable)
    if isinstance(expression, Literal):
        return _literal(expression)
    assert isinstance(expression, Call)  # noqa: S101  (there is no fourth kind of node)
    parts = [_known(part, columns) for part in expression.arguments]
    rule = _SPANS.get(expression.operation)
    span = ANY if rule is None else rule(expression, parts)
    nullable = _NULLABLE.get(expression.operation, _any_nullable)(expression, parts)
    overflows = expression.operation in _ARITHMETIC and None in (span.range, *(part.span.range for part in parts))
    known = _Known(expression.kind, span, _keys(expression, parts), nullable or overflows)
    numbers = _numbers(expression, parts)
    if numbers is None and known.keys is not None and expression.kind is Kind.INTEGER:
        numbers = tuple(Fraction(key) for key in known.keys if isinstance(key, int))
    return replace(known, numbers=numbers)


def _literal(constant: Literal) -> _Known:
    value = constant.value
    if value is None or isinstance(value, bool):
        return _Known(constant.kind, ANY, (False, True) if constant.kind is Kind.BOOLEAN else None, value is None)
    if isinstance(value, int | float):
        keys = None if isinstance(value, float) else (value,)
        return _Known(constant.kind, spans.point(exact(value)), keys, nullable=False)
    return _Known(constant.kind, ANY, (value,), nullable=False)


def _keys(expression: Call, parts: list[_Known]) -> tuple[KeyValue, ...] | None:
    if expression.kind is Kind.BOOLEAN:
        return (False, True)
    if expression.operation == "date_part" and expression.detail in _KEYED_PARTS:
        low, high = _PART_ENDS[expression.detail]
        return tuple(range(low, high + 1))
    whole = _whole_keys(expression, parts)
    if whole is not None:
        return whole
    branches = _BRANCHES.get(expression.operation)
    if branches is None or not expression.kind.can_be_key:
        return None
    values = zip(branches(expression.arguments), branches(parts), strict=True)
    known = [part for value, part in values if not is_null(value)]
    if expression.operation == "coalesce":
        known = [_without_null(part) for part in known[:-1]] + known[-1:]
    return _united_keys(known)


def _whole_keys(expression: Call, parts: list[_Known]) -> tuple[KeyValue, ...] | None:
    """Return all whole numbers that a rounding of a bounded number can give, and what arithmetic makes of them.

    A row whose stored value lies outside of the declared bounds has none of these keys, and is left out.
    """
    operation, first = expression.operation, parts[0]
    if operation in _ROUNDINGS and first.numbers is None:
        return _numbered(_SPANS[operation](expression, parts))
    if operation in (*_ROUNDINGS, "to_integer") and first.numbers is not None:
        return _different(_ROUNDED[operation](number) for number in first.numbers)
    if operation == "to_integer" and first.kind is Kind.REAL:
        return _remainders(expression.arguments[0], first.span)
    return None


def _remainders(node: Expression, known: Span) -> tuple[KeyValue, ...] | None:
    """Return all remainders by a constant whole number."""
    divisor = node.arguments[1] if isinstance(node, Call) and node.operation == "modulo" else None
    if (
        not isinstance(divisor, Literal)
        or not isinstance(divisor.value, int)
        or not 0 < abs(divisor.value) <= _MOST_NUMBERED
    ):
        return None
    most = abs(divisor.value) - 1
    return tuple(range(0 if known.low >= 0 else -most, most + 1))


def _numbers(expression: Call, parts: list[_Known]) -> tuple[Fraction, ...] | None:
    """Return all numbers that arithmetic with one constant makes of the whole numbers that it can be applied to."""
    if expression.operation not in _BY_CONSTANT or len(parts) != 2:
        return None
    left, right = (_listed(part) for part in parts)
    constant = [isinstance(each, Literal) for each in expression.arguments]
    if left is None or right is None or not any(constant):
        return None
    results = (_BY_CONSTANT[expression.operation](a, b) for a in left for b in right)
    return tuple(sorted({each for each in results if each is not None}))


def _listed(part: _Known) -> tuple[Fraction, ...] | None:
    """Return the numbers that a part can be: those it is known to be, or the whole ones within its bounds."""
    if part.numbers is not None:
        return part.numbers
    if part.span.low == part.span.high:
        return (Fraction(part.span.low),)
    if part.kind is not Kind.INTEGER:
        return None
    numbered = _numbered(part.span)
    return None if numbered is None else tuple(Fraction(each) for each in numbered)  # type: ignore[arg-type]


def _numbered(span: Span) -> tuple[KeyValue, ...] | None:
    known = span.range
    if known is None or known.high - known.low >= _MOST_NUMBERED:
        return None
    return tuple(range(math.ceil(known.low), math.floor(known.high) + 1)) or None


def _different(numbers: Iterable[int]) -> tuple[KeyValue, ...]:
    return tuple(dict.fromkeys(numbers))


_MOST_NUMBERED = 1_000
"""How many whole numbers are listed as keys; of more than that, keys are selected privately."""
_ROUNDINGS = ("floor", "ceil", "round")
_ROUNDED: dict[str, Callable[[Fraction], int]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "round": spans.round_half_up,
    "to_integer": spans.round_half_up,
}
_BY_CONSTANT: dict[str, Callable[[Fraction, Fraction], Fraction | None]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b if b else None,
    "modulo": lambda a, b: (abs(a) % abs(b)) * (1 if a >= 0 else -1) if b else None,
    "least": min,
    "greatest": max,
}


def _without_null(part: _Known) -> _Known:
    return replace(part, keys=part.keys and tuple(key for key in part.keys if key is not None))


def _united_keys(columns: Sequence[_Known | Column]) -> tuple[KeyValue, ...] | None:
    united: dict[KeyValue, None] = {}
    for column in columns:
        if column.keys is None:
            return None
        united.update(dict.fromkeys(column.keys))
    return tuple(united) or None


def _case_values(parts: Sequence[_Part]) -> list[_Part]:
    return [*parts[1::2], parts[-1]]


def _one(function: Callable[[Span], Span]) -> _SpanRule:
    return lambda _, parts: function(parts[0].span)


def _two(function: Callable[[Span, Span], Span]) -> _SpanRule:
    return lambda _, parts: function(parts[0].span, parts[1].span)


def _rounded(function: Callable[[Fraction], int]) -> _SpanRule:
    return lambda _, parts: parts[0].span.mapped(function)


def _least(_: Call, parts: list[_Known]) -> Span:
    """NULL arguments are passed over, so an argument caps the result only if it is always there."""
    known = [part.span for part in parts]
    caps = [span.high for span, part in zip(known, parts, strict=True) if not part.nullable]
    return Span(min(span.low for span in known), min(caps) if caps else max(span.high for span in known))


def _greatest(_: Call, parts: list[_Known]) -> Span:
    known = [part.span for part in parts]
    floors = [span.low for span, part in zip(known, parts, strict=True) if not part.nullable]
    return Span(max(floors) if floors else min(span.low for span in known), max(span.high for span in known))


def _branches(expression: Call, parts: list[_Known]) -> Span:
    split = _BRANCHES[expression.operation]
    values = zip(split(expression.arguments), split(parts), strict=True)
    return spans.union([part.span for value, part in values if not is_null(value)] or [ANY])


def _part(expression: Call, _: list[_Known]) -> Span:
    low, high = _PART_ENDS[expression.detail]
    return Span(Fraction(low), Fraction(high))


def _cast(expression: Call, parts: list[_Known]) -> Span:
    if parts[0].kind is Kind.BOOLEAN:
        return Span(Fraction(0), Fraction(1))
    known = parts[0].span
    # Engines round or cut reals differently; both stay between the whole numbers around.
    return known if expression.kind is Kind.REAL else Span(known.mapped(math.floor).low, known.mapped(math.ceil).high)


_SPANS: dict[str, _SpanRule] = {
    "add": _two(spans.add),
    "subtract": _two(spans.subtract),
    "multiply": _two(spans.multiply),
    "divide": _two(spans.divide),
    "modulo": _two(spans.modulo),
    "power": _two(spans.power),
    "negate": _one(spans.negate),
    "abs": _one(spans.absolute),
    "sqrt": _one(spans.square_root),
    "exp": _one(spans.exponential),
    "ln": _one(spans.logarithm),
    "sign": _one(spans.sign),
    "floor": _rounded(math.floor),
    "ceil": _rounded(math.ceil),
    "round": _rounded(spans.round_half_up),
    "least": _least,
    "greatest": _greatest,
    "case": _branches,
    "coalesce": _branches,
    "nullif": _one(lambda span: span),
    "to_real": _cast,
    "to_integer": _cast,
    "date_part": _part,
}


def _any_nullable(_: Call, parts: list[_Known]) -> bool:
    return any(part.nullable for part in parts)


def _by_remainder(_: Call, parts: list[_Known]) -> bool:
    """Remainders are of whole steps of 2^-20, below 2^42."""
    divisor = parts[1].span
    near_zero = divisor.low < _STEP and divisor.high > -_STEP
    return any(part.nullable or part.span.reach >= 2**42 for part in parts) or near_zero


def _unless(defined: Callable[[Span], bool]) -> _NullRule:
    return lambda _, parts: parts[0].nullable or not defined(parts[0].span)


_NULLABLE: dict[str, _NullRule] = {
    "divide": lambda _, parts: parts[0].nullable or parts[1].nullable or parts[1].span.has_zero,
    "modulo": _by_remainder,
    "sqrt": _unless(lambda span: span.low >= 0),
    "ln": _unless(lambda span: span.low > 0),
    "case": lambda _, parts: any(part.nullable for part in _case_values(parts)),
    **dict.fromkeys(("coalesce", "least", "greatest"), lambda _, parts: all(part.nullable for part in parts)),
    **dict.fromkeys(
        ("to_real", "to_integer", "to_date"), lambda _, parts: parts[0].nullable or parts[0].kind is Kind.TEXT
    ),
    **dict.fromkeys(("power", "nullif", "add_days", "add_months", "add_seconds"), lambda *_: True),
    "is_null": lambda *_: False,
}

_BRANCHES: dict[str, Callable[[Sequence[Any]], list[Any]]] = {"case": _case_values, "coalesce": list}
