"""Windows of the dataframe way of asking: each row beside the other rows of the same person.

``trips.with_columns(nth=so.row_number(order_by="day")).filter(so.col("nth") == 1)`` keeps each person's first trip.
Windows are always over one person's own rows, so nobody else's rows decide about a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp

from sordino.errors import QuestionError

from .expression import Formula, Place, named, shown
from .methods import function
from .words import order_node, ordered

Columns = str | Formula | Sequence[str | Formula]
"""One column, or several."""


class OverPerson(Formula):
    """What is computed for a row from the rows of its person, or from those that agree with it on `within`."""

    def __init__(
        self, text: str, called: Callable[[Place], exp.Expr], parts: Sequence[Formula], within: Columns, order: Columns
    ) -> None:
        self._called = called
        self._within = tuple(named(one) for one in _several(within))
        self._order = ordered(_several(order))
        super().__init__(text, (*parts, *self._within, *(one for one, _ in self._order)))

    def node(self, place: Place) -> exp.Expr:
        """Return the window in SQL."""
        if place.person is None:
            raise QuestionError(
                f"{self.text[:60]} cannot stand here; name it first by with_columns(name=…), and use that name",
                "SRD-Q403",
            )
        rows = place.rows
        return exp.Window(
            this=self._called(rows),
            partition_by=[place.person(), *(one.node(rows) for one in self._within)],
            order=order_node(self._order, rows) if self._order else None,
            over="OVER",
        )


def row_number(order_by: Columns, within: Columns = ()) -> OverPerson:
    """Return the number of each row among those of its person in an order, from 1."""
    return _placed("ROW_NUMBER", "row_number", (), order_by, within)


def rank(order_by: Columns, within: Columns = ()) -> OverPerson:
    """Return the rank of each row among those of its person in an order; equal rows have one rank."""
    return _placed("RANK", "rank", (), order_by, within)


def lag(column: str | Formula, order_by: Columns, within: Columns = ()) -> OverPerson:
    """Return the value in the row of the same person that comes before, NULL in the first."""
    return _placed("LAG", "lag", (named(column),), order_by, within)


def lead(column: str | Formula, order_by: Columns, within: Columns = ()) -> OverPerson:
    """Return the value in the row of the same person that comes next, NULL in the last."""
    return _placed("LEAD", "lead", (named(column),), order_by, within)


def _placed(name: str, word: str, arguments: tuple[Formula, ...], order_by: Columns, within: Columns) -> OverPerson:
    given = [*map(shown, arguments), f"order_by={order_by!r}", *([f"within={within!r}"] if _several(within) else [])]

    def called(place: Place) -> exp.Expr:
        return function(name, *(argument.node(place) for argument in arguments))

    return OverPerson(f"{word}({', '.join(given)})", called, arguments, within, order_by)


def _several(columns: Any) -> tuple[Any, ...]:
    return (columns,) if isinstance(columns, str | Formula) else tuple(columns)
