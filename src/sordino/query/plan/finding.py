"""From a noisy histogram of people to a bound that loses little: what is seen beyond it is known, as it was paid for.

All of this is post-processing of noisy counts: how many people have their largest value (or their number of rows) in
each bin. What stands out from the noise is taken for people, first in single bins, then in runs of 2, 4, … bins that
hold none of those. Of the edges the nearest is chosen beyond which those people lose at most `SHARE` of what they have
in all, each counted with the far end of the bin. So the true loss is above the share only by people whom noise hides.

A bin of noise alone passes for people in one search of twenty at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from sordino.noise import DiscreteLaplace, RoundedGaussian
from sordino.query.estimate.convolution import Floats
from sordino.query.estimate.tails import half_width

SHARE = Fraction(1, 100)
"""What a bound that is found may lose, of what people have in all: of their rows, or of their largest values."""
_RUNS = (1, 2, 4, 8, 16)
_FALSE = 0.05
_CLOSE = 8


@dataclass(frozen=True)
class Finding:
    """An edge that was chosen, and how many people were seen beyond it."""

    edge: Fraction
    beyond: float
    within: float
    """By how much noise may put that off, at 95 %."""
    sure: bool = True
    """Whether anything stood out from the noise; else the edge is a guess."""

    @property
    def clips(self) -> bool:
        """Whether more people lie beyond it than noise explains."""
        return self.beyond > self.within


@dataclass(frozen=True)
class Noisy:
    """Noisy numbers of people in bins between edges, with the law of the noise and what a step of it is worth."""

    edges: tuple[Fraction, ...]
    people: Floats
    law: DiscreteLaplace | RoundedGaussian
    worth: float

    def mirrored(self) -> Noisy:
        """Return the same of all values with their signs changed."""
        return Noisy(tuple(-edge for edge in reversed(self.edges)), self.people[::-1], self.law, self.worth)

    def finding(self, chosen: int, *, sure: bool) -> Finding:
        """Return what is known of an edge, by its place."""
        beyond = self.people[chosen:]
        return Finding(self.edges[chosen], float(beyond.sum()), self.off(len(beyond), 0.95), sure)

    def off(self, bins: int, confidence: float) -> float:
        """Return by how much noise may put a sum of bins off."""
        return half_width([(self.law, self.worth)] * bins, confidence) if bins else 0.0


class Run(NamedTuple):
    """Bins from one edge to another that hold more people than noise explains."""

    first: int
    end: int
    people: float
    sure: bool
    """Far more: only such runs say how much there is in all, as noise far out would seem to be nearly all of it."""


def upper(noisy: Noisy, most: Fraction | None = None) -> Finding:
    """Return the least edge beyond which little is lost, `most` at most."""
    places = [float(edge) for edge in noisy.edges]
    groups = list(_standing_out(noisy))
    last = max((place for place, edge in enumerate(noisy.edges) if most is None or edge <= most), default=1)
    if groups:
        allowed = float(SHARE) * sum(
            people * max(abs(places[first]), abs(places[end])) for first, end, people, sure in groups if sure
        )
        fitting = (place for place in range(1, last) if _lost(groups, places, place) <= allowed)
        chosen = next(fitting, max(last, 1))
    else:
        size = min(_RUNS[-1], len(noisy.people))
        sums = np.convolve(noisy.people, np.ones(size), "valid")
        chosen = min(int(sums.argmax()) + size, max(last, 1))
    return noisy.finding(chosen, sure=bool(groups))


def ends(lows: Noisy, highs: Noisy) -> tuple[Finding, Finding]:
    """Return both ends of a range, from least and largest values: the nearest between which little is lost.

    An end that is much closer to 0 than the other becomes 0: the range is hardly wider, and nothing is cut off there.
    """
    low, high = upper(lows.mirrored()), upper(highs)
    if 0 < -low.edge <= high.edge / _CLOSE:
        low = _at_zero(lows.mirrored(), low)
    if 0 < -high.edge <= low.edge / _CLOSE:
        high = _at_zero(highs, high)
    return replace(low, edge=-low.edge), high


def _at_zero(noisy: Noisy, found: Finding) -> Finding:
    return noisy.finding(noisy.edges.index(Fraction(0)), sure=found.sure)


def _lost(groups: Sequence[Run], edges: Sequence[float], place: int) -> float:
    return sum(run.people * max(0.0, edges[run.end] - edges[place]) for run in groups)


def _standing_out(noisy: Noisy) -> Iterator[Run]:
    """Yield runs of bins that hold more people than noise explains."""
    bins = len(noisy.people)
    taken = np.zeros(bins, dtype=bool)
    for size in _RUNS:
        if size > bins:
            break
        threshold = noisy.off(size, 1 - 2 * _FALSE / (len(_RUNS) * bins))
        for first in range(bins - size + 1):
            run = slice(first, first + size)
            people = float(noisy.people[run].sum())
            if people > threshold and not taken[run].any():
                taken[run] = True
                yield Run(first, first + size, people, people > 2 * threshold)
