"""Noise added to an answer on its grid: what Laplace and Gaussian mechanisms have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.grant import Grant
from sordino.arguments import probability, rounded_up
from sordino.errors import ArgumentError
from sordino.noise.law import Drawable

from .grid import Grid
from .mechanism import use_grant


class Additive(ABC):
    """The verbs of a mechanism that adds a draw of `law` (in steps of `grid`) to each number of an answer."""

    grid: Grid

    @property
    @abstractmethod
    def law(self) -> Drawable:
        """The noise, in steps of the grid."""

    @abstractmethod
    def event(self, bound: Bound) -> Event:
        """Return what one release runs when one unit can move the answer by `bound`."""

    def release(self, value: Any, grant: Grant) -> Any:
        """Return `value` (a number, or an array of any shape) with fresh noise on every number, and use `grant` up.

        On the grid of whole numbers ints come out, else floats. Rounding the sum to a float is post-processing.
        """
        return self.grid.from_steps(self.release_steps(self.grid.to_steps(value), grant))

    def release_steps(self, steps: Any, grant: Grant) -> Any:
        """Return an answer that is in whole steps of the grid already (see `Grid.to_steps`) with noise, in steps."""
        use_grant(self, grant)
        return steps + (self.law.draw() if type(steps) is int else self.law.draw(steps.shape))

    def error(self, confidence: float = 0.95) -> float:
        """Return how far one released number is off, at most, with probability `confidence`; rounding included."""
        reach = self.law.tail(probability("confidence", confidence))
        rounding = Fraction(0) if self.grid.exact else Fraction(1, 2)
        return rounded_up((reach + rounding) * self.grid.step)

    @property
    def variance_of_error(self) -> float:
        """The mean squared error of one released number, rounding to the grid left aside."""
        return self.law.variance * float(self.grid.step) ** 2


def checked_grid(grid: Any) -> Grid:
    """Return `grid` if it is one."""
    if not isinstance(grid, Grid):
        raise ArgumentError(
            f"grid must be a Grid (INTEGERS for whole answers, Grid.fitting(scale, bound) for real ones), "
            f"not {type(grid).__name__}",
            "SRD-A001",
        )
    return grid
