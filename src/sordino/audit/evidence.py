"""What was drawn on one pair of inputs so far, and what may be bet, or should be measured, on the next draws.

Every estimate here steers only. What counts is settled on draws that come later: bets by the purse, the bound on ε by
fresh draws; so nothing in this file can make a false accusation, it can only miss a true one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sordino.accounting.curve import Floats

from .betting import Bet, best_bet
from .events import Event, Scorer, learned, untrained
from .features import Reader, Table
from .scores import Cautious, Track, promising_cut
from .subject import Release

_MOST_TRAINED_ON = 20_000
_GENERATIONS = 2
_KEPT = ((20_000, 6), (1_000, 16))
"""From so many draws on, only so many of the most telling scorers are followed."""
_BETTER, _LARGER = 1.1, 0.02
"""By how much a learnt scorer must beat a plain column, in growth and in ε: what is simple is easier to believe."""
_CAUTION = 1.0
"""Standard errors by which a bet is made more timid than the estimates; more learns slower, less bets on chance."""


@dataclass(frozen=True)
class Wager:
    """A bet with what it is about: scores at or above `high`, and scores below `low`."""

    scorer: Scorer
    high: float
    low: float
    bet: Bet

    def zones(self, table: Table) -> Floats:
        """Return how many outputs fall into each zone."""
        scores = self.scorer.scores(table)
        above, below = int(np.count_nonzero(scores >= self.high)), int(np.count_nonzero(scores < self.low))
        return np.array([above, len(table) - above - below, below], dtype=float)


@dataclass(frozen=True)
class Target:
    """An event to be measured on fresh draws: on `pair`, in this order, it should show the largest ε at `delta`."""

    evidence: Evidence
    scorer: Scorer
    event: Event
    swapped: bool
    delta: float
    margin: float
    """How far above the claim (or above 0) ε is expected to be shown."""
    cuts: Floats

    @property
    def pair(self) -> tuple[Any, Any]:
        """The two inputs, the one on which the event comes oftener first."""
        first, second = self.evidence.pair
        return (second, first) if self.swapped else (first, second)


class Evidence:
    """Everything drawn on one pair."""

    def __init__(self, pair: tuple[Any, Any], release: Release, draws: int) -> None:
        self.pair = pair
        self.release = release
        samples = [release(value, draws) for value in pair]
        self.reader = Reader([*samples[0], *samples[1]])
        self.draws = 0
        self._tables: tuple[list[Table], list[Table]] = ([], [])
        self._tracks = [(0, Track(scorer)) for scorer in untrained(self.reader)]
        self._next_training = draws
        self._wager: tuple[bool, Wager | None] = (False, None)
        self._hope: float | None = None
        self.add(*(self.reader.read(sample, draws) for sample in samples))

    def draw(self, draws: int) -> tuple[Table, Table]:
        """Return fresh outputs on both inputs, as they are read; they are not counted yet."""
        first, second = (self.reader.read(self.release(value, draws), draws) for value in self.pair)
        return first, second

    def add(self, first: Table, second: Table) -> None:
        """Count outputs that were drawn; every now and then let the scorers learn from all so far."""
        self.draws += len(first)
        self._wager, self._hope = (False, None), None
        for table, kept in zip((first, second), self._tables, strict=True):
            kept.append(table)
        for _, track in self._tracks:
            track.add(first, second)
        if self.draws >= self._next_training:
            self._train()
            self._next_training = 2 * self.draws

    def _train(self) -> None:
        for kept in self._tables:
            kept[:] = [Table.together(kept).last(_MOST_TRAINED_ON)]
        first, second = (kept[0] for kept in self._tables)
        generation = 1 + max(age for age, _ in self._tracks) if self._tracks else 1
        self._tracks = [(age, track) for age, track in self._tracks if age == 0 or age > generation - _GENERATIONS]
        for many, kept_tracks in _KEPT:
            if self.draws >= many:
                ranked = sorted(self._tracks, key=lambda entry: entry[1].hope(), reverse=True)
                self._tracks = ranked[:kept_tracks]
                break
        self._tracks += [(generation, Track(scorer)) for scorer in learned(first, second)]

    def wager(self, points: Iterable[tuple[float, float]]) -> Wager | None:
        """Return the bet against one of the `points` (ε, δ) that promises to grow fastest; None if none does."""
        if not self._wager[0]:
            self._wager = (True, self._best_wager(points))
        return self._wager[1]

    def _best_wager(self, points: Iterable[tuple[float, float]]) -> Wager | None:
        found, best = None, 0.0
        for epsilon, delta in points:
            for _, track in self._tracks:
                cut = promising_cut(track, epsilon, delta)
                if cut is not None and cut.growth > best * _BETTER:
                    found, best = (track, cut, epsilon, delta), cut.growth
        if found is None:
            return None
        track, cut, epsilon, delta = found
        first, second = track.zones(cut.high, cut.low, Cautious(_CAUTION))
        bet = best_bet(first, second, epsilon, delta)
        return None if bet is None else Wager(track.scorer, cut.high, cut.low, bet)

    def hope(self, points: Iterable[tuple[float, float]]) -> float:
        """Return how far above `points` ε might be, at best, on this pair: where to look next."""
        if self._hope is None:
            hopes = (track.hope(epsilon, delta) for epsilon, delta in points for _, track in self._tracks)
            self._hope = max(hopes, default=-math.inf)
        return self._hope

    def target(self, points: Iterable[tuple[float, float]], draws: int) -> Target | None:
        """Return the event that promises the largest bound on ε above `points`, if `draws` fresh ones measure it."""
        best: Target | None = None
        for epsilon, delta in points:
            for _, track in self._tracks:
                found = track.telling(delta, draws)
                if found is None or (best is not None and found.epsilon - epsilon <= best.margin + _LARGER):
                    continue
                threshold = found.cut if found.above else math.nextafter(found.cut, -math.inf)
                event = Event(self.reader, track.scorer, threshold, found.above)
                margin = found.epsilon - epsilon
                best = Target(self, track.scorer, event, found.swapped, delta, margin, track.cuts)
        return best
