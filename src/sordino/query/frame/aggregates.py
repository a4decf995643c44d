"""Aggregates of the dataframe way of asking: ``so.mean("fare")``, ``so.count().where(so.col("fare") > 20)``.

A text names a column; any other expression over rows can stand in its place. Aggregates can be computed with:
``so.sum("fare") / so.count()``, which costs nothing beyond the two. Names of Python's own are taken on purpose: they
are meant to be written ``so.sum``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from sordino.arguments import whole
from sordino.errors import ArgumentError, QuestionError

from .constants import constant, constant_node, constants
from .expression import Formula, Place, as_formula, chained, named, shown
from .methods import function
from .windows import OverPerson

Column = str | Formula
"""A column's name, or an expression over rows."""


class Aggregated(Formula):
    """One number, or list of numbers, from many rows: `name` is what SQL calls it."""

    def __init__(
        self,
        name: str,
        text: str,
        arguments: Sequence[Formula] = (),
        given: Sequence[exp.Expr] = (),
        *,
        distinct: bool = False,
        condition: Formula | None = None,
    ) -> None:
        said = text if condition is None else f"{text}.where({condition.text})"
        super().__init__(said, (*arguments, *(() if condition is None else (condition,))))
        self._name = name
        self._plain = text
        self._arguments = tuple(arguments)
        self._given = tuple(given)
        self._distinct = distinct
        self._condition = condition

    def where(self, condition: Any) -> Aggregated:
        """Return the same aggregate of those rows alone for which the condition holds."""
        if self._name == "COUNT_PEOPLE":
            raise QuestionError(
                "count_people().where(…) is not possible; write .filter(…) before, or count_distinct of the person's "
                "column with .where(…)",
                "SRD-Q401",
            )
        asked = as_formula(condition)
        every = asked if self._condition is None else chained("&", self._condition, asked)
        return Aggregated(
            self._name, self._plain, self._arguments, self._given, distinct=self._distinct, condition=every
        )

    def each_person(self, *within: Column) -> OverPerson:
        """Return, for each row, the count, sum, mean, minimum or maximum over all rows of its person.

        With `within`, over those that agree with it on these columns.
        """
        said = ", ".join(shown(named(one)) for one in within)
        return OverPerson(
            f"{self.text}.each_person({said})",
            lambda rows: self.node(replace(rows, aggregates=True)),
            (self,),
            within,
            (),
        )

    def node(self, place: Place) -> exp.Expr:
        """Return the call in SQL; refuse where single rows are spoken of."""
        if not place.aggregates:
            raise QuestionError(
                f"{self.text[:60]} is of many rows and cannot stand where one row is spoken of; aggregates go into "
                ".agg(…), .per_person(…), .having(…) and .order_by(…), never into each other; to keep some groups "
                "write .having(…) after .agg(…), to keep some people .per_person(…).filter(…)",
                "SRD-Q403",
            )
        nodes = [argument.node(place.rows) for argument in self._arguments]
        operands = [exp.Distinct(expressions=nodes)] if self._distinct else nodes
        called = function(self._name, *operands, *(one.copy() for one in self._given))
        if self._condition is None:
            return called
        return exp.Filter(this=called, expression=exp.Where(this=self._condition.node(place.rows)))


def _of(name: str, word: str, *columns: Column, given: Sequence[Any] = (), distinct: bool = False) -> Aggregated:
    arguments = [named(column) for column in columns]
    said = ", ".join([*map(shown, arguments), *map(repr, given)])
    nodes = [_constant(one) for one in given]
    return Aggregated(name, f"{word}({said})", arguments, nodes, distinct=distinct)


def _constant(given: Any) -> exp.Expr:
    return exp.Array(expressions=[*map(constant_node, given)]) if isinstance(given, list) else constant_node(given)


def count(column: Column | None = None) -> Aggregated:
    """Return the number of rows, or of those in which the column has a value."""
    return Aggregated("COUNT", "count()", given=(exp.Star(),)) if column is None else _of("COUNT", "count", column)


def count_people() -> Aggregated:
    """Return the number of people who own the rows; where single rows are protected, of rows."""
    return _of("COUNT_PEOPLE", "count_people")


def count_distinct(column: Column) -> Aggregated:
    """Return the number of different values."""
    return _of("COUNT", "count_distinct", column, distinct=True)


def sum(column: Column) -> Aggregated:  # noqa: A001  (to be written so.sum)
    """Return the sum. The column needs bounds: declared, by `clip`, or found for a share of the price."""
    return _of("SUM", "sum", column)


def mean(column: Column) -> Aggregated:
    """Return the mean."""
    return _of("AVG", "mean", column)


def variance(column: Column) -> Aggregated:
    """Return the variance of the population (divided by n)."""
    return _of("VARIANCE", "variance", column)


def deviation(column: Column) -> Aggregated:
    """Return the standard deviation of the population."""
    return _of("STDDEV", "deviation", column)


def minimum(column: Column) -> Aggregated:
    """Return a number that few values are below."""
    return _of("MIN", "minimum", column)


def maximum(column: Column) -> Aggregated:
    """Return a number that few values are above."""
    return _of("MAX", "maximum", column)


def median(column: Column) -> Aggregated:
    """Return the median."""
    return _of("MEDIAN", "median", column)


def quantile(column: Column, fractions: Any) -> Aggregated:
    """Return the value that a fraction of all values is below, or a list of them for a list of fractions."""
    value = named(column)
    asked = [*constants("fractions", fractions)] if isinstance(fractions, Iterable) else constant(fractions)
    return _of("QUANTILE", "quantile", value, given=(asked,))


def histogram(column: Column, edges: Any) -> Aggregated:
    """Return how many values lie between neighbouring edges; `edges` may be a number of equal bins over the bounds."""
    value = named(column)
    if not isinstance(edges, Iterable):
        return _of("HISTOGRAM", "histogram", value, given=(whole("edges", edges, least=1),))
    listed = constants("edges", edges)
    if len(listed) < 2:
        raise ArgumentError("a histogram needs two edges at least, or a number of bins", "SRD-A003")
    said = f"histogram({shown(value)}, {list(listed)!r})"
    return Aggregated("HISTOGRAM", said, [value], [constant_node(one) for one in listed])


def covariance(one: Column, other: Column) -> Aggregated:
    """Return the covariance of the population."""
    return _of("COVAR_POP", "covariance", one, other)


def correlation(one: Column, other: Column) -> Aggregated:
    """Return Pearson's correlation."""
    return _of("CORR", "correlation", one, other)


def top(column: Column, k: int = 1) -> Aggregated:
    """Return the `k` most frequent values of a column whose keys are declared."""
    return _of("TOP", "top", named(column), given=(whole("k", k, least=1),))


def regression(explained: Column, *by: Column) -> Aggregated:
    """Return the coefficients of a linear regression: the intercept, then one for each of `by`."""
    if not by:
        raise ArgumentError('regression explains one column by others: regression("y", "x1", "x2")', "SRD-A003")
    return _of("REGRESSION", "regression", explained, *by)
