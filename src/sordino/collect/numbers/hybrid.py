"""Hybrid: piecewise or two values, by a coin that is tossed before the number is looked at.

Where the number is near an end piecewise has its largest variance, and two values their smallest. A coin between them
makes the variance the same for all numbers, and lower than the largest of both; for small ε it always says two values.

**Guarantee**: ε for replacing one number, exactly: the coin does not depend on the number, each of the two costs ε, and
what was drawn shows which it was.
**Source**: Wang et al. 2019, section 3.3; the coin's chance is theirs, with the variances of these very coins.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.accounting import events
from sordino.accounting.event import Event
from sordino.collect.coins import WORD
from sordino.collect.frequencies.numbered import bytes_below, read, written
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.noise.keystream import SOURCE, BitSource

from .estimated import Estimated, people, some
from .linear import Linear
from .means import Means, checked_epsilon
from .piecewise import Piecewise
from .scale import FINE, checked_steps
from .two_values import TwoValues


@dataclass(frozen=True)
class Hybrid(Means):
    """A cell, or one of two more cells, for a code from 0 to `steps`."""

    epsilon: Fraction
    steps: int = FINE

    protocol: ClassVar[str] = "hybrid"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_steps(self.steps, most=FINE)

    @cached_property
    def piecewise(self) -> Piecewise:
        """The one way."""
        return Piecewise(self.epsilon, self.steps)

    @cached_property
    def two_values(self) -> TwoValues:
        """The other way."""
        return TwoValues(self.epsilon, self.steps)

    @cached_property
    def share(self) -> int:
        """How many words say piecewise: none, or as many as make the variance alike for all numbers, or 2⁶⁴ − 1."""
        one, other = self.piecewise.linear, self.two_values.linear
        alike = -other.slope / (one.slope - other.slope)
        chance = min((0.0, alike, 1.0), key=lambda share: _mixed(share, one, other).worst)
        return min(int(chance * WORD), WORD - 1)

    @cached_property
    def linear(self) -> Linear:
        """The variance and the reach of both together; sums are kept apart."""
        return _mixed(self.share / WORD, self.piecewise.linear, self.two_values.linear)

    @property
    def size(self) -> int:
        """As many bytes as a cell takes."""
        return bytes_below(self._cells + 2)

    @property
    def _cells(self) -> int:
        return self.piecewise.window.cells

    def event(self) -> Event:
        """Return what one report costs."""
        return events.Pure(self.epsilon)

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return shuffled reports of any randomizer with this ε."""
        return events.ShuffledLocal(self.epsilon, reports, delta)

    def public(self) -> Mapping[str, Any]:
        """Return both ways, and how many words say piecewise."""
        parts = {"piecewise": dict(self.piecewise.public()), "two-values": dict(self.two_values.public())}
        return {"protocol": self.protocol, "share": str(self.share), **parts}

    def report(self, value: int, source: BitSource) -> bytes:
        """Return the cell, lowest byte first: the first word says which way, the second answers."""
        if source.word() < self.share:
            cell = self.piecewise.window.draw(value, source)
        else:
            cell = self._cells + self.two_values.report(value, source)[0]
        return cell.to_bytes(self.size, "little")

    def reports(self, values: Codes) -> Payloads:
        """Return cells for many codes at once."""
        cells = np.empty(len(values), dtype=np.int64)
        first = SOURCE.words(len(values)) < np.uint64(self.share)
        cells[first] = self.piecewise.window.cell_of_each(values[first])
        cells[~first] = self._cells + self.two_values.reports(values[~first])[:, 0].astype(np.int64)
        return written(cells, self.size)

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which name a cell."""
        return read(payloads) < self._cells + 2

    def count(self, payloads: Payloads) -> Counts:
        """Return the sums of piecewise, then those of two values."""
        cells = read(payloads)
        first = cells < self._cells
        ours = written(cells[first], self.piecewise.size), written(cells[~first] - self._cells, 1)
        return np.concatenate([self.piecewise.count(ours[0]), self.two_values.count(ours[1])])

    def estimate(self, counts: Counts, reports: float) -> Estimated:
        """Return the mean, as a share of the range, of `reports` people: those who answered, or more.

        It is that of all reports, each unbiased by itself.
        """
        found = some(counts, 6)
        total = people(int(found[0] + found[3]))
        one, other = self.piecewise.linear, self.two_values.linear
        mean = (_sum(one, found[:3]) + _sum(other, found[3:])) / total
        here = _mixed(int(found[0]) / total, one, other)  # how often the coin did say piecewise is seen
        spread = here.spread(one.mean_square(found[:3], mean), mean, total, reports)
        return Estimated(np.asarray(0.5 + mean), np.asarray(math.sqrt(spread / total)), total)


def _mixed(share: float, one: Linear, other: Linear) -> Linear:
    base = share * one.base + (1 - share) * other.base
    slope = share * one.slope + (1 - share) * other.slope
    reach = max(one.reach if share > 0 else 0.0, other.reach if share < 1 else 0.0)
    return Linear(0.0, 1.0, base, slope, reach)


def _sum(linear: Linear, counts: Counts) -> float:
    return (int(counts[1]) - int(counts[0]) * linear.offset) / linear.gain
