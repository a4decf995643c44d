"""How many people say yes: Prio3Count of draft-irtf-cfrg-vdaf-18, Section 7.4.1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import ROW, Bound, Unit
from sordino.accounting.neighbours import Neighbours

from .field import FIELD64, Elements, Field
from .gadgets import Gadget, Products


@dataclass(frozen=True)
class Count:
    """How many people say 1 rather than 0 (Section 7.4.1)."""

    algorithm: ClassVar[int] = 1
    field: ClassVar[Field] = FIELD64
    gadget: ClassVar[Gadget] = Products()
    calls: ClassVar[int] = 1
    measurement_length: ClassVar[int] = 1
    joint_length: ClassVar[int] = 0
    output_length: ClassVar[int] = 1
    checks: ClassVar[int] = 1
    measurements: ClassVar[int] = 2
    largest: ClassVar[int] = 1

    def encode(self, measurements: NDArray[np.int64]) -> Elements:
        """Return the measurements themselves."""
        return measurements.astype(object)[:, None]

    def wires(self, encoded: Elements, joint: Elements, shares: int) -> Elements:  # noqa: ARG002 (takes no randomness)
        """Return the measurement twice, to be squared."""
        return np.concatenate([encoded, encoded], axis=1)[:, None, :]

    def checked(self, encoded: Elements, outputs: Elements, shares: int) -> Elements:  # noqa: ARG002 (it is linear)
        """Return x² − x."""
        found: Elements = (outputs - encoded) % self.field.modulus
        return found

    def truncate(self, encoded: Elements) -> Elements:
        """Return the measurement."""
        return encoded

    def bound(self, neighbours: Neighbours, unit: Unit = ROW) -> Bound:
        """Return 1: a report is 0 or 1, and so is what comes in its place."""
        return Bound.scalar(1, neighbours=neighbours, unit=unit)
