"""Counts of scores on two inputs, and the cuts that tell most by them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sordino.accounting.curve import Floats

from .confidence import at_least, at_most
from .events import Scorer
from .features import Table

_CUTS = 48
_SAMPLE = 20_000
_HOPE = 2.0
"""Standard errors added to what is seen, to say what might be."""
_UNSURE = 0.005
"""The chance that each of two probabilities is worse than what is said will probably be shown."""


@dataclass(frozen=True)
class Cautious:
    """Probabilities by counts, moved by some standard errors in the direction that is against the auditor."""

    errors: float

    def low(self, hits: Floats, draws: float) -> Floats:
        """Return probabilities that are rather too small."""
        share = (hits + 0.5) / (draws + 1)
        return np.maximum(share - self.errors * np.sqrt(share * (1 - share) / draws), 0.0)

    def high(self, hits: Floats, draws: float) -> Floats:
        """Return probabilities that are rather too large."""
        share = (hits + 0.5) / (draws + 1)
        return np.minimum(share + self.errors * np.sqrt(share * (1 - share) / draws), 1.0)


@dataclass(frozen=True)
class Cut:
    """Where to cut scores for a bet: at or above `high` on the first input, below `low` on the second."""

    high: float
    low: float
    growth: float


@dataclass(frozen=True)
class Telling:
    """An event by its cut, and the ε that fresh draws will probably show."""

    cut: float
    above: bool
    swapped: bool
    epsilon: float


class Track:
    """The scores of one scorer on all draws since it was trained, counted between cuts."""

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer
        self.draws = 0
        self.cuts: Floats = np.empty(0)
        self._kept: tuple[list[Floats], list[Floats]] = ([], [])
        self._next_cuts = 1
        self._above = np.zeros((2, 0))
        self._known = np.zeros(2)

    def add(self, first: Table, second: Table) -> None:
        """Count more draws; whenever they have doubled, cut anew."""
        self.draws += len(first)
        fresh = [scores[~np.isnan(scores)] for scores in (self.scorer.scores(first), self.scorer.scores(second))]
        for kept, scores in zip(self._kept, fresh, strict=True):
            kept.append(scores)
        if self.draws >= self._next_cuts:
            for kept in self._kept:
                kept[:] = [np.concatenate(kept)]
            self.cuts = _cuts(*(kept[0] for kept in self._kept))
            self._above, self._known = np.zeros((2, len(self.cuts))), np.zeros(2)
            self._next_cuts, fresh = 2 * self.draws, [kept[0] for kept in self._kept]
        for side, scores in enumerate(fresh):
            passed = np.bincount(np.searchsorted(self.cuts, scores, side="right"), minlength=len(self.cuts) + 1)
            self._above[side] += len(scores) - np.cumsum(passed)[:-1]
            self._known[side] += len(scores)

    def counts(self, *, above: bool) -> tuple[Floats, Floats]:
        """Return how many draws on the first and on the second input are at or above (or below) each cut."""
        if above:
            return self._above[0], self._above[1]
        return self._known[0] - self._above[0], self._known[1] - self._above[1]

    def zones(self, high: float, low: float, cautious: Cautious) -> tuple[Floats, Floats]:
        """Return cautious probabilities of the three zones of a bet on either input."""
        above = [int(self._above[side][self.cuts == high].sum()) for side in (0, 1)]
        below = [
            int(known - side[self.cuts == low].sum()) if low > -math.inf else 0
            for side, known in zip(self._above, self._known, strict=True)
        ]
        none = [int(high == math.inf), int(low == -math.inf)]
        here = [
            _or_none(cautious.low(np.array(above[0]), self.draws), none[0]),
            _or_none(cautious.high(np.array(below[0]), self.draws), none[1]),
        ]
        there = [
            _or_none(cautious.high(np.array(above[1]), self.draws), none[0]),
            _or_none(cautious.low(np.array(below[1]), self.draws), none[1]),
        ]
        return _three(*here), _three(*there)

    def growth(self, points: Iterable[tuple[float, float]]) -> float:
        """Return how fast a bet on the best cut would grow, if what was seen is the truth."""
        if self.draws == 0 or not len(self.cuts):
            return 0.0
        counts = self.counts(above=True), self.counts(above=False)
        found = (
            float(_growth(likely, unlikely, self.draws, epsilon, delta, errors=0.0).max())
            for epsilon, delta in points
            for first, second in counts
            for likely, unlikely in ((first, second), (second, first))
        )
        return max(found, default=0.0)

    def hope(self, epsilon: float = 0.0, delta: float = 0.0) -> float:
        """Return how far above `epsilon` the truth might be for the best cut.

        Anything, before the first draw; nothing, where no draw had a number to cut at.
        """
        if self.draws == 0 or not len(self.cuts):
            return -math.inf if self.draws else math.inf
        hopeful = Cautious(-_HOPE)
        best = -math.inf
        for above in (True, False):
            counts = self.counts(above=above)
            for likely, unlikely in (counts, counts[::-1]):
                low, high = hopeful.low(likely, self.draws) - delta, hopeful.high(unlikely, self.draws)
                with np.errstate(divide="ignore", invalid="ignore"):
                    best = max(best, float(np.max(np.where(low > 0, np.log(low / np.maximum(high, 1e-12)), -np.inf))))
        return best - epsilon

    def telling(self, delta: float, draws: int) -> Telling | None:
        """Return the event with the largest bound on ε at `delta` to be expected of so many fresh draws."""
        if self.draws == 0 or not len(self.cuts):
            return None
        # The counts err by their own draws, and the fresh ones will by theirs: as if there were fewer of them. The best
        # of many cuts is a lucky one, most of all where hardly anything came, so the bounds are exact ones.
        part = 1 / (1 + self.draws / max(draws, 1))
        seen = self.draws * part
        best: Telling | None = None
        for above in (True, False):
            counts = self.counts(above=above)
            for swapped in (False, True):
                likely, unlikely = counts[::-1] if swapped else counts
                low = at_least(likely * part, seen, _UNSURE) - delta
                high = at_most(unlikely * part, seen, _UNSURE)
                with np.errstate(divide="ignore", invalid="ignore"):
                    bounds = np.where(low > 0, np.log(low / high), -np.inf)
                place = int(np.argmax(bounds))
                if best is None or bounds[place] > best.epsilon:
                    best = Telling(float(self.cuts[place]), above, swapped, float(bounds[place]))
        return best


def promising_cut(track: Track, epsilon: float, delta: float) -> Cut | None:
    """Return the cuts whose bets against (ε, δ) should grow fastest by a cautious reading; None if none should grow."""
    if track.draws == 0 or not len(track.cuts):
        return None
    (first_above, second_above), (first_below, second_below) = track.counts(above=True), track.counts(above=False)
    forward = _growth(first_above, second_above, track.draws, epsilon, delta)
    backward = _growth(second_below, first_below, track.draws, epsilon, delta)
    high, low = int(np.argmax(forward)), int(np.argmax(backward))
    gains = [float(forward[high]), float(backward[low])]
    if max(gains) <= 0:
        return None
    if min(gains) > 0 and low > high:  # the two events overlap: keep the better one
        gains[gains.index(min(gains))] = 0.0
    return Cut(
        float(track.cuts[high]) if gains[0] > 0 else math.inf,
        float(track.cuts[low]) if gains[1] > 0 else -math.inf,
        max(gains[0], 0.0) + max(gains[1], 0.0),
    )


def _growth(likely: Floats, unlikely: Floats, draws: int, epsilon: float, delta: float, errors: float = 1.0) -> Floats:
    """Return about how fast a bet on each event grows: how far its draws' odds are from e^ε, times their share."""
    cautious, odds = Cautious(errors), math.exp(epsilon)
    p, q = cautious.low(likely, draws) - delta, cautious.high(unlikely, draws)
    share = np.maximum(p, 0.0) + q
    nearest_p, nearest_q = share * odds / (1 + odds), share / (1 + odds)
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = p * np.log(p / nearest_p) + q * np.log(q / nearest_q)
    return np.where(p > odds * q, growth, 0.0)


def _cuts(first: Floats, second: Floats) -> Floats:
    """Return cuts at some quantiles of both sides together, more of them in the tails, and at every atom if few."""
    step = max(1, len(first) // _SAMPLE)
    both = np.sort(np.concatenate([first[::step], second[::step]]))
    if not len(both):
        return np.empty(0)
    last = len(both) - 1
    tails = 2 ** np.arange(1, max(2, int(math.log2(last + 2)) - 3))
    places = np.concatenate([np.linspace(0, last, _CUTS).round(), tails, last - tails, [0, last]])
    ends = [first.max(), second.max()] if len(first) and len(second) else []
    distinct = np.unique(both)
    chosen = distinct if len(distinct) <= _CUTS else both[np.clip(places, 0, last).astype(int)]
    return np.unique(np.concatenate([chosen, ends]))


def _or_none(probability: Floats, none: int) -> float:
    return 0.0 if none else float(probability)


def _three(high: float, low: float) -> Floats:
    scale = max(1.0, high + low)
    return np.array([high / scale, max(0.0, 1 - (high + low) / scale), low / scale])
