"""What noisy measurements of a row of cells say: estimates of the cells, and how far off any sum of them is.

A reading is made of public numbers and of what was released alone, so a saved publication is read like a fresh one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.publish.nested import Nesting, Reals, Spread, by_fanout, estimated, nonnegative

from .strategy import Strategy

Measured = Mapping[str, NDArray[np.int64]]


class Reading(Protocol):
    """How one way of measuring is read."""

    def estimates(self, measured: Measured) -> tuple[Reals, Reals]:
        """Return the unbiased estimates of the cells, and those that are at least 0."""
        ...

    def variances(self, queries: Reals) -> Reals:
        """Return the variance of the unbiased estimate of each row of coefficients."""
        ...

    def said(self) -> dict[str, Any]:
        """Return what `reading_of` needs beside the measurements, as JSON can hold it."""
        ...


@dataclass(frozen=True)
class TreeReading:
    """Counts of cells, of groups of `fanout` cells, of groups of those, with the variance of each level's noise."""

    cells: int
    fanout: int
    noise: tuple[float, ...]

    @cached_property
    def nesting(self) -> Nesting:
        """The levels, and one more for the total, which is not measured."""
        return by_fanout(self.cells, self.fanout)

    @cached_property
    def spread(self) -> Spread:
        """How far off estimates are."""
        return Spread(self.nesting, (*self.noise, *(np.inf,) * (self.nesting.levels - len(self.noise))))

    def estimates(self, measured: Measured) -> tuple[Reals, Reals]:
        """Return the best linear unbiased estimates, and those that are at least 0."""
        noisy = [measured[f"level_{level}"].astype(float) for level in range(len(self.noise))]
        noisy += [np.zeros(size) for size in self.nesting.sizes[len(noisy) :]]
        plain = estimated(self.nesting, noisy, self.spread.variances)[0]
        return plain, nonnegative(self.nesting, noisy, self.spread.variances, smooth=True)[0]

    def variances(self, queries: Reals) -> Reals:
        """Return the variance of the unbiased estimate of each row of coefficients."""
        return self.spread.of_sums(queries)

    def said(self) -> dict[str, Any]:
        """Return the tree and its noise."""
        return {"way": "tree", "cells": self.cells, "fanout": self.fanout, "variances": list(self.noise)}


@dataclass(frozen=True, eq=False)
class StrategyReading:
    """Products of a strategy, with the variance of their noise."""

    strategy: Strategy
    noise: float

    def estimates(self, measured: Measured) -> tuple[Reals, Reals]:
        """Return the decoded cells, and the nearest that are at least 0."""
        plain = self.strategy.decoded(measured["products"])
        return plain, self.strategy.nonnegative(plain)

    def variances(self, queries: Reals) -> Reals:
        """Return the variance of the unbiased estimate of each row of coefficients."""
        q = np.atleast_2d(np.asarray(queries, dtype=float))
        found: Reals = ((q @ self.strategy.covariance) * q).sum(1) * self.noise
        return found

    def said(self) -> dict[str, Any]:
        """Return the noise; the strategy is among the files."""
        return {"way": "strategy", "cells": self.strategy.matrix.shape[1], "variances": [self.noise]}


def reading_of(said: Mapping[str, Any], measured: Measured) -> Reading:
    """Return the reading of a saved publication."""
    noise = tuple(float(each) for each in said["variances"])
    if said["way"] == "tree":
        return TreeReading(int(said["cells"]), int(said["fanout"]), noise)
    return StrategyReading(Strategy(measured["strategy"]), noise[0])
