"""The sum of bounded whole numbers: Prio3Sum of draft-irtf-cfrg-vdaf-18, Section 7.4.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import ROW, Bound, Unit
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import whole

from .field import FIELD64, Elements, Field
from .gadgets import Gadget, ZeroForBits

_MOST_BITS = 63  # so that all weights together stay below the modulus


@dataclass(frozen=True)
class Sum:
    """The sum of numbers from 0 to `max_measurement` (Section 7.4.2).

    A number is encoded as bits of the weights 1, 2, 4, … of which the last is whatever makes their sum
    `max_measurement`; so any bits at all stand for a number in the range.
    """

    max_measurement: int

    algorithm: ClassVar[int] = 2
    field: ClassVar[Field] = FIELD64
    gadget: ClassVar[Gadget] = ZeroForBits()
    joint_length: ClassVar[int] = 0
    output_length: ClassVar[int] = 1

    def __post_init__(self) -> None:
        whole("max_measurement", self.max_measurement, least=1, most=2**_MOST_BITS - 1)

    @property
    def calls(self) -> int:
        """One for each bit."""
        return self.max_measurement.bit_length()

    measurement_length = calls
    checks = calls

    @property
    def measurements(self) -> int:
        """0 to `max_measurement`."""
        return self.max_measurement + 1

    @property
    def largest(self) -> int:
        """The largest measurement."""
        return self.max_measurement

    @property
    def _weights(self) -> Elements:
        powers = [1 << place for place in range(self.calls - 1)]
        return np.array([*powers, self.max_measurement - sum(powers)], dtype=object)

    def encode(self, measurements: NDArray[np.int64]) -> Elements:
        """Return the bits; the last is set only where the others do not suffice."""
        numbers = measurements.astype(object)
        rest = (1 << (self.calls - 1)) - 1
        high = (numbers > rest).astype(object)
        numbers = numbers - high * self._weights[-1]
        bits = [(numbers >> place) & 1 for place in range(self.calls - 1)]
        return np.stack([*bits, high * 1], axis=1)

    def wires(self, encoded: Elements, joint: Elements, shares: int) -> Elements:  # noqa: ARG002 (takes no randomness)
        """Return each bit by itself."""
        return encoded[:, :, None]

    def checked(self, encoded: Elements, outputs: Elements, shares: int) -> Elements:  # noqa: ARG002 (no more to it)
        """Return x² − x for each bit x."""
        return outputs

    def truncate(self, encoded: Elements) -> Elements:
        """Return the weighted sum of the bits."""
        weighted: Elements = (encoded * self._weights).sum(axis=1, keepdims=True) % self.field.modulus
        return weighted

    def bound(self, neighbours: Neighbours, unit: Unit = ROW) -> Bound:
        """Return `max_measurement`: a report lies between 0 and that, and so does what comes in its place."""
        return Bound.scalar(self.max_measurement, neighbours=neighbours, unit=unit)
