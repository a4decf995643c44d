"""The noise that servers add: each of them all of it, to its own share of the sum, before anybody sees a share.

**Guarantee**: whoever sees all noised shares, and all that every server but one ever saw, learns about one report no
more than from the sum with one draw of the noise on each number: `event`. *Proof*: the honest server's share is A + Z
mod p, where A is its share of the sum and Z the noise; with the others' shares known that is (sum + Z) mod p less a
constant, a function of sum + Z. Noise of the others is independent of it, and adding it is post-processing. The rest of
what they saw can be simulated without any report (see `prio3`). So this is computational differential privacy: against
whoever cannot tell TurboSHAKE128 from a random function.
**Assumes**: one server is honest, draws its noise once and lets its share out only with that noise (`collect` does).
How many reports count is told to all, so a unit is replaced, not added; and a report that is no valid one is known as
such, though not what it holds.
**Source**: Dwork, Kenthapadi, McSherry, Mironov, Naor 2006 (noise by many hands); Laplace and DiscreteGaussian for each
law's own guarantee.

With m honest servers the answer has m draws on it: its standard deviation is √m times that of a trusted curator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import Number, rational
from sordino.errors import ArgumentError
from sordino.mechanisms.gaussian import DiscreteGaussian
from sordino.mechanisms.grid import INTEGERS
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.mechanism import use_grant

from .field import Elements
from .joint_noise import reach
from .prio3 import Prio3

_SURELY = 1 - Fraction(1, 2**64)


@dataclass(frozen=True)
class ServerNoise:
    """`noise` on whole numbers that each server of `prio3` adds to its share."""

    prio3: Prio3
    noise: Laplace | DiscreteGaussian

    def __post_init__(self) -> None:
        if not isinstance(self.noise, Laplace | DiscreteGaussian) or self.noise.grid != INTEGERS:
            raise ArgumentError(
                "servers add Laplace or DiscreteGaussian noise on whole numbers; build it by for_epsilon or for_rho",
                "SRD-A001",
            )
        if self.most_reports < 1:
            raise ArgumentError(
                "a single report with this noise may leave the field, and the sum would come out wrong; use less noise "
                "or a smaller largest measurement",
                "SRD-C309",
            )

    @classmethod
    def for_epsilon(cls, prio3: Prio3, epsilon: Number, bound: Bound | None = None) -> ServerNoise:
        """Return discrete Laplace noise for pure `epsilon`, where a report is replaced (or under `bound`)."""
        exact = rational("epsilon", epsilon, above=0)
        return cls(prio3, Laplace.for_epsilon(exact, bound or replaced_report(prio3)))

    @classmethod
    def for_rho(cls, prio3: Prio3, rho: Number, bound: Bound | None = None) -> ServerNoise:
        """Return discrete Gaussian noise for `rho` of zCDP, where a report is replaced (or under `bound`)."""
        exact = rational("rho", rho, above=0)
        return cls(prio3, DiscreteGaussian.for_rho(exact, bound or replaced_report(prio3)))

    def event(self, bound: Bound) -> Event:
        """Return what one server's noise costs when one unit can move the sum by `bound`.

        It is the cost of the whole answer: the other servers' noise makes it no dearer, and is not counted on.
        """
        return self.noise.event(bound)

    def release(self, value: Any, grant: Grant) -> Elements:
        """Return one server's share of the sum with fresh noise, in the field; use `grant` up."""
        share = self._checked(value)
        use_grant(self, grant)
        drawn = self.noise.law.draw(share.shape).astype(object)
        return np.asarray((share + drawn) % self.prio3.circuit.field.modulus, dtype=object)

    def _checked(self, value: Any) -> Elements:
        length = self.prio3.circuit.output_length
        fits = isinstance(value, np.ndarray) and value.dtype == object and value.shape == (length,)
        if not fits or not all(type(each) is int and 0 <= each < self.prio3.circuit.field.modulus for each in value):
            raise ArgumentError(f"a share of the sum must be an array of {length} elements of the field", "SRD-A001")
        share: Elements = value
        return share

    def error(self, confidence: float = 0.95) -> float:
        """Return how far off one number of the answer is, at most, with probability `confidence`."""
        return float(reach(self.noise.law, self.prio3.servers, confidence))

    @property
    def standard_deviation(self) -> float:
        """Of one number of the answer, if all servers add noise."""
        return math.sqrt(self.prio3.servers * self.noise.variance_of_error)

    @property
    def most_reports(self) -> int:
        """How many reports can be added up so that sum and noise stay in the field, but for a probability of 2⁻⁶⁴."""
        room = self.prio3.circuit.field.modulus // 2 - reach(self.noise.law, self.prio3.servers, _SURELY)
        return max(0, room // self.prio3.circuit.largest)


def replaced_report(prio3: Prio3) -> Bound:
    """Return how far the sum moves when one report is another."""
    return prio3.circuit.bound(Neighbours.REPLACE_ONE)
