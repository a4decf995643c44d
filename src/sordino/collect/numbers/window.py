"""A window around the number: what piecewise and square wave have in common, cell by cell, in whole numbers.

A number is a code t ∈ {0 … s}. What is sent is one of K = s + w cells. The w cells t … t + w − 1 are the *window*, and
have the higher of two levels of chances (`two_levels`); the s other cells have the lower one. One word decides.

**Guarantee**: ε for replacing one number, exactly, by that of `two_levels`.
**Unbiased**: a cell's weight depends on its place in the window alone, so the mean of cells is linear in t and the mean
of their squares is a parabola, both exactly.
**Source**: Wang et al. 2019 (piecewise), Li et al. 2020 (square wave): with s → ∞ these are the same two-level
densities; only the width of the window differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import whole
from sordino.collect.coins import WORD
from sordino.collect.randomizer import Codes
from sordino.noise.keystream import SOURCE, BitSource

from .scale import checked_code, checked_codes, checked_steps
from .two_levels import TwoLevels


@dataclass(frozen=True)
class Window:
    """`width` of `steps` + `width` cells have more weight than the others: those that begin at the code."""

    steps: int
    width: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        checked_steps(self.steps)
        whole("width", self.width, least=1, most=64 * self.steps)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.steps + self.width

    @cached_property
    def levels(self) -> TwoLevels:
        """The words of cells in the window and outside of it."""
        return TwoLevels(self.width, self.steps, self.epsilon)

    def cell(self, code: int, word: int) -> int:
        """Return the cell that a word names."""
        own, place = self.levels.place(word)
        if own:
            return code + place
        return place if place < code else place + self.width

    def draw(self, code: int, source: BitSource) -> int:
        """Return a cell for a code by the next word."""
        return self.cell(checked_code(code, self.steps), source.word())

    def cell_of_each(self, codes: Codes) -> Codes:
        """Return a cell for each of many codes, by words of the house."""
        checked_codes(codes, self.steps)
        own, place = self.levels.places(SOURCE.words(len(codes)))
        return np.where(own, codes + place, place + np.where(place < codes, 0, self.width))

    def law(self, code: int) -> list[int]:
        """Return how many words each cell has for a code: the whole law, for checks on small grids."""
        words = [self.levels.outside] * self.cells
        for place in range(self.width):
            words[code + place] = self.levels.inside + (place < self.levels.left_over)
        return words

    def moments(self, code: int) -> tuple[Fraction, Fraction]:
        """Return the means of u and of u², exactly, for u the cell counted from the middle."""
        begin, levels = code - self.cells // 2, self.levels
        more = levels.inside - levels.outside
        first = second = 0
        for words, start, count in (
            (levels.outside, -(self.cells // 2), self.cells),
            (more, begin, self.width),
            (1, begin, levels.left_over),
        ):
            first += words * _first(start, count)
            second += words * _second(start, count)
        return Fraction(first, WORD), Fraction(second, WORD)

    def centred(self, cells: Codes) -> NDArray[np.int64]:
        """Return u for each cell: its square stays below 2³², so that sums over 2³¹ reports stay within 64 bits."""
        return cells - self.cells // 2

    def public(self) -> Mapping[str, Any]:
        """Return the steps, the width and the words."""
        words = {"outside": str(self.levels.outside), "inside": str(self.levels.inside)}
        return {"steps": self.steps, "width": self.width, **words}


def _first(begin: int, count: int) -> int:
    """Return the sum of so many whole numbers from `begin` on."""
    return count * begin + count * (count - 1) // 2


def _second(begin: int, count: int) -> int:
    """Return the sum of their squares."""
    squares = (count - 1) * count * (2 * count - 1) // 6
    return count * begin * begin + begin * count * (count - 1) + squares
