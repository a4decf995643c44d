"""What it says about a vector that one of the k nearest of M normal directions was chosen more often.

Let z be the inner product of the chosen direction with the vector (of length 1). All others of its coordinates are
standard normal, whatever was chosen. So the mean of a coordinate is E[z] times the vector's, and its mean square is
1 + x²·(E[z²] − 1). With S_k and Q_k the expected sums of the k largest of M normal numbers and of their squares,
  E[z] = (h − l)·S_k and E[z²] = (h − l)·Q_k + l·M, for chances h of each near direction and l of each other.
Both sums are integrals over one normal number: it is among the k largest if fewer than k of the other M − 1 are above.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from sordino.collect.coins import WORD

from .two_levels import TwoLevels

_PLACES = np.linspace(-9.0, 9.0, 4001)


@dataclass(frozen=True)
class Nearest:
    """`near` of `count` directions have the higher chance."""

    epsilon: Fraction
    count: int
    near: int

    @classmethod
    def best(cls, epsilon: Fraction, count: int) -> Nearest:
        """Return the number of near directions that says most about the vector."""
        return _best(epsilon, count)

    @cached_property
    def levels(self) -> TwoLevels:
        """The words of near directions and of others."""
        return TwoLevels(self.near, self.count - self.near, self.epsilon)

    @cached_property
    def _more(self) -> float:
        return (self.levels.inside - self.levels.outside) / WORD

    @cached_property
    def gain(self) -> float:
        """The mean of z."""
        return self._more * _largest(self.count, self.near)[0]

    @cached_property
    def square(self) -> float:
        """The mean of z²."""
        return self._more * _largest(self.count, self.near)[1] + self.levels.outside / WORD * self.count

    def variance(self, held: Any) -> Any:
        """Return the variance of one report in a coordinate, given the (mean) square of what is held there."""
        return (1 + held * (self.square - 1)) / self.gain**2 - held

    def held(self, squares: Any) -> Any:
        """Return the mean square of what is held in a coordinate, given the mean square of decoded reports."""
        told = self.square - 1
        return (squares * self.gain**2 - 1) / told if abs(told) > 1e-6 else squares * 0.0


@lru_cache(maxsize=64)
def _best(epsilon: Fraction, count: int) -> Nearest:
    tried = sorted({max(1, min(count - 1, round(count / 2 * 0.9**power))) for power in range(90)})
    return max((Nearest(epsilon, count, near) for near in tried), key=lambda nearest: nearest.gain)


@lru_cache(maxsize=4096)
def _largest(count: int, near: int) -> tuple[float, float]:
    from scipy.special import bdtr, ndtr

    above = ndtr(-_PLACES)
    among = bdtr(near - 1, count - 1, above) * np.exp(-np.square(_PLACES) / 2) / np.sqrt(2 * np.pi)
    step = _PLACES[1] - _PLACES[0]
    return float(count * step * (_PLACES @ among)), float(count * step * (np.square(_PLACES) @ among))
