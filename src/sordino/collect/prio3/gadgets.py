"""The gadgets of validity circuits, on whole arrays: draft-irtf-cfrg-vdaf-18, Appendix A.

A gadget is the part of a circuit that is not affine. All of ours are of degree two, which fixes how long the
polynomials of a proof are (Section 7.3.2): wires of p values (the least power of two above the number of calls), and
2p − 1 values of what the gadget makes of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from .field import Elements
from .polynomial import power_of_two_from


class Gadget(Protocol):
    """A polynomial of degree two in `arity` inputs, which lie on the last axis."""

    @property
    def arity(self) -> int:
        """How many inputs there are."""
        ...

    def evaluate(self, inputs: Elements) -> Elements:
        """Return the outputs, not reduced; the last axis is gone."""
        ...


@dataclass(frozen=True)
class Products:
    """x₁x₂ + x₃x₄ + …: `ParallelSum` of `count` multiplications, and for one pair the gadget `Mul`."""

    count: int = 1

    @property
    def arity(self) -> int:
        """Two for each product."""
        return 2 * self.count

    def evaluate(self, inputs: Elements) -> Elements:
        """Return the sum of the products."""
        summed: Elements = (inputs[..., ::2] * inputs[..., 1::2]).sum(axis=-1)
        return summed


@dataclass(frozen=True)
class ZeroForBits:
    """x² − x, which is zero for 0 and 1 alone: `PolyEval` of [0, −1, 1]."""

    arity: ClassVar[int] = 1

    def evaluate(self, inputs: Elements) -> Elements:
        """Return the polynomial's values."""
        bits = inputs[..., 0]
        found: Elements = bits * (bits - 1)
        return found


def wire_length(calls: int) -> int:
    """Return how many values each wire's polynomial has: one for the seed, one for each call, rounded up."""
    return power_of_two_from(1 + calls)


def product_length(calls: int) -> int:
    """Return how many values of the gadget's polynomial a proof holds: it has degree 2(p − 1)."""
    return 2 * wire_length(calls) - 1
