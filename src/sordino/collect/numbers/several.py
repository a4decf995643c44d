"""What is asked about several numbers of one person: the mean of each, by reports that are about one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sordino.collect.randomizer import Codes, Counts
from sordino.errors import ArgumentError

from .attributes import Attributes
from .scale import Scale


@dataclass(frozen=True)
class SeveralQuestion:
    """Numbers with names; each device draws the one that it answers for."""

    names: tuple[str, ...]
    scales: tuple[Scale, ...]
    randomizer: Attributes
    why: str = ""

    def code(self, value: Mapping[str, Any]) -> tuple[int, ...]:
        """Return the codes of all numbers, by name; all must be there, for which is drawn comes later."""
        if not isinstance(value, Mapping) or set(value) != set(self.names):
            raise ArgumentError(f"the answer must have a number for each of {', '.join(self.names)}", "SRD-C206")
        return tuple(scale.code(value[name]) for name, scale in zip(self.names, self.scales, strict=True))

    def codes(self, values: Mapping[str, Any]) -> Codes:
        """Return the codes of many people, one row each."""
        return np.stack(
            [scale.codes(values[name]) for name, scale in zip(self.names, self.scales, strict=True)], axis=1
        )

    def public(self) -> Mapping[str, Any]:
        """Return names, bounds, and how each is answered."""
        scales = [{"name": name, **scale.public()} for name, scale in zip(self.names, self.scales, strict=True)]
        return {"what": "means", "scales": scales, "randomizer": dict(self.randomizer.public())}

    def estimate(self, counts: Counts, reports: float) -> Mapping[str, Any]:
        """Return the mean of each number, of all people who answered."""
        found = self.randomizer.estimate(counts, reports)
        ends = [(float(scale.low), float(scale.high)) for scale in self.scales]
        return {name: each.in_units(*end) for name, each, end in zip(self.names, found, ends, strict=True)}

    def error(self, people: int) -> Mapping[str, float]:
        """Return the largest standard error of each mean."""
        return self._in_units(self.randomizer.error(people))

    def poison(self, people: int, colluding: int) -> Mapping[str, float]:
        """Return how far so many of them can move each mean, if all turn to that one."""
        return self._in_units(self.randomizer.poison(people, colluding))

    def _in_units(self, found: tuple[float, ...]) -> Mapping[str, float]:
        each = zip(self.names, found, self.scales, strict=True)
        return {name: number * scale.width for name, number, scale in each}
