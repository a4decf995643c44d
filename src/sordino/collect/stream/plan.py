"""The plan of a stream: charged whole, for all of its declared steps, before the first of them.

**Guarantee**: all measurements of the stream are one Gaussian mechanism on whole steps of the grid, under the bound
that the strategy proves (``strategy.py``); whatever leaves is a function of them. `mechanisms.Gaussian` is rounded
Gaussian noise, so the continuous Gaussian's curves hold exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.budget import Budget
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.events import Gaussian as GaussianEvent
from sordino.accounting.filter import Filter
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.own_budget import used_whole
from sordino.data.account import Protected
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.grid import Grid, root_rounded_up

from .spec import StreamSpec
from .strategy import Real, Strategy


@dataclass(frozen=True)
class StreamPlan:
    """A stream with its strategy and its noise, about one data set: public."""

    dataset: str
    unit: Unit
    neighbours: Neighbours
    spec: StreamSpec
    strategy: Strategy
    variance: Fraction
    """Of the noise on each measurement, in units squared."""

    kind: ClassVar[str] = "stream"
    days: ClassVar[tuple[str, ...]] = ()
    large: ClassVar[bool] = False

    @property
    def parts(self) -> int:
        """How many releases may leave: one for each batch, so as many as there are steps."""
        return self.spec.steps

    @cached_property
    def mechanism(self) -> Gaussian:
        """The noise, on the grid of the strategy: measurements are whole steps by construction."""
        return Gaussian(self.variance, Grid(self.strategy.exponent(self.spec.arrivals), exact=True))

    @cached_property
    def bound(self) -> Bound:
        """What one unit can change of all measurements."""
        return bound_of(self.spec, self.strategy, self.unit, self.neighbours)

    def event(self) -> Event:
        """Return one Gaussian."""
        return self.mechanism.event(self.bound)

    def digest(self) -> str:
        """Return the digest of the plan."""
        return digest_of((self.kind, self))

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of the noise on a measurement, in the measure of what is released."""
        return math.sqrt(self.variance) * float(self.spec.unit)

    def deviations(self) -> Real:
        """Return the standard deviation of the noise of each step's number."""
        return _arrays(self.strategy, self.spec.window)[0] * self.deviation

    def reaches(self) -> Real:
        """Return how far each step's number is off at most for rounding: of sums to the grid, of noise, of itself."""
        step = float(self.mechanism.grid.step * self.spec.unit)
        each = self.strategy.rounding(self.spec.arrivals) + 0.5
        return _arrays(self.strategy, self.spec.window)[1] * (each * step) + 0.5 * 10.0**-self.digits

    @cached_property
    def digits(self) -> int:
        """How many decimals are released: finer than a thousandth of the least deviation."""
        least = float(np.min(_arrays(self.strategy, self.spec.window)[0])) * self.deviation
        return max(0, 3 - math.floor(math.log10(least)))


@lru_cache(maxsize=4)
def _arrays(strategy: Strategy, window: int | None) -> tuple[Real, Real]:
    return strategy.deviations(window), strategy.reaches(window)


@lru_cache(maxsize=64)
def bound_of(spec: StreamSpec, strategy: Strategy, unit: Unit, neighbours: Neighbours) -> Bound:
    """Return what one unit can change: under replace-one its events go and another's come, so norms double."""
    squared = strategy.moved_squared(spec.arrivals)
    touched = strategy.most_measured * spec.arrivals.moved_cells
    total = root_rounded_up(touched * squared)  # Cauchy, Schwarz
    bound = Bound(touched, total, squared, root_rounded_up(squared), unit=unit)
    return bound.replacing() if neighbours is Neighbours.REPLACE_ONE else replace(bound, neighbours=neighbours)


def plan_of(protected: Protected, spec: StreamSpec, own: Budget) -> StreamPlan:
    """Return the plan with the least noise that uses up a budget of its own."""
    strategy = spec.tactics()
    bound = bound_of(spec, strategy, protected.unit, protected.neighbours)
    if own.rho is not None and own.epsilon is None:
        ratio = 1 / (2 * own.rho)
    else:
        ratio = used_whole(lambda each: GaussianEvent(each**2), Filter.open(own)) ** 2
    return StreamPlan(protected.name, protected.unit, protected.neighbours, spec, strategy, bound.l2_squared * ratio)
