"""Reconstruction: from many counts over subsets of people, everybody's secret bit.

An attacker asks, of many random groups of people, how many of them have the secret; each answer alone tells nothing of
anyone. Together they are a system of equations. If the answers are off by much less than √n, for n people and a few
times n questions, all that fits them is near the truth, whatever the noise is; if they are off by much more, guessing
is as good.

**Source**: Dinur, Nissim 2003 (Theorem 3: error o(√n) is blatantly non-private, by a linear program); Dwork, McSherry,
Talwar 2007 (least absolute residuals bear a constant share of answers that are arbitrarily wrong); Dwork, Yekhanin 2008
(few questions suffice; least squares).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.curve import Floats
from sordino.arguments import array, numbers, one_of, rational, whole
from sordino.audit.dice import dice
from sordino.errors import ArgumentError

from .drawing import INK, PRIVATE, RAW, Axes, Figure, side_by_side
from .integer_program import Program

Bits = NDArray[np.bool_]

_METHODS = ("least squares", "linear program")
_STEPS = 400  # of LSQR; a well-posed system needs about 30
_SECONDS = 600.0  # for a linear program; 250 people and 1,000 answers take one or two


@dataclass(frozen=True)
class Asked:
    """What an attacker holds: which people each question was about, and what was answered.

    `questions` has a row for each question and a column for each person. `secret` is the truth where it is known, to
    judge an attack by; no attack looks at it.
    """

    questions: Bits
    answers: Floats
    secret: Bits | None = None


@dataclass(frozen=True)
class Reconstruction:
    """What an attacker believes of everybody: `estimates`, about 0 and 1 where she won, and their rounding."""

    method: str
    estimates: Floats
    guess: Bits
    questions: int
    secret: Bits | None = None

    @property
    def correct(self) -> float:
        """The share of people of whom the guess is right; needs the secret."""
        return float(np.mean(self.guess == self._known()))

    @property
    def baseline(self) -> float:
        """What one gets right who gives everybody the more frequent bit, and asks nothing; needs the secret."""
        ones = float(self._known().mean())
        return max(ones, 1 - ones)

    def __str__(self) -> str:
        judged = "" if self.secret is None else f": {self.correct:.1%} right, {self.baseline:.1%} by guessing"
        return f"{self.questions:,} answers about {len(self.guess):,} people by {self.method}{judged}"

    @property
    def headline(self) -> str:
        """What the figure says."""
        return str(self)

    def figure(self, beside: Reconstruction | None = None) -> Figure:
        """Return a histogram of the estimates, those of ones and of zeros apart; with another attack's beside it."""
        return side_by_side("Everybody's secret, from counts alone", self, beside)

    def draw(self, axes: Axes) -> None:
        """Draw the estimates on a plot."""
        axes.set(xlabel="estimate of a person's bit", ylabel="people")
        edges = np.linspace(-0.5, 1.5, 61)
        shown = np.clip(self.estimates, edges[0], edges[-1])
        if self.secret is None:
            axes.hist(shown, edges.tolist(), color=PRIVATE, zorder=2)
        else:
            parts = [shown[~self.secret], shown[self.secret]]
            axes.hist(
                parts, edges.tolist(), stacked=True, color=[PRIVATE, RAW], label=["has it not", "has it"], zorder=2
            )
            axes.margins(y=0.25)
            axes.legend(loc="upper left", frameon=False, fontsize=9)
        axes.axvline(0.5, color=INK, linewidth=1, linestyle=(0, (4, 3)))

    def _known(self) -> Bits:
        if self.secret is None:
            raise ArgumentError("to judge a reconstruction its secret is needed: pass secret=", "SRD-V010")
        return self.secret


def subset_counts(
    secret: Any, questions: int, release: Callable[[Any], Any] | None = None, *, seed: int | None = None
) -> Asked:
    """Return the answers to random subset counts of `secret`: exact ones, or what `release` makes of the exact ones.

    Every person is in every question with a chance of one half, by a coin of the attacker's own.

    >>> asked = subset_counts([True, False, True], questions=5, seed=1)
    >>> asked.questions.shape, asked.answers.shape
    ((5, 3), (5,))
    """
    bits = _bits("secret", secret, 1)
    rows = whole("questions", questions, least=1)
    chosen = dice(seed).integers(0, 2, (rows, len(bits)), dtype=np.int8).astype(bool)
    counts = chosen @ bits.astype(np.int64)
    answers = counts if release is None else release(counts)
    return Asked(chosen, _answers(answers, rows), bits)


def reconstruct(
    questions: Any,
    answers: Any = None,
    method: str = "least squares",
    *,
    noise: float | None = None,
    secret: Any = None,
) -> Reconstruction:
    """Return everybody's bit, as far as answers to subset counts give it away.

    `questions` is what was `Asked`, or a table of booleans with a row for each question and a column for each person;
    `answers` are then the counts that came back. *Least squares* is fast and bears noise on every answer; give `noise`,
    the standard deviation that honest releases publish, and it weighs the answers against a prior of one half. The
    *linear program* finds the least sum of absolute residuals with everybody between 0 and 1: slower, and it bears some
    answers that are arbitrarily wrong.

    >>> asked = subset_counts([True, False, False, True] * 5, questions=80, seed=1)
    >>> print(reconstruct(asked))
    80 answers about 20 people by least squares: 100.0% right, 50.0% by guessing
    """
    if isinstance(questions, Asked):
        asked = questions
    elif answers is None:
        raise ArgumentError("the answers are missing: pass reconstruct(questions, answers)", "SRD-A001")
    else:
        table = _bits("questions", questions, 2)
        asked = Asked(table, _answers(answers, len(table)))
    known = asked.secret if secret is None else _bits("secret", secret, 1)
    if known is not None and len(known) != asked.questions.shape[1]:
        raise ArgumentError("secret must have one bit for each person (column) of the questions", "SRD-A001")
    if one_of("method", method, _METHODS) == "linear program":
        estimates = _least_absolute(asked)
    else:
        estimates = _least_squares(asked, 0.0 if noise is None else float(rational("noise", noise, least=0)))
    return Reconstruction(method, estimates, estimates > 0.5, len(asked.answers), known)


def _least_squares(asked: Asked, noise: float) -> Floats:
    """Return the least squares solution about one half: of least norm, or with the ridge that the noise calls for."""
    from scipy.sparse.linalg import lsqr

    design = asked.questions.astype(float)
    # A bit's standard deviation is ½ before anything is known; Tikhonov's weight is the ratio of the two deviations.
    found = lsqr(design, asked.answers - design.sum(axis=1) / 2, damp=2 * noise, iter_lim=_STEPS)[0]
    return np.asarray(found) + 0.5


def _least_absolute(asked: Asked) -> Floats:
    """Return x in [0, 1] with the least Σ|Ax − a|: minimise Σ(up + down) with Ax − up + down = a."""
    program = Program()
    people = program.columns(asked.questions.shape[1], upper=1.0, whole=False)
    off = program.columns(2 * len(asked.answers), whole=False).reshape(-1, 2)
    for row, answer, beside in zip(asked.questions, asked.answers.tolist(), off, strict=True):
        program.row([*people[row], *beside], [*np.ones(np.count_nonzero(row)), -1.0, 1.0], answer, answer)
    solved = program.least(off.ravel(), 1.0, _SECONDS)
    if solved is None:
        raise AssertionError("residuals make every answer possible")
    return solved[people]


def _bits(name: str, value: Any, dimensions: int) -> Bits:
    found = array(name, value)
    if found.ndim != dimensions or found.size == 0 or not (found.dtype == bool or np.isin(found, (0, 1)).all()):
        shape = "a list of bits" if dimensions == 1 else "a table of bits, a row for each question"
        raise ArgumentError(f"{name} must be {shape} (booleans, or 0 and 1)", "SRD-A001")
    return found.astype(bool)


def _answers(value: Any, rows: int) -> Floats:
    found = numbers("answers", value).astype(float)
    if found.shape != (rows,) or not np.isfinite(found).all():
        raise ArgumentError(f"answers must be {rows} finite numbers, one for each question", "SRD-A001")
    return found
