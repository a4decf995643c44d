"""What all mechanisms that choose one of several candidates share: scores on a grid, and how far they can move.

A candidate's score says how good it would be to choose it; the list of candidates is public, the scores are not. Noise
has a `scale` in the scores' own measure: the odds of two candidates change by a factor e for every `scale` by which
their scores differ. One unit moves no score by more than the grant's ``bound.linf``.

**Monotone scores.** If one unit moves all scores in the same direction (counts, under add/remove), a choice costs half:
see `Selection.epsilon`. Under replace-one one unit leaves and another comes, so nothing is monotone and `monotone` is
refused there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import Number, numbers, probability, rational, shown, whole
from sordino.errors import ArgumentError
from sordino.noise.coins import LARGEST_RATE

from .additive import checked_grid
from .grid import INTEGERS, LIMIT, Grid

MOST_CANDIDATES = 2**31


@dataclass(frozen=True)
class Selection:
    """The parameters of a choice among `candidates` candidates with noise of `scale`; scores live on `grid`."""

    scale: Fraction
    candidates: int
    grid: Grid = INTEGERS
    monotone: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", rational("scale", self.scale, above=0))
        object.__setattr__(self, "candidates", whole("candidates", self.candidates, least=1, most=MOST_CANDIDATES))
        checked_grid(self.grid)
        check_flag("monotone", self.monotone)
        if self.rate > LARGEST_RATE:
            raise ArgumentError("scale is below 2^-64 steps of the grid; choose a finer grid or more noise", "SRD-A002")

    @classmethod
    def for_epsilon(
        cls, epsilon: Number, bound: Bound, candidates: int, *, grid: Grid | None = INTEGERS, monotone: bool = False
    ) -> Self:
        """Return the mechanism whose one release costs exactly `epsilon` when one unit moves scores by `bound`.

        ``grid=None`` chooses a grid for scores that are not whole.
        """
        target = rational("epsilon", epsilon, above=0)
        fine = fitting_grid(grid, target, bound)
        return cls(cls(Fraction(1), candidates, fine, monotone).epsilon(bound) / target, candidates, fine, monotone)

    @cached_property
    def rate(self) -> Fraction:
        """What one grid step of score adds to the log-odds of a candidate."""
        return self.grid.step / self.scale

    def epsilon(self, bound: Bound) -> Fraction:
        """Return the widest range of log-odds that one unit can cause in one choice.

        **Proof** for odds e^(score/scale). In grid steps the scores move by w with |wᵢ| ≤ m (see ``grid.py``), so
        ln(P[i]/P'[i]) = rate·wᵢ + a constant lies in a range of width rate·2m; if all wᵢ have one sign, rate·m.
        Rounding is monotone, so scores that move in one direction do so on the grid.
        """
        return directions(self.monotone, bound) * self.grid.sensitivity(bound).linf * self.rate

    def to_steps(self, value: Any) -> NDArray[np.int64]:
        """Return one score for each candidate, in steps, or refuse without showing any."""
        scores = numbers("the value", value)
        if scores.shape != (self.candidates,):
            raise ArgumentError(
                f"the value must be a one-dimensional list of {self.candidates} scores, one for each candidate",
                "SRD-A001",
            )
        # One step is kept free at the bottom, so that the difference of two scores fits into int64.
        steps: NDArray[np.int64] = np.maximum(self.grid.to_steps(scores), 1 - LIMIT)
        return steps

    def shortfall(self, confidence: float, choices: int = 1) -> float:
        """Return scale·ln(candidates·choices/(1−confidence)), plus what rounding hides: see `Exponential.error`."""
        missing = 1 - float(probability("confidence", confidence))
        rounding = 0.0 if self.grid.exact else float(self.grid.step)
        return float(self.scale) * (math.log(self.candidates) + math.log(choices / missing)) + rounding


def fitting_grid(grid: Grid | None, epsilon: Fraction, bound: Bound) -> Grid:
    """Return `grid`, or one that is fine enough for answers of `bound` at `epsilon` if None is given."""
    return Grid.fitting(bound.linf / epsilon, bound) if grid is None else checked_grid(grid)


def check_flag(name: str, value: Any) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool):
        raise ArgumentError(f"{name} must be True or False, not {shown(value)}", "SRD-A001")


def directions(monotone: bool, bound: Bound) -> int:
    """Return in how many directions one unit can move answers: 1 if all move alike, else 2."""
    if monotone and bound.neighbours is Neighbours.REPLACE_ONE:
        raise ArgumentError(
            "monotone answers need add/remove (or zero-out) neighbours: under replace-one a unit leaves and another "
            "comes, so answers move both ways; leave monotone=False",
            "SRD-A003",
        )
    return 1 if monotone else 2
