"""Another test to be compared with, in the style of DP-Sniper (Bichsel, Steffen, Bogunovic, Vechev 2021).

A logistic regression is trained on half of the draws of each pair, on the numbers of an output as they stand; its score
is cut where a probability c of one input lies beyond, for three c and in both directions; the cut that shows most on
the training draws is measured on the other half by Clopper–Pearson bounds. All pairs share the draws, and the pair that
shows most in training gets the second half.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from sordino.audit.confidence import epsilon_at_least
from sordino.audit.flattening import flattened
from sordino.audit.numbering import filled
from sordino.audit.subject import Subject

CONFIDENCE = 0.99
SHARES = (0.01, 0.1, 0.4)
"""The paper's c = 0.01 is for large ε; at ε = 1 larger ones serve it better, so it may try three."""
MOST_NUMBERS = 128
_STEPS = 15
_RIDGE = 1e-6


def shown_by_a_classifier(subject: Subject, draws: int, delta: float, seed: int) -> float:
    """Return the ε at `delta` that the test shows with 99 % by so many draws a side."""
    each = draws // 2 // len(subject.pairs)
    best: tuple[float, Any] = (-1.0, None)
    for place, pair in enumerate(subject.pairs):
        samples = [subject.release(value, each, seed=seed + 10 * place + side) for side, value in enumerate(pair)]  # type: ignore[call-arg]
        paths = _paths(samples[0])
        tables = [_numbers(sample, paths) for sample in samples]
        score = _logistic(*tables)
        for likely, sign in ((0, 1.0), (1, -1.0)):
            scores = [sign * score(table) for table in tables]
            for share in SHARES:
                cut = float(np.quantile(scores[likely], 1 - share))
                hits = [int(np.count_nonzero(side >= cut)) for side in scores]
                shown = epsilon_at_least(hits[likely], hits[1 - likely], each, delta, CONFIDENCE)
                if shown > best[0]:
                    best = (shown, (pair, paths, score, likely, sign, cut))
    pair, paths, score, likely, sign, cut = best[1]
    fresh = draws - draws // 2
    hits = [
        int(
            np.count_nonzero(
                sign * score(_numbers(subject.release(value, fresh, seed=seed + 500 + side), paths)) >= cut
            )
        )  # type: ignore[call-arg]
        for side, value in enumerate(pair)
    ]
    return epsilon_at_least(hits[likely], hits[1 - likely], fresh, delta, CONFIDENCE)


def _paths(outputs: Sequence[Any]) -> tuple[str, ...]:
    seen = dict.fromkeys(path for output in list(outputs)[:200] for path in flattened(output).numbers)
    return tuple(seen)[:MOST_NUMBERS]


def _numbers(outputs: Any, paths: tuple[str, ...]) -> Any:
    """Return the numbers of outputs as floats, missing ones as zero with a mark of their own."""
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "iuf":
        found = outputs.reshape(len(outputs), -1).astype(float)[:, :MOST_NUMBERS]
    else:
        found = filled([flattened(output).numbers for output in outputs], paths, (0,) * len(paths))
    missing = np.isnan(found)
    return np.concatenate([np.where(missing, 0.0, found), missing.astype(float)], axis=1)


def _logistic(first: Any, second: Any) -> Any:
    """Return the score of a logistic regression of which input an output came from, by Newton's method."""
    both = np.concatenate([first, second])
    kept = np.ptp(both, axis=0) > 0
    centre, spread = both[:, kept].mean(axis=0), both[:, kept].std(axis=0)

    def rows(table: Any) -> Any:
        return np.column_stack([(table[:, kept] - centre) / spread, np.ones(len(table))])

    table, truth = rows(both), np.repeat([1.0, 0.0], [len(first), len(second)])
    weights = np.zeros(table.shape[1])
    for _ in range(_STEPS):
        odds = scipy.special.expit(table @ weights)
        curvature = (table * (odds * (1 - odds))[:, None]).T @ table + _RIDGE * len(table) * np.eye(table.shape[1])
        weights += np.linalg.solve(curvature, table.T @ (truth - odds) - _RIDGE * len(table) * weights)
    return lambda table: np.round(rows(table) @ weights, 9)
