"""Two levels of chances in whole words: some outcomes have e^ε times the chance of the others, and no more.

Of 2⁶⁴ words each of the `others` outcomes has L, each of the `own` ones has H, and the first few of those H + 1, so
that nothing is left over. L is the least with ⌈(2⁶⁴ − others·L)/own⌉ ≤ e^ε·L.

**Guarantee**: whichever outcomes are the `own` ones (how many is fixed), any two chances of one outcome differ by e^ε
at most: all are between L and ⌈(2⁶⁴ − others·L)/own⌉ ≤ e^ε·L.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sordino.collect.coins import WORD, at_least, odds
from sordino.collect.randomizer import Codes
from sordino.noise.keystream import Words


@dataclass(frozen=True)
class TwoLevels:
    """How a word becomes a place among the others, or a place among one's own."""

    own: int
    others: int
    epsilon: Fraction

    @cached_property
    def outside(self) -> int:
        """How many words each of the others has: L."""
        most = odds(self.epsilon)
        words = at_least(1 / (self.own * most + self.others))
        while -(-(WORD - self.others * words) // self.own) > most * words:
            words += 1  # at most once: the left side does not grow, and the right side does by 1 or more
        return words

    @cached_property
    def inside(self) -> int:
        """How many words each of one's own has at least: H."""
        return (WORD - self.others * self.outside) // self.own

    @property
    def left_over(self) -> int:
        """How many of one's own, the first ones, have one word more."""
        return WORD - self.others * self.outside - self.own * self.inside

    def place(self, word: int) -> tuple[bool, int]:
        """Return whether a word names one of one's own, and which place among them, or else among the others."""
        border = self.others * self.outside
        if word < border:
            return False, word // self.outside
        place = (word - border) // self.inside
        return True, place if place < self.own else (word - border) - self.own * self.inside

    def places(self, words: Words) -> tuple[NDArray[np.bool_], Codes]:
        """Return the same for many words."""
        border = np.uint64(self.others * self.outside)
        own = words >= border
        rest = words - border  # wraps where the word is below; not used there
        place = (rest // np.uint64(self.inside)).astype(np.int64)
        spare = (rest - np.uint64(self.own * self.inside)).astype(np.int64)
        among = np.where(place < self.own, place, spare)
        return own, np.where(own, among, (words // np.uint64(self.outside)).astype(np.int64))
