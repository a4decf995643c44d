"""What is asked about one number: its mean or its distribution, in the units of people; for all alike or by class.

A question knows the bounds, clips and rounds what a device holds, and puts what the reports say back into units.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sordino.collect.randomizer import Counts
from sordino.errors import ArgumentError

from .classes import EpsilonClasses, OfClasses
from .scale import Scale


@dataclass(frozen=True)
class NumberQuestion:
    """One number of each person. Numbers beyond the bounds count as the nearest bound."""

    scale: Scale
    randomizer: Any
    what: str = "mean"
    why: str = ""

    def code(self, value: Any) -> int:
        """Return the code of a number: clipped, and rounded to the grid; NaN is refused."""
        return self.scale.code(value)

    def codes(self, values: Any) -> Any:
        """Return the codes of many numbers."""
        return self.scale.codes(values)

    def public(self) -> Mapping[str, Any]:
        """Return what is asked, the bounds, and how it is answered."""
        return {"what": self.what, "scale": dict(self.scale.public()), "randomizer": dict(self.randomizer.public())}

    def estimate(self, counts: Counts, reports: float) -> Any:
        """Return what counts of so many reports say: an `Estimated` mean, or a `Distribution`."""
        return self.randomizer.estimate(counts, reports).in_units(float(self.scale.low), float(self.scale.high))

    def error(self, people: int) -> float:
        """Return the largest standard error with so many people: of the mean, or of a share of people up to a point."""
        return float(self.randomizer.error(people)) * self._unit

    def poison(self, people: int, colluding: int) -> float:
        """Return how far so many of them can move the mean, or the unbiased share of people up to a point."""
        return float(self.randomizer.poison(people, colluding)) * self._unit

    @property
    def _unit(self) -> float:
        return 1.0 if self.what == "distribution" else self.scale.width


@dataclass(frozen=True)
class ClassQuestion:
    """One number of each person, who also says their public class, and with it their ε."""

    scale: Scale
    randomizer: EpsilonClasses
    why: str = ""

    def code(self, value: tuple[str, Any]) -> tuple[int, int]:
        """Return the numbers of (class, number)."""
        if not isinstance(value, tuple) or len(value) != 2 or value[0] not in self.randomizer.names:
            known = ", ".join(map(repr, self.randomizer.names))
            raise ArgumentError(f"the answer must be a class of {known} and a number, as (class, number)", "SRD-C206")
        return self.randomizer.names.index(value[0]), self.scale.code(value[1])

    def public(self) -> Mapping[str, Any]:
        """Return the bounds, and how each class answers."""
        return {"what": "mean", "scale": dict(self.scale.public()), "randomizer": dict(self.randomizer.public())}

    def estimate(self, counts: Counts, reports: float) -> OfClasses:
        """Return the mean of all classes together, and of each."""
        return self.randomizer.estimate(counts, reports).in_units(float(self.scale.low), float(self.scale.high))

    def error(self, people: int) -> float:
        """Return the largest standard error with so many people in classes of one size."""
        return self.randomizer.error(people) * self.scale.width

    def poison(self, people: int, colluding: int) -> float:
        """Return how far so many of them can move the weighted mean."""
        return self.randomizer.poison(people, colluding) * self.scale.width
