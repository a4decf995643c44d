"""The Laplace mechanism, on whole numbers and on the grid.

**Guarantee**: with integer noise P[k] ∝ exp(−|k|/b) on each coordinate of an integer answer whose 1-norm sensitivity
is Δ, ε = Δ/b, exactly: P[o − x]/P[o − y] = Π exp((|oᵢ − yᵢ| − |oᵢ − xᵢ|)/b) ≤ exp(‖x − y‖₁/b).
**Assumes**: the answer moves by no more than the grant's bound.
**Source**: Dwork, McSherry, Nissim, Smith 2006, Proposition 1; Ghosh, Roughgarden, Sundararajan 2009 for integers.

**Utility** of a count at ε (b = 1/ε): P[|error| ≥ t] = 2e^(−εt)/(1 + e^(−ε)) for t ≥ 1, and the mean squared error is
2e^(−ε)/(1 − e^(−ε))², a little below the 2/ε² of continuous noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from sordino import noise
from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.arguments import Number, rational

from .additive import Additive, checked_grid
from .grid import INTEGERS, Grid
from .mechanism import remembered


@dataclass(frozen=True)
class Laplace(Additive):
    """Laplace noise of `scale` (in the answer's own measure) on every number of an answer.

    The default grid takes and gives whole numbers. For real answers give a grid: the answer is rounded to it and the
    rounding is paid for in the event's sensitivity.

    >>> Laplace.for_epsilon("0.5", Bound.scalar(1)).scale
    Fraction(2, 1)
    """

    scale: Fraction
    grid: Grid = INTEGERS

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", rational("scale", self.scale, above=0))
        checked_grid(self.grid)
        _ = self.law  # an absurd scale is refused here rather than at the first release

    @classmethod
    def for_epsilon(cls, epsilon: Number, bound: Bound, grid: Grid | None = INTEGERS) -> Laplace:
        """Return the mechanism that costs exactly `epsilon` under `bound`; ``grid=None`` chooses a grid for reals."""
        target = rational("epsilon", epsilon, above=0)
        fine = Grid.fitting(bound.l1 / target, bound) if grid is None else checked_grid(grid)
        return cls(fine.sensitivity(bound).l1 * fine.step / target, fine)

    @cached_property
    def law(self) -> noise.DiscreteLaplace:
        """The noise, in steps of the grid."""
        return noise.DiscreteLaplace(self.scale / self.grid.step)

    @remembered
    def event(self, bound: Bound) -> events.DiscreteLaplace:
        """Return what one release runs when one unit can move the answer by `bound`."""
        moved = self.grid.sensitivity(bound)
        return events.DiscreteLaplace(self.scale / self.grid.step, moved.l1, moved.l0)
