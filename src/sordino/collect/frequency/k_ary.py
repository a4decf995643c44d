"""K-ary randomized response: the value itself, or by a coin another one, all others alike.

One word decides. Let L be the least whole number with L ≥ 2⁶⁴/(e^ε + k − 1). Each of the k − 1 other values has L of
the 2⁶⁴ words, the true one has the rest, T = 2⁶⁴ − (k − 1)L ≤ e^ε·L.

**Guarantee**: ε for replacing one value, exactly: T/L ≤ e^ε, and all else is alike.
**Assumes**: who takes part is public; what a device holds is hidden, not that it answers.
**Source**: Warner 1965; Kairouz, Oh, Viswanath 2016.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.accounting import events
from sordino.accounting.event import Event
from sordino.arguments import rational, whole
from sordino.collect.coins import MOST_EPSILON, WORD, at_least, odds
from sordino.collect.frequency.numbered import bytes_below, read, written
from sordino.collect.frequency.support import Support, Supporting
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.noise.keystream import SOURCE, BitSource


@dataclass(frozen=True)
class KAry(Supporting):
    """One of `domain` values, as it is or as another.

    >>> KAry(domain=3, epsilon=1).report(2, SOURCE) in (bytes([0]), bytes([1]), bytes([2]))
    True
    """

    domain: int
    epsilon: Fraction

    protocol: ClassVar[str] = "k-ary"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", rational("epsilon", self.epsilon, above=0, most=MOST_EPSILON))
        whole("domain", self.domain, least=2, most=2**31)

    @property
    def lie(self) -> int:
        """How many words each other value has."""
        return at_least(1 / (odds(self.epsilon) + self.domain - 1))

    @property
    def truth(self) -> int:
        """How many words the true value has."""
        return WORD - (self.domain - 1) * self.lie

    @property
    def support(self) -> Support:
        """A report supports the value that it names."""
        return Support(Fraction(self.truth, WORD), Fraction(self.lie, WORD))

    @property
    def size(self) -> int:
        """As many bytes as a value takes."""
        return bytes_below(self.domain)

    def event(self) -> Event:
        """Return one randomized response."""
        return events.RandomizedResponse(self.epsilon, self.domain)

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return shuffled randomized responses."""
        return events.ShuffledResponse(self.epsilon, self.domain, reports, delta)

    def public(self) -> Mapping[str, Any]:
        """Return the domain and how many words each other value has."""
        return {"protocol": self.protocol, "domain": self.domain, "lie": str(self.lie)}

    def report(self, value: int, source: BitSource) -> bytes:
        """Return the value or another one, lowest byte first."""
        place = source.word() // self.lie
        told = value if place >= self.domain - 1 else (value + 1 + place) % self.domain
        return told.to_bytes(self.size, "little")

    def reports(self, values: Codes) -> Payloads:
        """Return payloads for many values at once."""
        place = (SOURCE.words(len(values)) // np.uint64(self.lie)).astype(np.int64)
        lied = place < self.domain - 1
        told = np.where(lied, values + 1 + place, values)
        told[told >= self.domain] -= self.domain
        return written(told, self.size)

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which name a value of the domain."""
        return read(payloads) < self.domain

    def count(self, payloads: Payloads) -> Counts:
        """Return how many reports name each value."""
        return np.bincount(read(payloads), minlength=self.domain).astype(np.int64)
