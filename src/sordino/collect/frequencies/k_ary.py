"""K-ary randomized response: the value itself, or by a coin another one, all others alike.

One word decides. Let L be the least whole number with L ≥ 2⁶⁴/(e^ε + k − 1). Each of the k − 1 other values has L of
the 2⁶⁴ words, the true one has the rest, T = 2⁶⁴ − (k − 1)L ≤ e^ε·L.

**Guarantee**: ε for replacing one value, exactly: 1 < T/L ≤ e^ε, and all else is alike. Where ε is below about k²/2⁶⁴
no whole L leaves T above it; that is refused.
**Assumes**: who takes part is public; what a device holds is hidden, not that it answers.
**Source**: Warner 1965; Kairouz, Oh, Viswanath 2016.
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
from sordino.arguments import whole
from sordino.collect.coins import WORD, at_least, local_epsilon, odds
from sordino.collect.frequencies.numbered import bytes_below, read, written
from sordino.collect.frequencies.support import Support, Supporting
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.errors import ArgumentError
from sordino.noise.keystream import SOURCE, BitSource

_BLOCK = 1 << 15  # reports at once, so that they stay in the processor's cache


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
        object.__setattr__(self, "epsilon", local_epsilon(self.epsilon))
        whole("domain", self.domain, least=2, most=2**31)
        if self.truth <= self.lie:
            raise ArgumentError(
                f"k-ary response over {self.domain} values at so small an ε needs finer coins than 2⁻⁶⁴; "
                "use local hashing",
                "SRD-C106",
            )

    @cached_property
    def lie(self) -> int:
        """How many words each other value has."""
        return at_least(1 / (odds(self.epsilon) + self.domain - 1))

    @cached_property
    def truth(self) -> int:
        """How many words the true value has."""
        return WORD - (self.domain - 1) * self.lie

    @cached_property
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
        # The place after the last lie is the truth: as many steps on as there are values.
        place = min(source.word() // self.lie, self.domain - 1)
        return ((value + 1 + place) % self.domain).to_bytes(self.size, "little")

    def reports(self, values: Codes) -> Payloads:
        """Return payloads for many values at once."""
        payloads = np.empty((len(values), self.size), dtype=np.uint8)
        for start in range(0, len(values), _BLOCK):
            part = values[start : start + _BLOCK]
            places = SOURCE.words(len(part))
            places //= np.uint64(self.lie)
            told = np.minimum(places, np.uint64(self.domain - 1)).view(np.int64)
            told += part
            told += 1
            told -= self.domain * (told >= self.domain)
            payloads[start : start + _BLOCK] = written(told, self.size)
        return payloads

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which name a value of the domain."""
        return read(payloads) < self.domain

    def count(self, payloads: Payloads) -> Counts:
        """Return how many reports name each value."""
        return np.bincount(read(payloads), minlength=self.domain).astype(np.int64)
