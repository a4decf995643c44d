"""Functions of texts in SQL: a table from each name to how its arguments are read. What they look for is constant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sordino.query.model.expression import Expression
from sordino.query.model.literals import literal
from sordino.query.model.operations import call

from .arguments import taking, text_constant, whole_constant

if TYPE_CHECKING:
    from .arguments import Function
    from .expression import Reader


def _direct(operation: str) -> Function:
    return lambda reader, arguments: call(operation, *(reader.read(argument) for argument in arguments))


def _substring(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    taking("SUBSTRING", arguments, 2, 3)
    start = whole_constant("SUBSTRING", reader, arguments[1])
    length = whole_constant("SUBSTRING", reader, arguments[2]) if len(arguments) == 3 else None
    return call("substring", reader.read(arguments[0]), detail=(start, length))


def _left(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    value, length = taking("LEFT", arguments, 2, 2)
    return call("substring", reader.read(value), detail=(1, whole_constant("LEFT", reader, length)))


def _right(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    value, length = taking("RIGHT", arguments, 2, 2)
    return call("right", reader.read(value), detail=(whole_constant("RIGHT", reader, length),))


def _starts_with(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    value, prefix = taking("STARTS_WITH", arguments, 2, 2)
    return call("starts_with", reader.read(value), detail=text_constant("STARTS_WITH", prefix))


def _ends_with(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    value, suffix = taking("ENDS_WITH", arguments, 2, 2)
    ending = text_constant("ENDS_WITH", suffix)
    return call("equal", call("right", reader.read(value), detail=(len(ending),)), literal(ending))


def _contains(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    return call("greater", _found(reader, taking("CONTAINS", arguments, 2, 2), "CONTAINS"), literal(0))


def _position(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    return _found(reader, taking("STRPOS", arguments, 2, 2), "STRPOS")


def _found(reader: Reader, arguments: list[exp.Expr], name: str) -> Expression:
    value, wanted = arguments
    return call("position", reader.read(value), detail=text_constant(name, wanted))


def _replace(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    value, *texts = taking("REPLACE", arguments, 3, 3)
    return call("replace", reader.read(value), detail=tuple(text_constant("REPLACE", text) for text in texts))


def _split_part(reader: Reader, arguments: list[exp.Expr]) -> Expression:
    value, separator, place = taking("SPLIT_PART", arguments, 3, 3)
    wanted = text_constant("SPLIT_PART", separator), whole_constant("SPLIT_PART", reader, place)
    return call("split_part", reader.read(value), detail=wanted)


TEXT_FUNCTIONS: dict[str, Function] = {
    "LOWER": _direct("lower"),
    "LCASE": _direct("lower"),
    "UPPER": _direct("upper"),
    "UCASE": _direct("upper"),
    "TRIM": _direct("trim"),
    "LENGTH": _direct("length"),
    "LEN": _direct("length"),
    "CHAR_LENGTH": _direct("length"),
    "CHARACTER_LENGTH": _direct("length"),
    "CONCAT": _direct("concat"),
    "SUBSTRING": _substring,
    "SUBSTR": _substring,
    "LEFT": _left,
    "RIGHT": _right,
    "STARTS_WITH": _starts_with,
    "STARTSWITH": _starts_with,
    "ENDS_WITH": _ends_with,
    "ENDSWITH": _ends_with,
    "SUFFIX": _ends_with,
    "CONTAINS": _contains,
    "STRPOS": _position,
    "INSTR": _position,
    "REPLACE": _replace,
    "SPLIT_PART": _split_part,
}
"""How each function of texts is read."""
