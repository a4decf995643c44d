"""From pieces of SQL to expressions over one row: a table from each class of node that is allowed to a small function.

Whatever is not in the table is refused, and so is whatever an allowed node says besides what its entry reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from sqlglot import exp

from sordino.data.kinds import Kind
from sordino.data.metadata import Column
from sordino.errors import QuestionError
from sordino.query.model.expression import Expression, Literal
from sordino.query.model.literals import as_kind, is_null, literal, number
from sordino.query.model.operations import call
from sordino.query.model.ranges import derive

from .calls import AGGREGATE_NAMES
from .dates import date_part, days_of, moved, sum_or_date
from .functions import FUNCTIONS
from .refusals import only, refuse, refused_node, unknown_function
from .scope import Scope


class Reader:
    """Reads expressions over the rows of one scope. Readers of other places override `read`, `column`, `function`."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def read(self, node: exp.Expr) -> Expression:
        """Return the expression that the node stands for."""
        entry = NODES.get(type(node))
        if entry is None:
            raise refused_node(node)
        known, read = entry
        only(node, *known)
        return read(self, node)

    def column(self, node: exp.Column) -> Expression:
        """Return what a column's name stands for."""
        return self.scope.reference(node)

    def function(self, name: str, arguments: list[exp.Expr]) -> Expression:
        """Return what a function's call stands for; `name` is in upper case."""
        if name in AGGREGATE_NAMES:
            raise refuse(
                f"{name} is an aggregate and cannot stand here",
                "aggregates go into SELECT, HAVING and ORDER BY, and never into each other",
            )
        function = FUNCTIONS.get(name)
        if function is None:
            raise unknown_function(name, [*FUNCTIONS, *AGGREGATE_NAMES])
        return function(self, arguments)

    def known(self, expression: Expression) -> Column | None:
        """Return what is known about a value of a row; None where values of answers are spoken of."""
        return derive(expression, self.scope.relation.columns)

    def condition(self, node: exp.Expr) -> Expression:
        """Return an expression that is true or false."""
        expression = self.read(node)
        if is_null(expression):
            return as_kind(expression, Kind.BOOLEAN)
        if expression.kind is not Kind.BOOLEAN:
            raise QuestionError(
                f"a condition must be true or false, not {expression.kind.value}; write a comparison such as x > 0",
                "SRD-Q104",
            )
        return expression


def chain(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """Return the parts of a chain such as a AND b AND c in order, however long, without recursion."""
    parts: list[exp.Expr] = []
    stack: list[exp.Expr] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, kind):
            only(part, "this", "expression", "safe")
            stack += [part.expression, part.this]
        elif isinstance(part, exp.Paren) and isinstance(part.this, kind):
            stack.append(part.this)
        else:
            parts.append(part)
    return parts


def _constant(_: Reader, node: exp.Expr) -> Expression:
    return literal(str(node.this)) if node.args.get("is_string") else literal(number(str(node.this)))


def _negated(reader: Reader, node: exp.Expr) -> Expression:
    value = reader.read(node.this)
    if isinstance(value, Literal) and value.kind.is_number and value.value is not None:
        return literal(-cast(float, value.value))
    return call("negate", value)


def _binary(operation: str) -> Callable[[Reader, exp.Expr], Expression]:
    return lambda reader, node: call(operation, reader.read(node.this), reader.read(node.expression))


def _comparison(operation: str) -> Callable[[Reader, exp.Expr], Expression]:
    def read(reader: Reader, node: exp.Expr) -> Expression:
        left, right = reader.read(node.this), reader.read(node.expression)
        if is_null(left) or is_null(right):
            raise QuestionError("a comparison with NULL is never true; write IS NULL or IS NOT NULL", "SRD-Q104")
        return call(operation, left, right)

    return read


def _chained(operation: str, kind: type[exp.Expr]) -> Callable[[Reader, exp.Expr], Expression]:
    return lambda reader, node: call(operation, *(reader.read(part) for part in chain(node, kind)))


def _between(reader: Reader, node: exp.Expr) -> Expression:
    value = reader.read(node.this)
    low, high = reader.read(node.args["low"]), reader.read(node.args["high"])
    return call("and", call("greater_equal", value, low), call("less_equal", value, high))


def _member(reader: Reader, node: exp.Expr) -> Expression:
    value = reader.read(node.this)
    members = [reader.read(member) for member in node.expressions]
    if not members or not all(isinstance(member, Literal) for member in members):
        raise refuse("IN needs a list of constants", "write x = a OR x = b", "SRD-Q104")
    values = tuple(cast(Literal, member).value for member in members)
    if None in values:
        raise refuse("NULL in a list is equal to nothing", "leave it out, and write OR x IS NULL", "SRD-Q104")
    return call("in", value, detail=values)


def _is(reader: Reader, node: exp.Expr) -> Expression:
    value, wanted = reader.read(node.this), node.expression
    if isinstance(wanted, exp.Null):
        return call("is_null", value)
    if isinstance(wanted, exp.Boolean):
        holds = value if wanted.this else call("not", value)
        return call("and", call("not", call("is_null", value)), holds)
    raise refuse("IS goes with NULL, TRUE and FALSE", "write =")


def _pattern(operation: str) -> Callable[[Reader, exp.Expr], Expression]:
    def read(reader: Reader, node: exp.Expr) -> Expression:
        pattern = node.expression
        if not isinstance(pattern, exp.Literal) or not pattern.is_string:
            raise refuse(f"{operation.upper()} needs a constant pattern on its right", "write x LIKE 'a%'", "SRD-Q104")
        matched = call(operation, reader.read(node.this), detail=str(pattern.this))
        return call("not", matched) if node.args.get("negate") else matched

    return read


def _case(reader: Reader, node: exp.Expr) -> Expression:
    compared = reader.read(node.this) if node.this is not None else None
    parts: list[Expression] = []
    for branch in node.args["ifs"]:
        only(branch, "this", "true")
        test = reader.condition(branch.this) if compared is None else call("equal", compared, reader.read(branch.this))
        parts += [test, reader.read(branch.args["true"])]
    default = node.args.get("default")
    return call("case", *parts, literal(None) if default is None else reader.read(default))


def _if(reader: Reader, node: exp.Expr) -> Expression:
    return reader.function("IF", [node.this, node.args["true"], node.args.get("false") or exp.Null()])


def _cast(reader: Reader, node: exp.Expr) -> Expression:
    target = node.args["to"]
    kind = _TYPES.get(str(target.args.get("kind") or getattr(target.this, "name", "")).upper())
    if kind is None or target.expressions:
        raise refuse(
            "casts are possible to DOUBLE, BIGINT, VARCHAR and DATE",
            "for decimals write ROUND(x, 2), for timestamps TIMESTAMP '2026-01-31 12:00:00'",
            "SRD-Q104",
        )
    value = as_kind(reader.read(node.this), kind)
    if value.kind is kind:
        return value
    if kind not in _CASTS:
        raise refuse(f"only a constant can be cast to {kind.value}", "compare instead", "SRD-Q104")
    return call(_CASTS[kind], value)


_TYPES = {
    **dict.fromkeys(("DOUBLE", "FLOAT", "REAL", "FLOAT64", "FLOAT8"), Kind.REAL),
    **dict.fromkeys(("INT", "BIGINT", "SMALLINT", "TINYINT", "INT64", "INTEGER"), Kind.INTEGER),
    **dict.fromkeys(("TEXT", "VARCHAR", "STRING", "NVARCHAR"), Kind.TEXT),
    "DATE": Kind.DATE,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPNTZ", "TIMESTAMPTZ", "DATETIME"), Kind.TIMESTAMP),
    "BOOLEAN": Kind.BOOLEAN,
}
_CASTS = {Kind.REAL: "to_real", Kind.INTEGER: "to_integer", Kind.TEXT: "to_text", Kind.DATE: "to_date"}


def _shifted(sign: int) -> Callable[[Reader, exp.Expr], Expression]:
    def read(reader: Reader, node: exp.Expr) -> Expression:
        if sign > 0 and _is_long(node, exp.Add):
            return _balanced("add", [reader.read(part) for part in chain(node, exp.Add)])
        if isinstance(node.expression, exp.Interval):
            return moved(reader.read(node.this), sign * days_of(node.expression))
        if sign > 0 and isinstance(node.this, exp.Interval):
            return moved(reader.read(node.expression), days_of(node.this))
        return sum_or_date(sign, reader.read(node.this), reader.read(node.expression))

    return read


def _product(reader: Reader, node: exp.Expr) -> Expression:
    if _is_long(node, exp.Mul, _LONG_PRODUCT):
        return _balanced("multiply", [reader.read(part) for part in chain(node, exp.Mul)])
    return call("multiply", reader.read(node.this), reader.read(node.expression))


_LONG = 8
_LONG_PRODUCT = 3
"""Each product may have to cut its factors, so those of products of products are repeated many times."""


def _is_long(node: exp.Expr, kind: type[exp.Expr], least: int = _LONG) -> bool:
    for _ in range(least):
        if not isinstance(node, kind):
            return False
        node = node.this.unnest()
    return True


def _balanced(operation: str, parts: list[Expression]) -> Expression:
    """Return the sum or product of many numbers as a shallow tree, however long the chain was."""
    if len(parts) == 1:
        return parts[0]
    middle = (len(parts) + 1) // 2
    return call(operation, _balanced(operation, parts[:middle]), _balanced(operation, parts[middle:]))


_BOTH = ("this", "expression")
Entry = tuple[Sequence[str], Callable[[Any, Any], Expression]]

NODES: dict[type[exp.Expr], Entry] = {
    exp.Column: (("this", "table"), lambda reader, node: reader.column(node)),
    exp.Anonymous: (("this", "expressions"), lambda reader, node: reader.function(node.name.upper(), node.expressions)),
    exp.Paren: (("this",), lambda reader, node: reader.read(node.this)),
    exp.Literal: (("this", "is_string"), _constant),
    exp.Boolean: (("this",), lambda _, node: literal(bool(node.this))),
    exp.Null: ((), lambda _, __: literal(None)),
    exp.Neg: (("this",), _negated),
    exp.Add: (_BOTH, _shifted(1)),
    exp.Sub: (_BOTH, _shifted(-1)),
    exp.Mul: (_BOTH, _product),
    exp.Div: ((*_BOTH, "typed", "safe"), _binary("divide")),
    exp.Mod: (_BOTH, _binary("modulo")),
    exp.Pow: (_BOTH, _binary("power")),
    exp.DPipe: ((*_BOTH, "safe"), _chained("concat", exp.DPipe)),
    exp.EQ: (_BOTH, _comparison("equal")),
    exp.NEQ: (_BOTH, _comparison("not_equal")),
    exp.LT: (_BOTH, _comparison("less")),
    exp.LTE: (_BOTH, _comparison("less_equal")),
    exp.GT: (_BOTH, _comparison("greater")),
    exp.GTE: (_BOTH, _comparison("greater_equal")),
    exp.And: (_BOTH, _chained("and", exp.And)),
    exp.Or: (_BOTH, _chained("or", exp.Or)),
    exp.Not: (("this",), lambda reader, node: call("not", reader.condition(node.this))),
    exp.Between: (("this", "low", "high"), _between),
    exp.In: (("this", "expressions"), _member),
    exp.Is: (_BOTH, _is),
    exp.Like: ((*_BOTH, "negate"), _pattern("like")),
    exp.ILike: ((*_BOTH, "negate"), _pattern("ilike")),
    exp.Case: (("this", "ifs", "default"), _case),
    exp.If: (("this", "true", "false"), _if),
    exp.Cast: (("this", "to", "safe"), _cast),
    exp.TryCast: (("this", "to", "safe", "requires_string"), _cast),
    exp.Extract: (_BOTH, lambda reader, node: date_part(node.this, reader.read(node.expression))),
}
"""Class of node → (what it may say, how it is read)."""
