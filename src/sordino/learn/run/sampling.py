"""How the units of each step are drawn, and what a run of such steps is, as an event.

A sampler is frozen: its fields are public, and what is secret (how many units there are) is an argument.

**Guarantee**: `draws` gives what `event` says, whatever the true number of units is.
`Poisson`: every unit comes independently, with probability batch/size.
`FixedSize`: `batch` of `size` places, drawn without replacement; whoever has no place never comes, and a place without
a unit is empty. Under replace-one.
`OnePass`: in each epoch every unit draws one step by itself, never by its position, so that whoever is removed moves
nobody else. A unit is in one step of each epoch, so an epoch is one unsampled release (parallel composition).
**Source**: Abadi et al. 2016 (Poisson); Wang, Balle, Kasiviswanathan 2019 (fixed size); McSherry 2009, Theorem 4.
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
from sordino.accounting.event import Event
from sordino.accounting.events import FixedSizeSampled, PoissonSampled, Repeated
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import one_of, whole
from sordino.errors import ArgumentError

Units = NDArray[np.intp]
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
        """Return one step for each epoch that is begun."""
        return Repeated(step, math.ceil(Fraction(steps, self.least)))

    def draws(self, units: int) -> Draws:
        """Return for each step who drew it; all draw anew when an epoch begins."""
        drawn = np.empty(0, dtype=np.int64)

        def draw(step: int) -> Units:
            nonlocal drawn
            if step % self.least == 0:
                drawn = noise.uniform(self.least, units)
            return np.flatnonzero(drawn == step % self.least)

        return draw


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

SAMPLERS: dict[str, Callable[[int, int], Sampler]] = {each.name: each for each in (Poisson, FixedSize, OnePass)}


def sampler(name: str, batch: int, size: int) -> Sampler:
    """Return the sampler of a name; refuse a batch that is larger than all there are."""
    count = whole("batch", batch, least=1)
    if count > size:
        raise ArgumentError(f"batch ({count}) must not exceed size ({size}), the number of units declared", "SRD-A002")
    return SAMPLERS[one_of("sampling", name, tuple(SAMPLERS))](count, size)
