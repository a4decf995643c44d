"""Unary encoding: one bit for each value, 1 more often for the value held, and every bit by a coin of its own.

*Symmetric*: own and other bits lie alike, with the odds e^(ε/2) each. *Optimised*: the own bit is a fair coin, others
are 1 with the chance 1/(e^ε + 1); that has the least variance for values that few hold.

With P words for the own bit and Q for others, of 2⁶⁴:
symmetric P = ⌊2⁶⁴·s/(s + 1)⌋ with s ≤ e^(ε/2), and Q = 2⁶⁴ − P; optimised P = 2⁶³, Q = ⌈2⁶⁴/(e^ε + 1)⌉.

**Guarantee**: ε for replacing one value, exactly. Two values differ in the coins of two bits, so chances of a payload
differ by P(2⁶⁴ − Q) / (Q(2⁶⁴ − P)) at most: (P/Q)² ≤ s² ≤ e^ε, or (2⁶⁴ − Q)/Q ≤ e^ε.
**Assumes**: who takes part is public.
**Source**: Erlingsson, Pihur, Korolova 2014 (symmetric); Wang, Blocki, Li, Jha 2017, Section 4.2 (optimised).

Value v is bit v mod 8 of byte v div 8. A device takes one word for each value, in their order.
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
from sordino.arguments import one_of, whole
from sordino.collect.coins import WORD, at_least, at_most, local_epsilon, odds
from sordino.collect.frequencies.columns import column_counts, nothing_beyond
from sordino.collect.frequencies.support import Support, Supporting
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.noise.keystream import SOURCE, BitSource
from sordino.noise.planes import planes

LARGEST = 2**20
"""Values at most: beyond it a report has more than 128 KiB, and hashing says the same in a few bytes."""


@dataclass(frozen=True)
class Unary(Supporting):
    """A bit for each of `domain` values; `coins` are "optimised" or "symmetric".

    >>> len(Unary(domain=20, epsilon=1).report(7, SOURCE))
    3
    """

    domain: int
    epsilon: Fraction
    coins: str = "optimised"

    protocol: ClassVar[str] = "unary"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", local_epsilon(self.epsilon))
        whole("domain", self.domain, least=2, most=LARGEST)
        one_of("coins", self.coins, ("optimised", "symmetric"))

    @cached_property
    def own(self) -> int:
        """Of how many words the bit of the value held is 1."""
        if self.coins == "optimised":
            return WORD // 2
        half = odds(self.epsilon / 2)
        return at_most(half / (half + 1))

    @cached_property
    def other(self) -> int:
        """Of how many words the bit of another value is 1."""
        if self.coins == "optimised":
            return at_least(1 / (odds(self.epsilon) + 1))
        return WORD - self.own

    @cached_property
    def support(self) -> Support:
        """A report supports the values whose bits are 1."""
        return Support(Fraction(self.own, WORD), Fraction(self.other, WORD))

    @property
    def size(self) -> int:
        """As many bytes as bits need."""
        return (self.domain + 7) // 8

    def event(self) -> Event:
        """Return one ε-private report."""
        return events.Pure(self.epsilon)

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return shuffled unary reports by these very coins."""
        return events.ShuffledUnary(self.support.own, self.support.other, reports, delta)

    def public(self) -> Mapping[str, Any]:
        """Return the domain and the words of both coins."""
        return {"protocol": self.protocol, "domain": self.domain, "own": str(self.own), "other": str(self.other)}

    def report(self, value: int, source: BitSource) -> bytes:
        """Return the bits, the first value in the lowest bit of the first byte."""
        limits = np.full(self.domain, self.other, dtype=np.uint64)
        limits[value] = self.own
        return np.packbits(source.words(self.domain) < limits, bitorder="little").tobytes()

    def reports(self, values: Codes) -> Payloads:
        """Return payloads for many values at once: coins of others for all bits, then the own bit anew."""
        people = len(values)
        words = planes(self.other, (people * self.size + 7) // 8)
        payloads = words.astype("<u8", copy=False).view(np.uint8)[: people * self.size].reshape(people, self.size)
        if self.domain % 8:
            payloads[:, -1] &= np.uint8((1 << self.domain % 8) - 1)
        rows, places, bits = np.arange(people), values >> 3, (values & 7).astype(np.uint8)
        own = (SOURCE.words(people) < np.uint64(self.own)).astype(np.uint8)
        payloads[rows, places] = payloads[rows, places] & ~(np.uint8(1) << bits) | own << bits
        return payloads

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which have no bit beyond the last value."""
        return nothing_beyond(payloads, self.domain)

    def count(self, payloads: Payloads) -> Counts:
        """Return how many reports have each value's bit."""
        return column_counts(payloads)[: self.domain]
