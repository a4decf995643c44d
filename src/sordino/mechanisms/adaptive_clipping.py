"""Adaptive clipping: a clipping radius that follows a quantile of the records' norms, each step of it paid for.

Each round every record says whether its norm is within the radius; the noisy share of those who say yes moves the
radius geometrically towards the quantile wanted.

**Guarantee**: one round is a Gaussian event on the whole number S = Σ(2bᵢ − 1), where bᵢ says whether record i is
within the radius. Centring is the b − ½ trick of the paper, doubled to stay whole: one record more or less moves S by
exactly 1 (a plain count would move by 1 too, but then the number of records would need its own noise; ½ of the paper
is 1 here). Under replace-one S moves by 2, and under zero-out as well: an emptied record keeps its place, and with it
its say (a norm of 0 is within every radius). The new radius is a function of the noisy S and of public numbers:
post-processing.
**Assumes**: one record per unit, and `records` is public: the expected number, never the number seen.
**Source**: Andrew, Thakkar, McMahan, Ramaswamy 2021, Algorithm 1 and Theorem 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sordino.accounting.bound import ROW, Bound, Unit
from sordino.accounting.events import Gaussian as GaussianEvent
from sordino.accounting.events import Repeated
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import Number, numbers, probability, rational, rounded_up, shown, whole
from sordino.errors import ArgumentError

from .gaussian import Gaussian
from .mechanism import remembered, use_grant

_SMALLEST, _LARGEST = 2.0**-500, 2.0**500


@dataclass(frozen=True)
class AdaptiveClipping:
    """The state of an adaptive clipping radius; `release` returns the state of the next round.

    `variance` is that of the noise on S (twice the paper's σ_b, squared); `rate` is the paper's η, `quantile` its γ.

    >>> AdaptiveClipping(radius=1.0, quantile="0.5", rate="0.2", variance=100, records=1000).error() < 0.02
    True
    """

    radius: float
    quantile: Fraction
    rate: Fraction
    variance: Fraction
    records: int

    def __post_init__(self) -> None:
        radius = float(rational("radius", self.radius, above=0))
        if not _SMALLEST <= radius <= _LARGEST:
            raise ArgumentError(f"radius must be between 2^-500 and 2^500, not {shown(self.radius)}", "SRD-A002")
        object.__setattr__(self, "radius", radius)
        object.__setattr__(self, "quantile", probability("quantile", self.quantile))
        object.__setattr__(self, "rate", rational("rate", self.rate, above=0, most=10))
        object.__setattr__(self, "variance", rational("variance", self.variance, above=0))
        object.__setattr__(self, "records", whole("records", self.records, least=1, most=2**53))
        _ = self._noise  # an absurd variance is refused here rather than at the first release

    @staticmethod
    def bound(neighbours: Neighbours = Neighbours.ADD_REMOVE, unit: Unit = ROW) -> Bound:
        """Return how far S moves when one record changes."""
        return Bound.scalar(1 if neighbours is Neighbours.ADD_REMOVE else 2, neighbours=neighbours, unit=unit)

    @remembered
    def event(self, bound: Bound) -> GaussianEvent:
        """Return what one round runs; refuse a bound that is tighter than one record's effect on S."""
        least = self.bound(bound.neighbours).linf
        if bound.linf < least:
            raise ArgumentError(
                f"one record moves the centred count by {least} under {bound.neighbours.value}, more than the bound "
                "says; take AdaptiveClipping.bound(neighbours)",
                "SRD-A003",
            )
        return self._noise.event(bound)

    def events(self, bound: Bound, rounds: int) -> Repeated:
        """Return what `rounds` rounds run, however the radius moves: the event does not depend on the radius."""
        return Repeated(self.event(bound), rounds)

    def release(self, value: Any, grant: Grant) -> AdaptiveClipping:
        """Return the next round's state, given the records' norms as `value`; NaN counts as outside."""
        norms = numbers("the norms", value)
        if norms.ndim != 1:
            raise ArgumentError("the norms must be one array of numbers, one per record", "SRD-A003")
        within = int(np.count_nonzero(norms <= self.radius))
        use_grant(self, grant)
        noisy = 2 * within - len(norms) + self._noise.law.draw()
        share = (noisy / self.records + 1) / 2
        return replace(self, radius=self._moved(share))

    def error(self, confidence: float = 0.95) -> float:
        """Return how far off the share of records within the radius is, at most, with probability `confidence`."""
        return rounded_up(Fraction(self._noise.error(confidence)) / (2 * self.records))

    @cached_property
    def _noise(self) -> Gaussian:
        return Gaussian(self.variance)

    def _moved(self, share: float) -> float:
        # Noise can make the share absurd; an exponent held to ±30 keeps the radius a usable float. Post-processing.
        exponent = -float(self.rate) * (share - float(self.quantile))
        radius = self.radius * math.exp(max(-30.0, min(30.0, exponent)))
        return max(_SMALLEST, min(_LARGEST, radius))


def shared_multiplier(multiplier: Number, count_deviation: Number) -> float:
    """Return the noise multiplier for the clipped sum so that sum and count together cost what `multiplier` alone does.

    `count_deviation` is the deviation of the noise on S under add/remove. Rounded up: towards more noise.
    **Source**: Andrew et al. 2021, Theorem 1, with 2σ_b = `count_deviation`: z_Δ = (z⁻² − (2σ_b)⁻²)^(−1/2).
    """
    total, count = rational("multiplier", multiplier, above=0), rational("count_deviation", count_deviation, above=0)
    if count <= total:
        raise ArgumentError("count_deviation must exceed multiplier, or the count alone costs more", "SRD-A003")
    left = 1 / total**2 - 1 / count**2
    return math.sqrt(rounded_up(1 / left)) * (1 + 2.0**-50)
