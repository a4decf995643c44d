"""The allow-list: every operation that an expression may contain, what it takes and what it gives.

Each name stands in one table, `RULES`, with a rule that checks the kinds of the arguments and the detail. ``lowering``
has one entry for each of them, and whatever is not in the table cannot be said at all.

Booleans are not numbers. Integers take part in arithmetic as reals. A constant NULL takes the kind of its neighbours,
and so does a constant that can be read as such (``day >= '2026-01-31'``). Where integers and reals meet as branches
of one value (CASE, COALESCE), the integers are made real by an explicit ``to_real``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from sordino.data.kinds import Kind
from sordino.errors import QuestionError

from .expression import Call, Expression, Literal, Value
from .literals import as_kind, is_null, literal
from .weights import refuse_large

Detail = str | tuple[Value, ...] | None
Checked = tuple[tuple[Expression, ...], Kind, Detail]
Check = Callable[[str, tuple[Expression, ...], Detail], Checked]

DATE_PARTS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "weekday", "day_of_year")
DATE_TRUNCATIONS = ("year", "quarter", "month", "week", "day", "hour", "minute")
MOST_VALUES = 10_000
MOST_DAYS = 100_000
MOST_MONTHS = 120_000
MOST_SECONDS = 10**10
LONGEST_TEXT = 2**31 - 1
LONGEST_MADE = 4096
"""Texts that are put together are cut at this length, wherever that is done."""


@dataclass(frozen=True)
class Rule:
    """How many arguments an operation takes (any number at most, if None), whether it has a detail, and its check."""

    check: Check
    least: int = 1
    most: int | None = 1
    detailed: bool = False

    def __call__(self, operation: str, arguments: tuple[Expression, ...], detail: Detail) -> Checked:
        """Return what arguments and detail are settled as, and the kind of the result."""
        if detail is not None and not self.detailed:
            raise QuestionError(f"{operation} takes nothing besides its arguments", "SRD-Q104")
        least, most = self.least, self.most
        if len(arguments) < least or (most is not None and len(arguments) > most):
            wanted = str(least) if least == most else f"at least {least}" if most is None else f"{least} to {most}"
            raise QuestionError(f"{operation} takes {wanted} argument(s), not {len(arguments)}", "SRD-Q104")
        return self.check(operation, arguments, detail)


_DATES = (Kind.DATE, Kind.TIMESTAMP)
_TIMED_UNITS = ("hour", "minute", "second")


def call(operation: str, *arguments: Expression, detail: Detail = None) -> Call:
    """Return the operation on the arguments, checked; raise a `QuestionError` that says what to write instead.

    >>> from sordino.query.model.literals import literal
    >>> call("add", literal(1), literal(2.5)).kind
    <Kind.REAL: 'real'>
    """
    rule = RULES.get(operation)
    if rule is None:
        close = get_close_matches(operation, RULES, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else "the list is in the documentation"
        raise QuestionError(f"there is no operation {operation[:40]!r}; {hint}", "SRD-Q103")
    settled, kind, checked = rule(operation, arguments, detail)
    made = Call(kind, operation, settled, checked)
    refuse_large(made)
    return made


def is_numeric(kind: Kind, operation: str) -> None:
    """Refuse a `kind` that has no arithmetic, and name the remedy."""
    if not kind.is_number:
        raise QuestionError(f"{operation} needs numbers, not {kind.value}; {_REMEDIES[kind]}", "SRD-Q104")


_REMEDIES = {
    Kind.BOOLEAN: "write CASE WHEN … THEN 1 ELSE 0 END",
    Kind.TEXT: "write CAST(… AS DOUBLE) if the text holds numbers",
    Kind.DATE: "write EXTRACT(… FROM …), or DATE_DIFF('day', a, b) for a number of days",
    Kind.TIMESTAMP: "write EXTRACT(… FROM …), or t1 - t2 for a number of seconds",
}


def _arithmetic(result: Kind) -> Check:
    def check(operation: str, arguments: tuple[Expression, ...], _: Detail) -> Checked:
        settled = tuple(as_kind(argument, Kind.REAL) if is_null(argument) else argument for argument in arguments)
        for argument in settled:
            is_numeric(argument.kind, operation)
        return settled, result, None

    return check


def _power(operation: str, arguments: tuple[Expression, ...], detail: Detail) -> Checked:
    """Powers that cannot fail are long texts in some engines, and powers of powers endless ones."""
    if any(isinstance(node, Call) and node.operation == "power" for part in arguments for node in part.walk()):
        raise QuestionError("a power of a power; multiply the exponents, or compute one in a subquery", "SRD-Q101")
    return _arithmetic(Kind.REAL)(operation, arguments, detail)


def _together(operation: str, values: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """Return the values in one common kind: constants are read as the others' kind, integers may become reals."""
    kinds = [value.kind for value in values if not is_null(value) and not isinstance(value, Literal)]
    kinds += [value.kind for value in values if not is_null(value) and isinstance(value, Literal)]
    if not kinds:
        raise QuestionError(f"{operation} has nothing but NULL, which has no kind; write CAST(NULL AS …)", "SRD-Q104")
    kind = Kind.REAL if set(kinds) == {Kind.INTEGER, Kind.REAL} else kinds[0]
    settled = tuple(as_kind(value, kind) for value in values)
    if kind is Kind.REAL:
        settled = tuple(call("to_real", value) if value.kind is Kind.INTEGER else value for value in settled)
    for value in settled:
        if value.kind is not kind:
            raise QuestionError(
                f"{operation} needs values of one kind, not {kind.value} and {value.kind.value}; write CAST(… AS …)",
                "SRD-Q104",
            )
    return settled


def _comparison(operation: str, arguments: tuple[Expression, ...], _: Detail) -> Checked:
    if {argument.kind for argument in arguments} == {Kind.INTEGER, Kind.REAL}:
        return arguments, Kind.BOOLEAN, None
    return _together(operation, arguments), Kind.BOOLEAN, None


def _membership(operation: str, arguments: tuple[Expression, ...], detail: Detail) -> Checked:
    if not isinstance(detail, tuple) or not detail or len(detail) > MOST_VALUES or None in detail:
        raise QuestionError(f"{operation} needs 1 to {MOST_VALUES:,} constants, none of them NULL", "SRD-Q104")
    values = tuple(_member(literal(value), arguments[0].kind) for value in detail)
    return arguments, Kind.BOOLEAN, values


def _member(value: Literal, kind: Kind) -> Value:
    settled = as_kind(value, kind)
    assert isinstance(settled, Literal)  # noqa: S101  (constants stay constants)
    if settled.kind is kind:
        return settled.value
    if kind is Kind.INTEGER and isinstance(settled.value, float) and settled.value.is_integer():
        return int(settled.value)
    raise QuestionError(
        f"a value of {kind.value} is compared with a list that holds {settled.kind.value} {str(settled.value)[:40]!r}; "
        "write all values as one kind",
        "SRD-Q104",
    )


def _pattern(operation: str, arguments: tuple[Expression, ...], detail: Detail) -> Checked:
    if not isinstance(detail, str):
        raise QuestionError(f"{operation} needs a constant text on its right-hand side", "SRD-Q104")
    if operation in ("like", "ilike") and "\\" in detail:
        raise QuestionError(
            "a backslash in a LIKE pattern means different things to different engines; leave it out", "SRD-Q104"
        )
    literal(detail)
    return _of_kind(operation, arguments, Kind.TEXT), Kind.BOOLEAN, detail


def _of_kind(operation: str, arguments: tuple[Expression, ...], *kinds: Kind) -> tuple[Expression, ...]:
    settled = tuple(as_kind(argument, kinds[0]) if is_null(argument) else argument for argument in arguments)
    for argument in settled:
        if argument.kind not in kinds:
            wanted = " or ".join(kind.value for kind in kinds)
            raise QuestionError(
                f"{operation} needs {wanted}, not {argument.kind.value}; {_CASTS.get(kinds[0], 'compare it')} first",
                "SRD-Q104",
            )
    return settled


_CASTS = {
    Kind.TEXT: "write CAST(… AS VARCHAR)",
    Kind.DATE: "write CAST(… AS DATE)",
    Kind.BOOLEAN: "write a comparison such as x = 1",
    Kind.TIMESTAMP: "write TIMESTAMP '2026-01-31 12:00:00', or CAST(… AS TIMESTAMP) of a date",
}


def _taking(kind: Kind, result: Kind) -> Check:
    return lambda operation, arguments, _: (_of_kind(operation, arguments, kind), result, None)


def _case(_: str, arguments: tuple[Expression, ...], __: Detail) -> Checked:
    if len(arguments) % 2 == 0:
        raise QuestionError("case needs pairs of condition and value, and a default at the end", "SRD-Q104")
    conditions = _of_kind("WHEN", arguments[:-1:2], Kind.BOOLEAN)
    values = _together("CASE", (*arguments[1::2], arguments[-1]))
    pairs = [part for pair in zip(conditions, values[:-1], strict=True) for part in pair]
    return (*pairs, values[-1]), values[-1].kind, None


def _alternatives(operation: str, arguments: tuple[Expression, ...], _: Detail) -> Checked:
    settled = _together(operation.upper(), arguments)
    return settled, settled[0].kind, None


def _cast(result: Kind, *kinds: Kind) -> Rule:
    def check(_: str, arguments: tuple[Expression, ...], __: Detail) -> Checked:
        argument = as_kind(arguments[0], result) if is_null(arguments[0]) else arguments[0]
        if argument.kind not in (result, *kinds):
            raise QuestionError(
                f"{argument.kind.value} cannot be cast to {result.value} with one meaning on all engines; "
                f"what can: {', '.join(kind.value for kind in kinds)}",
                "SRD-Q104",
            )
        return (argument,), result, None

    return Rule(check)


def _substring(operation: str, arguments: tuple[Expression, ...], detail: Detail) -> Checked:
    match detail:
        case (int(start), int(length)) if 1 <= start <= LONGEST_TEXT and 0 <= length <= LONGEST_TEXT:
            pass
        case (int(start), None) if 1 <= start <= LONGEST_TEXT:
            pass
        case _:
            raise QuestionError(
                "SUBSTRING needs a constant start of at least 1 and, if any, a constant length of at least 0",
                "SRD-Q104",
            )
    return _of_kind(operation, arguments, Kind.TEXT), Kind.TEXT, detail


def _dated(units: tuple[str, ...], result: Kind | None = None) -> Rule:
    def check(operation: str, arguments: tuple[Expression, ...], detail: Detail) -> Checked:
        if detail not in units:
            raise QuestionError(f"{operation} knows {', '.join(units)}; not {str(detail)[:40]!r}", "SRD-Q104")
        settled = _of_kind(operation, arguments, *_DATES)
        if settled[0].kind is Kind.DATE and detail in _TIMED_UNITS:
            raise QuestionError(f"a date has no {detail}; use a timestamp, or leave it out", "SRD-Q104")
        return settled, result or settled[0].kind, detail

    return Rule(check, detailed=True)


def _add_days(operation: str, arguments: tuple[Expression, ...], detail: Detail) -> Checked:
    match detail:
        case (int(days),) if not isinstance(days, bool) and abs(days) <= MOST_DAYS:
            return _of_kind(operation, arguments, Kind.DATE), Kind.DATE, detail
    raise QuestionError(f"a date can be moved by a constant number of days, at most {MOST_DAYS:,}", "SRD-Q104")


def _shifted(most: int, *kinds: Kind) -> Rule:
    def check(operation: str, arguments: tuple[Expression, ...], detail: Detail) -> Checked:
        match detail:
            case (int(amount),) if not isinstance(amount, bool) and abs(amount) <= most:
                settled = _of_kind(operation, arguments, *kinds)
                return settled, settled[0].kind, detail
        raise QuestionError(f"{operation} takes a constant whole number, at most {most:,}", "SRD-Q104")

    return Rule(check, detailed=True)


def _place(operation: str, arguments: tuple[Expression, ...], detail: Detail) -> Checked:
    settled, _, checked = _pattern(operation, arguments, detail)
    return settled, Kind.INTEGER, checked


def _ending(operation: str, arguments: tuple[Expression, ...], detail: Detail) -> Checked:
    match detail:
        case (int(length),) if not isinstance(length, bool) and 0 <= length <= LONGEST_TEXT:
            return _of_kind(operation, arguments, Kind.TEXT), Kind.TEXT, detail
    raise QuestionError("RIGHT needs a constant length of at least 0", "SRD-Q104")


def _replaced(operation: str, arguments: tuple[Expression, ...], detail: Detail) -> Checked:
    match detail:
        case (str(old), str(new)) if old:
            literal(old), literal(new)
            return _of_kind(operation, arguments, Kind.TEXT), Kind.TEXT, detail
    raise QuestionError("REPLACE needs two constant texts, the first of them not empty", "SRD-Q104")


def _split(operation: str, arguments: tuple[Expression, ...], detail: Detail) -> Checked:
    match detail:
        case (str(separator), int(place)) if separator and not isinstance(place, bool) and 1 <= place <= MOST_VALUES:
            literal(separator)
            return _of_kind(operation, arguments, Kind.TEXT), Kind.TEXT, detail
    raise QuestionError(
        f"SPLIT_PART needs a constant separator, and a constant place from 1 to {MOST_VALUES:,}", "SRD-Q104"
    )


RULES: dict[str, Rule] = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "modulo"), Rule(_arithmetic(Kind.REAL), 2, 2)),
    "power": Rule(_power, 2, 2),
    **dict.fromkeys(("negate", "abs", "sqrt", "exp", "ln"), Rule(_arithmetic(Kind.REAL))),
    **dict.fromkeys(("least", "greatest"), Rule(_arithmetic(Kind.REAL), 2, None)),
    **dict.fromkeys(("sign", "floor", "ceil", "round"), Rule(_arithmetic(Kind.INTEGER))),
    **dict.fromkeys(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"), Rule(_comparison, 2, 2)),
    "in": Rule(_membership, detailed=True),
    **dict.fromkeys(("like", "ilike", "starts_with"), Rule(_pattern, detailed=True)),
    "is_null": Rule(lambda _, arguments, __: (arguments, Kind.BOOLEAN, None)),
    **dict.fromkeys(("and", "or"), Rule(_taking(Kind.BOOLEAN, Kind.BOOLEAN), 2, None)),
    "not": Rule(_taking(Kind.BOOLEAN, Kind.BOOLEAN)),
    "case": Rule(_case, 3, None),
    "coalesce": Rule(_alternatives, 1, None),
    "nullif": Rule(_alternatives, 2, 2),
    "to_real": _cast(Kind.REAL, Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN),
    "to_integer": _cast(Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.BOOLEAN),
    "to_text": _cast(Kind.TEXT, Kind.INTEGER, Kind.BOOLEAN, Kind.DATE),
    "to_date": _cast(Kind.DATE, Kind.TEXT, Kind.TIMESTAMP),
    "to_timestamp": _cast(Kind.TIMESTAMP, Kind.DATE),
    **dict.fromkeys(("lower", "upper", "trim"), Rule(_taking(Kind.TEXT, Kind.TEXT))),
    "length": Rule(_taking(Kind.TEXT, Kind.INTEGER)),
    "concat": Rule(_taking(Kind.TEXT, Kind.TEXT), 2, None),
    "substring": Rule(_substring, detailed=True),
    "right": Rule(_ending, detailed=True),
    "position": Rule(_place, detailed=True),
    "replace": Rule(_replaced, detailed=True),
    "split_part": Rule(_split, detailed=True),
    "date_part": _dated(DATE_PARTS, Kind.INTEGER),
    "date_trunc": _dated(DATE_TRUNCATIONS),
    "add_days": Rule(_add_days, detailed=True),
    "add_months": _shifted(MOST_MONTHS, *_DATES),
    "add_seconds": _shifted(MOST_SECONDS, Kind.TIMESTAMP),
    "days_between": Rule(_taking(Kind.DATE, Kind.INTEGER), 2, 2),
    "seconds_between": Rule(_taking(Kind.TIMESTAMP, Kind.INTEGER), 2, 2),
}
