"""Expressions of the dataframe way of asking: ``so.col("fare") * 1.1``. They are lazy: names mean nothing until used.

Where an expression is used, its *place* says what names mean there, and the expression becomes one of the allow-list's
(``operations.call``), the same that SQL would give. Operands are constants unless they are expressions: a text beside
an operator is a text, and ``col`` names a column.
"""

from __future__ import annotations

from typing import Any, NoReturn, Protocol, cast

from sordino.errors import ArgumentError, QuestionError

from .expression import Expression, Literal
from .frame_constants import constant
from .frame_methods import Build, Methods, calling
from .literals import literal
from .operations import call
from .sql_dates import sum_or_date
from .sql_text import DEEPEST, MOST_NODES

_LONGEST_SHOWN = 60


class Place(Protocol):
    """Where an expression is used."""

    def column(self, name: str) -> Expression:
        """Return what a name means here."""
        ...

    def aggregate(self, called: Any) -> Expression:
        """Return what an aggregate means here, or refuse it."""
        ...

    def may_be_null(self, expression: Expression) -> bool:
        """Whether the expression can be NULL here."""
        ...


class Formula(Methods["Formula"]):
    """An expression over names, built by operators and methods. Made by `col`, `lit`, `when` and the aggregates."""

    def __init__(
        self, text: str, parts: tuple[Formula, ...] = (), build: Build | None = None, *, compound: bool = False
    ) -> None:
        self.text = text
        """How it would be written."""
        self.parts = parts
        self.compound = compound
        """Whether it needs parentheses beside an operator."""
        self._build = build
        self.depth = 1 + max((part.depth for part in parts), default=0)
        self.size = 1 + sum(part.size for part in parts)
        if self.depth > DEEPEST or self.size > MOST_NODES:
            raise QuestionError(
                "the expression is nested too deeply or too long; name its parts first by with_columns(name=…)",
                "SRD-Q402",
            )

    def resolve(self, place: Place) -> Expression:
        """Return the expression that it stands for at a place; raise a `QuestionError` if it cannot stand there."""
        assert self._build is not None  # noqa: S101  (what has none overrides this)
        return self._build(*(part.resolve(place) for part in self.parts))

    def clip(self, low: Any, high: Any) -> Formula:
        """The number, at least `low` and at most `high`; NULL stays NULL. So it has bounds, and can be added up."""
        least, most = as_formula(low), as_formula(high)
        return _Clipped(f"{enclosed(self)}.clip({least.text}, {most.text})", (self, least, most))

    def _applied(self, method: str, build: Build, *operands: Any, shown: Any = None) -> Formula:
        others = tuple(as_formula(operand) for operand in operands)
        said = ", ".join([*(other.text for other in others), *(repr(argument) for argument in shown or ())])
        return Formula(f"{enclosed(self)}.{method}({said})", (self, *others), build)

    def __repr__(self) -> str:
        return self.text

    def __bool__(self) -> NoReturn:
        raise QuestionError(
            f"{self.text[:_LONGEST_SHOWN]} is true or false for each row, not by itself; write & for and, | for or, "
            "~ for not (each side in parentheses), .is_in([…]) for in, .between(a, b) for a <= x <= b",
            "SRD-Q401",
        )

    def __add__(self, other: Any) -> Formula:
        return _infix("+", self, other, lambda left, right: sum_or_date(1, left, right))

    def __radd__(self, other: Any) -> Formula:
        return as_formula(other) + self

    def __sub__(self, other: Any) -> Formula:
        return _infix("-", self, other, lambda left, right: sum_or_date(-1, left, right))

    def __rsub__(self, other: Any) -> Formula:
        return as_formula(other) - self

    def __mul__(self, other: Any) -> Formula:
        return _infix("*", self, other, calling("multiply"))

    def __rmul__(self, other: Any) -> Formula:
        return as_formula(other) * self

    def __truediv__(self, other: Any) -> Formula:
        return _infix("/", self, other, calling("divide"))

    def __rtruediv__(self, other: Any) -> Formula:
        return as_formula(other) / self

    def __floordiv__(self, other: Any) -> Formula:
        return _infix("//", self, other, lambda left, right: call("floor", call("divide", left, right)))

    def __rfloordiv__(self, other: Any) -> Formula:
        return as_formula(other) // self

    def __mod__(self, other: Any) -> Formula:
        return _infix("%", self, other, calling("modulo"))

    def __rmod__(self, other: Any) -> Formula:
        return as_formula(other) % self

    def __pow__(self, other: Any) -> Formula:
        return _infix("**", self, other, calling("power"))

    def __rpow__(self, other: Any) -> Formula:
        return as_formula(other) ** self

    def __neg__(self) -> Formula:
        return Formula(f"-{enclosed(self)}", (self,), _negated, compound=True)

    def __abs__(self) -> Formula:
        return Formula(f"abs({self.text})", (self,), calling("abs"))

    def __eq__(self, other: object) -> Formula:  # type: ignore[override]
        return _compared("==", self, other, "equal")

    def __ne__(self, other: object) -> Formula:  # type: ignore[override]
        return _compared("!=", self, other, "not_equal")

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Any) -> Formula:
        return _compared("<", self, other, "less")

    def __le__(self, other: Any) -> Formula:
        return _compared("<=", self, other, "less_equal")

    def __gt__(self, other: Any) -> Formula:
        return _compared(">", self, other, "greater")

    def __ge__(self, other: Any) -> Formula:
        return _compared(">=", self, other, "greater_equal")

    def __and__(self, other: Any) -> Formula:
        return chained("and", self, as_formula(other))

    def __rand__(self, other: Any) -> Formula:
        return as_formula(other) & self

    def __or__(self, other: Any) -> Formula:
        return chained("or", self, as_formula(other))

    def __ror__(self, other: Any) -> Formula:
        return as_formula(other) | self

    def __invert__(self) -> Formula:
        return Formula(f"~{enclosed(self)}", (self,), calling("not"), compound=True)


class _Column(Formula):
    def __init__(self, name: str) -> None:
        super().__init__(f"col({name!r})")
        self.name = name

    def resolve(self, place: Place) -> Expression:
        return place.column(self.name)


class _Chain(Formula):
    """a & b & c as one list, as SQL's parser reads a AND b AND c: its length does not count as depth."""

    def __init__(self, operation: str, parts: tuple[Formula, ...]) -> None:
        sign = {"and": " & ", "or": " | "}[operation]
        super().__init__(sign.join(map(enclosed, parts)), parts, calling(operation), compound=True)
        self.operation = operation


class _Clipped(Formula):
    def resolve(self, place: Place) -> Expression:
        """GREATEST passes over NULL, which would make a missing number the lowest one."""
        value, low, high = (part.resolve(place) for part in self.parts)
        clipped = call("least", call("greatest", value, low), high)
        if not place.may_be_null(value):
            return clipped
        return call("case", call("is_null", value), literal(None), clipped)


class When:
    """A condition that waits for its value: ``when(condition).then(value)``."""

    def __init__(self, condition: Any, before: tuple[Formula, ...] = (), text: str = "") -> None:
        self._before = (*before, as_formula(condition))
        self._text = f"{text}when({self._before[-1].text})"

    def then(self, value: Any) -> Then:
        """Say the value where the condition holds."""
        given = as_formula(value)
        return Then((*self._before, given), f"{self._text}.then({given.text})")


class Then(Formula):
    """Values under conditions, and no value where none holds, unless `otherwise` says which."""

    def __init__(self, branches: tuple[Formula, ...], text: str) -> None:
        super().__init__(text, branches, lambda *parts: call("case", *parts, literal(None)))

    def when(self, condition: Any) -> When:
        """Add a condition, which counts where none before it holds."""
        return When(condition, self.parts, f"{self.text}.")

    def otherwise(self, value: Any) -> Formula:
        """Say the value where no condition holds."""
        given = as_formula(value)
        return Formula(f"{self.text}.otherwise({given.text})", (*self.parts, given), calling("case"))


def col(name: str) -> Formula:
    """Return the column of that name, of the table or of the answer, wherever the expression is used.

    After a join in which both sides have such a column, write ``col("drivers.city")`` with the table's name.
    """
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"a column is named by a text, not by {type(name).__name__} {name!r}", "SRD-A001")
    return _Column(name)


def lit(value: Any) -> Formula:
    """Return a constant as an expression; needed only where a text would be taken for a column's name."""
    held = constant(value)
    return Formula(repr(held), build=lambda: literal(held))


def when(condition: Any) -> When:
    """Begin a choice: ``when(col("fare") > 20).then("dear").otherwise("cheap")``."""
    return When(condition)


def as_formula(value: Any) -> Formula:
    """Return an expression as it is, and anything else as a constant."""
    if isinstance(value, Formula):
        return value
    if isinstance(value, When):
        raise QuestionError("when(…) needs its value: write when(condition).then(value)", "SRD-Q402")
    return lit(value)


def named(value: Any) -> Formula:
    """Return an expression as it is, and a text as the column of that name."""
    return value if isinstance(value, Formula) else col(value)


def column_name(formula: Formula) -> str | None:
    """Return the column's name if the expression is nothing but a column."""
    return formula.name if isinstance(formula, _Column) else None


def chained(operation: str, *parts: Formula) -> Formula:
    """Return the conditions joined by "and" or "or", as one list."""
    listed: list[Formula] = []
    for part in parts:
        same = isinstance(part, _Chain) and part.operation == operation
        listed += part.parts if same else (part,)
    return listed[0] if len(listed) == 1 else _Chain(operation, tuple(listed))


def enclosed(formula: Formula) -> str:
    """Return the text, in parentheses where an operator beside it would tear it apart."""
    return f"({formula.text})" if formula.compound else formula.text


def _infix(sign: str, left: Formula, other: Any, build: Build) -> Formula:
    right = as_formula(other)
    return Formula(f"{enclosed(left)} {sign} {enclosed(right)}", (left, right), build, compound=True)


def _compared(sign: str, left: Formula, other: Any, operation: str) -> Formula:
    if other is None:
        raise QuestionError(
            "a comparison with None is never true; write .is_null() or .is_not_null() instead", "SRD-Q401"
        )
    return _infix(sign, left, other, calling(operation))


def _negated(value: Expression) -> Expression:
    if isinstance(value, Literal) and value.kind.is_number and value.value is not None:
        return literal(-cast(float, value.value))
    return call("negate", value)
