"""Privacy losses on a lattice, and the law of their sum over many runs, from below."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NOTHING = 1e-25
"""Mass that may be left out."""
_MOST_PLACES = 1 << 14
_WIDE = 24  # standard deviations in which all lies but what weighs nothing


@dataclass(frozen=True)
class Losses:
    """Privacy losses ``start + k·step`` with P's mass of each, and the mass of what only P can give (loss ∞)."""

    start: float
    step: Fraction
    masses: Floats
    lost: float = 0.0

    def rounded_down(self, step: Fraction) -> Losses:
        """Return the same on a lattice of this step, each loss no greater than it is."""
        places = np.floor(np.arange(len(self.masses)) * float(self.step / step) + 1e-9).astype(np.int64)
        return Losses(self.start, step, np.bincount(places, self.masses).astype(np.float64), self.lost)


def power(one: Losses, count: int) -> Losses:
    """Return the losses of `count` runs; what weighs nothing is left out at both ends."""
    places = Fraction(_WIDE * _deviation(one.masses) * math.sqrt(count))
    if places > _MOST_PLACES:
        one = one.rounded_down(one.step * places / _MOST_PLACES)
    found, square = Losses(0.0, one.step, np.ones(1)), Losses(one.start, one.step, one.masses)
    rest = count
    while True:
        if rest & 1:
            found = _trimmed(found, square)
        rest >>= 1
        if not rest:
            return Losses(found.start, one.step, found.masses, 1 - (1 - one.lost) ** count)
        square = _trimmed(square, square)


def _deviation(masses: Floats) -> float:
    """Return the standard deviation of the place."""
    places = np.arange(len(masses))
    whole = masses.sum()
    return float(np.sqrt(masses @ (places - masses @ places / whole) ** 2 / whole)) if whole else 0.0


def _trimmed(first: Losses, second: Losses) -> Losses:
    masses = np.convolve(first.masses, second.masses)
    heavy = np.flatnonzero(masses > NOTHING)
    if not len(heavy):
        return Losses(first.start + second.start, first.step, np.zeros(1))
    start = first.start + second.start + int(heavy[0]) * float(first.step)
    return Losses(start, first.step, masses[heavy[0] : heavy[-1] + 1])
