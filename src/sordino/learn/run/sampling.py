"""How the units of each step are drawn, and what a run of such steps is, as an event.

A sampler is frozen: its fields are public, and what is secret (how many units there are) is an argument.

**Guarantee**: `draws` gives what `event` says, whatever the true number of units is.
`Poisson`: every unit comes independently, with probability batch/size.
`FixedSize`: `batch` of `size` places, drawn without replacement; whoever has no place never comes, and a place without
a unit is empty. Under replace-one.
`OnePass`: in each epoch every unit draws one step by itself, never by its position, so that whoever is removed moves
nobody else. A unit is in one step of each epoch, nobody knows which: random allocation (``accounting/allocated.py``).
`Separated`: every unit draws one of b slots by itself, once for a block, and comes in every b-th step from there on:
any two of its steps are b apart, or a multiple of it.
`OverBands`: every unit draws one of so many bands by itself, once for a block, and comes into its band's steps (every
bands-th) with a probability that makes batches as large as with `Poisson`.
The last two also say what a block costs whose noise is correlated by a column of whole numbers (``correlation.py``).
**Source**: Abadi et al. 2016 (Poisson); Wang, Balle, Kasiviswanathan 2019 (fixed size); Feldman, Shenfeld 2025;
Choquette-Choo, Ganesh, McKenna, McMahan, Rush, Thakurta, Xu 2023 (separated, over bands).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.accounting.allocated import allocated
from sordino.accounting.correlated import as_gaussian
from sordino.accounting.event import Event
from sordino.accounting.events import Correlated, FixedSizeSampled, Gaussian, PoissonSampled, Repeated
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import one_of, whole
from sordino.errors import ArgumentError

Units = NDArray[np.intp]
Column = tuple[int, ...]
"""The first column of a lower triangular Toeplitz matrix, as far as it is not zero: whole numbers."""
Draws = Callable[[int], Units]
"""From the number of a step within its tranche to its units, ascending. Each step is asked for once, in order."""


class Sampler(Protocol):
    """How units are drawn: public."""

    @property
    def batch(self) -> int:
        """How many units a step has on average: what sums are divided by."""
        ...

    @property
    def neighbours(self) -> Neighbours:
        """The relation under which its event has a meaning."""
        ...

    @property
    def least(self) -> int:
        """The number of steps that cannot be cut: a tranche is a multiple of it."""
        ...

    @property
    def rate(self) -> Fraction:
        """The probability with which a unit is in a step."""
        ...

    def event(self, step: Event, steps: int) -> Event:
        """Return what `steps` steps run, each of them `step` if everybody took part."""
        ...

    def draws(self, units: int) -> Draws:
        """Return the samples of a tranche out of so many units."""
        ...


@dataclass(frozen=True)
class Poisson:
    """Every unit comes with probability `batch`/`size`, by itself."""

    batch: int
    size: int
    name: ClassVar[str] = "poisson"
    neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE
    least: ClassVar[int] = 1

    @property
    def rate(self) -> Fraction:
        """The probability."""
        return Fraction(self.batch, self.size)

    def event(self, step: Event, steps: int) -> Event:
        """Return sampled steps."""
        return Repeated(step if self.rate == 1 else PoissonSampled(step, self.rate), steps)

    def draws(self, units: int) -> Draws:
        """Return for each step the units for whom a coin fell."""
        return lambda _: np.flatnonzero(noise.bernoulli(self.rate, units))


@dataclass(frozen=True)
class FixedSize:
    """`batch` of `size` places, drawn without replacement in every step."""

    batch: int
    size: int
    name: ClassVar[str] = "fixed-size"
    neighbours: ClassVar[Neighbours] = Neighbours.REPLACE_ONE
    least: ClassVar[int] = 1

    @property
    def rate(self) -> Fraction:
        """The part of all places that is drawn."""
        return Fraction(self.batch, self.size)

    def event(self, step: Event, steps: int) -> Event:
        """Return sampled steps."""
        return Repeated(FixedSizeSampled(step, self.batch, self.size), steps)

    def draws(self, units: int) -> Draws:
        """Return for each step the units at the places drawn."""

        def draw(_: int) -> Units:
            places = noise.permutation(self.size)[: self.batch]
            return np.sort(places[places < units])

        return draw


@dataclass(frozen=True)
class OnePass:
    """In each epoch every unit draws the one step that it is in."""

    batch: int
    size: int
    name: ClassVar[str] = "one-pass"
    neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE

    @property
    def least(self) -> int:
        """The steps of one epoch."""
        return math.ceil(Fraction(self.size, self.batch))

    @property
    def rate(self) -> Fraction:
        """One of the steps of an epoch."""
        return Fraction(1, self.least)

    def event(self, step: Event, steps: int) -> Event:
        """Return one allocation to steps for each epoch that is begun."""
        return Repeated(allocated(step, self.least), math.ceil(Fraction(steps, self.least)))

    def draws(self, units: int) -> Draws:
        """Return for each step who drew it; all draw anew when an epoch begins."""
        drawn = np.empty(0, dtype=np.int64)

        def draw(step: int) -> Units:
            nonlocal drawn
            if step % self.least == 0:
                drawn = noise.uniform(self.least, units)
            return np.flatnonzero(drawn == step % self.least)

        return draw


@dataclass(frozen=True)
class Separated:
    """Every unit draws a slot, and comes in every b-th step."""

    batch: int
    size: int
    name: ClassVar[str] = "separated"
    neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE

    @property
    def least(self) -> int:
        """The slots: b."""
        return math.ceil(Fraction(self.size, self.batch))

    @property
    def rate(self) -> Fraction:
        """One of the slots."""
        return Fraction(1, self.least)

    def event(self, step: Event, steps: int) -> Event:
        """Return one step for each time that a unit can come."""
        return Repeated(step, math.ceil(Fraction(steps, self.least)))

    def block(self, step: Gaussian, steps: int, column: Column) -> Event:
        """Return what a block runs whose noise is correlated."""
        return self._block(step.variance, step.sensitivity_squared, steps, column)

    def gain(self, steps: int, column: Column) -> int:
        """Return by how much a unit can move a block of Cx, squared, in units of what it moves one step by."""
        return int(as_gaussian(self._block(Fraction(1), Fraction(1), steps, column)).sensitivity_squared)

    def draws(self, units: int) -> Draws:
        """Return for each step whose slot it is."""
        slots = noise.uniform(self.least, units)
        return lambda step: np.flatnonzero(slots == step % self.least)

    def _block(self, variance: Fraction, square: Fraction, steps: int, column: Column) -> Correlated:
        often = math.ceil(Fraction(steps, self.least))
        return Correlated(column[:steps], steps, self.least, often, variance, square)


@dataclass(frozen=True)
class OverBands:
    """Every unit draws a band, and comes into the steps of its band by chance."""

    batch: int
    size: int
    bands: int
    name: ClassVar[str] = "poisson"
    neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE

    def __post_init__(self) -> None:
        if self.bands * self.batch > self.size:
            raise ArgumentError(
                f"{self.bands} bands with batches of {self.batch} need {self.bands * self.batch} units, more than the "
                f"{self.size} declared; take fewer bands or smaller batches",
                "SRD-A002",
            )

    @property
    def least(self) -> int:
        """The bands."""
        return self.bands

    @property
    def rate(self) -> Fraction:
        """The probability to be in a step, over bands and chance."""
        return Fraction(self.batch, self.size)

    def event(self, step: Event, steps: int) -> Event:
        """Return the sampled steps of one band."""
        sampled = step if self.rate * self.bands == 1 else PoissonSampled(step, self.rate * self.bands)
        return Repeated(sampled, math.ceil(Fraction(steps, self.bands)))

    def block(self, step: Gaussian, steps: int, column: Column) -> Event:
        """Return what a block runs whose noise is correlated within bands: see ``accounting/correlated.py``."""
        square = step.sensitivity_squared * self.gain(steps, column)
        return self.event(Gaussian(step.variance, square), steps)

    def gain(self, steps: int, column: Column) -> int:
        """Return by how much one step of a unit can move Cx, squared, in units of what it moves the step by."""
        if len(column) > self.bands:
            raise ArgumentError(
                f"a column of {len(column)} numbers reaches over {self.bands} bands; take as many bands", "SRD-A002"
            )
        return sum(each**2 for each in column[:steps])

    def draws(self, units: int) -> Draws:
        """Return for each step those of its band for whom a coin fell."""
        bands = noise.uniform(self.bands, units)

        def draw(step: int) -> Units:
            own = np.flatnonzero(bands == step % self.bands)
            coming: Units = own[noise.bernoulli(self.rate * self.bands, len(own))]
            return coming

        return draw


def likely_drawn(sampler: Sampler) -> int:
    """Return how many units most steps draw at most: two standard deviations more than the mean, if it varies."""
    varies = sampler.neighbours is not Neighbours.REPLACE_ONE
    return sampler.batch + varies * math.ceil(2 * math.sqrt(sampler.batch * (1 - sampler.rate)))


def most_drawn(rate: Fraction, size: int) -> int:
    """Return how many of `size` units are drawn at most, each by itself at `rate`: more with a probability below 2⁻¹⁰⁰.

    By Chernoff's bound: P[more than k] ≤ e^(−size·KL(k/size ‖ rate)). (Hoeffding 1963, Theorem 1.)
    """
    low, high = math.floor(rate * size), size
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _divergence(middle / size, float(rate)) * size > _RARE else (middle + 1, high)
    return low


def _divergence(share: float, rate: float) -> float:
    if share <= rate:
        return 0.0
    rest = (1 - share) * math.log((1 - share) / (1 - rate)) if share < 1 else 0.0
    return share * math.log(share / rate) + rest


_RARE = 101 * math.log(2)

SAMPLERS: dict[str, Callable[[int, int], Sampler]] = {
    each.name: each for each in (Poisson, FixedSize, OnePass, Separated)
}


def sampler(name: str, batch: int, size: int) -> Sampler:
    """Return the sampler of a name; refuse a batch that is larger than all there are."""
    count = whole("batch", batch, least=1)
    if count > size:
        raise ArgumentError(f"batch ({count}) must not exceed size ({size}), the number of units declared", "SRD-A002")
    return SAMPLERS[one_of("sampling", name, tuple(SAMPLERS))](count, size)
