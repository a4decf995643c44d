"""What a valid measurement is, as a circuit over shares: draft-irtf-cfrg-vdaf-18, Section 7.3.2.

A circuit encodes a measurement as field elements, whose sum over all people is the answer, and has outputs that are all
zero exactly for those that are valid. Each of ours has one gadget, whose inputs are affine in the measurement, so all
its calls can be laid out at once. Arrays have one row for each report.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import ROW, Bound, Unit
from sordino.accounting.neighbours import Neighbours

from .field import Elements, Field
from .gadgets import Gadget


class Circuit(Protocol):
    """What measurements are valid, and how they are encoded."""

    @property
    def algorithm(self) -> int:
        """The number of this variant of Prio3 in the draft's registry, a part of every tag."""
        ...

    @property
    def field(self) -> Field:
        """Where it computes."""
        ...

    @property
    def gadget(self) -> Gadget:
        """What is not affine in it."""
        ...

    @property
    def calls(self) -> int:
        """How often it calls the gadget."""
        ...

    @property
    def measurement_length(self) -> int:
        """How many elements encode a measurement."""
        ...

    @property
    def joint_length(self) -> int:
        """How many random elements, of servers and client together, it takes."""
        ...

    @property
    def output_length(self) -> int:
        """How many elements are added up over reports."""
        ...

    @property
    def checks(self) -> int:
        """How many numbers must be zero for the measurement to be valid."""
        ...

    @property
    def measurements(self) -> int:
        """How many different measurements there are: 0 to one less than this."""
        ...

    @property
    def largest(self) -> int:
        """The largest number that one report can add to one number of the aggregate."""
        ...

    def encode(self, measurements: NDArray[np.int64]) -> Elements:
        """Return measurements as rows of elements."""
        ...

    def wires(self, encoded: Elements, joint: Elements, shares: int) -> Elements:
        """Return the gadget's inputs, by report, call and wire, for a share of what is encoded."""
        ...

    def checked(self, encoded: Elements, outputs: Elements, shares: int) -> Elements:
        """Return shares of the numbers that must be zero, given the gadget's outputs by report and call."""
        ...

    def truncate(self, encoded: Elements) -> Elements:
        """Return shares of what is added up."""
        ...

    def bound(self, neighbours: Neighbours, unit: Unit = ROW) -> Bound:
        """Return how far one report moves the sum over all reports."""
        ...
