"""Piecewise: a cell of a public grid, mostly from a window around the number.

The window's share of all cells is 1/(e^(ε/2) + 1), which makes the largest variance small. See `window` for coins.

**Guarantee**: ε for replacing one number, exactly.
**Source**: Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu 2019, algorithm 2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.accounting import events
from sordino.accounting.event import Event
from sordino.collect.frequencies.numbered import bytes_below, read, written
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.noise.keystream import BitSource

from .linear import Linear, sums
from .means import Means, checked_epsilon
from .scale import FINE, checked_steps
from .window import Window


@dataclass(frozen=True)
class Piecewise(Means):
    """A cell for a code from 0 to `steps`."""

    epsilon: Fraction
    steps: int = FINE

    protocol: ClassVar[str] = "piecewise"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_steps(self.steps, most=FINE)

    @cached_property
    def window(self) -> Window:
        """Where cells are drawn from."""
        width = round(self.steps * math.exp(-float(self.epsilon) / 2))
        return Window(self.steps, max(1, width), self.epsilon)

    @cached_property
    def linear(self) -> Linear:
        """How sums of cells, counted from the middle, become a mean."""
        return Linear.of(self.window.moments, self.steps, (self.window.cells - 1) / 2)

    @property
    def size(self) -> int:
        """As many bytes as a cell takes."""
        return bytes_below(self.window.cells)

    def event(self) -> Event:
        """Return what one report costs."""
        return events.Pure(self.epsilon)

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return shuffled reports of any randomizer with this ε."""
        return events.ShuffledLocal(self.epsilon, reports, delta)

    def public(self) -> Mapping[str, Any]:
        """Return the window."""
        return {"protocol": self.protocol, **self.window.public()}

    def report(self, value: int, source: BitSource) -> bytes:
        """Return the cell, lowest byte first, by one word."""
        return self.window.draw(value, source).to_bytes(self.size, "little")

    def reports(self, values: Codes) -> Payloads:
        """Return cells for many codes at once."""
        return written(self.window.cell_of_each(values), self.size)

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which name a cell."""
        return read(payloads) < self.window.cells

    def count(self, payloads: Payloads) -> Counts:
        """Return [reports, Σu, Σu²] of cells counted from the middle."""
        return sums(self.window.centred(read(payloads)))
