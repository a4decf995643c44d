"""A clip that follows the norms: what it is set by, and how its noise and that of the sum share one price.

Each step releases two things about the same sample: the sum x of the units' gradients, each clipped to norm 1 in units
of the clip, and the whole number S = Σ(2bᵢ − 1), where bᵢ says whether unit i is within the clip. The noise of x has
the deviation σₓ, that of S the deviation σₛ.

**Guarantee**: a step is one Gaussian with a noise multiplier z, 1/z² = Δₓ²/σₓ² + Δₛ²/σₛ², on its sample.
**Proof.** Divide both parts by their deviations, which are public: (x/σₓ, S/σₛ) with noise of variance 1 on every
number. One unit, if it is in the sample, moves that vector by at most √(Δₓ²/σₓ² + Δₛ²/σₛ²) in the 2-norm: Δₓ = 1 and
what rounding adds, and Δₛ = 1, both doubled where a unit is replaced. So it is one Gaussian mechanism, and sampled as
one; both noises are rounded exactly, which is post-processing. The next clip is a function of the noisy S, so the grid
and the noise, which are the same in units of the clip for every clip, depend on released numbers alone.
**Source**: Andrew, Thakkar, McMahan, Ramaswamy 2021, Theorem 1, for steps that are sampled.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sordino.accounting.neighbours import Neighbours
from sordino.arguments import Number, probability, rational
from sordino.errors import ArgumentError
from sordino.mechanisms.adaptive_clipping import AdaptiveClipping

_SHARE = Fraction(1, 20)
_TIMES = 2
REACH = 2.0**20
"""The clip stays within this factor of where it began."""


@dataclass(frozen=True)
class Adaptive:
    """A clip that follows a quantile of the norms; build it with `adaptive`."""

    quantile: Fraction
    rate: Fraction
    noise: Fraction | None = None
    """The standard deviation of the noise on how many units are within the clip; found if None."""

    def variance(self, multiplier: Fraction, batch: int) -> Fraction:
        """Return the variance of the noise on S, which is twice the count, under a step's noise multiplier."""
        least = _TIMES * multiplier
        return 4 * (max(batch * _SHARE, least) if self.noise is None else self.noise) ** 2

    def begun(self, clip: Fraction, multiplier: Fraction, batch: int) -> AdaptiveClipping:
        """Return the clip at its beginning, for a step of so much noise."""
        return AdaptiveClipping(float(clip), self.quantile, self.rate, self.variance(multiplier, batch), batch)

    def rest(self, multiplier: Fraction, batch: int, neighbours: Neighbours) -> Fraction:
        """Return 1/zₓ², what is left of a step's 1/z² for the sum when the count is paid for."""
        moved = AdaptiveClipping.bound(neighbours).l2_squared
        left = 1 / multiplier**2 - moved / self.variance(multiplier, batch)
        if left <= 0:
            raise ArgumentError(
                f"a noise of {float(self.noise or 0):.3g} on the count within the clip costs more than a whole step "
                f"with a noise multiplier of {float(multiplier):.3g}; take more noise on the count",
                "SRD-A002",
            )
        return left


def adaptive(quantile: Number = "0.5", rate: Number = "0.2", *, noise: Number | None = None) -> Adaptive:
    """Return a clip that follows the norms of gradients, for `clipping=`; `clip` is then where it begins.

    Args:
        quantile: the share of units whose gradients are to be within the clip.
        rate: how fast the clip moves: by a factor of e^(rate·(quantile − share within)) in a step.
        noise: the standard deviation of the noise on how many are within; a twentieth of the batch, or twice the noise
            multiplier where that is more, if left out. The less it is, the more noise the gradients get.

    >>> adaptive().quantile
    Fraction(1, 2)
    """
    return Adaptive(
        probability("quantile", quantile),
        rational("rate", rate, above=0, most=10),
        None if noise is None else rational("noise", noise, above=0),
    )
