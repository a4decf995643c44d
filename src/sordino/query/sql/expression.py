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

from .calls import AGGREGATE_NAMES, SYNONYMS
from .comparing import alike, alike_to_all
from .constants import computed
from .dates import date_part, interval_of, moved, sum_or_date
from .functions import FUNCTIONS, clip
from .refusals import only, refuse, refused_node, unknown_function
from .rounding import at_digit, whole_quotient
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
        if name in AGGREGATE_NAMES or name in SYNONYMS:
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

    def clipped(self, value: Expression, low: Expression, high: Expression) -> Expression:
        """Return the value between two ends; what is missing stays missing."""
        return clip(value, low, high, self.known(value))

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
        left, right = _sides(reader, node.this, node.expression)
        if is_null(left) or is_null(right):
            raise QuestionError("a comparison with NULL is never true; write IS NULL or IS NOT NULL", "SRD-Q104")
        return call(operation, *alike(left, right))

    return read


def _sides(reader: Reader, left: exp.Expr, right: exp.Expr) -> tuple[Expression, Expression]:
    """Return both sides of a comparison; an interval is read as the difference beside it is counted."""
    if isinstance(right, exp.Interval):
        value = reader.read(left)
        return value, interval_of(right).beside(value)
    if isinstance(left, exp.Interval):
        value = reader.read(right)
        return interval_of(left).beside(value), value
    return reader.read(left), reader.read(right)


def _same(*, same: bool) -> Callable[[Reader, exp.Expr], Expression]:
    """IS [NOT] DISTINCT FROM: NULL is like NULL, and unlike everything else."""

    def read(reader: Reader, node: exp.Expr) -> Expression:
        left, right = alike(reader.read(node.this), reader.read(node.expression))
        missing = [call("is_null", each) for each in (left, right)]
        if is_null(left) or is_null(right):
            found = missing[0] if is_null(right) else missing[1]
        else:
            there = [call("not", each) for each in missing]
            found = call("or", call("and", *missing), call("and", *there, call("equal", left, right)))
        return found if same else call("not", found)

    return read


def _chained(operation: str, kind: type[exp.Expr]) -> Callable[[Reader, exp.Expr], Expression]:
    return lambda reader, node: call(operation, *(reader.read(part) for part in chain(node, kind)))


def _between(reader: Reader, node: exp.Expr) -> Expression:
    above, low = _sides(reader, node.this, node.args["low"])
    below, high = _sides(reader, node.this, node.args["high"])
    return call("and", call("greater_equal", *alike(above, low)), call("less_equal", *alike(below, high)))


def _member(reader: Reader, node: exp.Expr) -> Expression:
    value = reader.read(node.this)
    members = [reader.read(member) for member in node.expressions]
    if not members or not all(isinstance(member, Literal) for member in members):
        raise refuse("IN needs a list of constants", "write x = a OR x = b", "SRD-Q104")
    if any(is_null(member) for member in members):
        raise refuse("NULL in a list is equal to nothing", "leave it out, and write OR x IS NULL", "SRD-Q104")
    value, listed = alike_to_all(value, [cast(Literal, member) for member in members])
    return call("in", value, detail=tuple(member.value for member in listed))


def _any(reader: Reader, node: exp.Expr) -> Expression:
    """``x = ANY (ARRAY['a', 'b'])`` is another word for IN."""
    wanted = node.expression
    if isinstance(wanted, exp.Any):
        listed = wanted.this.unnest() if isinstance(wanted.this, exp.Paren) else wanted.this
        if not isinstance(listed, exp.Array | exp.Tuple):
            raise refused_node(wanted)
        return _member(reader, exp.In(this=node.this, expressions=listed.expressions))
    return _comparison("equal")(reader, node)


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
        test = (
            reader.condition(branch.this)
            if compared is None
            else call("equal", *alike(compared, reader.read(branch.this)))
        )
        parts += [test, reader.read(branch.args["true"])]
    default = node.args.get("default")
    return call("case", *parts, literal(None) if default is None else reader.read(default))


def _if(reader: Reader, node: exp.Expr) -> Expression:
    return reader.function("IF", [node.this, node.args["true"], node.args.get("false") or exp.Null()])


def _cast(reader: Reader, node: exp.Expr) -> Expression:
    target = node.args["to"]
    if target.this in _DECIMALS:
        return _decimal(reader.read(node.this), target)
    kind = _TYPES.get(str(target.args.get("kind") or getattr(target.this, "name", "")).upper())
    if kind is None or target.expressions:
        raise refuse(
            "casts are possible to DOUBLE, BIGINT, DECIMAL(p, s), VARCHAR, DATE and TIMESTAMP",
            "write one of these, or compare instead",
            "SRD-Q104",
        )
    value = as_kind(reader.read(node.this), kind)
    if value.kind is kind:
        return value
    if kind not in _CASTS or (kind is Kind.TIMESTAMP and value.kind is not Kind.DATE):
        raise refuse(f"only a constant can be cast to {kind.value}", "compare instead", "SRD-Q104")
    return call(_CASTS[kind], value)


_DECIMALS = (exp.DataType.Type.DECIMAL, exp.DataType.Type.BIGDECIMAL)
_MOST_DIGITS = 15


def _decimal(value: Expression, target: exp.Expr) -> Expression:
    """A decimal of s digits behind the point is a real that is rounded to them; without (p, s) it is as it is."""
    number_of = as_kind(value, Kind.REAL)
    if number_of.kind not in (Kind.INTEGER, Kind.REAL):
        number_of = call("to_real", number_of)
    sizes = [str(each.this) for each in target.expressions]
    if not sizes:
        return number_of if number_of.kind is Kind.REAL else call("to_real", number_of)
    digits = int(sizes[1]) if len(sizes) == 2 and sizes[1].isdecimal() else 0
    if digits > _MOST_DIGITS or len(sizes) > 2:
        raise refuse("a decimal has 15 digits behind the point at most", "write CAST(x AS DECIMAL(10, 2))", "SRD-Q104")
    return at_digit(number_of, digits, lambda each: call("round", each), "DECIMAL")


_TYPES = {
    **dict.fromkeys(("DOUBLE", "FLOAT", "REAL", "FLOAT64", "FLOAT8"), Kind.REAL),
    **dict.fromkeys(("INT", "BIGINT", "SMALLINT", "TINYINT", "INT64", "INTEGER"), Kind.INTEGER),
    **dict.fromkeys(("TEXT", "VARCHAR", "STRING", "NVARCHAR"), Kind.TEXT),
    "DATE": Kind.DATE,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPNTZ", "TIMESTAMPTZ", "DATETIME"), Kind.TIMESTAMP),
    "BOOLEAN": Kind.BOOLEAN,
}
_CASTS = {
    Kind.REAL: "to_real",
    Kind.INTEGER: "to_integer",
    Kind.TEXT: "to_text",
    Kind.DATE: "to_date",
    Kind.TIMESTAMP: "to_timestamp",
}


def _shifted(sign: int) -> Callable[[Reader, exp.Expr], Expression]:
    def read(reader: Reader, node: exp.Expr) -> Expression:
        if sign > 0 and _is_long(node, exp.Add):
            return _balanced("add", [reader.read(part) for part in chain(node, exp.Add)])
        if isinstance(node.expression, exp.Interval):
            return moved(reader.read(node.this), interval_of(node.expression).times(sign))
        if sign > 0 and isinstance(node.this, exp.Interval):
            return moved(reader.read(node.expression), interval_of(node.this))
        return sum_or_date(sign, reader.read(node.this), reader.read(node.expression))

    return read


def _product(reader: Reader, node: exp.Expr) -> Expression:
    if _is_long(node, exp.Mul, _LONG_PRODUCT):
        return _balanced("multiply", [reader.read(part) for part in chain(node, exp.Mul)])
    return computed("multiply", reader.read(node.this), reader.read(node.expression))


def _quotient(reader: Reader, node: exp.Expr) -> Expression:
    return computed("divide", reader.read(node.this), reader.read(node.expression))


def _called(name: str, *parts: str) -> Callable[[Reader, exp.Expr], Expression]:
    """Return how a function is read that the parser knows by a form of its own, such as SUBSTRING(x FROM 1 FOR 2)."""
    return lambda reader, node: reader.function(name, [node.args[part] for part in parts if node.args.get(part)])


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
    return computed(operation, _balanced(operation, parts[:middle]), _balanced(operation, parts[middle:]))


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
    exp.Div: ((*_BOTH, "typed", "safe"), _quotient),
    exp.IntDiv: (_BOTH, lambda reader, node: whole_quotient(reader.read(node.this), reader.read(node.expression))),
    exp.Mod: (_BOTH, _binary("modulo")),
    exp.Pow: (_BOTH, _binary("power")),
    exp.DPipe: ((*_BOTH, "safe"), _chained("concat", exp.DPipe)),
    exp.EQ: (_BOTH, _any),
    exp.NullSafeEQ: (_BOTH, _same(same=True)),
    exp.NullSafeNEQ: (_BOTH, _same(same=False)),
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
    exp.Substring: (("this", "start", "length"), _called("SUBSTRING", "this", "start", "length")),
    exp.StrPosition: (("this", "substr"), _called("STRPOS", "this", "substr")),
    exp.Extract: (_BOTH, lambda reader, node: date_part(node.this, reader.read(node.expression))),
}
"""Class of node → (what it may say, how it is read)."""
