"""Means: a ratio of two noisy sums, with an interval that is right however small the group is.

**Guarantee**: for every true ratio θ in [low, high] the interval contains θ with the confidence asked for, or more.
**Proof** (Fieller 1954). Let released = exact + Z, numerator N = aᵀreleased and denominator D = bᵀreleased. If θ is the
true ratio, N − θD = (a − θb)ᵀZ, whose law is known: |N − θD| ≤ t(θ) with that confidence, and every θ for which that
holds is in the interval. t is the `envelope` of a − θb, a norm of what is linear in θ, so convex in θ; between two
values of θ the chord is above it, so using chords of a few of them instead is safe. On each piece the condition is
linear in θ and solved exactly; the interval is the hull of all solutions. ∎
Where the denominator cannot be told from zero that is the whole range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import Number
from sordino.errors import ArgumentError

from .convolution import Floats
from .estimate import Estimate, Interval, Rows
from .tails import Noise, envelopes

_Read = TypeVar("_Read")

_CHUNK = 2**11  # groups at a time, so that they stay in the processor's cache
_FIRST_PIECES = 16  # an even number
_MOST_PIECES = 64
_SURELY = "0.95"
_TOLERANCE = 0.004  # relative: how far a chord may be above the envelope in its middle


@dataclass(frozen=True, eq=False)
class Ratio(Estimate):
    """aᵀreleased / bᵀreleased, known to lie in [low, high]."""

    released: Floats
    """Vectors × groups."""
    laws: Sequence[Noise]
    """The noise of each vector."""
    numerator: Sequence[float]
    """The coefficients a."""
    denominator: Sequence[float]
    """The coefficients b."""
    low: float
    high: float
    values: Floats = field(init=False)
    _tops: Floats = field(init=False)
    _bottoms: Floats = field(init=False)

    def __post_init__(self) -> None:
        if not len(self.released) == len(self.laws) == len(self.numerator) == len(self.denominator):
            raise ArgumentError("a ratio needs one law and two coefficients for each released vector", "SRD-A003")
        tops = np.asarray(self.numerator, dtype=np.float64) @ self.released
        bottoms = np.asarray(self.denominator, dtype=np.float64) @ self.released
        ratios = np.full(len(tops), (self.low + self.high) / 2, dtype=np.float64)
        np.divide(tops, bottoms, out=ratios, where=bottoms > 0)
        object.__setattr__(self, "values", np.clip(ratios, self.low, self.high))
        object.__setattr__(self, "_tops", tops)
        object.__setattr__(self, "_bottoms", bottoms)

    @property
    def standard_error(self) -> Floats:
        """To first order: the deviation of N − θD at the value, divided by D. NaN where D is not positive."""
        variances = np.array([law.variance for law in self.laws])
        numerator, denominator = np.asarray(self.numerator), np.asarray(self.denominator)
        weights = numerator[:, None] - np.outer(denominator, self.values)
        deviations = np.sqrt(variances @ weights**2)
        unknown = np.full(len(self.values), np.nan)
        return np.asarray(np.divide(deviations, self._bottoms, out=unknown, where=self._bottoms > 0))

    def take(self, rows: Rows) -> Ratio:
        """Return the estimate for these groups only."""
        return replace(self, released=self.released[:, rows])

    def interval(self, confidence: Number) -> Interval:
        """Return the ends of the hull of all ratios that the released values do not contradict."""
        nodes, heights = self._chords(confidence)
        low, high = np.empty(len(self.values)), np.empty(len(self.values))
        for start in range(0, len(self.values), _CHUNK):
            part = slice(start, start + _CHUNK)
            low[part], high[part] = _plausible(self._tops[part], self._bottoms[part], nodes, heights)
        return self._around_values(low, high, np.interp(self.values, nodes, heights))

    def _around_values(self, low: Floats, high: Floats, heights: Floats) -> Interval:
        """Contain the value. Where no ratio in range is plausible, show at least the size of the noise around it."""
        none = low > high
        room = np.full(len(self.values), self.high - self.low, dtype=np.float64)
        np.divide(heights, self._bottoms, out=room, where=self._bottoms > 0)
        low = np.where(none, self.values - room, np.minimum(low, self.values))
        high = np.where(none, self.values + room, np.maximum(high, self.values))
        return np.clip(low, self.low, self.high), np.clip(high, self.low, self.high)

    def _chords(self, confidence: Number) -> tuple[Floats, Floats]:
        """Return ratios and envelopes there, close enough that the chords between them hug the envelope."""
        numerator, denominator = np.asarray(self.numerator), np.asarray(self.denominator)

        def heights(ratios: Floats) -> Floats:
            return envelopes(self.laws, numerator[:, None] - np.outer(denominator, ratios), confidence)

        nodes: Floats = np.linspace(self.low, self.high, _FIRST_PIECES + 1)
        known = heights(nodes)
        loose = (known[:-2:2] + known[2::2]) / 2 > (1 + _TOLERANCE) * known[1::2]
        open_pieces = np.flatnonzero(np.repeat(loose, 2))  # by their left ends
        while len(open_pieces) and len(nodes) < _MOST_PIECES:
            middles = (nodes[open_pieces] + nodes[open_pieces + 1]) / 2
            found = heights(middles)
            loose = (known[open_pieces] + known[open_pieces + 1]) / 2 > (1 + _TOLERANCE) * found
            between = (nodes[open_pieces] < middles) & (middles < nodes[open_pieces + 1])
            nodes, known, places = _inserted(nodes, known, middles, found, open_pieces)
            split = places[loose & between]
            open_pieces = np.concatenate([split - 1, split])
        return nodes, known


def blank_where_empty(estimate: _Read) -> _Read | Occupied:
    """Return a mean that is blank in groups that may well be empty; whatever else as it is."""
    return Occupied(estimate) if isinstance(estimate, Ratio) else estimate


@dataclass(frozen=True, eq=False)
class Occupied(Estimate):
    """Means of rows, blank (NaN, without an interval) where the number of rows cannot be told from 0.

    That is where it is below half a row, or no more than its noise reaches with probability 0.95: elsewhere the mean
    would be noise divided by noise. It is decided by released numbers alone, so it costs nothing. The interval misses
    the true mean, in a group that is not blank, with no more than the probability asked for.
    """

    source: Ratio
    values: Floats = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", self._where_occupied(self.source.values))

    def _where_occupied(self, numbers: Floats) -> Floats:
        rows = np.asarray(self.source.denominator, dtype=np.float64)
        reach = envelopes(self.source.laws, rows[:, None], _SURELY)[0]
        return np.where(self.source._bottoms > max(reach, 0.5), numbers, np.nan)

    def interval(self, confidence: Number) -> Interval:
        """Return the mean's interval, or NaN where it is blank."""
        low, high = self.source.interval(confidence)
        return self._where_occupied(low), self._where_occupied(high)

    @property
    def standard_error(self) -> Floats:
        """That of the mean."""
        return self._where_occupied(self.source.standard_error)

    def take(self, rows: Rows) -> Occupied:
        """Return the estimate for these groups only."""
        return Occupied(self.source.take(rows))


def _inserted(
    nodes: Floats, known: Floats, middles: Floats, found: Floats, pieces: NDArray[np.intp]
) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Return nodes and heights with the middles of these pieces among them, and where the middles are now."""
    places = pieces + 1 + np.argsort(np.argsort(pieces))
    return np.insert(nodes, pieces + 1, middles), np.insert(known, pieces + 1, found), places


def _plausible(tops: Floats, bottoms: Floats, nodes: Floats, heights: Floats) -> Interval:
    """Return the hull of all θ with |N − θD| ≤ the chords over `nodes`; low > high where there is none."""
    differences = tops - nodes[:, None] * bottoms
    starts, stops = zip(
        *(_positive(heights[:, None] + sign * differences) for sign in (-1.0, 1.0)),
        strict=True,
    )
    start, stop = np.maximum(*starts), np.minimum(*stops)
    found = start <= stop
    left, width = nodes[:-1, None], np.diff(nodes)[:, None]
    low = np.where(found, left + start * width, np.inf).min(axis=0)
    high = np.where(found, left + stop * width, -np.inf).max(axis=0)
    return low, high


def _positive(slack: Floats) -> Interval:
    """Return for each piece between two rows where in [0, 1] it is at least 0, if linear; start > stop: nowhere."""
    left, right = slack[:-1], slack[1:]
    rise = right - left
    crossing = np.divide(-left, rise, out=np.full(left.shape, 2.0), where=rise != 0)
    start = np.where(left >= 0, 0.0, np.where(right >= 0, crossing, 2.0))
    stop = np.where(right >= 0, 1.0, np.where(left >= 0, crossing, -1.0))
    return start, stop
