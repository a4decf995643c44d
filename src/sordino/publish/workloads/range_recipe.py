"""A column in cells, published so that any range of it can be summed with little noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from sordino import noise
from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.arguments import Number, one_of, whole
from sordino.data.account import DataAccount
from sordino.data.metadata import Schema, Table
from sordino.errors import ArgumentError
from sordino.publish.intervals import reach
from sordino.publish.measuring import (
    Axis,
    bound_of,
    bounding_of,
    column_axis,
    counts,
    edges_of,
    labels_of,
    marginal,
    number_axis,
    scan,
    table_of,
)
from sordino.publish.price import Expected
from sordino.publish.publication import Publication, Running
from sordino.publish.spending import Form, Spend

from .gram import Workload
from .range_design import Way, best_way
from .range_release import Ranges, load

__all__ = ["RangeRecipe", "load", "ranges", "read"]

MOST_CELLS = 2**16


def ranges(
    account: DataAccount[Any],
    column: str,
    *,
    cells: int | None = None,
    workload: Literal["ranges", "prefixes"] = "ranges",
    table: str | None = None,
) -> Publication[Ranges]:
    """Publish how many rows there are in any range of a column, each with an interval.

    A number with declared bounds is cut into `cells` equal parts, and values outside are clipped to them; a column with
    declared keys has a cell for each, in the order in which they were declared. What is measured is chosen by the
    price: under pure ε a tree of groups, drawn together where noise is all there is, and never below 0; else the best
    strategy for all ranges (or for all prefixes, which is a cumulative distribution) of up to 1,024 cells.

    **Guarantee**: rows are bounded by the unit before they are counted (``measuring.py``), and everything that leaves
    is a function of noisy counts whose events are charged.
    """
    schema = account.protected.schema
    return Publication(account, _recipe(schema, column, cells, workload, table))


def _recipe(schema: Schema, column: str, cells: int | None, workload: str, table: str | None) -> RangeRecipe:
    private = table_of(schema, table)
    if column not in private.columns:
        known = ", ".join(private.columns)
        raise ArgumentError(f"{private.name} has no such column; its columns are {known}", "SRD-P301")
    one_of("workload", workload, ("ranges", "prefixes"))
    declared = private.columns[column]
    if declared.keys is None and declared.range is None:
        raise ArgumentError(
            f"column {column!r} has neither bounds nor keys, so its cells are not public; declare bounds(low, high) "
            "for a number, or keys([…]) in their order",
            "SRD-P004",
        )
    if declared.keys is None and cells is None:
        raise ArgumentError(
            f"say into how many cells {column!r} is cut: cells=…, between 1 and {MOST_CELLS}", "SRD-P302"
        )
    if declared.keys is not None and cells is not None:
        raise ArgumentError(f"{column!r} has declared keys, and each is a cell: leave cells out", "SRD-P302")
    count = None if cells is None else whole("cells", cells, least=1, most=MOST_CELLS)
    return RangeRecipe(schema, private.name, column, count, workload)  # type: ignore[arg-type]


@dataclass(frozen=True)
class RangeRecipe:
    """All ranges, or all prefixes, of one column."""

    schema: Schema
    table: str
    column: str
    cells: int | None
    workload: Literal["ranges", "prefixes"]

    name: ClassVar[str] = "ranges"
    forms: ClassVar[tuple[Form, ...]] = ("pure", "concentrated")
    adapts: ClassVar[bool] = False

    @property
    def private(self) -> Table:
        """The table that is published."""
        return table_of(self.schema, self.table)

    @property
    def axis(self) -> Axis:
        """The column as cells."""
        declared = self.private.columns[self.column]
        if self.cells is None:
            return column_axis(self.column, declared)
        assert declared.range is not None  # noqa: S101  (seen to when the recipe was made)
        return number_axis(self.column, declared, declared.range, self.cells)

    def cells_said(self) -> dict[str, Any]:
        """Return what the cells stand for: the edges of a number, or keys."""
        declared = self.private.columns[self.column]
        if self.cells is None or declared.range is None:
            return {"keys": [str(each) for each in labels_of(self.axis)]}
        return {"edges": edges_of(declared.range, self.cells).tolist()}

    def design(self, spend: Spend) -> RangeDesign:
        """Return the way of measuring that has the least error for so much."""
        bounding = bounding_of(self.schema, self.private)
        axis = self.axis
        bound = bound_of(self.schema, bounding, axis.size)
        way, error = best_way(Workload(self.workload, axis.size), spend, bound, bounding.linf * bounding.unit)
        return RangeDesign(self, way, error)

    def plain(self) -> dict[str, Any]:
        """Return the parameters."""
        return {"column": self.column, "cells": self.cells, "workload": self.workload, "table": self.table}


def read(protected: Any, plain: Mapping[str, Any]) -> RangeRecipe:
    """Return the recipe from its parameters as JSON has them."""
    return _recipe(
        protected.schema, plain["column"], plain.get("cells"), plain.get("workload", "ranges"), plain.get("table")
    )


@dataclass(frozen=True)
class RangeDesign:
    """The same with its noise."""

    recipe: RangeRecipe
    way: Way
    typical: float

    @property
    def bound(self) -> Bound:
        """What one unit can change in the first thing that is measured."""
        return self.way.bound

    def event(self) -> Event:
        """Return the noise of everything that is measured."""
        return self.way.event()

    def expected(self, confidence: Number) -> tuple[Expected, ...]:
        """Return the error of all ranges or prefixes together, and of the total."""
        total = float(np.sqrt(self.way.reading.variances(np.ones((1, self.recipe.axis.size)))[0]))
        return (
            Expected(self.recipe.workload, self.typical, "root mean square error"),
            Expected("total", total * reach(confidence), f"half the width of a {float(confidence):.4g} interval"),
        )

    def notes(self) -> tuple[str, ...]:
        """Return what is measured, and what the errors leave out."""
        return (
            f"measured: {self.way.name}, chosen by its error for all {self.recipe.workload}",
            "errors are those of unbiased estimates; those that are at least 0 are mostly closer",
        )

    def run(self, running: Running) -> Ranges:
        """Count, measure and fit."""
        recipe = self.recipe
        running.stage("measuring")
        task = marginal(scan(recipe.private), [recipe.axis], bounding_of(recipe.schema, recipe.private))
        exact = counts(running.data.compute, task, noise.uniform(2**62))  # type: ignore[attr-defined]
        measured = self.way.measured(running, exact)
        running.stage("fitting")
        return Ranges(running.plan, None, self.way.reading.said(), recipe.cells_said(), measured)
