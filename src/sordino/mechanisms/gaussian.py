"""The Gaussian mechanism: rounded Gaussian noise, and the discrete Gaussian.

**Guarantee** (`Gaussian`): the continuous Gaussian's curves hold exactly, at any ratio of noise to grid. The answer is
a vector x of whole steps and the noise is r(Z) with Z ~ N(0, σ²) and r(z) = the nearest whole number. As x is whole,
x + r(Z) = r(x + Z) whenever Z is not half-way (which has probability zero), so what comes out is a function of the
continuous Gaussian mechanism's output on x: post-processing. The sensitivity is that of x, in steps.
**Guarantee** (`DiscreteGaussian`): Δ²/(2σ²)-zCDP, for vectors as well (Canonne, Kamath, Steinke 2020, Theorem 14).
**Assumes**: the answer moves by no more than the grant's bound.
**Source**: Dwork, Roth 2014, Appendix A (`classic`); Balle, Wang 2018, Theorem 8 (`for_epsilon`); Bun, Steinke 2016
(`for_rho`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Self

from sordino import noise
from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.gaussian import analytic_sigma, classic_sigma
from sordino.arguments import Number, probability, rational
from sordino.errors import ArgumentError

from .additive import Additive, checked_grid
from .grid import INTEGERS, Grid, root_rounded_up
from .mechanism import remembered

_SLACK = 1 + Fraction(1, 2**40)
"""Covers the rounding of the few float operations behind a calibrated deviation, towards more noise."""


@dataclass(frozen=True)
class _GaussianNoise(Additive):
    """What both Gaussians share: parameters, and calibration to ρ (the same for both)."""

    variance: Fraction
    grid: Grid = INTEGERS

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", rational("variance", self.variance, above=0))
        checked_grid(self.grid)
        _ = self.law  # an absurd variance is refused here rather than at the first release

    @classmethod
    def for_rho(cls, rho: Number, bound: Bound, grid: Grid | None = INTEGERS) -> Self:
        """Return the mechanism that costs exactly `rho` of zCDP under `bound`; ``grid=None`` chooses one for reals."""
        return cls._for_ratio(1 / (2 * rational("rho", rho, above=0)), bound, grid)

    @classmethod
    def _for_ratio(cls, ratio: Fraction, bound: Bound, grid: Grid | None) -> Self:
        """Return the mechanism whose variance is `ratio` times the squared sensitivity, in steps."""
        deviation = root_rounded_up(ratio * bound.l2_squared)
        fine = Grid.fitting(deviation, bound) if grid is None else checked_grid(grid)
        return cls(ratio * fine.sensitivity(bound).l2_squared * fine.step**2, fine)


@dataclass(frozen=True)
class Gaussian(_GaussianNoise):
    """Gaussian noise of `variance` (in the answer's measure, squared), rounded exactly to the grid.

    >>> Gaussian.for_rho("0.5", Bound.scalar(1)).variance
    Fraction(1, 1)
    """

    @classmethod
    def for_epsilon(cls, epsilon: Number, delta: Number, bound: Bound, grid: Grid | None = INTEGERS) -> Gaussian:
        """Return the mechanism with the least noise that is (`epsilon`, `delta`)-private under `bound`."""
        target, failure = rational("epsilon", epsilon, above=0), probability("delta", delta)
        deviation = Fraction(analytic_sigma(target, failure)) * _SLACK
        return cls._for_ratio(deviation**2, bound, grid)

    @classmethod
    def classic(cls, epsilon: Number, delta: Number, bound: Bound, grid: Grid | None = INTEGERS) -> Gaussian:
        """Return the textbook mechanism, σ = Δ√(2 ln(1.25/δ))/ε: for comparison only, proven for ε ≤ 1, and loose."""
        target, failure = rational("epsilon", epsilon, above=0), probability("delta", delta)
        if target > 1:
            raise ArgumentError(
                "the classic calibration is proven for epsilon up to 1 only; use Gaussian.for_epsilon", "SRD-A002"
            )
        deviation = Fraction(classic_sigma(target, failure)) * _SLACK
        return cls._for_ratio(deviation**2, bound, grid)

    @cached_property
    def law(self) -> noise.RoundedGaussian:
        """The noise, in steps of the grid."""
        return noise.RoundedGaussian(self.variance / self.grid.step**2)

    @remembered
    def event(self, bound: Bound) -> events.Gaussian:
        """Return what one release runs when one unit can move the answer by `bound`."""
        moved = self.grid.sensitivity(bound)
        return events.Gaussian(self.variance / self.grid.step**2, Fraction(moved.l2_squared))


@dataclass(frozen=True)
class DiscreteGaussian(_GaussianNoise):
    """Discrete Gaussian noise, P[k] ∝ exp(−k²/(2·variance)) in steps: priced by zCDP or its own loss distribution.

    >>> DiscreteGaussian.for_rho("0.5", Bound.vector(l0=3, linf=1)).variance
    Fraction(3, 1)
    """

    @cached_property
    def law(self) -> noise.DiscreteGaussian:
        """The noise, in steps of the grid."""
        return noise.DiscreteGaussian(self.variance / self.grid.step**2)

    @remembered
    def event(self, bound: Bound) -> events.DiscreteGaussian:
        """Return what one release runs when one unit can move the answer by `bound`."""
        moved = self.grid.sensitivity(bound)
        return events.DiscreteGaussian(self.variance / self.grid.step**2, Fraction(moved.l2_squared), moved.l0)
