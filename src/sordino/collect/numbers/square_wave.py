"""Square wave: a cell of a public grid, mostly from a window around the number, for the distribution of numbers.

The window is as wide as makes a report tell most about the number (mutual information, for uniform numbers); coins are
those of `window`. Counts are the histogram of cells; `distribution` makes of it what people hold.

**Guarantee**: ε for replacing one number, exactly.
**Source**: Li, Wang, Lopuhaä-Zwakenberg, Skoric, Li 2020, sections 5.2 and 5.3; theirs has continuous numbers.
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
from sordino.arguments import whole
from sordino.collect.coins import WORD
from sordino.collect.frequencies.numbered import bytes_below, read, written
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.noise.keystream import BitSource

from .distribution import Distribution
from .estimated import Floats, people, some
from .means import checked_epsilon
from .scale import checked_steps
from .window import Window

MOST_WAVE_STEPS = 1024


@dataclass(frozen=True)
class SquareWave:
    """A cell for a code from 0 to `steps`; the finer the steps, the farther off is each share by itself."""

    epsilon: Fraction
    steps: int = 64

    protocol: ClassVar[str] = "square-wave"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_steps(self.steps, most=MOST_WAVE_STEPS)

    @cached_property
    def window(self) -> Window:
        """Where cells are drawn from."""
        return Window(self.steps, max(1, round(2 * _half_width(float(self.epsilon)) * self.steps)), self.epsilon)

    @property
    def size(self) -> int:
        """As many bytes as a cell takes."""
        return bytes_below(self.window.cells)

    @cached_property
    def chances(self) -> Floats:
        """The chance of each cell (row) for each code (column)."""
        columns = [self.window.law(code) for code in range(self.steps + 1)]
        return np.array(columns, dtype=np.float64).T / WORD

    @cached_property
    def decoder(self) -> Floats:
        """A left inverse of `chances`, the one with the least variance if all codes are equally frequent.

        It does not depend on reports, so what it makes of counts is unbiased.
        """
        weighted = self.chances / self.chances.mean(axis=1)[:, None]
        return np.asarray(np.linalg.solve(weighted.T @ self.chances, weighted.T), dtype=np.float64)

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
        """Return how many reports name each cell."""
        return np.bincount(read(payloads), minlength=self.window.cells).astype(np.int64)

    def estimate(self, counts: Counts, reports: float) -> Distribution:
        """Return the distribution over codes of `reports` people: those who answered, or more."""
        found = some(counts, self.window.cells)
        people(int(found.sum()))
        return Distribution(found, self.chances, self.decoder, 1e-3 * math.exp(float(self.epsilon)), reports)

    def error(self, people: int) -> float:
        """Return the largest standard error of the share of people up to a point, if all codes are as frequent."""
        count = whole("people", people, least=1)
        cumulative = np.cumsum(self.decoder, axis=0)
        drawn = np.square(cumulative) @ self.chances.mean(axis=1)
        held = np.arange(1, self.steps + 2) / (self.steps + 1)
        return math.sqrt(float((drawn - held).max()) / count)

    def poison(self, people: int, colluding: int) -> float:
        """Return how far so many of them can move the unbiased share of people up to any point, together."""
        count = whole("people", people, least=1)
        cumulative = np.cumsum(self.decoder, axis=0)[:-1]
        one = max(float(cumulative.max()), 1 - float(cumulative.min()))
        return whole("colluding", colluding, least=0, most=count) / count * one


def _half_width(epsilon: float) -> float:
    """Return half the width of the window, as a share of the range: ½ − ε/3 … for small ε, ε·e^−ε/2 for large ones."""
    if epsilon < 1e-2:
        return 0.5 - epsilon / 3 + epsilon**2 / 9  # the quotient below loses digits; the next term is below 10⁻⁷
    power = math.exp(-epsilon)
    return (epsilon - 1 + power) / (2 * (math.exp(epsilon) - 1 - epsilon))
