"""A recipe that nobody has heard of: noisy counts of one column's cells, fixed beforehand or in rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from sordino import noise
from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.events import Composed
from sordino.arguments import Number
from sordino.data.metadata import Schema
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.laplace import Laplace
from sordino.publish.files import arrays_to_bytes
from sordino.publish.measuring import bound_of, bounding_of, column_axis, counts, marginal, scan, table_of
from sordino.publish.picturing import figure
from sordino.publish.price import Expected
from sordino.publish.publication import Running
from sordino.publish.released import Released
from sordino.publish.spending import Form, Spend


@dataclass(frozen=True, eq=False)
class Cells(Released):
    """The noisy counts."""

    noisy: Any = None

    def measured(self) -> dict[str, Any]:
        """Return how many cells there are."""
        return {"cells": len(self.noisy)}

    def plot(self) -> Any:
        """Return an empty picture."""
        return figure()

    def contents(self) -> Mapping[str, bytes]:
        """Return the counts."""
        return {"cells.npz": arrays_to_bytes({"cells": self.noisy})}


@dataclass(frozen=True)
class Counting:
    """Counts the cells of a column, `times` times over."""

    schema: Schema
    column: str
    times: int = 1
    greedy: bool = False
    """Whether it tries to run more rounds than it claims."""

    name: ClassVar[str] = "counting"
    forms: ClassVar[tuple[Form, ...]] = ("pure", "concentrated")
    adapts: ClassVar[bool] = False

    def design(self, spend: Spend) -> CountingDesign:
        """Return the design."""
        table = table_of(self.schema, None)
        bounding = bounding_of(self.schema, table)
        bound = bound_of(self.schema, bounding, len(table.columns[self.column].keys or ()))
        part = spend.part(Fraction(1, self.times))
        make: Any = Laplace.for_epsilon if spend.is_pure else Gaussian.for_rho
        return CountingDesign(self, bound, make(part.amount, bound))

    def plain(self) -> dict[str, Any]:
        """Return the parameters."""
        return {"column": self.column, "times": self.times}


@dataclass(frozen=True)
class CountingDesign:
    """The same with its noise."""

    recipe: Counting
    bound: Bound
    mechanism: Laplace | Gaussian

    def event(self) -> Event:
        """Return all rounds."""
        once = self.mechanism.event(self.bound)
        return once if self.recipe.times == 1 else Composed((once,) * self.recipe.times)

    def expected(self, confidence: Number) -> tuple[Expected, ...]:
        """Return half the width of an interval."""
        return (Expected("cells", self.mechanism.error(confidence), f"half the width of a {confidence} interval"),)

    def notes(self) -> tuple[str, ...]:
        """Return nothing."""
        return ()

    def run(self, running: Running) -> Cells:
        """Count."""
        table = table_of(self.recipe.schema, None)
        axes = [column_axis(self.recipe.column, table.columns[self.recipe.column])]
        task = marginal(scan(table), axes, bounding_of(self.recipe.schema, table))
        exact = counts(running.data.compute, task, noise.uniform(2**62))  # type: ignore[attr-defined]
        rounds = []
        for _ in range(self.recipe.times + self.recipe.greedy):
            rounds.append(running.release(self.mechanism, self.bound, exact))
            running.stage("measuring")
        return Cells(running.plan, None, np.mean(rounds, axis=0))
