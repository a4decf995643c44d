"""Differencing: one person's value is what two harmless answers differ by.

The average salary of a department is nobody's salary. The average without Alice is not either. But the first times its
number of people, less the second times its own, is Alice's salary, however many people there are. It works as well with
one average of last month and one of this, when Alice has just joined.

Against noise there is one thing left to do: ask again, and average. A budget ends that.

**Source**: Denning 1982, *Cryptography and data security*, section 6.2; Dwork, Roth 2014, section 1.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sordino.arguments import whole
from sordino.errors import ArgumentError

from .asking import Asker, Interview, select
from .drawing import INK, MUTED, PRIVATE, RAW, Figure, paper

Two = tuple[Asker, Asker]


@dataclass(frozen=True)
class Estimate:
    """What an attacker makes of the answers that she got."""

    rounds: tuple[float, ...]
    """What each round of questions said; their mean is the estimate."""
    asked: int
    """Questions that were answered."""
    refused: str | None
    """The code of the refusal that ended it, if one did."""

    @property
    def value(self) -> float:
        """The estimate; NaN where not one round was answered."""
        return float(np.mean(self.rounds)) if self.rounds else math.nan

    def __str__(self) -> str:
        end = f"; refused then [{self.refused}]" if self.refused else ""
        return f"{self.value:,.2f} from {self.asked} answers{end}"


@dataclass(frozen=True)
class Difference:
    """One person's value, by two answers that differ by that person."""

    raw: Estimate
    private: Estimate | None
    truth: float | None = None

    def error(self, estimate: Estimate) -> float:
        """Return how far an estimate is from the truth."""
        return math.nan if self.truth is None else abs(estimate.value - self.truth)

    def __str__(self) -> str:
        lines = [f"raw      {self.raw}", *([f"private  {self.private}"] if self.private else [])]
        return "\n".join([*lines, *([] if self.truth is None else [f"truth    {self.truth:,.2f}"])])

    def figure(self) -> Figure:
        """Return a figure: what each round said, and the mean, over the truth."""
        figure, (axes,) = paper("One value from two averages", "what the attacker computes", width=8, height=3.4)
        rows = [(self.raw, RAW, "raw"), *([(self.private, PRIVATE, "private")] if self.private else [])]
        for place, (estimate, colour, _) in enumerate(rows):
            heights = np.full(len(estimate.rounds), -place)
            axes.plot(estimate.rounds, heights, "|", color=colour, markersize=18, alpha=0.6, zorder=3)
            if estimate.rounds:
                axes.plot(estimate.value, -place, "o", color=colour, markersize=9, zorder=4)
            text = f"{estimate.value:,.2f} from {estimate.asked} answers" if estimate.rounds else "refused"
            text += ", then refused" if estimate.refused and estimate.rounds else ""
            at = (estimate.value if estimate.rounds else self.truth or 0.0, -place)
            label = axes.annotate(text, at, (0, 16), textcoords="offset points", ha="center", color=INK, fontsize=9)
            label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1.5})
        if self.truth is not None:
            axes.axvline(self.truth, color=INK, linewidth=1.3, linestyle=(0, (4, 2)), zorder=2, label="the truth")
            axes.legend(loc="lower right", frameon=False, fontsize=9, labelcolor=INK)
        axes.set_yticks([-place for place in range(len(rows))], [label for *_, label in rows], color=INK)
        axes.set_ylim(-len(rows) + 0.4, 0.6)
        axes.margins(x=0.25)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.tick_params(colors=MUTED)
        return figure


def difference(
    ask: Asker | Two,
    *,
    table: str,
    value: str,
    person: str,
    among: str | None = None,
    size: int | None = None,
    rounds: int = 1,
    private: Asker | Two | None = None,
    truth: float | None = None,
) -> Difference:
    """Find one person's value by the average with and without them, or by those before and after they joined.

    Args:
        ask: a function from SQL to a number; or two, which ask the data before and after the person joined.
        table: the table's name.
        value: the column whose value is wanted.
        person: the SQL condition that is true of the person alone, such as ``name = 'Alice'``.
        among: the SQL condition of the group that is averaged; everybody without.
        size: how many the group has, if it is known; else it is asked for.
        rounds: how often everything is asked; answers are averaged.
        private: the same as `ask` for the protected data, such as ``through(account, epsilon=0.1)``.
        truth: the value itself, if the figure is to show it.
    """
    whole("rounds", rounds, least=1)
    if size is not None:
        whole("size", size, least=2)
    questions = _Questions(table, value, person, among, size)
    return Difference(
        raw=_interview(questions, ask, rounds),
        private=None if private is None else _interview(questions, private, rounds),
        truth=truth,
    )


@dataclass(frozen=True)
class _Questions:
    table: str
    value: str
    person: str
    among: str | None
    size: int | None

    def total(self, interview: Interview, *, after: bool, excluded: bool) -> float | None:
        """Return the sum that an average and a head count make; None if either is refused."""
        without = f"NOT ({self.person})" if excluded else None
        mean = interview.number(select(f"AVG({self.value})", self.table, self.among, without))
        if self.size is not None:
            many: float | None = self.size if after else self.size - 1
        else:
            many = interview.number(select("COUNT(*)", self.table, self.among, without))
        return None if mean is None or many is None else mean * many


def _interview(questions: _Questions, ask: Asker | Two, rounds: int) -> Estimate:
    two = isinstance(ask, tuple)
    if isinstance(ask, tuple):
        if len(ask) != 2:
            raise ArgumentError("give one function to ask, or two: of the data before and after", "SRD-A001")
        before, after = (Interview(each) for each in ask)
    else:
        before = after = Interview(ask)
    found: list[float] = []
    while len(found) < rounds:
        more = questions.total(after, after=True, excluded=False)
        less = questions.total(before, after=False, excluded=not two)
        if more is None or less is None:
            break
        found.append(more - less)
    asked = after.asked + (before.asked if two else 0)
    return Estimate(tuple(found), asked, after.refused or before.refused)
