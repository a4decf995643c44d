"""Noise that members add each its share of, before anybody sees a sum; and noise that a trusted server adds.

**Guarantee**: every sum that can be opened holds the noise of `parties` honest members at least, independent of all
else. The others' noise may be known to whoever looks, or absent: what is more than that of `parties` is not priced, as
adding independent noise is post-processing. `event` names the law of that least sum: of discrete Gaussians, which is no
discrete Gaussian, or of Skellam noise, which is Skellam again.
**Assumes**: honest members draw their share as said.
**Source**: Kairouz, Liu, Steinke 2021 (sums of discrete Gaussians); Agarwal, Kairouz, Liu 2021 (Skellam).

`reach` bounds the noise of `members` shares on each of `length` numbers, but for a probability of 2⁻¹⁰⁰: with L =
ln(2·length·2¹⁰⁰), P[|Z| > √(2vL) + L] ≤ 2e^{−L}, where v is the variance of all shares. *Proof*: E[e^{tZ}] ≤ e^{vt²/2}
for discrete Gaussians (``accounting.summed_gaussian``), and e^{v(cosh t − 1)} ≤ e^{vt²/(2(1 − t))} for
Skellam noise, 0 ≤ t < 1; Bernstein's inequality follows (Boucheron, Lugosi, Massart 2013, Section 2.4).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

from sordino import noise
from sordino.accounting import events
from sordino.accounting.event import Event
from sordino.mechanisms.grid import Steps

from .steps import ClippedSteps


class NoiseLaw(Protocol):
    """Noise on sums of whole numbers, of a `variance` in all that is counted on."""

    @property
    def name(self) -> str:
        """What users call it."""
        ...

    @property
    def parties(self) -> int:
        """How many shares are counted on."""
        ...

    @property
    def variance(self) -> Fraction:
        """Of the noise that is counted on, in squared steps."""
        ...

    def draw(self, length: int) -> Steps:
        """Return one share."""
        ...

    def event(self, moved: ClippedSteps) -> Event:
        """Return what one release runs, where a unit moves the sum by no more than `moved`."""
        ...


@dataclass(frozen=True)
class DiscreteGaussianShares:
    """Each member adds a discrete Gaussian of `variance`/`parties`."""

    parties: int
    variance: Fraction
    name: ClassVar[str] = "discrete-gaussian"

    def draw(self, length: int) -> Steps:
        """Return one member's share."""
        return noise.DiscreteGaussian(self.variance / self.parties).draw(length)

    def event(self, moved: ClippedSteps) -> Event:
        """Return the sum of the honest members' shares."""
        share = self.variance / self.parties
        return events.SummedDiscreteGaussian(self.parties, share, Fraction(moved.squared), moved.length)


@dataclass(frozen=True)
class SkellamShares:
    """Each member adds Skellam noise of `variance`/`parties`."""

    parties: int
    variance: Fraction
    name: ClassVar[str] = "skellam"

    def draw(self, length: int) -> Steps:
        """Return one member's share."""
        return noise.Skellam(self.variance / self.parties).draw(length)

    def event(self, moved: ClippedSteps) -> Event:
        """Return the sum of the honest members' shares."""
        return events.Skellam(self.variance, moved.total, Fraction(moved.squared))


@dataclass(frozen=True)
class ServerNoise:
    """The server adds a rounded Gaussian, once; it is trusted with every member's vector."""

    parties: int
    variance: Fraction
    name: ClassVar[str] = "server"

    def draw(self, length: int) -> Steps:
        """Return all of the noise."""
        return noise.RoundedGaussian(self.variance).draw(length)

    def event(self, moved: ClippedSteps) -> Event:
        """Return a Gaussian release: rounding it to whole steps is post-processing (``mechanisms.gaussian``)."""
        return events.Gaussian(self.variance, Fraction(moved.squared))


SHARES: dict[str, Callable[[int, Fraction], NoiseLaw]] = {
    each.name: each for each in (DiscreteGaussianShares, SkellamShares)
}


def reach(law: NoiseLaw, members: int, length: int) -> int:
    """Return how far the noise of so many members goes on any of `length` numbers, but for 2⁻¹⁰⁰."""
    rare = math.log(2 * length) + 100 * math.log(2)
    total = float(law.variance) * members / law.parties
    return math.ceil((math.sqrt(2 * total * rare) + rare) * (1 + 1e-9))
