"""Local Laplace: the number plus noise from a two-sided geometric law, on the public grid.

With s steps in the range and 2^g blocks of s/2^g steps, the noise is ±(a + ½) steps, a = n·s/2^g + r: r is uniform and
n = Σ b_k·2^k, whose binary digits b_k are independent coins with odds o_k : 1 against a 1. (The digits of a geometric
number are independent; these are rounded to words.) There are g digits below the range and B above. What leaves
2^B − 1 ranges to either side is sent as one cell, *outside*.

**Guarantee**: ε for replacing one number, exactly. Two codes are at most s steps apart, so their n for one cell are at
most 2^g apart. Two conditions, which are checked in fractions when the coins are made:
  falling: o_k ≥ Π_{l<k} o_l for all k, so P(n) never grows with n;
  within ε: o_k ≤ e^ε·Π_{g≤l<k} o_l for k ≥ g. From n to n + 2^g a run of ones above digit g becomes zeros and a zero
  becomes a one, so P(n) ≤ e^ε·P(n + 2^g); with *falling*, for all n′ between as well. (Where n + 2^g is too large, both
  are in the last range, where P falls by Π_{l<g} o_l ≤ o_g ≤ e^ε.)
Every cell is reached from every code. *Outside* has P(last range)·(Q(t) + Q(s − t))/2, Q being the chance that a mod s
is at least so much: convex, so it is largest at t = 0, where it is 1, and least at s/2, where it is 2·P(b_{g−1} = 1) ≥
e^−ε: checked as well.
**Unbiased** up to *outside*, which moves a mean by less than 10⁻⁶ of the range.
**Source**: Ghosh, Roughgarden, Sundararajan 2012 (the geometric mechanism); Dwork et al. 2006.
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
from sordino.collect.coins import WORD, at_least, odds
from sordino.collect.frequencies.numbered import bytes_below, read, written
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.errors import ArgumentError
from sordino.noise.keystream import SOURCE, BitSource

from .estimated import Estimated, some
from .linear import Linear
from .means import Means, checked_epsilon
from .scale import FINE, checked_code, checked_codes, checked_steps

_BLOCKS = 5  # digits below the range: steps of e^(ε/32)
_FAR = 16  # the last range has e^−16 of the noise, or less


@dataclass(frozen=True)
class LocalLaplace(Means):
    """A cell for a code from 0 to `steps`."""

    epsilon: Fraction
    steps: int = FINE

    protocol: ClassVar[str] = "local-laplace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_steps(self.steps, most=FINE)
        check_digits(self.digits, self.below, odds(self.epsilon))

    @property
    def below(self) -> int:
        """How many digits there are below the range: g."""
        return min(_BLOCKS, self.steps.bit_length() - 1)

    @property
    def fine(self) -> int:
        """How many bits of a are uniform."""
        return self.steps.bit_length() - 1 - self.below

    @cached_property
    def digits(self) -> tuple[int, ...]:
        """How many words say 1, for each digit of n, lowest first."""
        ranges = max(1, math.ceil(math.log2(1 + _FAR / float(self.epsilon))))
        words = [at_least(1 / (1 + odds(self.epsilon * 2**k / 2**self.below))) for k in range(self.below)]
        most = odds(self.epsilon)
        for _ in range(ranges):
            words.append(at_least(1 / (1 + most)))
            most *= _odds_of(words[-1])
        return tuple(words)

    @property
    def reach(self) -> int:
        """How many ranges a cell may lie beyond the range, to either side."""
        return (1 << (len(self.digits) - self.below)) - 1

    @property
    def outside(self) -> int:
        """The cell for all that lies farther: also how many others there are."""
        return (2 * self.reach + 1) * self.steps

    @cached_property
    def linear(self) -> Linear:
        """The variance is that of the noise, whatever the number."""
        chances = [Fraction(words, WORD) for words in self.digits]
        mean = sum((chance * 2**k for k, chance in enumerate(chances)), Fraction(0)) * 2**self.fine
        mean += Fraction(2**self.fine, 2)  # with the uniform bits, and with the half step
        spread = sum((chance * (1 - chance) * 4**k for k, chance in enumerate(chances)), Fraction(0)) * 4**self.fine
        spread += Fraction(4**self.fine - 1, 12)
        return Linear(0.0, 2.0 * self.steps, float((spread + mean**2) / self.steps**2), 0.0, float(self.outside - 1))

    @property
    def size(self) -> int:
        """As many bytes as a cell takes."""
        return bytes_below(self.outside + 1)

    def event(self) -> Event:
        """Return what one report costs."""
        return events.Pure(self.epsilon)

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return shuffled reports of any randomizer with this ε."""
        return events.ShuffledLocal(self.epsilon, reports, delta)

    def public(self) -> Mapping[str, Any]:
        """Return the steps and the words of each digit."""
        digits = [str(words) for words in self.digits]
        return {"protocol": self.protocol, "steps": self.steps, "below": self.below, "digits": digits}

    def report(self, value: int, source: BitSource) -> bytes:
        """Return the cell, lowest byte first: a word for each digit, then one for the sign and the uniform bits."""
        checked_code(value, self.steps)
        blocks = sum((source.word() < words) << k for k, words in enumerate(self.digits))
        last = source.word()
        far = (blocks << self.fine) + (last & ((1 << self.fine) - 1))
        return self._cell(value, far, last >> 63).to_bytes(self.size, "little")

    def _cell(self, value: int, far: int, up: int) -> int:
        place = self.reach * self.steps + (value + far if up else value - 1 - far)
        return place if 0 <= place < self.outside else self.outside

    def reports(self, values: Codes) -> Payloads:
        """Return cells for many codes at once."""
        checked_codes(values, self.steps)
        blocks = np.zeros(len(values), dtype=np.int64)
        for k, words in enumerate(self.digits):
            blocks += (SOURCE.words(len(values)) < np.uint64(words)).astype(np.int64) << k
        last = SOURCE.words(len(values))
        far = (blocks << self.fine) + (last & np.uint64((1 << self.fine) - 1)).astype(np.int64)
        place = self.reach * self.steps + np.where(last >> np.uint64(63), values + far, values - 1 - far)
        return written(np.where((place >= 0) & (place < self.outside), place, self.outside), self.size)

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which name a cell."""
        return read(payloads) <= self.outside

    def count(self, payloads: Payloads) -> Counts:
        """Return [reports, Σu, 0] of cells counted from the middle; *outside* counts as the middle.

        Squares are not kept: they could leave 64 bits, and the variance is the same whatever people hold.
        """
        cells = read(payloads)
        centred = np.where(cells < self.outside, 2 * cells - (self.outside - 1), 0)
        return np.array([len(cells), centred.sum(), 0], dtype=np.int64)

    def estimate(self, counts: Counts, reports: float) -> Estimated:
        """Return the mean, as a share of the range, of `reports` people: those who answered, or more."""
        found = self.linear.estimate(some(counts, 3), 0)
        drawn = 0.25 if reports > found.reports else 0.0  # reports do not tell how people differ: the most there can be
        errors = np.sqrt(np.square(found.standard_errors) + drawn / found.reports)
        return Estimated(found.values, errors, found.reports)


def _odds_of(words: int) -> Fraction:
    return Fraction(WORD - words, words)


def check_digits(digits: tuple[int, ...], below: int, most: Fraction) -> None:
    """Refuse digits that break a condition of the module's proof."""
    lower = above = Fraction(1)
    kept = len(digits) > below and 2 * digits[below - 1] * most >= WORD
    for k, words in enumerate(digits):
        against = _odds_of(words)
        kept = kept and against >= lower and (k < below or against <= most * above)
        lower *= against
        above *= against if k >= below else 1
    if not kept:
        raise ArgumentError("these coins would lose more than ε; give another ε or other steps", "SRD-C205")
