"""Reconstruction of a census block: everybody who can live there, from the tables that were published about it.

An integer program finds microdata that fit the tables, and then asks itself what else would fit: how far another
solution can be from this one (*variability*; 0 means that there is no other), and which records stand in all of them.
Tables with noise fit nobody exactly; then the best fit is the answer, and nothing about it is certain.

**Source**: Garfinkel, Abowd, Martindale 2019 (a solver against published tables); Abowd et al. 2023 (the reconstruction
of the 2010 census and its solution variability); Dick, Dwork, Kearns, Liu, Roth, Vietri, Wu 2023 (its measure against a
baseline that knows the population but not the block).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import rational, whole
from sordino.errors import ArgumentError

from .constraints import constraints_of
from .drawing import MUTED, PRIVATE, RAW, Axes, Figure, side_by_side
from .integer_program import Columns, Program
from .published import Fact, Place, Record

Histogram = NDArray[np.int64]


@dataclass(frozen=True)
class CensusReconstruction:
    """Microdata that fit what was published.

    `histogram` counts people by the cells of `place`, `certain` those that every fitting block has. `variability` is
    the largest share of people in which another fitting block can differ; None where tables are noisy, as nothing is
    certain then. `misfit` is Σ|published − fitted|/noise.
    """

    place: Place
    histogram: Histogram
    certain: Histogram
    variability: float | None
    misfit: float
    truth: Histogram | None = None

    @property
    def records(self) -> list[dict[str, Any]]:
        """The people, one mapping each."""
        return self.place.records(self.histogram)

    @property
    def correct(self) -> float:
        """The share of the people who are reconstructed in every attribute; needs the truth."""
        return overlap(self.histogram, self._known())

    @property
    def invented(self) -> float:
        """The share of reconstructed people who are nobody; needs the truth."""
        return 1 - overlap(self._known(), self.histogram)

    def agrees(self, years: int = 1) -> float:
        """Return the share of people who are reconstructed up to so many years of age; needs the truth."""
        reach = whole("years", years, least=0)
        return self._pairs(reach) / max(1, int(self._known().sum()))

    def __str__(self) -> str:
        lines = f"{int(self.histogram.sum())} people reconstructed, {int(self.certain.sum())} of them for certain"
        if self.truth is None:
            return lines
        return f"{lines}; {self.correct:.0%} of those who live here are found, {self.invented:.0%} are invented"

    @property
    def headline(self) -> str:
        """What the figure says."""
        said = f"{int(self.certain.sum())} of {int(self.histogram.sum())} reconstructed for certain"
        return said if self.truth is None else f"{said}; {self.correct:.0%} are found, {self.invented:.0%} invented"

    def figure(self, beside: CensusReconstruction | None = None) -> Figure:
        """Return who was reconstructed, by age and the other attributes, over who lives there if that is known."""
        return side_by_side("Who lives here", self, beside, height=4.2)

    def draw(self, axes: Axes) -> None:
        """Draw the people on a plot."""
        lanes = [" ".join(str(value) for value in list(cell.values())[1:]) for cell in self.place.cells]
        names = list(dict.fromkeys(lanes))
        heights = np.array([names.index(lane) for lane in lanes])
        axes.set_xlabel(next(iter(self.place.attributes)))
        if self.truth is not None:
            at = np.flatnonzero(self.truth)
            size = 90 + 30 * self.truth[at]
            axes.scatter(
                self.place.years[at], heights[at], size, "none", edgecolors=MUTED, label="lives here", zorder=3
            )
        best = np.where(self.certain, 0, self.histogram)
        for people, colour, label in ((self.certain, RAW, "for certain"), (best, PRIVATE, "best fit")):
            if people.any():
                at = np.flatnonzero(people)
                axes.scatter(self.place.years[at], heights[at], 30 * people[at], colour, label=label, zorder=4)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(-0.6, len(names) + 0.4)
        axes.legend(loc="upper right", frameon=False, fontsize=9)

    def _known(self) -> Histogram:
        if self.truth is None:
            raise ArgumentError("to judge a reconstruction its truth is needed: pass truth=records", "SRD-V010")
        return self.truth

    def _pairs(self, years: int) -> int:
        """Return how many people can be paired with a reconstructed one of their kind, at most `years` apart.

        On a line, taking the oldest unpaired and the first that is near enough pairs as many as possible.
        """
        kinds = [tuple(list(cell.values())[1:]) for cell in self.place.cells]
        total = 0
        for kind in dict.fromkeys(kinds):
            of = np.array([each == kind for each in kinds])
            true = np.sort(np.repeat(self.place.years[of], self._known()[of])).tolist()
            made = np.sort(np.repeat(self.place.years[of], self.histogram[of])).tolist()
            while true and made:
                if abs(true[-1] - made[-1]) <= years:
                    total += 1
                    true.pop(), made.pop()
                elif true[-1] > made[-1]:
                    true.pop()
                else:
                    made.pop()
        return total


def reconstruct_census(
    facts: Sequence[Fact], place: Place, *, truth: Sequence[Record] | None = None, seconds: float = 30.0
) -> CensusReconstruction:
    """Return people who fit everything that was published, and how sure that is.

    `facts` without noise must hold exactly; those with noise are fitted with the least sum of absolute residuals over
    their scales, which for Laplace noise is the most likely block. `seconds` is the time that each step of the solver
    may take. `truth` is used to judge the result and for nothing else.

    >>> place = Place({"age": range(100), "sex": ("f", "m")})
    >>> facts = [Fact(count=3, median=30), Fact({"sex": "f"}, count=2, mean=41.5), Fact({"sex": "m"}, count=1, mean=30)]
    >>> reconstruct_census(facts, place).certain.sum()
    np.int64(1)
    """
    limit = float(rational("seconds", seconds, above=0))
    if not facts:
        raise ArgumentError("a reconstruction needs at least one published fact", "SRD-V011")
    program, people, cost = constraints_of(facts, place)
    solved = program.least(cost[0], cost[1], limit)
    if solved is None:
        raise ArgumentError("no people fit all of these facts; if they have noise, say so: Fact(noise=…)", "SRD-V013")
    best = solved[people].astype(np.int64)
    misfit = float(solved[cost[0]] @ cost[1])
    known = None if truth is None else place.histogram(truth)
    if len(cost[0]):
        return CensusReconstruction(place, best, np.zeros_like(best), None, misfit, known)
    variability, certain = _what_else(program, people, best, limit)
    return CensusReconstruction(place, best, certain, variability, misfit, known)


def overlap(one: Histogram, other: Histogram) -> float:
    """Return the share of people of `other` who have an equal in `one`, each counted once; 1 if `other` is empty."""
    return float(np.minimum(one, other).sum() / other.sum()) if other.any() else 1.0


def _what_else(program: Program, people: Columns, best: Histogram, seconds: float) -> tuple[float, Histogram]:
    """Return how far another solution can be from `best`, and the people that all solutions have in common."""
    held = np.flatnonzero(best)
    total = int(best.sum())
    certain = np.zeros_like(best)
    if not total:
        return 0.0, certain
    farthest = program.copy()
    kept = farthest.columns(len(held), whole=False)
    fewer = farthest.columns(len(held), upper=1.0)
    for place, cell in enumerate(held.tolist()):
        # kept ≥ min(x, best): at least x if x is declared the fewer of the two, at least best if not.
        farthest.row([kept[place], people[cell], fewer[place]], [1.0, -1.0, -float(total)], low=-float(total))
        farthest.row([kept[place], fewer[place]], [1.0, float(best[cell])], low=float(best[cell]))
    solved = farthest.least(kept, 1.0, seconds)
    if solved is None:
        raise AssertionError("the solution that is at hand fits")
    agree = round(float(solved[kept].sum()))
    if agree == total:
        return 0.0, best.copy()
    other = solved[people].astype(np.int64)
    for cell in held[np.minimum(best, other)[held] > 0].tolist():  # what two solutions do not share is not certain
        fewest = program.least([people[cell]], 1.0, seconds)
        certain[cell] = 0 if fewest is None else int(fewest[people[cell]])
    return 1 - agree / total, certain
