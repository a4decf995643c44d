"""Audit a training by many runs of it, half of them with one canary.

**Source**: Jagielski, Ullman, Oprea 2020 and Nasr, Songi, Thakurta, Papernot, Carlini 2021 for the game; Nasr, Hayes,
Steinke, Balle, Tramèr, Jagielski, Carlini, Terzis 2023, "Tight auditing of differentially private machine learning",
section 5, for the bound on μ from one threshold and two Clopper–Pearson bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from scipy.special import betaincinv, ndtri

from sordino.accounting.curve import Floats
from sordino.arguments import Number, numbers, probability, whole
from sordino.audit.measuring import measure
from sordino.audit.subject import Subject
from sordino.errors import ArgumentError

from .training_audit import TrainingAudit

_FEWEST = 200


def many_runs(
    train: Callable[..., Any],
    claim: Any = None,
    *,
    trainings: int = 1000,
    delta: Number | None = None,
    confidence: Number = 0.95,
    seed: int | None = None,
    progress: Callable[[float], None] | bool | None = None,
) -> TrainingAudit:
    """Audit a training by `trainings` runs with a canary and as many without, told apart by a score of each.

    ``train(included, count)`` trains `count` times, with the canary if `included` is true, and returns a score for each
    training, higher where the canary seems to have been there. For a training that is run one by one,
    ``train=subject.each(train_once)`` with ``train_once(included) -> score``. One that takes a ``seed`` by name is
    given another for every call. `progress` is called with the part done, or True shows a bar.

    **Guarantee**: that of `TrainingAudit`. **Assumes**: trainings are independent, and the claim is for adding or
    removing the canary.
    """
    each = whole("trainings", trainings, least=_FEWEST)
    doubt = 1 - float(probability("confidence", confidence))
    kept: dict[bool, list[Floats]] = {True: [], False: []}

    @wraps(train)  # so that a training that takes a seed is seen to
    def release(included: bool, count: int, **words: Any) -> Floats:
        scores = numbers("scores", train(included, count, **words)).astype(float)
        if scores.shape != (count,) or np.isnan(scores).any():
            raise ArgumentError(f"train must give one score, a number, for each of {count} trainings", "SRD-V021")
        kept[included].append(scores)
        return scores

    subject = Subject("training", release, ((True, False),))
    found = measure(subject, claim, delta=delta, draws=each, confidence=1 - doubt, seed=seed, progress=progress)
    inside, outside = (np.concatenate(kept[side]) for side in (True, False))
    distance, correct, guessed = _told_apart(inside, outside, doubt)
    return TrainingAudit(
        epsilon=found.epsilon,
        delta=found.delta,
        confidence=1 - doubt,
        refuted=found.refuted,
        claim=found.claim,
        mu=distance,
        trainings=len(inside) + len(outside),
        canaries=1,
        guesses=guessed,
        correct=correct,
        trainings_to_refute=None if found.draws_to_refute is None else 2 * found.draws_to_refute,
    )


def _told_apart(inside: Floats, outside: Floats, doubt: float) -> tuple[float, int, int]:
    """Return a lower bound on μ, and how many trainings were told apart rightly, of how many.

    The threshold is chosen on the first half of the trainings and judged on the second.
    """
    first_in, first_out = inside[: len(inside) // 2], outside[: len(outside) // 2]
    rest_in, rest_out = inside[len(inside) // 2 :], outside[len(outside) // 2 :]
    thresholds = np.unique(np.concatenate([first_in, first_out]))
    misses = np.searchsorted(np.sort(first_in), thresholds, side="left")
    alarms = len(first_out) - np.searchsorted(np.sort(first_out), thresholds, side="left")
    promise = _distance(misses, len(first_in), alarms, len(first_out), doubt)
    threshold = thresholds[int(np.argmax(promise))]
    missed, alarmed = int(np.sum(rest_in < threshold)), int(np.sum(rest_out >= threshold))
    sure = _distance(np.array([missed]), len(rest_in), np.array([alarmed]), len(rest_out), doubt)
    guessed = len(rest_in) + len(rest_out)
    return max(float(sure[0]), 0.0), guessed - missed - alarmed, guessed


def _distance(misses: Any, of_in: int, alarms: Any, of_out: int, doubt: float) -> Floats:
    """Return the μ at which both error rates would be at the upper ends of their Clopper–Pearson intervals."""
    worst_miss = np.where(misses < of_in, betaincinv(misses + 1, np.maximum(of_in - misses, 1), 1 - doubt / 2), 1.0)
    worst_alarm = np.where(alarms < of_out, betaincinv(alarms + 1, np.maximum(of_out - alarms, 1), 1 - doubt / 2), 1.0)
    return np.asarray(-ndtri(worst_miss) - ndtri(worst_alarm))
