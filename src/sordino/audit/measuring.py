"""Measure what a mechanism gives away: a lower bound on ε with a witness, and a verdict on its claim.

Draws are made in rounds. Before each, the auditor looks at all that was drawn so far, picks the pair of inputs, the
event and the point of the claim that promise most, and bets (``betting.py``); so the search wastes no draws, and costs
no confidence. Then the event that promises the largest ε is measured once on fresh draws (``confidence.py``).
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from sordino.accounting.event import Event as AccountingEvent
from sordino.arguments import Number, probability, rational, whole
from sordino.errors import ArgumentError
from sordino.mechanisms.checks.case import Case

from .betting import Purse
from .claim import Claim
from .curve import TradeOffBounds, bounds_by_counts
from .evidence import Evidence, Target, Wager
from .exact import measure_exactly
from .measured import Measured, Witness
from .progress import Progress, bar
from .subject import Pairs, Release, Subject, checked_pairs, of
from .verdict import CHANCE

_FIRST = 100
"""Draws on every pair before anything is bet."""
_GROWTH = 0.15
"""Draws of a round, as a part of those made on its pair before."""
_SHARE = 0.25
"""Every pair gets at least this part of an equal share of the draws: what promises most may not be what leaks."""
_SEARCH = 0.4
"""The part of all draws that may go into search and bets; the rest measures ε."""
_ENOUGH = 1_000_000
"""Draws after which the search ends where nothing is worth a bet."""
_LEAST_FRESH = 10_000
_CHUNK = 500_000
_CURVE_POINTS = 40


def measure(
    mechanism: Any,
    claim: Any = None,
    *,
    pairs: Pairs | None = None,
    delta: Number | None = None,
    draws: int = 200_000,
    confidence: float = 0.99,
    seed: int | None = None,
    progress: Progress | bool | None = None,
) -> Measured:
    """Measure ε of `mechanism` from its outputs, and say whether `claim` is refuted.

    `mechanism` is a `Subject`, one of sordino's mechanisms, or a callable ``(value, n)`` that returns n independent
    outputs; a callable needs `pairs` of neighbouring inputs. `claim` is a `Claim`, a number (pure ε), a pair (ε, δ) or
    an event. `draws` is how many outputs may be drawn on each side, in all. ε is bounded at `delta`, by default that of
    the claim (or 0), with `confidence`. The auditor herself tosses no coins; `seed` is handed on to a release that
    takes one by name, another number for every call. `progress` is called with the part done, or True shows a bar.

    **Guarantee**, **Assumes**: see `Measured`. A subject with a `law` is measured exactly instead.

    >>> from sordino.mechanisms import RandomizedResponse
    >>> measure(RandomizedResponse(1), claim=1, draws=20_000).refuted
    False
    """
    subject = _subject(mechanism, pairs, claim)
    promised = Claim.read(claim) if claim is not None else subject.claim
    at = None if delta is None else float(rational("delta", delta, least=0, most=1))
    level = float(probability("confidence", confidence))
    if subject.law is not None:
        return replace(measure_exactly(subject.law, subject.pairs, promised, delta=at), name=subject.name)
    allowed = whole("draws", draws, least=200 * len(subject.pairs))
    with bar("drawing", shown=progress is True) as tell:
        told = progress if callable(progress) else tell
        return _Audit(_seeded(subject, seed), promised, at, level, allowed, told).run()


class _Audit:
    """One measurement while it is made."""

    def __init__(
        self, subject: Subject, claim: Claim | None, delta: float | None, confidence: float, draws: int, tell: Progress
    ) -> None:
        self.subject, self.claim, self.confidence, self.allowed, self.tell = subject, claim, confidence, draws, tell
        self.tested = claim.points if claim is not None else ()
        if delta is not None:
            self.shown: tuple[tuple[float, float], ...] = ((0.0, delta),)
        else:
            self.shown = self.tested or ((0.0, 0.0),)
        self.purse = Purse()
        self.drawn = 0
        self.draws_to_refute: int | None = None
        self.pairs: list[Evidence] = []

    def run(self) -> Measured:
        """Search and bet, then measure."""
        first = min(_FIRST, int(self.allowed * _SEARCH) // len(self.subject.pairs))
        for pair in self.subject.pairs:
            self.pairs.append(Evidence(pair, self.subject.release, first))
            self.drawn += first
        while self.drawn < self.allowed * _SEARCH and not self.purse.refutes:
            if not self._round() and self.drawn >= _ENOUGH:
                break
            self.tell(min(self.drawn / self.allowed, 1.0))
        fresh = self.allowed - self.drawn
        if self.purse.refutes:
            fresh = min(fresh, max(self.drawn, _LEAST_FRESH))
        targets = [target for pair in self.pairs if (target := pair.target(self.shown, fresh)) is not None]
        if not targets:  # no output ever came again, so there is nothing to count
            at = self.shown[0][1]
            return Measured(
                0.0, at, self.confidence, self.purse.refutes, self.claim, self.drawn, name=self.subject.name
            )
        return self._measured(max(targets, key=lambda target: target.margin), fresh)

    def _round(self) -> bool:
        """Bet on the pair that promises most, or look further where most may be hidden; say if a bet was made.

        A pair that has fallen behind its share comes first.
        """
        least = min(self.pairs, key=lambda pair: pair.draws)
        behind = least.draws * len(self.pairs) < _SHARE * self.drawn
        among = [least] if behind else self.pairs
        wagers = [(wager, pair) for pair in among if (wager := pair.wager(self.tested)) is not None]
        if wagers:
            wager, pair = max(wagers, key=lambda entry: entry[0].bet.growth)
        else:
            wager, pair = None, max(among, key=lambda pair: pair.hope(self.tested or self.shown))
        size = min(max(_FIRST // 2, int(_GROWTH * pair.draws)), _CHUNK, self.allowed - self.drawn)
        first, second = pair.draw(size)
        self._settle(wager, first, second)
        pair.add(first, second)
        return wager is not None

    def _settle(self, wager: Wager | None, first: Any, second: Any) -> None:
        """Count draws, and pay out what was bet on them before."""
        self.drawn += len(first)
        if wager is None or self.purse.refutes:
            return
        self.purse.settle(wager.bet, wager.zones(first), wager.zones(second))
        if self.purse.refutes:
            self.draws_to_refute = self.drawn

    def _measured(self, target: Target, fresh: int) -> Measured:
        """Measure one event, and the errors at all cuts of its score, on fresh draws."""
        hits, below = self._counted(target, fresh)
        here, there = (int(side) for side in (hits[::-1] if target.swapped else hits))
        witness = Witness(target.pair, target.event, fresh, here, there, target.delta, self.confidence)
        return Measured(
            epsilon=self._bound(witness),
            delta=target.delta,
            confidence=self.confidence,
            refuted=self.purse.refutes,
            claim=self.claim,
            draws=self.drawn,
            draws_to_refute=self.draws_to_refute,
            witness=witness,
            trade_off=self._bounds(below, fresh, swapped=target.swapped != (not target.event.above)),
            name=self.subject.name,
        )

    def _counted(self, target: Target, fresh: int) -> tuple[Any, Any]:
        """Return how often the event comes on both inputs, and how many scores are below each cut; bets go on.

        The event and the number of draws are fixed before, whatever the bets do: so its counts are binomial.
        """
        evidence, cuts = target.evidence, _some(target.cuts, _CURVE_POINTS)
        hits, below, left = np.zeros(2, dtype=int), np.zeros((2, len(cuts))), fresh
        while left > 0:
            learning = self.claim is not None and not self.purse.refutes and evidence.draws < _ENOUGH
            size = min(left, _CHUNK, int(_GROWTH * evidence.draws) + 1) if learning else min(left, _CHUNK)
            tables = evidence.draw(size)
            self._settle(evidence.wager(self.tested), *tables)
            for side, table in enumerate(tables):
                hits[side] += int(np.count_nonzero(target.event.inside(table)))
                below[side] += _below(target.scorer.scores(table), cuts)
            if learning:
                evidence.add(*tables)
            left -= size
            self.tell(min(self.drawn / self.allowed, 1.0))
        return hits, below

    def _bound(self, witness: Witness) -> float:
        """Return the bound on ε; a refuted claim is itself one, and the chance that it was refuted wrongly is paid."""
        refuted = self.purse.refutes and self.tested == self.shown and len(self.tested) == 1
        if not refuted or self.confidence + CHANCE >= 1:
            return witness.epsilon
        return max(replace(witness, confidence=self.confidence + CHANCE).epsilon, self.tested[0][0])

    def _bounds(self, below: Any, draws: int, *, swapped: bool) -> TradeOffBounds:
        """Return the bounds of the attack that says "the first input" at or above a cut, or below it if `swapped`."""
        if swapped:
            return bounds_by_counts(below[1], draws - below[0], draws, self.confidence)
        return bounds_by_counts(draws - below[1], below[0], draws, self.confidence)


def _subject(mechanism: Any, pairs: Pairs | None, claim: Any) -> Subject:
    if isinstance(mechanism, Subject):
        return mechanism if pairs is None else replace(mechanism, pairs=checked_pairs(pairs))
    if isinstance(mechanism, Case) or (hasattr(mechanism, "event") and hasattr(mechanism, "release")):
        return of(mechanism, pairs=pairs, claim=claim)
    if not callable(mechanism) or isinstance(mechanism, AccountingEvent):
        raise ArgumentError(
            "mechanism must be a Subject, a mechanism of sordino's, or a callable (value, n) that returns n outputs, "
            f"not {type(mechanism).__name__}",
            "SRD-V001",
        )
    if pairs is None:
        raise ArgumentError(
            "a callable says nothing about its inputs; give pairs=[(value, neighbour), …], or take them from "
            "sordino.audit.neighbours",
            "SRD-V001",
        )
    return Subject(getattr(mechanism, "__name__", "mechanism"), mechanism, checked_pairs(pairs))


def _seeded(subject: Subject, seed: int | None) -> Subject:
    """Return the subject with every call of its release seeded by another number, if that takes a seed."""
    if seed is None or not _takes_seed(subject.release):
        return subject
    seeds = count(whole("seed", seed, least=0) << 32)

    def release(value: Any, draws: int) -> Any:
        return subject.release(value, draws, seed=next(seeds))  # type: ignore[call-arg]

    return replace(subject, release=release)


def _takes_seed(release: Release) -> bool:
    try:
        return "seed" in inspect.signature(release).parameters
    except ValueError:  # some functions written in C do not say what they take
        return False


def _below(scores: Any, cuts: Any) -> Any:
    """Return how many scores are not at or above each cut; one that is missing never is."""
    passed = np.bincount(np.searchsorted(cuts, scores[~np.isnan(scores)], side="right"), minlength=len(cuts) + 1)
    return len(scores) - (passed.sum() - np.cumsum(passed)[:-1])


def _some(cuts: Any, most: int) -> Any:
    """Return at most so many of the cuts, the ends always among them."""
    places = np.unique(np.linspace(0, len(cuts) - 1, min(most, len(cuts))).round().astype(int))
    return cuts[places]
