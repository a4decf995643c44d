"""Method calls read from their text, so that a question asked by them can travel: ``table('trips').agg(n=count())``.

Every question by method calls has a text, which says how it would be written. Here it is read again: as Python's
syntax, by Python's parser, and never run as Python. What the tree may contain is listed below, and each part calls
the function that a notebook would have called; anything else is refused. So what is read is what could be written, and
the rules for whose rows may meet whose are the same.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Generic, TypeVar

from sordino.data.metadata import Schema
from sordino.errors import ArgumentError, QuestionError

from . import aggregates, windows
from .draft import Arranged, Draft
from .expression import Formula, col, lit
from .frame import Frame, Grouped
from .methods import Methods
from .when import when

Asked = TypeVar("Asked")

LONGEST = 20_000
"""What is longer is not parsed: Python's parser takes time and memory in proportion."""

_AGGREGATES = (
    "correlation count count_distinct count_people covariance deviation histogram maximum mean median minimum quantile "
    "regression sum top variance"
)
_VERBS = "agg anti_join distinct filter group_by join per_person select semi_join union with_columns"
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "col": col,
    "lit": lit,
    "when": when,
    **{name: getattr(aggregates, name) for name in _AGGREGATES.split()},
    **{name: getattr(windows, name) for name in ("lag", "lead", "rank", "row_number")},
}
_DATES: dict[str, type] = {"date": date, "datetime": datetime}
_METHODS: tuple[tuple[type, frozenset[str]], ...] = (
    (Frame, frozenset(_VERBS.split())),
    (Grouped, frozenset({"agg", "cube", "grouping_sets", "keys", "rollup"})),
    (Arranged, frozenset({"having", "limit", "order_by"})),
    (
        Formula,
        frozenset(
            {"each_person", "otherwise", "then", "when", "where", *(name for name in vars(Methods) if name[0] != "_")}
        ),
    ),
)
"""What may be called of what: nothing else of an object is within reach."""
_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def read_calls(text: str, schema: Schema, ask: Callable[[Draft], Asked]) -> Asked:
    """Return the question that a text of method calls asks; `ask` makes it of a draft.

    **Guarantee**: nothing of the text is run. What is called are the functions and methods listed here, on what they
    gave; constants are Python's own plain ones.
    """
    if not isinstance(text, str):
        raise ArgumentError(f"method calls are read from a text, not from {type(text).__name__}", "SRD-A001")
    if len(text) > LONGEST:
        raise _unreadable(f"it is longer than {LONGEST:,} characters; ask in several questions")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        found = _Reader(schema, ask).read(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unreadable("it is not one expression of method calls") from None
    if isinstance(found, Frame | Grouped):
        found.run()  # says what to write first
    if isinstance(found, Formula) or not isinstance(tree, ast.Call):
        raise _unreadable("it does not begin with table('…')")
    return found  # type: ignore[no-any-return]  # `ask` made it: nothing else is left


@dataclass(frozen=True)
class _Reader(Generic[Asked]):
    """One walk over a tree."""

    schema: Schema
    ask: Callable[[Draft], Asked]

    def read(self, node: ast.AST) -> Any:
        """Return what a node stands for."""
        reader = _NODES.get(type(node))
        if reader is None:
            raise _unreadable(f"{type(node).__name__} cannot stand in it")
        return reader(self, node)

    def constant(self, node: ast.Constant) -> Any:
        """Return a text, a number, a truth value or None."""
        if not isinstance(node.value, str | int | float | None):
            raise _unreadable(f"{type(node.value).__name__} cannot stand in it")
        return node.value

    def listed(self, node: ast.List | ast.Tuple | ast.Set) -> list[Any]:
        """Return what a list holds."""
        return [self.read(each) for each in node.elts]

    def mapping(self, node: ast.Dict) -> dict[Any, Any]:
        """Return a mapping between columns."""
        pairs = [(self.read(key), self.read(value)) for key, value in zip(node.keys, node.values, strict=True) if key]
        if len(pairs) != len(node.keys) or not all(isinstance(part, str) for pair in pairs for part in pair):
            raise _unreadable("a mapping is between names of columns")
        return dict(pairs)

    def binary(self, node: ast.BinOp) -> Formula:
        """Return an operation on an expression and another, or a constant."""
        return self._operated(node.op, node.left, node.right)

    def compared(self, node: ast.Compare) -> Formula:
        """Return a comparison of two."""
        if len(node.ops) != 1:
            raise _unreadable("a comparison is of two; write .between(a, b)")
        return self._operated(node.ops[0], node.left, node.comparators[0])

    def _operated(self, sign: ast.AST, *sides: ast.AST) -> Formula:
        left, right = map(self.read, sides)
        if type(sign) not in _BINARY or not (isinstance(left, Formula) or isinstance(right, Formula)):
            raise _unreadable("operators stand between expressions; write constants as what they are worth")
        found: Formula = _called(_BINARY[type(sign)], left, right)
        return found

    def unary(self, node: ast.UnaryOp) -> Any:
        """Return −x, of a number as well, or ~x."""
        value = self.read(node.operand)
        if isinstance(node.op, ast.USub) and type(value) in (int, float):
            return -value
        if not isinstance(node.op, ast.USub | ast.Invert) or not isinstance(value, Formula):
            raise _unreadable("− and ~ stand before expressions")
        return -value if isinstance(node.op, ast.USub) else ~value

    def call(self, node: ast.Call) -> Any:
        """Return what a function of ours, or a method of what it gave, returns."""
        function = self._function(node.func)
        given = [self.read(each) for each in node.args]
        named = {each.arg: self.read(each.value) for each in node.keywords if each.arg is not None}
        if len(named) != len(node.keywords):
            raise _unreadable("words are written one by one")
        return _called(function, *given, **named)

    def _function(self, node: ast.AST) -> Callable[..., Any]:
        match node:
            case ast.Name("table"):
                return lambda name: Frame.over(self.schema, name, self.ask)
            case ast.Name(name) if name in _FUNCTIONS:
                return _FUNCTIONS[name]
            case ast.Attribute(ast.Name("datetime"), name) if name in _DATES:
                return _DATES[name]
            case ast.Attribute(value, name):
                held = self.read(value)
                for kind, methods in _METHODS:
                    if isinstance(held, kind) and name in methods and hasattr(held, name):
                        return getattr(held, name)  # type: ignore[no-any-return]  # a method of ours
        raise _unreadable("it calls what is none of the functions and methods of a question")


_NODES: dict[type[ast.AST], Callable[[_Reader[Any], Any], Any]] = {
    ast.Constant: _Reader.constant,
    ast.List: _Reader.listed,
    ast.Tuple: _Reader.listed,
    ast.Set: _Reader.listed,
    ast.Dict: _Reader.mapping,
    ast.BinOp: _Reader.binary,
    ast.Compare: _Reader.compared,
    ast.UnaryOp: _Reader.unary,
    ast.Call: _Reader.call,
}


def _called(function: Callable[..., Any], *given: Any, **named: Any) -> Any:
    try:
        return function(*given, **named)
    except (TypeError, AttributeError):
        raise _unreadable("something in it was given other words than it takes") from None


def _unreadable(why: str) -> QuestionError:
    return QuestionError(
        f"this text of method calls cannot be read: {why}. It reads like "
        "table('trips').group_by('city').agg(rides=count()), as the question itself shows it",
        "SRD-Q405",
    )


def check_it_travels(text: str, draft: Draft) -> None:
    """Refuse a question by method calls whose text, read again, would be another one."""
    asked = draft.question
    try:
        again = read_calls(text, draft.schema, lambda read: _Draft(read)).question
    except QuestionError:
        again = None
    if again != asked:
        raise QuestionError(
            "this question cannot be sent as text: a name in it is no plain word of Python's, or it is very long; "
            "rename the column, or ask by .sql(…)",
            "SRD-Q406",
        )


class _Draft(Arranged):
    """A question that is only looked at."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft

    @property
    def question(self) -> Any:
        """The question, read and checked."""
        return self._draft.question

    def _redrafted(self, draft: Draft) -> _Draft:
        return _Draft(draft)
