"""How many people are in each bin: Prio3Histogram of draft-irtf-cfrg-vdaf-18, Section 7.4.4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import ROW, Bound, Unit
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import whole

from .field import FIELD128, Elements, Field
from .gadgets import Products, product_length

_MOST_BINS = 2**20


@dataclass(frozen=True)
class Histogram:
    """How many people are in each of `length` bins, each person in one (Section 7.4.4).

    `chunk_length` is how many bins are checked by one call of the gadget: a matter of size, not of what is counted.
    `histogram` chooses it.
    """

    length: int
    chunk_length: int

    algorithm: ClassVar[int] = 4
    field: ClassVar[Field] = FIELD128
    checks: ClassVar[int] = 2
    largest: ClassVar[int] = 1

    def __post_init__(self) -> None:
        whole("length", self.length, least=1, most=_MOST_BINS)
        whole("chunk_length", self.chunk_length, least=1, most=_MOST_BINS)

    @property
    def gadget(self) -> Products:
        """Two inputs for each bin of a chunk."""
        return Products(self.chunk_length)

    @property
    def calls(self) -> int:
        """One for each chunk."""
        return -(-self.length // self.chunk_length)

    joint_length = calls

    @property
    def measurement_length(self) -> int:
        """One for each bin."""
        return self.length

    output_length = measurement_length
    measurements = measurement_length

    def encode(self, measurements: NDArray[np.int64]) -> Elements:
        """Return 1 in each person's bin, 0 in all others."""
        found: Elements = (measurements[:, None] == np.arange(self.length)).astype(np.int64).astype(object)
        return found

    def wires(self, encoded: Elements, joint: Elements, shares: int) -> Elements:
        """Return rʲ·x and x − 1 for the j-th bin x of a chunk, where r is the chunk's own random element."""
        padded = np.zeros((len(encoded), self.calls * self.chunk_length), dtype=object)
        padded[:, : self.length] = encoded
        chunks = padded.reshape(len(encoded), self.calls, self.chunk_length)
        found = np.empty((*chunks.shape[:2], self.gadget.arity), dtype=object)
        found[..., ::2] = chunks * self._powers(joint) % self.field.modulus
        found[..., 1::2] = (chunks - self.field.inverse(shares)) % self.field.modulus
        return found

    def _powers(self, joint: Elements) -> Elements:
        powers = np.empty((*joint.shape, self.chunk_length), dtype=object)
        powers[..., 0] = joint
        for place in range(1, self.chunk_length):
            powers[..., place] = powers[..., place - 1] * joint % self.field.modulus
        return powers

    def checked(self, encoded: Elements, outputs: Elements, shares: int) -> Elements:
        """Return a random sum of x² − x over all bins, which is zero if each is 0 or 1; and their sum less 1."""
        whole_sum = encoded.sum(axis=1) - self.field.inverse(shares)
        found: Elements = np.stack([outputs.sum(axis=1), whole_sum], axis=1) % self.field.modulus
        return found

    def truncate(self, encoded: Elements) -> Elements:
        """Return all bins."""
        return encoded

    def bound(self, neighbours: Neighbours, unit: Unit = ROW) -> Bound:
        """Return 1 in one bin; where another comes in a report's place, 1 in two bins."""
        return Bound.vector(
            l0=2 if neighbours is Neighbours.REPLACE_ONE else 1, linf=1, neighbours=neighbours, unit=unit
        )

    @classmethod
    def of(cls, length: int) -> Histogram:
        """Return the histogram of so many bins whose proofs are shortest.

        With wires of p values up to p − 1 chunks cost the same, so for each p only the shortest chunks matter.

        >>> Histogram.of(20)
        Histogram(length=20, chunk_length=3)
        """
        bins = whole("length", length, least=1, most=_MOST_BINS)
        chunks = {-(-bins // (2**power - 1)) for power in range(1, bins.bit_length() + 2)}
        return min((cls(bins, chunk) for chunk in sorted(chunks)), key=_size_of_proof)


def _size_of_proof(circuit: Histogram) -> int:
    return circuit.gadget.arity + product_length(circuit.calls)
