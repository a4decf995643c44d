"""What is asked about a vector: the mean of vectors of a declared length at most, in the units of people.

A device shortens a longer vector to the declared length and rounds each coordinate towards 0, to a grid of 2¹⁵ steps in
that length. NaN is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.arguments import numbers, rational
from sordino.collect.randomizer import Codes, Counts
from sordino.errors import ArgumentError

from .estimated import Estimated
from .vectors import RADIUS, Directions


@dataclass(frozen=True)
class VectorQuestion:
    """A vector of each person, of length `radius` at most; longer ones are shortened to it."""

    radius: Fraction
    randomizer: Directions
    why: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", rational("radius", self.radius, above=0, most=10**100))

    def code(self, value: Any) -> tuple[int, ...]:
        """Return the vector on the grid."""
        return tuple(self.codes([value])[0].tolist())

    def codes(self, values: Any) -> Codes:
        """Return many vectors on the grid, one row each."""
        given = numbers("vectors", values).astype(np.float64)
        if given.ndim != 2 or given.shape[1] != self.randomizer.dimension or np.isnan(given).any():
            raise ArgumentError(
                f"the answer must be a vector of {self.randomizer.dimension} numbers, none of them NaN; it is not "
                "shown here, and nothing was sent",
                "SRD-C201",
            )
        limited = np.clip(given / float(self.radius), -1e9, 1e9)  # beyond it, only the direction matters
        # One after the other, from the first on: a sum by halves would have other last digits than in other languages.
        length = np.sqrt(np.cumsum(np.square(limited), axis=1)[:, -1:])
        shortened = limited / np.maximum(length, 1.0)
        codes = np.trunc(shortened * RADIUS).astype(np.int64)
        over = np.square(codes).sum(axis=1) > RADIUS**2  # by the last digit of a double
        codes[over] -= np.sign(codes[over])
        return np.asarray(codes, dtype=np.int64)

    def public(self) -> Mapping[str, Any]:
        """Return the length, as the text of a double, and how it is answered."""
        return {"what": "vector", "radius": repr(float(self.radius)), "randomizer": dict(self.randomizer.public())}

    def estimate(self, counts: Counts, reports: float) -> Estimated:
        """Return the mean vector."""
        return self.randomizer.estimate(counts, reports).scaled(float(self.radius))

    def error(self, people: int) -> float:
        """Return the root of the expected squared distance from the mean vector, at most."""
        return self.randomizer.error(people) * float(self.radius)

    def poison(self, people: int, colluding: int) -> float:
        """Return how far, as a length, so many of them can move the mean vector."""
        return self.randomizer.poison(people, colluding) * float(self.radius)
