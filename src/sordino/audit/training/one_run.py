"""Audit a training by a single run of it, with many canaries.

**Source**: Steinke, Nasr, Jagielski 2023; see ``guessing`` and ``guessing_curve`` for the two tests.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.curve import Floats
from sordino.accounting.tradeoff import TradeOff
from sordino.arguments import Number, numbers, probability, rational, rounded_up, whole
from sordino.audit.claim import Claim
from sordino.audit.dice import dice
from sordino.audit.progress import bar
from sordino.audit.verdict import CHANCE
from sordino.errors import ArgumentError

from .guessing import chance_of_guesses, least_epsilon
from .guessing_curve import chance_of_guesses_on, least_mu
from .training_audit import TrainingAudit

Flags = NDArray[np.bool_]
Plan = tuple[int, int, float]
"""Guess so many canaries to be in and so many to be out, for such a share of the chance to be wrong."""

_SHARES = {8: 0.4, 64: 0.05, 32: 0.05, 16: 0.1, 4: 0.1, 2: 0.1}
"""Guess one canary of eight, … An eighth tells most where little is lost; more refute where all is lost."""
_NEARLY_ALL, _SPARED = 0.2, 4.0
"""The share for guessing all but so many times √m; coins do not fall half and half, so some would be guessed wrong."""
_TINY_DELTAS = np.geomspace(1e-12, 0.3, 13)


def one_run(
    train: Callable[[Flags], Any],
    canaries: int,
    claim: Any = None,
    *,
    score: Callable[[Any], Any] | None = None,
    delta: Number | None = None,
    guesses: int | tuple[int, int] | None = None,
    confidence: Number = 0.95,
    seed: int | None = None,
    progress: bool = False,
) -> TrainingAudit:
    """Audit a training by one run: throw a coin for each canary, train, and guess the coins from what came out.

    ``train(included)`` trains on the usual data and those canaries for which `included` is true, and returns a score
    for each canary, higher for those that seem to have been there; or it returns a model, and ``score(model)`` does.
    The surest guesses are made and the rest is left open: `guesses` of the canaries, half of them in and half out, or
    a pair (in, out). Without it several numbers are tried, and paid for. `progress` shows a bar while it trains.

    A claim of one (ε, δ) can hardly be refuted by a single run, which may be the one in 1/δ that gives all away.
    Claim the whole curve instead (an event, or ``Claim.gaussian``), or use `many_runs`.

    **Guarantee**: that of `TrainingAudit`. **Assumes**: scores depend on `included` only through what the training
    releases, and the claim is for adding or removing one canary.

        >>> from sordino.audit.dice import dice
        >>> leak = one_run(lambda included: included + dice(1).normal(size=200), 200, claim=0.1, seed=2)
        >>> leak.refuted, leak.trainings
        (True, 1)
    """
    count = whole("canaries", canaries, least=1)
    promised = None if claim is None else Claim.read(claim)
    at, doubt = _delta(delta, promised), 1 - float(probability("confidence", confidence))
    plans = _plans(count, guesses)
    included = _coins(count, seed)
    with bar("training once", shown=progress, total=None):  # nobody knows from outside how far one training is
        outcome = train(included.copy())
    scores = _scores(outcome if score is None else score(outcome), count)
    tried = [(_correct(scores, included, sure_in, sure_out), sure_in + sure_out) for sure_in, sure_out, _ in plans]
    return _judged(tried, [share for *_, share in plans], count, promised, at, doubt)


def _judged(
    tried: list[tuple[int, int]], shares: list[float], count: int, claim: Claim | None, delta: float, doubt: float
) -> TrainingAudit:
    """Return what so many correct guesses of so many say, for each number of guesses with its share of the doubt."""
    each = [(right, guesses, doubt * share) for (right, guesses), share in zip(tried, shares, strict=True)]
    found = [least_epsilon(right, guesses, count, delta, wrong) for right, guesses, wrong in each]
    distances = [least_mu(right, guesses, count, wrong) for right, guesses, wrong in each]
    chance = None if claim is None else _chance(claim, tried, shares, count)
    refuted = chance is not None and chance <= CHANCE
    best = int(np.argmax(found))
    return TrainingAudit(
        epsilon=found[best],
        delta=delta,
        confidence=1 - doubt,
        refuted=refuted,
        claim=claim,
        mu=max(distances),
        trainings=1,
        canaries=count,
        guesses=tried[best][1],
        correct=tried[best][0],
        trainings_to_refute=1 if refuted else None,
        chance=chance,
    )


def _coins(count: int, seed: int | None) -> Flags:
    """Throw the coins, from a seed that is spelt out: a training with the same seed must not draw the same numbers."""
    words = None if seed is None else sha256(f"the coins of one run {whole('seed', seed, least=0)}".encode()).digest()
    return dice(None if words is None else int.from_bytes(words)).random(count) < 0.5


def _delta(delta: Number | None, claim: Claim | None) -> float:
    """Return the δ of the bound: as asked, else the claim's own (its smallest, where it has many), else none."""
    if delta is not None:
        return rounded_up(rational("delta", delta, least=0, most=1))
    return min(claim.deltas) if claim is not None else 0.0


def _plans(count: int, guesses: int | tuple[int, int] | None) -> list[Plan]:
    if guesses is None:
        tried = {max(count // part, 1): share for part, share in sorted(_SHARES.items())}
        tried[max(count - int(_SPARED * count**0.5), 1)] = _NEARLY_ALL
        whole_share = sum(tried.values())
        return [(number - number // 2, number // 2, share / whole_share) for number, share in tried.items()]
    if isinstance(guesses, tuple):
        sure_in, sure_out = (whole("guesses", part, least=0) for part in guesses)
    else:
        number = whole("guesses", guesses, least=1)
        sure_in, sure_out = number - number // 2, number // 2
    if not 1 <= sure_in + sure_out <= count:
        raise ArgumentError(f"guesses must be between 1 and the {count} canaries in all", "SRD-A002")
    return [(sure_in, sure_out, 1.0)]


def _scores(value: Any, count: int) -> Floats:
    scores = numbers("scores", value).astype(float)
    if scores.shape != (count,):
        raise ArgumentError(f"train must give one score for each of the {count} canaries", "SRD-V021")
    if np.isnan(scores).any():
        raise ArgumentError("a score is not a number; give −∞ or ∞ to canaries that are surely out or in", "SRD-V021")
    return scores


def _correct(scores: Floats, included: Flags, sure_in: int, sure_out: int) -> int:
    """Count right guesses. Among equal scores the earlier canary counts as lower, which says nothing of its coin."""
    order = np.argsort(scores, kind="stable")
    top = included[order[len(order) - sure_in :]]
    return int(np.count_nonzero(top) + sure_out - np.count_nonzero(included[order[:sure_out]]))


def _chance(claim: Claim, tried: list[tuple[int, int]], shares: list[float], count: int) -> float:
    """Return the least chance under the claim of what was seen, divided by its share: a bound for all trials together.

    A claim at one δ is tested as (ε, δ), one on a whole curve by the curve.
    """
    if len(claim.deltas) == 1:
        at = claim.deltas[0]
        chances = [chance_of_guesses(*each, count, claim.epsilon_at(at), at) for each in tried]
    else:
        curve = _whole_curve(claim)
        chances = [chance_of_guesses_on(curve, *each, count) for each in tried]
    return min(1.0, min(chance / share for chance, share in zip(chances, shares, strict=True)))


def _whole_curve(claim: Claim) -> TradeOff:
    """Return the claim's curve with what it promises at tiny δ, without which no single run could refute it.

    A training that gives everything away with a chance of δ is (0, δ)-private, so what is known of a claim at δ alone
    can never be refuted by one run but for a chance of δ.
    """
    promised = np.array([(claim.epsilon_at(float(at)), float(at)) for at in _TINY_DELTAS])
    epsilons, deltas = promised[np.isfinite(promised[:, 0])].T
    shrunk, grown = np.exp(-epsilons), np.exp(np.minimum(epsilons, 700.0))

    def highest(rates: Floats) -> Floats:
        kept = 1.0 - deltas - rates[:, None]  # of (ε, δ) at a rate x: e^−ε·(1 − δ − x) and 1 − δ − e^ε·x
        steep = 1.0 - deltas - grown * rates[:, None]
        found: Floats = np.maximum(shrunk * kept, steep).max(axis=1, initial=0.0)
        return np.maximum(claim.trade_off(rates), found)

    return TradeOff(highest)
