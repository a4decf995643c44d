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

from .attacks.floating_point import ImpossibleOutputs
from .betting import Purse
from .claim import Claim
from .curve import TradeOffBounds, bounds_by_counts
from .evidence import Evidence, Target, Wager
from .exact import measure_exactly
from .features import View
from .lowbits import asked_of_floats
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
_FOR_BITS, _FOR_JUDGED_BITS, _LEAST_FOR_BITS, _MOST_FOR_BITS = 0.05, 0.25, 200, 20_000
"""Draws that are asked what their last bits show: a part of all, a larger one where they are judged; and at least and
at most how many."""
_SHARE_OF_BITS = 0.1
"""The part of the chance of a false accusation that goes to low bits where they are judged; the purse has the rest."""
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
    view: View | None = None,
    low_bits: bool = False,
) -> Measured:
    """Measure ε of `mechanism` from its outputs, and say whether `claim` is refuted.

    `mechanism` is a `Subject`, one of sordino's mechanisms, or a callable ``(value, n)`` that returns n independent
    outputs; a callable needs `pairs` of neighbouring inputs. `claim` is a `Claim`, a number (pure ε), a pair (ε, δ) or
    an event. `draws` is how many outputs may be drawn on each side, in all. ε is bounded at `delta`, by default that of
    the claim (or 0), with `confidence`. The auditor herself tosses no coins; `seed` is handed on to a release that
    takes one by name, another number for every call. `progress` is called with the part done, or True shows a bar.
    `view` is a function of one output that returns what should be looked at instead: numbers, lists, texts, anything.
    What the last bits of doubles give away is told beside the verdict; with `low_bits` it is judged, too.

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
        audit = _Audit(_seeded(subject, seed), promised, at, level, allowed, told, view=view, low_bits=low_bits)
        return audit.run()


class _Audit:
    """One measurement while it is made."""

    def __init__(
        self,
        subject: Subject,
        claim: Claim | None,
        delta: float | None,
        confidence: float,
        draws: int,
        tell: Progress,
        *,
        view: View | None = None,
        low_bits: bool = False,
    ) -> None:
        self.subject, self.claim, self.confidence, self.allowed, self.tell = subject, claim, confidence, draws, tell
        self.tested = claim.points if claim is not None else ()
        if delta is not None:
            self.shown: tuple[tuple[float, float], ...] = ((0.0, delta),)
        else:
            self.shown = self.tested or ((0.0, 0.0),)
        self.view, self.judges_bits = view, low_bits
        self.purse = Purse(CHANCE * (1 - _SHARE_OF_BITS) if low_bits else CHANCE)
        self.low_bits: ImpossibleOutputs | None = None
        self.refuted_by_bits = False
        self.drawn = 0
        self.draws_to_refute: int | None = None
        self.pairs: list[Evidence] = []

    def run(self) -> Measured:
        """Search and bet, then measure."""
        first = min(_FIRST, int(self.allowed * _SEARCH) // len(self.subject.pairs))
        points = self.tested or self.shown
        for pair in self.subject.pairs:
            self.pairs.append(Evidence(pair, self.subject.release, first, points, self.view))
            self.drawn += first
        while self.drawn < self.allowed * _SEARCH:
            if not self._round() and not self.purse.refutes and self.drawn >= _ENOUGH:
                break
            self.tell(min(self.drawn / self.allowed, 1.0))
        self._ask_of_floats()
        fresh = self.allowed - self.drawn
        targets = [target for pair in self.pairs if (target := pair.target(self.shown, fresh)) is not None]
        if not targets:
            return self._nothing()
        found = self._measured(max(targets, key=lambda target: target.margin), fresh)
        blind = all(pair.reader.blind for pair in self.pairs)
        return self._nothing() if blind and not found.refuted and found.epsilon == 0 else found

    def _nothing(self) -> Measured:
        """Return that nothing could be measured: no output ever came again, so there is nothing to count."""
        found = Measured(0.0, self.shown[0][1], self.confidence, self._refuted, self.claim, self.drawn)
        return replace(
            found, name=self.subject.name, counted=False, low_bits=self.low_bits, least_draws=self._least_draws
        )

    @property
    def _refuted(self) -> bool:
        return self.purse.refutes or self.refuted_by_bits

    @property
    def _least_draws(self) -> int:
        return min(pair.made for pair in self.pairs)

    def _ask_of_floats(self) -> None:
        """Ask what the last bits show, of the first pair that can be asked; by draws of their own."""
        draws = min(_MOST_FOR_BITS, int((_FOR_JUDGED_BITS if self.judges_bits else _FOR_BITS) * self.allowed))
        if draws < _LEAST_FOR_BITS:
            return
        for pair in self.pairs if self.view is None else ():
            self.low_bits = asked_of_floats(pair.pair, pair.release, pair.sample, draws, self.confidence)
            if self.low_bits is not None:
                self.drawn += draws
                break
        if self.low_bits is not None and self.judges_bits:
            self.refuted_by_bits = any(
                self.low_bits.refutes(epsilon, delta, chance=CHANCE * _SHARE_OF_BITS) for epsilon, delta in self.tested
            )

    def _round(self) -> bool:
        """Bet on the pair that promises most, or look further where most may be hidden; say if a bet was made.

        A pair that has fallen behind its share comes first. Once the claim is refuted, the rest is spent on the pair
        that shows the largest ε.
        """
        least = min(self.pairs, key=lambda pair: pair.draws)
        behind = least.draws * len(self.pairs) < _SHARE * self.drawn
        among = [least] if behind else self.pairs
        wager: Wager | None = None
        if self.purse.refutes:
            fresh = int(self.allowed * (1 - _SEARCH))
            pair = max(among, key=lambda pair: pair.promise(self.shown, fresh)) if len(among) > 1 else among[0]
        else:
            wagers = [(found, pair) for pair in among if (found := pair.wager(self.tested)) is not None]
            if wagers:
                wager, pair = max(wagers, key=lambda entry: entry[0].bet.growth)
            else:
                pair = max(among, key=lambda pair: pair.hope(self.tested or self.shown))
        most = min(_CHUNK, pair.at_once)
        size = min(max(_FIRST // 2, int(_GROWTH * pair.draws)), most, self.allowed - self.drawn)
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
            refuted=self._refuted,
            claim=self.claim,
            draws=self.drawn,
            draws_to_refute=self.draws_to_refute,
            low_bits=self.low_bits,
            least_draws=self._least_draws,
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
            most = min(left, _CHUNK, evidence.at_once)
            size = min(most, int(_GROWTH * evidence.draws) + 1) if learning else most
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
