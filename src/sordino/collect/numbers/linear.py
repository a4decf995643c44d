"""Means from sums: each report is a whole number u whose mean is linear in the code, and its square's a parabola.

Positions are shares of the range, counted from its middle here: c = t/s − ½. With the means of u and of u² known at the
ends and in the middle, exactly, (u − offset)/gain is an unbiased estimate of c, and its variance is a parabola of c:
base + slope·c² (what is linear in c is below 2⁻⁴⁰ of it, and is left out).

The standard error is that of the coins alone where the mean is about those who answered: the mean of c² that it needs
is read from the mean of u², where reports tell it. If those who answered were drawn from more people, of whom the mean
is, what they differ by among each other is added.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sordino.collect.randomizer import Counts

from .estimated import Estimated, people

_UNTOLD = 1e-9  # two values have the same square whatever people hold; then the least that there can be is taken
Moments = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Linear:
    """How sums of u become a mean, and how far off it is. In shares of the range."""

    offset: float
    gain: float
    base: float
    slope: float
    farthest: float
    """How far u may be from its offset, whatever a report holds."""

    @classmethod
    def of(cls, moments: Callable[[int], Moments], steps: int, farthest: float) -> Linear:
        """Return it from the exact means of u and u² at each code."""
        low, middle, high = moments(0), moments(steps // 2), moments(steps)
        gain, offset = high[0] - low[0], middle[0]
        ends = (_spread(low) + _spread(high)) / 2 / gain**2
        base = _spread(middle) / gain**2
        return cls(float(offset), float(gain), float(base), float(4 * (ends - base)), farthest)

    def variance(self, position: float) -> float:
        """Return the variance of one report for a position, as a share of the range."""
        return self.base + self.slope * (position - 0.5) ** 2

    @property
    def worst(self) -> float:
        """The largest variance of one report, whatever people hold."""
        return max(self.base, self.base + self.slope / 4)

    @property
    def reach(self) -> float:
        """How far one report is from the middle of the range at most."""
        return self.farthest / self.gain

    @property
    def worst_drawn(self) -> float:
        """The largest variance of one report, with what people differ by among each other."""
        return self.base + max(0.0, 1 + self.slope) / 4

    def estimate(self, counts: Counts, drawn_from: float = 0.0) -> Estimated:
        """Return the mean from [reports, Σu, Σu²], of those who answered or of all people they were drawn from."""
        reports = people(int(counts[0]))
        mean = (int(counts[1]) / reports - self.offset) / self.gain
        error = math.sqrt(self.spread(self.mean_square(counts, mean), mean, reports, drawn_from) / reports)
        return Estimated(np.asarray(0.5 + mean), np.asarray(error), reports)

    def spread(self, square: float, mean: float, reports: int, drawn_from: float) -> float:
        """Return the variance of a report, given the means of c² and of c, and of how many people reports are."""
        missing = 1 - reports / drawn_from if drawn_from > reports else 0.0
        return max(self.base + self.slope * square + missing * (square - mean * mean), 0.0)

    def mean_square(self, counts: Counts, mean: float) -> float:
        """Return the mean of c², as far as reports tell it: between the square of the mean of c and ¼."""
        told = 1 + self.slope  # how much of it there is in the mean square of estimates
        inside = 0.0
        if told > _UNTOLD and counts[0]:
            first, second = int(counts[1]) / int(counts[0]), int(counts[2]) / int(counts[0])
            square = (second - 2 * self.offset * first + self.offset**2) / self.gain**2
            inside = (square - self.base) / told
        return min(max(inside, mean * mean), 0.25)


def _spread(moments: Moments) -> Fraction:
    return moments[1] - moments[0] ** 2


def sums(centred: Counts) -> Counts:
    """Return [reports, Σu, Σu²]; sums of parts add up to the sums of all."""
    return np.array([len(centred), centred.sum(), (centred * centred).sum()], dtype=np.int64)
