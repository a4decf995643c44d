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
from .events import Cells, Column, Event, Outcomes, Scorer
from .features import Reader, Table, View, rows
from .learning import learned, untrained
from .scores import Cautious, Track, promising_cut
from .subject import Release

_MOST_TRAINED_ON = 20_000
_MOST_NUMBERS = 4_000_000
"""Numbers that are kept for training, and read at once: of long outputs fewer are."""
_GENERATIONS = 2
_KEPT = ((20_000, 6), (1_000, 16))
"""From so many draws on, only so many scorers are followed: those whose bets would grow fastest, and half as many
that promise the largest ε."""
_BETTER, _LARGER, _COMPOSED, _OBSCURE = 1.1, 0.02, 0.03, 0.15
"""By how much a learnt scorer must beat a plain column, in growth and in ε, one made of many columns in ε, and one
that looks at powers of two: what is simple is easier to believe."""
_CAUTION = 1.0
"""Standard errors by which a bet is made more timid than the estimates; more learns slower, less bets on chance."""


Points = tuple[tuple[float, float], ...]
"""Pairs of ε and δ."""


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

    def __init__(
        self,
        pair: tuple[Any, Any],
        release: Release,
        draws: int,
        points: Points = ((0.0, 0.0),),
        view: View | None = None,
    ) -> None:
        self.pair = pair
        self.release = release
        self.points = points
        samples = [release(value, draws) for value in pair]
        self.sample = samples[0]
        self.reader = Reader.of([output for sample in samples for output in rows(sample, view)], view)
        width = max(1, len(self.reader.names))
        self.at_once = max(1_000, _MOST_NUMBERS // width)
        self._trained_on = min(_MOST_TRAINED_ON, self.at_once)
        self.draws = 0
        self.made = draws
        """Everything drawn, those draws too that are not kept in count."""
        self._tables: tuple[list[Table], list[Table]] = ([], [])
        self._tracks = [(0, Track(scorer)) for scorer in untrained(self.reader)]
        self._next_training = draws
        self._wager: tuple[bool, Wager | None] = (False, None)
        self._hope: float | None = None
        self._promise: float | None = None
        self.add(*(self.reader.read(sample, draws) for sample in samples))

    def draw(self, draws: int) -> tuple[Table, Table]:
        """Return fresh outputs on both inputs, as they are read; they are not counted yet."""
        first, second = (self.reader.read(self.release(value, draws), draws) for value in self.pair)
        self.made += draws
        return first, second

    def add(self, first: Table, second: Table) -> None:
        """Count outputs that were drawn; every now and then let the scorers learn from all so far."""
        self.draws += len(first)
        self._wager, self._hope, self._promise = (False, None), None, None
        for table, kept in zip((first, second), self._tables, strict=True):
            kept.append(table)
            while sum(map(len, kept)) - len(kept[0]) >= self._trained_on:
                del kept[0]
        for _, track in self._tracks:
            track.add(first, second)
        if self.draws >= self._next_training:
            self._train()
            self._next_training = 2 * self.draws

    def _train(self) -> None:
        for kept in self._tables:
            kept[:] = [Table.together(kept).last(self._trained_on)]
        first, second = (kept[0] for kept in self._tables)
        generation = 1 + max(age for age, _ in self._tracks) if self._tracks else 1
        self._tracks = [(age, track) for age, track in self._tracks if age == 0 or age > generation - _GENERATIONS]
        for many, kept_tracks in _KEPT:
            if self.draws >= many:
                self._tracks = self._best_tracks(kept_tracks)
                break
        self._tracks += [(generation, Track(scorer)) for scorer in learned(self.reader, first, second)]

    def _best_tracks(self, most: int) -> list[tuple[int, Track]]:
        """Return the tracks whose bets would grow fastest, then those that promise the largest ε."""

        def promised(track: Track) -> float:
            found = [(track.telling(delta, self.draws), epsilon) for epsilon, delta in self.points]
            return max((one.epsilon - epsilon for one, epsilon in found if one is not None), default=-math.inf)

        by_growth = sorted(self._tracks, key=lambda entry: entry[1].growth(self.points), reverse=True)
        kept = by_growth[:most]
        by_epsilon = sorted(by_growth[most:], key=lambda entry: promised(entry[1]), reverse=True)
        return kept + by_epsilon[: most // 2]

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

    def promise(self, points: Points, draws: int) -> float:
        """Return how far above `points` ε would probably be shown here by so many fresh draws."""
        if self._promise is None:
            found = self.target(points, draws)
            self._promise = -math.inf if found is None else found.margin
        return self._promise

    def target(self, points: Iterable[tuple[float, float]], draws: int) -> Target | None:
        """Return the event that promises the largest bound on ε above `points`, if `draws` fresh ones measure it."""
        best: Target | None = None
        most = -math.inf
        for epsilon, delta in points:
            for _, track in self._tracks:
                found = track.telling(delta, draws)
                if found is None:
                    continue
                margin = found.epsilon - epsilon
                plainly = margin - self._obscurity(track.scorer)
                if plainly <= most + _LARGER:
                    continue
                threshold = found.cut if found.above else math.nextafter(found.cut, -math.inf)
                event = Event(self.reader, track.scorer, threshold, found.above)
                most, best = plainly, Target(self, track.scorer, event, found.swapped, delta, margin, track.cuts)
        return best

    def _obscurity(self, scorer: Scorer) -> float:
        """Return how much larger an ε must be for an event by this scorer to be shown instead of a plainer one."""
        if isinstance(scorer, Column | Cells) and scorer.place in self.reader.columns.grids:
            return _OBSCURE
        return 0.0 if isinstance(scorer, Column | Outcomes | Cells) else _COMPOSED
