"""What noisy counts of regions say about the cells of a map: estimates, and how far off they are.

A reading is made of public numbers and of what was released alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.publish.nested import Nesting, Reals, Spread, estimated, nonnegative


@dataclass(frozen=True, eq=False)
class MapReading:
    """Noisy counts of the regions of partitions, from the finest up; `region` is each cell's of the finest."""

    region: NDArray[np.int64]
    parents: tuple[NDArray[np.int64], ...]
    noisy: tuple[NDArray[np.int64], ...]
    noise: tuple[float, ...]
    """The variance of the noise of each partition. The whole, above all, is not measured."""

    @cached_property
    def nesting(self) -> Nesting:
        """The partitions, and the whole."""
        return Nesting(self.parents, 1)

    @cached_property
    def _variances(self) -> tuple[float, ...]:
        return (*self.noise, np.inf)

    @cached_property
    def areas(self) -> NDArray[np.int64]:
        """The number of cells of each region of the finest partition."""
        found: NDArray[np.int64] = np.bincount(self.region, minlength=self.nesting.sizes[0])
        return found

    @cached_property
    def unbiased(self) -> Reals:
        """The unbiased estimate of each region of the finest partition."""
        return estimated(self.nesting, self._levels, self._variances)[0]

    @cached_property
    def fitted(self) -> Reals:
        """The estimate of each region of the finest partition that is at least 0."""
        return nonnegative(self.nesting, self._levels, self._variances)[0]

    @property
    def _levels(self) -> list[Reals]:
        return [*(each.astype(float) for each in self.noisy), np.zeros(1)]

    @cached_property
    def cells(self) -> Reals:
        """The estimate of each cell: equal shares of its region's."""
        return (self.fitted / self.areas)[self.region]

    @cached_property
    def deviation(self) -> Reals:
        """The standard deviation of each cell's unbiased estimate, noise alone."""
        found = np.sqrt(Spread(self.nesting, self._variances).of_cells()) / self.areas
        return found[self.region]

    def arrays(self) -> dict[str, NDArray[np.int64]]:
        """Return all arrays, by the names under which files keep them."""
        named = {f"noisy_{level}": each for level, each in enumerate(self.noisy)}
        return {"region": self.region, **{f"parents_{at}": each for at, each in enumerate(self.parents)}, **named}


def reading_of(noise: list[float], arrays: Mapping[str, NDArray[Any]]) -> MapReading:
    """Return the reading of a saved map."""
    levels = range(len(noise))
    return MapReading(
        arrays["region"],
        tuple(arrays[f"parents_{level}"] for level in levels),
        tuple(arrays[f"noisy_{level}"] for level in levels),
        tuple(noise),
    )
