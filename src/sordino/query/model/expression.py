"""Expressions over one row, as frozen trees. What they may contain is the table in ``operations.py``, nothing else.

An expression is *total*: no row can make it fail. Division by zero, logarithms of what is not positive, impossible
casts and dates give NULL; numbers stay finite, and stored reals beyond ±2^200 are NULL in arithmetic (see
``engine/sizes.py``). Integers take part in arithmetic as reals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

from sordino.data.kinds import Kind

Value = str | int | float | bool | date | datetime | None


@dataclass(frozen=True)
class Expression:
    """A node of an expression; `kind` is what it gives (NULL is possible always)."""

    kind: Kind

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The nodes right below."""
        return ()

    def walk(self) -> Iterator[Expression]:
        """Yield this node and all below."""
        yield self
        for part in self.parts:
            yield from part.walk()

    @property
    def columns(self) -> frozenset[str]:
        """The names of all columns used."""
        return frozenset(node.name for node in self.walk() if isinstance(node, ColumnRef))


@dataclass(frozen=True)
class ColumnRef(Expression):
    """A column of the relation that the expression is about."""

    name: str


@dataclass(frozen=True)
class Literal(Expression):
    """A constant that the analyst wrote."""

    value: Value


@dataclass(frozen=True)
class Call(Expression):
    """An operation of the allow-list on other expressions. Built by `operations.call`, which checks it."""

    operation: str
    arguments: tuple[Expression, ...]
    detail: str | tuple[Value, ...] | None = None
    """What is not an expression: the unit of a date part, the values of IN, the pattern of LIKE."""

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The arguments."""
        return self.arguments
