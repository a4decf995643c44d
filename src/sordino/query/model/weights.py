"""How many parts an expression has as engines read it, and the refusal of one that they could not follow.

What cannot fail is said with its arguments repeated: ``x / y`` asks about y before it divides, and a stored real is cut
to a range before anything is computed with it. So what an engine reads grows faster than what was written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sordino.data.kinds import Kind
from sordino.errors import QuestionError

from .expression import Call, ColumnRef, Expression

LARGEST = 4_000
"""More parts than this take seconds to write."""
LARGEST_TOGETHER = 20_000
"""More parts than this, with all subqueries put into each other, take an engine seconds to plan."""
DEEPEST = 60
"""More than this, and what writes SQL runs out of stack."""
_MOST_JOINED = 300


@dataclass(frozen=True)
class Weight:
    """How many parts an expression has, all repetitions counted, and how deeply they are nested."""

    parts: int = 1
    depth: int = 0


def refuse_large(expression: Expression) -> None:
    """Refuse an expression that no engine should be given."""
    if isinstance(expression, Call) and expression.operation in _PAIRWISE and len(expression.arguments) > _MOST_JOINED:
        raise QuestionError(
            f"{expression.operation} joins {len(expression.arguments)} parts, and {_MOST_JOINED} are possible; join "
            "some of them in a subquery, or put a long list into a public table",
            "SRD-Q101",
        )
    weight = weigh(expression, {})
    if weight.depth > DEEPEST:
        raise QuestionError("an expression is nested too deeply; compute its parts in a subquery", "SRD-Q101")
    if weight.parts > LARGEST:
        raise QuestionError("an expression has too many parts; compute some of them in a subquery", "SRD-Q101")


def weigh(expression: Expression, columns: Mapping[str, Weight]) -> Weight:
    """Return the weight, given those of columns (1 if not given). Counting ends where it is too much already.

    Without recursion: what is weighed may be deeper than Python can go.
    """
    stack, parts, deep = [(expression, 0, 1)], 0, 0
    while stack and parts <= LARGEST_TOGETHER and deep <= DEEPEST:
        node, depth, copies = stack.pop()
        if isinstance(node, ColumnRef):
            column = columns.get(node.name, PLAIN)
            parts += copies * column.parts
            deep = max(deep, depth + column.depth)
        elif isinstance(node, Call):
            listed = len(node.detail or ()) if node.operation == "in" else 0
            parts += copies * (1 + listed // _CONSTANTS_IN_A_PART)
            deep = max(deep, depth + 1)
            stack.extend((part, depth + 1, copies * _repeats(node, part)) for part in node.arguments)
        else:
            parts += copies
    return Weight(parts, deep)


PLAIN = Weight()


def _repeats(node: Call, part: Expression) -> int:
    """Return how often an argument stands in what engines compute for the operation."""
    often = _REPEATS.get(node.operation, 1)
    if part.kind is not Kind.REAL:
        return often if node.operation in _OF_ANY_KIND else 1
    is_number = isinstance(part, Call) and part.operation in _ARITHMETIC
    is_cut = node.operation in (_CUTTING if is_number else _ARITHMETIC)
    return often * _CUT if is_cut else often


_CONSTANTS_IN_A_PART = 4
_CUT = 3
"""A real stands in its own cut to a range three times."""
_REPEATS = {
    **dict.fromkeys(("divide", "sqrt", "ln", "nullif", "is_null", "coalesce"), 2),
    **dict.fromkeys(("modulo", "exp", "floor", "ceil", "round", "to_integer", "add_days"), 3),
    "add_seconds": 4,
    **dict.fromkeys(("add_months", "seconds_between"), 6),
    "power": 40,
}
_OF_ANY_KIND = frozenset(
    {"divide", "sqrt", "ln", "exp", "power", "nullif", "add_days", "add_months", "add_seconds", "seconds_between"}
)
"""What repeats its arguments also if they are not reals."""
_CUTTING = frozenset({"multiply", "divide", "modulo", "power", "sqrt", "exp", "ln"})
"""What may have to cut results of arithmetic, which can become too large or too small."""
_ARITHMETIC = _CUTTING | {"add", "subtract", "negate", "abs", "least", "greatest", "sign", "floor", "ceil", "round"}
_PAIRWISE = frozenset({"concat", "and", "or"})
"""What engines read as pairs within pairs."""
