"""Expressions of the dataframe way of asking: ``so.col("fare") * 1.1``. They are lazy: names mean nothing until used.

Where an expression is used, it becomes the syntax tree that SQL would have there, and is read by SQL's own readers: one
allow-list, one set of rules, for both ways of asking. Operands are constants unless they are expressions: a text beside
an operator is a text, and ``col`` names a column.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NoReturn

from sqlglot import exp

from sordino.errors import ArgumentError, QuestionError
from sordino.query.sql.scope import Scope
from sordino.query.sql.text import DEEPEST, MOST_NODES

from .constants import constant, constant_node
from .methods import Build, Methods, calling, function

_LONGEST_SHOWN = 60


@dataclass(frozen=True)
class Place:
    """Where an expression is used: what names can mean there, and whether aggregates can stand there."""

    scope: Scope
    named: Mapping[str, Formula] = field(default_factory=dict)
    """Names of keys, which come before those of columns."""
    aggregates: bool = False
    person: Callable[[], exp.Expr] | None = None
    """Gives the column that holds the person, where windows over each person's rows can stand."""

    @property
    def rows(self) -> Place:
        """Return the place right below, among the rows."""
        return Place(self.scope)

    def column(self, name: str) -> exp.Expr:
        """Return the node for a name, which may have its table's name and a dot before it."""
        if name in self.named:
            return self.named[name].node(self.rows)
        known = {seen.name.lower() for seen in self.scope.visible}
        table, dot, bare = name.partition(".")
        if dot and name.lower() not in known:
            return exp.Column(this=identifier(bare), table=identifier(table))
        return exp.Column(this=identifier(name))


Operator = Callable[["Formula", Any], "Formula"]


def _binary(kind: type[exp.Expr]) -> Callable[[exp.Expr, exp.Expr], exp.Expr]:
    return lambda left, right: kind(this=left, expression=right)


def _floored(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return function("FLOOR", exp.Div(this=left, expression=right))


def _operator(sign: str, build: Build) -> Operator:
    def applied(left: Formula, other: Any) -> Formula:
        right = as_formula(other)
        return Formula(f"{enclosed(left)} {sign} {enclosed(right)}", (left, right), build, compound=True)

    return applied


def _reflected(operation: Operator) -> Operator:
    return lambda right, other: operation(as_formula(other), right)


def _comparison(sign: str, kind: type[exp.Expr]) -> Operator:
    compare = _operator(sign, _binary(kind))

    def compared(left: Formula, other: Any) -> Formula:
        if other is None:
            raise QuestionError(
                "a comparison with None is never true; write .is_null() or .is_not_null() instead", "SRD-Q402"
            )
        return compare(left, other)

    return compared


class Formula(Methods["Formula"]):
    """An expression over names, built by operators and methods. Made by `col`, `lit`, `when` and the aggregates."""

    def __init__(
        self,
        text: str,
        parts: Sequence[Formula] = (),
        build: Build | None = None,
        *,
        compound: bool = False,
        joint: str | None = None,
    ) -> None:
        self.text = text
        """How it would be written."""
        self.parts = tuple(parts)
        self.compound = compound
        """Whether it needs parentheses beside an operator."""
        self.joint = joint
        """The sign that joins its parts, if it is a list of conditions."""
        self._build = build
        self._depth: int = 1 + max((part._depth for part in parts), default=0)
        self._size: int = 1 + sum(part._size for part in parts)
        if self._depth > DEEPEST or self._size > MOST_NODES:
            raise QuestionError(
                "the expression is nested too deeply or too long; name its parts first by with_columns(name=…)",
                "SRD-Q401",
            )

    def node(self, place: Place) -> exp.Expr:
        """Return the syntax tree that it stands for at a place."""
        assert self._build is not None  # noqa: S101  (what has none overrides this)
        return self._build(*(part.node(place) for part in self.parts))

    def _applied(self, method: str, build: Build, *operands: Any, shown: Sequence[Any] = ()) -> Formula:
        others = tuple(as_formula(operand) for operand in operands)
        said = ", ".join([*(other.text for other in others), *map(repr, shown)])
        return Formula(f"{enclosed(self)}.{method}({said})", (self, *others), build)

    def __repr__(self) -> str:
        return self.text

    def __bool__(self) -> NoReturn:
        raise QuestionError(
            f"{self.text[:_LONGEST_SHOWN]} is true or false for each row, not by itself; write & for and, | for or, "
            "~ for not (each side in parentheses), .is_in([…]) for in, .between(a, b) for a <= x <= b",
            "SRD-Q402",
        )

    __add__, __radd__ = _operator("+", _binary(exp.Add)), _reflected(operator.add)
    __sub__, __rsub__ = _operator("-", _binary(exp.Sub)), _reflected(operator.sub)
    __mul__, __rmul__ = _operator("*", _binary(exp.Mul)), _reflected(operator.mul)
    __truediv__, __rtruediv__ = _operator("/", _binary(exp.Div)), _reflected(operator.truediv)
    __floordiv__, __rfloordiv__ = _operator("//", _floored), _reflected(operator.floordiv)
    __mod__, __rmod__ = _operator("%", _binary(exp.Mod)), _reflected(operator.mod)
    __pow__ = _operator("**", _binary(exp.Pow))
    __eq__, __ne__ = _comparison("==", exp.EQ), _comparison("!=", exp.NEQ)  # type: ignore[assignment]
    __lt__, __le__ = _comparison("<", exp.LT), _comparison("<=", exp.LTE)
    __gt__, __ge__ = _comparison(">", exp.GT), _comparison(">=", exp.GTE)
    __rand__, __ror__ = _reflected(operator.and_), _reflected(operator.or_)
    __hash__ = None  # type: ignore[assignment]

    def __rpow__(self, other: Any) -> Formula:
        return lit(other) ** self  # a bare −2 ** x would be −(2 ** x)

    def __neg__(self) -> Formula:
        return Formula(f"-{enclosed(self)}", (self,), lambda value: exp.Neg(this=value), compound=True)

    def __abs__(self) -> Formula:
        return Formula(f"abs({self.text})", (self,), calling("ABS"))

    def __and__(self, other: Any) -> Formula:
        return chained("&", self, as_formula(other))

    def __or__(self, other: Any) -> Formula:
        return chained("|", self, as_formula(other))

    def __invert__(self) -> Formula:
        return Formula(f"~{enclosed(self)}", (self,), lambda value: exp.Not(this=value), compound=True)


class _Column(Formula):
    def __init__(self, name: str) -> None:
        super().__init__(f"col({name!r})")
        self.name = name

    def node(self, place: Place) -> exp.Expr:
        return place.column(self.name)


def col(name: str) -> Formula:
    """Return the column of that name, of a table or of an answer, wherever the expression is used.

    After a join in which both sides have such a column, write ``col("drivers.city")`` with the table's name.
    """
    if not isinstance(name, str) or not name:
        given = "an empty one" if isinstance(name, str) else f"by {type(name).__name__}"
        more = "; name several one by one" if isinstance(name, list | tuple) else ""
        raise ArgumentError(f"a column is named by a text, not {given}{more}", "SRD-A001")
    return _Column(name)


def lit(value: Any) -> Formula:
    """Return a constant as an expression; needed only where a text would be taken for a column's name."""
    held = constant(value)
    return Formula(f"lit({held!r})", build=lambda: constant_node(held))


def as_formula(value: Any) -> Formula:
    """Return an expression as it is, and anything else as a constant."""
    if isinstance(value, Formula):
        return value
    held = constant(value)
    return Formula(repr(held), build=lambda: constant_node(held))


def named(value: Any) -> Formula:
    """Return an expression as it is, and a text as the column of that name."""
    return value if isinstance(value, Formula) else col(value)


def shown(formula: Formula) -> str:
    """Return the text, of a plain column its name alone."""
    return repr(formula.name) if isinstance(formula, _Column) else formula.text


def bare_name(formula: Formula) -> str | None:
    """Return what the expression is called by itself: a column's name without its table's."""
    return formula.name.rpartition(".")[2] if isinstance(formula, _Column) else None


def chained(sign: str, *parts: Formula) -> Formula:
    """Return the conditions joined by & or |, as one list: its length does not count as depth."""
    listed = [each for part in parts for each in (part.parts if part.joint == sign else (part,))]
    if len(listed) == 1:
        return listed[0]
    joined = _binary({"&": exp.And, "|": exp.Or}[sign])
    text = f" {sign} ".join(map(enclosed, listed))
    return Formula(text, listed, lambda *nodes: reduce(joined, nodes), compound=True, joint=sign)


def enclosed(formula: Formula) -> str:
    """Return the text, in parentheses where an operator beside it would tear it apart."""
    return f"({formula.text})" if formula.compound else formula.text


def identifier(name: str) -> exp.Identifier:
    """Return the node of a name, whatever characters are in it."""
    return exp.Identifier(this=name, quoted=True)
