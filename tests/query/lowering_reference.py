"""What every expression means, in plain Python: the judge of what the engines compute."""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

from sordino.data.kinds import Kind
from sordino.query.engine.sizes import STORED, argument_sizes, size_of
from sordino.query.model.expression import Call, ColumnRef, Expression, Literal

Row = Mapping[str, Any]

LARGEST = 2.0**200
TINY = 2.0**-147


def evaluate(expression: Expression, row: Row) -> Any:
    """Return the value of an expression for one row."""
    if isinstance(expression, ColumnRef):
        return row[expression.name]
    if isinstance(expression, Literal):
        return expression.value
    assert isinstance(expression, Call)
    values = [evaluate(argument, row) for argument in expression.arguments]
    if expression.operation in SPECIAL:
        return SPECIAL[expression.operation](expression, values)
    if expression.operation in ARITHMETIC:
        return arithmetic(expression, values)
    if any(value is None for value in values):
        return None
    return STRICT[expression.operation](expression, *values)


def arithmetic(call: Call, values: list[Any]) -> float | None:
    """Compute with reals, cut down where the worst case could not be held otherwise."""
    values = arguments(call, values)
    if call.operation in ("least", "greatest"):
        present = [value for value in values if value is not None]
        return (min if call.operation == "least" else max)(present) if present else None
    if call.operation == "power":
        values[1] = None if values[1] is None or abs(values[1]) > 2**53 else rounded(values[1])
    result = None if None in values else ARITHMETIC[call.operation](*values)
    return rounded(limited(result)) if call.operation in ("exp", "power") else result


def arguments(call: Call, values: list[Any]) -> list[float | None]:
    """Return numbers as arithmetic takes them. Where to cut is the house's choice; what cutting does is said here."""
    taken: list[float | None] = []
    for expression, value, wanted in zip(call.arguments, values, argument_sizes(call), strict=True):
        number = None if value is None else float(value)
        size = size_of(expression)
        number = limited(number) if size == STORED or size.bits > wanted.bits else number
        taken.append(rounded(number) if size.grid > wanted.grid else number)
    return taken


def limited(value: float | None) -> float | None:
    return None if value is None or not abs(value) <= LARGEST else value


def rounded(value: float | None) -> float | None:
    return None if value is None else value + TINY - TINY


def _power(base: float, exponent: float) -> float | None:
    try:
        return math.pow(base, exponent)
    except (ValueError, OverflowError):
        return None


def _remainder(a: float, b: float) -> float | None:
    if max(abs(a), abs(b)) > 2**42:
        return None
    steps, divisor = math.floor(a * 2**20 + 0.5), math.floor(b * 2**20 + 0.5)
    return None if divisor == 0 else _whole_remainder(steps, divisor) / 2**20


def _whole_remainder(a: int, b: int) -> int:
    return abs(a) % abs(b) * (1 if a >= 0 else -1)


def _exp(x: float) -> float | None:
    return math.exp(x) if x < 700 else None


ARITHMETIC: dict[str, Callable[..., float | None]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b if b else None,
    "power": _power,
    "negate": lambda a: -a,
    "abs": abs,
    "sqrt": lambda a: math.sqrt(a) if a >= 0 else None,
    "exp": _exp,
    "ln": lambda a: math.log(a) if a > 0 else None,
    "least": min,
    "greatest": max,
}


def _rounding(compute: Callable[[float], int]) -> Callable[[Call, list[Any]], int | None]:
    def rounded(call: Call, values: list[Any]) -> int | None:
        (value,) = values
        if call.arguments[0].kind is Kind.INTEGER:
            return None if value is None else int(value)
        return None if value is None or not abs(value) <= 2**53 else compute(value)

    return rounded


def _modulo(call: Call, values: list[Any]) -> float | None:
    if all(argument.kind is Kind.INTEGER for argument in call.arguments):
        a, b = values
        return None if a is None or not b else float(_whole_remainder(a, b))
    taken = arguments(call, values)
    return None if None in taken else _remainder(*taken)  # type: ignore[arg-type]


def _sign(call: Call, values: list[Any]) -> int | None:
    value = limited(values[0]) if size_of(call.arguments[0]) == STORED else values[0]
    return None if value is None else (value > 0) - (value < 0)


def _all(_: Call, values: list[Any]) -> bool | None:
    return False if False in values else None if None in values else True


def _any(_: Call, values: list[Any]) -> bool | None:
    return True if True in values else None if None in values else False


def _case(_: Call, values: list[Any]) -> Any:
    for condition, value in zip(values[:-1:2], values[1::2], strict=True):
        if condition:
            return value
    return values[-1]


def _nullif(_: Call, values: list[Any]) -> Any:
    value, other = values
    return None if value is not None and other is not None and _place(value) == _place(other) else value


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _place(value: Any) -> Any:
    """Return what a value is compared by: NaN equals itself and is above all numbers, texts are compared by bytes."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return (0, value) if isinstance(value, int) and not isinstance(value, bool) else value


SPECIAL: dict[str, Callable[[Call, list[Any]], Any]] = {
    "is_null": lambda _, values: _is_missing(values[0]),
    "and": _all,
    "or": _any,
    "case": _case,
    "coalesce": lambda _, values: next((value for value in values if not _is_missing(value)), None),
    "nullif": _nullif,
    "floor": _rounding(math.floor),
    "ceil": _rounding(math.ceil),
    "round": _rounding(lambda value: math.floor(value + 0.5)),
    "sign": _sign,
    "modulo": _modulo,
}


def _to_real(call: Call, value: Any) -> float | None:
    if call.arguments[0].kind is Kind.TEXT:
        pattern = r" *([+-]?([0-9]{1,50}([.][0-9]{0,50})?|[.][0-9]{1,50})([eE][+-]?[0-9]{1,2})?) *"
        return float(value) if re.fullmatch(pattern, value, re.ASCII) else None
    return float(value)


def _to_integer(call: Call, value: Any) -> int | None:
    if call.arguments[0].kind is Kind.TEXT:
        return int(value) if re.fullmatch(r" *[+-]?[0-9]{1,18} *", value) else None
    if call.arguments[0].kind is Kind.REAL:
        return math.floor(value + 0.5) if abs(value) <= 2**53 else None
    return int(value)


def _to_date(call: Call, value: Any) -> date | None:
    if call.arguments[0].kind is Kind.TEXT:
        if not re.fullmatch(r" *[0-9]{4}-[0-9]{2}-[0-9]{2} *", value):
            return None
        try:
            return date.fromisoformat(value.strip(" "))
        except ValueError:
            return None
    return value.date() if isinstance(value, datetime) else value


def _to_text(_: Call, value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _like(pattern: str, text: str) -> bool:
    parts = {"%": ".*", "_": "."}
    return re.fullmatch("".join(parts.get(each, re.escape(each)) for each in pattern), text, re.DOTALL) is not None


def _substring(call: Call, text: str) -> str:
    start, length = call.detail  # type: ignore[misc]
    return text[start - 1 :] if length is None else text[start - 1 : start - 1 + length]


PARTS: dict[str, Callable[[Any], int]] = {
    "year": lambda moment: moment.year,
    "quarter": lambda moment: (moment.month + 2) // 3,
    "month": lambda moment: moment.month,
    "week": lambda moment: moment.isocalendar().week,
    "day": lambda moment: moment.day,
    "hour": lambda moment: moment.hour,
    "minute": lambda moment: moment.minute,
    "second": lambda moment: moment.second,
    "weekday": lambda moment: moment.isoweekday(),
    "day_of_year": lambda moment: moment.timetuple().tm_yday,
}


def _truncate(call: Call, moment: Any) -> Any:
    day = moment.date() if isinstance(moment, datetime) else moment
    unit = call.detail
    if unit == "hour":
        return moment.replace(minute=0, second=0, microsecond=0)
    if unit == "minute":
        return moment.replace(second=0, microsecond=0)
    first = {
        "year": lambda: day.replace(month=1, day=1),
        "quarter": lambda: day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
        "month": lambda: day.replace(day=1),
        "week": lambda: day - timedelta(days=day.weekday()),
        "day": lambda: day,
    }[str(unit)]()
    return datetime.combine(first, datetime.min.time()) if isinstance(moment, datetime) else first


def _add_days(call: Call, day: date) -> date | None:
    try:
        return day + timedelta(days=call.detail[0])  # type: ignore[index,arg-type]
    except OverflowError:
        return None


def _add_months(call: Call, moment: Any) -> Any:
    months = moment.year * 12 + moment.month - 1 + call.detail[0]  # type: ignore[index,operator]
    year, month = months // 12, months % 12 + 1
    if not 1 <= year <= 9999:
        return None
    return moment.replace(year=year, month=month, day=min(moment.day, monthrange(year, month)[1]))


def _add_seconds(call: Call, moment: datetime) -> datetime | None:
    try:
        return moment + timedelta(seconds=call.detail[0])  # type: ignore[index,arg-type]
    except OverflowError:
        return None


def _seconds_between(_: Call, later: datetime, earlier: datetime) -> int:
    return int((later.replace(microsecond=0) - earlier.replace(microsecond=0)) / timedelta(seconds=1))


def _split_part(call: Call, text: str) -> str:
    separator, place = call.detail  # type: ignore[misc]
    parts = text.split(separator)
    return parts[place - 1] if place <= len(parts) else ""


STRICT: dict[str, Callable[..., Any]] = {
    "equal": lambda _, a, b: _place(a) == _place(b),
    "not_equal": lambda _, a, b: _place(a) != _place(b),
    "less": lambda _, a, b: _place(a) < _place(b),
    "less_equal": lambda _, a, b: _place(a) <= _place(b),
    "greater": lambda _, a, b: _place(a) > _place(b),
    "greater_equal": lambda _, a, b: _place(a) >= _place(b),
    "in": lambda call, value: _place(value) in [_place(member) for member in call.detail],
    "not": lambda _, condition: not condition,
    "to_real": _to_real,
    "to_integer": _to_integer,
    "to_text": _to_text,
    "to_date": _to_date,
    "lower": lambda _, text: text.lower(),
    "upper": lambda _, text: text.upper(),
    "trim": lambda _, text: text.strip(" "),
    "length": lambda _, text: len(text),
    "concat": lambda _, *texts: "".join(text[:4096] for text in texts)[:4096],
    "substring": _substring,
    "like": lambda call, text: _like(call.detail, text),
    "ilike": lambda call, text: _like(call.detail.lower(), text.lower()),
    "starts_with": lambda call, text: text.startswith(call.detail),
    "right": lambda call, text: text[max(len(text) - call.detail[0], 0) :],
    "position": lambda call, text: text.find(call.detail) + 1,
    "replace": lambda call, text: text[:4096].replace(*call.detail)[:4096],
    "split_part": _split_part,
    "to_timestamp": lambda _, value: value if isinstance(value, datetime) else datetime.combine(value, time()),
    "add_months": _add_months,
    "add_seconds": _add_seconds,
    "seconds_between": _seconds_between,
    "date_part": lambda call, moment: PARTS[call.detail](moment),
    "date_trunc": _truncate,
    "add_days": _add_days,
    "days_between": lambda _, a, b: (a - b).days,
}
