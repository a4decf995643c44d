"""Two values: one bit, whose chance is linear in the number.

One word decides. Of 2⁶⁴ words, L + t·S say 1 for a code t ∈ {0 … s}; L is the least multiple of s/2 with
L ≥ 2⁶⁴/(e^ε + 1), and s·S = 2⁶⁴ − 2L.

**Guarantee**: ε for replacing one number, exactly: both bits have between L and 2⁶⁴ − L ≤ e^ε·L words. It is binary
randomized response of an end of the range that was drawn before, so shuffled it costs no more than that: what is drawn
before mixes pairs of neighbours, and mixing does not raise δ at any ε (joint convexity).
**Unbiased**: the chance is linear in t, exactly.
**Source**: Duchi, Jordan, Wainwright 2018, for one dimension; Wang et al. 2019, algorithm 1.
"""

from __future__ import annotations

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
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.noise.keystream import SOURCE, BitSource

from .linear import Linear, Moments, sums
from .means import Means, checked_epsilon
from .scale import FINE, checked_code, checked_codes, checked_steps


@dataclass(frozen=True)
class TwoValues(Means):
    """A bit for a code from 0 to `steps`.

    >>> TwoValues(epsilon=1, steps=4).report(4, SOURCE) in (bytes([0]), bytes([1]))
    True
    """

    epsilon: Fraction
    steps: int = FINE

    protocol: ClassVar[str] = "two-values"
    size: ClassVar[int] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        checked_steps(self.steps)

    @cached_property
    def least(self) -> int:
        """How many words say 1 for the lowest code, and 0 for the highest."""
        part = self.steps // 2
        return -(-at_least(1 / (odds(self.epsilon) + 1)) // part) * part

    @cached_property
    def step(self) -> int:
        """How many more words say 1 for the next code."""
        return (WORD - 2 * self.least) // self.steps

    @cached_property
    def linear(self) -> Linear:
        """How sums of bits become a mean."""
        return Linear.of(self.moments, self.steps, 1)

    def moments(self, code: int) -> Moments:
        """Return the means of u and u², for u = ±1."""
        return Fraction(2 * (self.least + code * self.step) - WORD, WORD), Fraction(1)

    def event(self) -> Event:
        """Return one randomized response with two values."""
        return events.RandomizedResponse(self.epsilon, 2)

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return shuffled randomized responses with two values."""
        return events.ShuffledResponse(self.epsilon, 2, reports, delta)

    def public(self) -> Mapping[str, Any]:
        """Return the steps and the words."""
        return {"protocol": self.protocol, "steps": self.steps, "least": str(self.least), "step": str(self.step)}

    def report(self, value: int, source: BitSource) -> bytes:
        """Return the bit, by one word."""
        return bytes([source.word() < self.least + checked_code(value, self.steps) * self.step])

    def reports(self, values: Codes) -> Payloads:
        """Return bits for many codes at once."""
        limits = np.uint64(self.least) + checked_codes(values, self.steps).astype(np.uint64) * np.uint64(self.step)
        return (SOURCE.words(len(values)) < limits).astype(np.uint8)[:, None]

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which are 0 or 1."""
        return payloads[:, 0] <= 1

    def count(self, payloads: Payloads) -> Counts:
        """Return [reports, Σu, Σu²] for u = ±1."""
        return sums(2 * payloads[:, 0].astype(np.int64) - 1)
