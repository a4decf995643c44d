"""How far answers are from the truth; plain Python, since every side scores its own answers with it."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

Answers = Sequence[tuple[Sequence[float], Sequence[float]]]


def root_mean_square(errors: Sequence[float]) -> float:
    """Return the root of the mean square."""
    return sqrt(sum(error * error for error in errors) / len(errors))


def visits_scores(answers: Answers, counts: Sequence[float], means: Sequence[float]) -> dict[str, float]:
    """Return the errors of counts and means over all cities and repetitions; an answer is (counts, means)."""
    wrong_counts = [found - true for answer in answers for found, true in zip(answer[0], counts, strict=True)]
    wrong_means = [found - true for answer in answers for found, true in zip(answer[1], means, strict=True)]
    return {
        "count": root_mean_square(wrong_counts),
        "mean": root_mean_square(wrong_means),
        "samples": len(wrong_counts),
    }


def median_scores(found: dict[str, Sequence[float]], truth: dict[str, float]) -> dict[str, float]:
    """Return for each setting the error of the medians found."""
    return {name: root_mean_square([value - truth[name] for value in values]) for name, values in found.items()}
