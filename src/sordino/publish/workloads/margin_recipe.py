"""Marginals of several columns, published together with the least noise that any strategy has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sordino import noise
from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.events import Composed
from sordino.arguments import Number, whole
from sordino.data.account import DataAccount
from sordino.data.metadata import Schema, Table
from sordino.errors import ArgumentError
from sordino.mechanisms.gaussian import Gaussian
from sordino.publish.intervals import reach
from sordino.publish.measuring import (
    Axis,
    bounding_of,
    column_axis,
    counts,
    edges_of,
    marginal,
    number_axis,
    scan,
    shape_of,
    table_of,
)
from sordino.publish.price import Expected
from sordino.publish.publication import Publication, Running
from sordino.publish.spending import Form, Spend

from .contrasts import Columns, Parts, all_of, largest, products, summed
from .margin_release import Margins, load, part_name

__all__ = ["MarginRecipe", "load", "marginals", "read"]


def marginals(
    account: DataAccount[Any],
    columns: Sequence[str],
    *,
    order: int = 2,
    sets: Sequence[Sequence[str]] | None = None,
    cells: Mapping[str, int] | None = None,
    table: str | None = None,
) -> Publication[Margins]:
    """Publish all marginals of `order` of the columns, or those of `sets`, with the least sum of squared errors.

    A column with declared keys has a cell for each; a number with declared bounds is cut into `cells[name]` equal
    parts.
    Noise is Gaussian: the account's budget is one of (ε, δ), or of ρ.

    **Guarantee**: rows are bounded by the unit before they are counted, and everything that leaves is a function of
    noisy whole-numbered contrasts (``contrasts.py``), each charged by its exact sensitivity.
    """
    places = None if sets is None else [list(each) for each in sets]
    return Publication(
        account, _recipe(account.protected.schema, list(columns), order, places, dict(cells or {}), table)
    )


def _recipe(
    schema: Schema,
    columns: list[str],
    order: int,
    sets: list[list[str]] | None,
    cells: dict[str, int],
    name: str | None,
) -> MarginRecipe:
    private = table_of(schema, name)
    asked = [each for one in sets or [] for each in one]
    if not columns or len(set(columns)) != len(columns) or not {*columns, *cells} <= {*private.columns}:
        known = ", ".join(private.columns)
        raise ArgumentError(f"name each column once, and only columns of {private.name}: {known}", "SRD-P301")
    if not {*asked, *cells} <= {*columns} or any(len(set(one)) != len(one) for one in sets or []) or sets == []:
        raise ArgumentError(f"sets and cells are of the columns named: {', '.join(columns)}", "SRD-P301")
    if sets is None:
        wanted = all_of(len(columns), whole("order", order, least=1, most=len(columns)))
    else:
        wanted = tuple(sorted({tuple(sorted(columns.index(each) for each in one)) for one in sets}))
    counts = tuple(
        (each, whole("cells", cells[each], least=1, most=2**20)) if each in cells else (each, None) for each in columns
    )
    made = MarginRecipe(schema, private.name, counts, wanted)
    for one in wanted:
        shape_of([made.axes[each] for each in one])
    return made


@dataclass(frozen=True)
class MarginRecipe:
    """Marginals of `wanted` sets of columns, by place."""

    schema: Schema
    table: str
    columns: tuple[tuple[str, int | None], ...]
    """Names, and for numbers in how many cells they are cut."""
    wanted: tuple[Columns, ...]

    name: ClassVar[str] = "marginals"
    forms: ClassVar[tuple[Form, ...]] = ("concentrated",)
    adapts: ClassVar[bool] = False

    @property
    def private(self) -> Table:
        """The table that is published."""
        return table_of(self.schema, self.table)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The columns as cells."""
        return tuple(self._axis(name, cells) for name, cells in self.columns)

    def _axis(self, name: str, cells: int | None) -> Axis:
        declared = self.private.columns[name]
        if declared.keys is not None and cells is None:
            return column_axis(name, declared)
        if declared.range is None:
            return column_axis(name, declared)  # which refuses it
        if cells is None:
            raise ArgumentError(f"say into how many cells {name!r} is cut: cells={{{name!r}: …}}", "SRD-P302")
        return number_axis(name, declared, declared.range, cells)

    def cells_said(self) -> dict[str, Any]:
        """Return for each column what its cells stand for."""
        found: dict[str, Any] = {}
        for (name, cells), axis in zip(self.columns, self.axes, strict=True):
            declared = self.private.columns[name].range
            if cells is not None and declared is not None:
                found[name] = {"edges": edges_of(declared, cells).tolist()}
            else:
                found[name] = {"keys": [str(each) for each in axis.keys]}
        return found

    @cached_property
    def parts(self) -> Parts:
        """What the marginals are made of."""
        return Parts(tuple(axis.size for axis in self.axes), self.wanted)

    def design(self, spend: Spend) -> MarginDesign:
        """Return the noise of each part."""
        bounding = bounding_of(self.schema, self.private)
        rows, unit, neighbours = bounding.linf * bounding.unit, self.schema.unit, self.schema.neighbours
        found = []
        for part, share in self.parts.shares().items():
            bound = self.parts.moves(part, rows, unit, neighbours)
            found.append((part, bound, Gaussian.for_rho(spend.part(share).amount, bound)))
        return MarginDesign(self, tuple(found))

    def plain(self) -> dict[str, Any]:
        """Return the parameters."""
        names = [name for name, _ in self.columns]
        return {
            "columns": names,
            "sets": [[names[each] for each in one] for one in self.wanted],
            "cells": {name: cells for name, cells in self.columns if cells is not None},
            "table": self.table,
        }


def read(protected: Any, plain: Mapping[str, Any]) -> MarginRecipe:
    """Return the recipe from its parameters as JSON has them."""
    sets = plain.get("sets")
    places = None if sets is None else [list(each) for each in sets]
    cells, order = dict(plain.get("cells") or {}), plain.get("order", 2)
    return _recipe(protected.schema, list(plain["columns"]), order, places, cells, plain.get("table"))


@dataclass(frozen=True)
class MarginDesign:
    """The same with its noise."""

    recipe: MarginRecipe
    noisy: tuple[tuple[Columns, Bound, Gaussian], ...]
    """For each part what one unit can change in its products, and their noise."""

    @property
    def bound(self) -> Bound:
        """What one unit can change in the first thing that is measured: the number of rows."""
        return self.noisy[0][1]

    def event(self) -> Event:
        """Return the noise of all parts."""
        return Composed(tuple(mechanism.event(bound) for _, bound, mechanism in self.noisy))

    @cached_property
    def _noise(self) -> dict[Columns, float]:
        return {part: mechanism.variance_of_error for part, _, mechanism in self.noisy}

    def expected(self, confidence: Number) -> tuple[Expected, ...]:
        """Return the error of all marginals together, and of a cell of each."""
        parts, names = self.recipe.parts, [name for name, _ in self.recipe.columns]
        cells = sum(parts.cells(each) for each in parts.wanted)
        squares = sum(parts.cells(each) * parts.variance(each, self._noise) for each in parts.wanted)
        said = f"half the width of a {float(confidence):.4g} interval of a cell"
        each = [
            Expected(
                " × ".join(names[at] for at in one),
                float(np.sqrt(parts.variance(one, self._noise))) * reach(confidence),
                said,
            )
            for one in parts.wanted
        ]
        return (Expected("marginals", float(np.sqrt(squares / cells)), "root mean square error of a cell"), *each)

    def notes(self) -> tuple[str, ...]:
        """Return what is measured."""
        return (f"measured: {len(self.noisy)} parts of {len(self.recipe.wanted)} marginals, each once",)

    def run(self, running: Running) -> Margins:
        """Count the largest marginals, and measure each part in one of them."""
        recipe = self.recipe
        salt = noise.uniform(2**62)
        running.stage("measuring")
        left = list(self.noisy)
        noisy = {}
        for columns in largest(recipe.wanted):
            axes = [recipe.axes[each] for each in columns]
            task = marginal(scan(recipe.private), axes, bounding_of(recipe.schema, recipe.private))
            exact = counts(running.data.compute, task, salt)  # type: ignore[attr-defined]
            for part, bound, mechanism in [each for each in left if set(each[0]) <= set(columns)]:
                noisy[part_name(part)] = running.release(mechanism, bound, products(summed(exact, columns, part)))
            left = [each for each in left if not set(each[0]) <= set(columns)]
            running.stage("measuring")
        spread = {part_name(part): off for part, off in self._noise.items()}
        return Margins(running.plan, None, recipe.cells_said(), recipe.wanted, spread, noisy)
