"""Private multiplicative weights: questions one after the other, answered from a model that learns when it is wrong.

A model of all cells begins even. Each question counts the rows in some cells. If the model's answer is near the truth,
it is the answer; whether it is, says the sparse vector technique, which is paid only for questions where it is not. For
those a noisy count is the answer, and the cells of the question gain or lose weight. So many questions cost no more
than a few.

**Guarantee**: pure ε: a noisy number of rows, one run of the sparse vector technique with so many `positives`, and as
many noisy counts, all paid before they are run.
**Assumes**: one unit moves each count of the questions by no more than the bound's 1-norm.
**Proof**: the model depends on released numbers alone. A question's distance |count − model's answer| moves by no more
than the count does (triangle inequality), whatever the model; so it is an answer of the sparse vector technique, whose
answers may be chosen by all earlier outputs (``mechanisms/sparse_vector.py``). Distances are whole numbers of 1/1024
row: what the model says is rounded to that before it is subtracted, and it is public. ∎
**Source**: Hardt, Rothblum 2010; Dwork, Roth 2014, Algorithms 5 and 6. The step is the projection in relative entropy
(Csiszár 1975), of which the usual small step is the beginning: it brings the model at least as near to the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.sparse_vector import AboveThreshold
from sordino.publish.publication import Running

from .purse import FINENESS

Floats = NDArray[np.float64]
Cells = NDArray[np.bool_]

SIZE, COMPARING = Fraction(1, 20), Fraction(1, 2)
"""The shares of ε for how many rows there are, and for comparing; the rest is for counts of questions."""
_SURE = 0.95
_LEAST = 0.5
"""No question's count takes all rows from its cells, or gives them all: half of one stays, so they can come back."""


@dataclass(frozen=True)
class Weighing:
    """The mechanisms of one run."""

    epsilon: Fraction
    bound: Bound
    updates: int
    questions: int

    @cached_property
    def size(self) -> Laplace:
        """Says how many rows there are."""
        return Laplace.for_epsilon(self.epsilon * SIZE, self.bound)

    @cached_property
    def count(self) -> Laplace:
        """Says how many rows a question has, where the model is wrong."""
        return Laplace.for_epsilon(self.epsilon * (1 - SIZE - COMPARING) / self.updates, self.bound)

    @cached_property
    def scores(self) -> Bound:
        """What one unit can change in a distance, in whole numbers of 1/1024 row."""
        size = self.bound.l1 * FINENESS
        return Bound(1, size, size**2, size, self.bound.neighbours, self.bound.unit)

    @cached_property
    def comparison(self) -> AboveThreshold:
        """Says whether a distance is large: above what comparisons of so many questions may be off."""
        spent = self.epsilon * COMPARING
        plain = AboveThreshold.for_epsilon(spent, self.scores, 0, self.updates)
        far = plain.error(_SURE, max(self.questions, 1))
        return AboveThreshold.for_epsilon(spent, self.scores, round(far), self.updates)

    @cached_property
    def far(self) -> float:
        """How far off an answer of the model may be, at most, with 95 % for all questions, in rows."""
        comparison = self.comparison
        return (float(comparison.threshold) + comparison.error(_SURE, max(self.questions, 1))) / FINENESS


@dataclass(frozen=True, eq=False)
class Weighed:
    """The answers, in the order of the questions, and the model that is left."""

    answers: Floats
    counted: Cells
    """Which of them are noisy counts; the others are the model's."""
    weights: Floats
    """How many rows the model has in each cell."""


def weigh(running: Running, plan: Weighing, exact: NDArray[np.int64], questions: Sequence[Cells]) -> Weighed:
    """Return the answers; `exact` has the rows of each cell and is secret.

    After the last update that was paid for the model answers alone.
    """
    total = max(float(running.release(plan.size, plan.bound, int(exact.sum()))), 1.0)
    weights: Floats = np.full(exact.shape, total / exact.size)
    watch = plan.comparison.start(running.grant(plan.comparison.event(plan.scores), plan.scores))
    answers, counted = np.zeros(len(questions)), np.zeros(len(questions), dtype=np.bool_)
    for place, inside in enumerate(questions):
        answers[place] = float(weights[inside].sum())
        if not watch.positives_left or inside.all() or not inside.any():
            continue  # paid for no more; or all rows, which were counted; or none
        truth = int(exact[inside].sum())
        if watch.ask(abs(truth * FINENESS - round(answers[place] * FINENESS))):
            noisy = float(running.release(plan.count, plan.bound, truth))
            weights = _moved(weights, inside, noisy, total)
            answers[place], counted[place] = noisy, True
            running.stage("measuring")
    return Weighed(answers, counted, weights)


def _moved(weights: Floats, inside: Cells, noisy: float, total: float) -> Floats:
    """Return the nearest weights, in relative entropy, that agree with a question's count and with the total."""
    wanted = min(max(noisy, _LEAST), total - _LEAST) if total > 2 * _LEAST else total / 2
    here = float(weights[inside].sum())
    moved: Floats = np.where(inside, weights * (wanted / here), weights * ((total - wanted) / (total - here)))
    return moved
