"""Reading what stands above a GROUP BY: keys, aggregates, and expressions around them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from sqlglot import exp

from sordino.data.kinds import Kind
from sordino.data.metadata import Column
from sordino.errors import QuestionError
from sordino.query.model.expression import Call, ColumnRef, Expression, Literal
from sordino.query.model.operations import call

from .calls import AggregateCall, aggregate_call
from .expression import Reader
from .names import item
from .refusals import refuse, refused_node, unknown_name
from .scope import Scope


class GroupedReader(Reader):
    """Reads expressions in which keys and aggregates stand for themselves, and no other column can stand at all."""

    def __init__(self, scope: Scope, keys: Sequence[tuple[Expression, ColumnRef]]) -> None:
        super().__init__(scope)
        self.rows = Reader(scope)
        """Reads what stands below: the arguments of aggregates."""
        self._keys = keys
        self.named: Mapping[str, Expression] = {}
        """What aliases of the SELECT stand for, by name in lower case; none while the SELECT itself is read."""

    @abstractmethod
    def aggregate(self, called: AggregateCall) -> Expression:
        """Return what a call of an aggregate stands for."""

    def read(self, node: exp.Expr) -> Expression:
        """Return the expression that the node stands for."""
        called = aggregate_call(node)
        if called is not None:
            return self.aggregate(called)
        key = self._key(node)
        return super().read(node) if key is None else key

    def column(self, node: exp.Column) -> Expression:
        """Return what an alias stands for; refuse a column that is neither a key nor in an aggregate."""
        if isinstance(node.this, exp.Star):
            raise refused_node(node.this)
        if not node.table and node.name.lower() in self.named:
            return self.named[node.name.lower()]
        if self.named and not node.table and not self.scope.matching(node):
            raise unknown_name("column", node.name, self.named)
        seen = self.scope.find(node)
        raise refuse(
            f"the column {seen.name[:60]!r} would be shown row by row",
            "put it into an aggregate such as COUNT(…) or AVG(…), or into GROUP BY",
            "SRD-Q106",
        )

    def known(self, _: Expression) -> Column | None:
        """Return None: keys and aggregates are not columns of the rows."""
        return None

    def _key(self, node: exp.Expr) -> Expression | None:
        """Return the key that the node repeats, if it does."""
        try:
            expression = as_key(self.rows.read(node))
        except QuestionError:
            return None  # what is wrong with it is found again, and said, when its parts are read
        if isinstance(expression, Literal):
            return None
        return next((reference for key, reference in self._keys if key == expression), None)


def group_keys(nodes: list[exp.Expr], select: exp.Select, scope: Scope) -> list[Expression]:
    """Return the different expressions that the nodes of a GROUP BY stand for, in order."""
    reader = Reader(scope)
    return list(dict.fromkeys(as_key(reader.read(_resolved(node, select, scope))) for node in nodes))


_WHOLE = frozenset({"add", "subtract", "multiply", "modulo", "negate", "abs", "least", "greatest"})
"""What gives whole numbers of whole numbers."""


def as_key(expression: Expression) -> Expression:
    """Return arithmetic on whole numbers (``FLOOR(x / 10) * 10``, ``n % 2``) as the whole number that it is."""
    if expression.kind is Kind.REAL and isinstance(expression, Call) and _is_whole(expression):
        return call("to_integer", expression)
    return expression


def _is_whole(node: Expression) -> bool:
    if node.kind is Kind.INTEGER:
        return True
    if isinstance(node, Literal):
        return isinstance(node.value, float) and node.value.is_integer()
    return isinstance(node, Call) and node.operation in _WHOLE and all(map(_is_whole, node.arguments))


def refuse_real(key: Expression) -> None:
    """Refuse to group by a real number."""
    if not key.kind.can_be_key:
        raise QuestionError(
            "rows cannot be grouped by reals, which may differ in the last bit; write FLOOR(x), ROUND(x) or CASE",
            "SRD-Q106",
        )


def _resolved(node: exp.Expr, select: exp.Select, scope: Scope) -> exp.Expr:
    """Return what a GROUP BY means by a position or an alias of the SELECT; a column of that name comes first."""
    if isinstance(node, exp.Paren):
        return _resolved(node.this, select, scope)
    if isinstance(node, exp.Literal) and not node.is_string:
        return item(select.expressions[position(str(node.this), len(select.expressions))]).node
    if isinstance(node, exp.Column) and not node.table and not scope.matching(node):
        for one in select.expressions:
            if isinstance(one, exp.Alias) and one.alias.lower() == node.name.lower():
                named: exp.Expr = one.this
                return named
    return node


def position(text: str, count: int) -> int:
    """Return the place, from 0, of the column of the SELECT that a number in GROUP BY or ORDER BY means."""
    if not (text.isdecimal() and text.isascii() and len(text) < 5 and 1 <= int(text) <= count):
        raise QuestionError(f"there is no column number {text[:20]} in the SELECT; it has {count}", "SRD-Q103")
    return int(text) - 1
