"""A window around the number: what piecewise and square wave have in common, cell by cell, in whole numbers.

A number is a code t ∈ {0 … s}. What is sent is one of K = s + w cells. The w cells t … t + w − 1 are the *window*: each
has H of the 2⁶⁴ words, or H + 1 the first few, so that nothing is left over; each of the s other cells has L. One word
decides: the lowest s·L words name the cells outside of the window in their order, the next w·H words the cells of the
window, and the last few the first cells of the window once more.

**Guarantee**: ε for replacing one number, exactly: a cell has at least L words and at most H + 1 ≤ e^ε·L, whatever the
code; so any two chances of one cell differ by at most e^ε. L is the least for which that holds.
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
from sordino.collect.coins import WORD, at_least, odds
from sordino.collect.randomizer import Codes
from sordino.noise.keystream import SOURCE, BitSource

from .scale import checked_steps


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
    def outside(self) -> int:
        """How many words each cell outside of the window has: L."""
        most = odds(self.epsilon)
        words = at_least(1 / (self.width * most + self.steps))
        while -(-(WORD - self.steps * words) // self.width) > most * words:
            words += 1  # at most once: the left side falls and the right side grows by more than 1
        return words

    @cached_property
    def inside(self) -> int:
        """How many words each cell of the window has at least: H."""
        return (WORD - self.steps * self.outside) // self.width

    @property
    def left_over(self) -> int:
        """How many cells of the window, the first ones, have one word more."""
        return WORD - self.steps * self.outside - self.width * self.inside

    def cell(self, code: int, word: int) -> int:
        """Return the cell that a word names."""
        border = self.steps * self.outside
        if word < border:
            place = word // self.outside
            return place if place < code else place + self.width
        place = (word - border) // self.inside
        return code + (place if place < self.width else (word - border) - self.width * self.inside)

    def draw(self, code: int, source: BitSource) -> int:
        """Return a cell for a code by the next word."""
        return self.cell(code, source.word())

    def cell_of_each(self, codes: Codes) -> Codes:
        """Return a cell for each of many codes, by words of the house."""
        words = SOURCE.words(len(codes))
        border = np.uint64(self.steps * self.outside)
        lost = words < border
        place = (words // np.uint64(self.outside)).astype(np.int64)
        place += np.where(place < codes, 0, self.width)
        rest = words - border  # wraps where the word is below; not used there
        within = (rest // np.uint64(self.inside)).astype(np.int64)
        spare = (rest - np.uint64(self.width) * np.uint64(self.inside)).astype(np.int64)
        return np.where(lost, place, codes + np.where(within < self.width, within, spare))

    def law(self, code: int) -> list[int]:
        """Return how many words each cell has for a code: the whole law, for checks on small grids."""
        words = [self.outside] * self.cells
        for place in range(self.width):
            words[code + place] = self.inside + (place < self.left_over)
        return words

    def moments(self, code: int) -> tuple[Fraction, Fraction]:
        """Return the means of u and of u², exactly, for u = 2·cell − (cells − 1): cells counted from the middle."""
        begin = 2 * code - (self.cells - 1)
        more = self.inside - self.outside
        first = more * _first(begin, self.width) + _first(begin, self.left_over)
        second = self.outside * _second(-(self.cells - 1), self.cells)
        second += more * _second(begin, self.width) + _second(begin, self.left_over)
        return Fraction(first, WORD), Fraction(second, WORD)

    def public(self) -> Mapping[str, Any]:
        """Return the steps, the width and the words."""
        words = {"outside": str(self.outside), "inside": str(self.inside)}
        return {"steps": self.steps, "width": self.width, **words}

    def centred(self, cells: Codes) -> NDArray[np.int64]:
        """Return u for each cell."""
        return 2 * cells - (self.cells - 1)


def _first(begin: int, count: int) -> int:
    """Return the sum of begin, begin + 2, … of so many terms."""
    return count * (begin + count - 1)


def _second(begin: int, count: int) -> int:
    """Return the sum of squares of begin, begin + 2, … of so many terms."""
    squares = (count - 1) * count * (2 * count - 1) // 6
    return count * begin * begin + 2 * begin * count * (count - 1) + 4 * squares
