"""Hadamard response: a place in a table of ±1 at which the row of the value held has +1, or by a coin has −1.

K is the least power of two above `domain`. Row v + 1 of the K × K Hadamard matrix has +1 at y where (v + 1) and y have
an even number of bits in common: at K/2 places, and any two rows agree at half of all. A report is a y: of the +1 with
the chance T/2⁶⁴, T = ⌊2⁶⁴·e^ε/(e^ε + 1)⌋, all alike, else of the −1, all alike. It supports all values that have +1
there: the one held with the chance T/2⁶⁴, any other with ½.

A device takes two words: the lowest bits of the first are a y; if the second says so, y moves to the other half by
turning over the lowest bit of v + 1 in it, which pairs the two halves.

**Guarantee**: ε for replacing one value, exactly: chances of a y are 2T/(K·2⁶⁴) or 2(2⁶⁴ − T)/(K·2⁶⁴).
**Assumes**: who takes part is public.
**Source**: Acharya, Sun, Zhang 2019, Section 4 (the scheme of one bit). Its variance stays above 1 for each report
however large ε is: from ε = 2 on others are much better, and `frequency` takes them.
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
from sordino.collect.coins import WORD, at_most, local_epsilon, odds
from sordino.collect.frequencies.numbered import bytes_below, read, written
from sordino.collect.frequencies.support import Support, Supporting
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.noise.keystream import SOURCE, BitSource

LARGEST = 2**26
"""Values at most: counts of all places are held in memory."""


@dataclass(frozen=True)
class Hadamard(Supporting):
    """A place among `places` at which the row of the value held has +1, or has not.

    >>> Hadamard(domain=3, epsilon=1).places
    4
    """

    domain: int
    epsilon: Fraction

    protocol: ClassVar[str] = "hadamard"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", local_epsilon(self.epsilon))
        whole("domain", self.domain, least=2, most=LARGEST)

    @property
    def places(self) -> int:
        """The least power of two above the domain."""
        return 1 << self.domain.bit_length()

    @cached_property
    def truth(self) -> int:
        """Of how many words the place is one of the +1."""
        power = odds(self.epsilon)
        return at_most(power / (power + 1))

    @cached_property
    def support(self) -> Support:
        """A report supports the values whose rows have +1 at its place."""
        return Support(Fraction(self.truth, WORD), Fraction(1, 2))

    @property
    def size(self) -> int:
        """As many bytes as a place takes."""
        return bytes_below(self.places)

    def event(self) -> Event:
        """Return one ε-private report."""
        return events.Pure(self.epsilon)

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return shuffled reports of an ε-private randomizer: nothing tighter is proven for this one."""
        return events.ShuffledLocal(self.epsilon, reports, delta)

    def public(self) -> Mapping[str, Any]:
        """Return the domain, the places and the words of the coin."""
        return {
            "protocol": self.protocol,
            "domain": self.domain,
            "places": self.places,
            "truth": str(self.truth),
        }

    def report(self, value: int, source: BitSource) -> bytes:
        """Return a place, lowest byte first."""
        row = value + 1
        place = source.word() % self.places
        lies = source.word() >= self.truth
        if (place & row).bit_count() % 2 != lies:
            place ^= row & -row
        return place.to_bytes(self.size, "little")

    def reports(self, values: Codes) -> Payloads:
        """Return payloads for many values at once."""
        rows = values + 1
        places = (SOURCE.words(len(values)) & np.uint64(self.places - 1)).view(np.int64)
        lies = SOURCE.words(len(values)) >= np.uint64(self.truth)
        wrong = (np.bitwise_count(places & rows) & 1) != lies
        places ^= (rows & -rows) * wrong
        return written(places, self.size)

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which name a place of the table."""
        return read(payloads) < self.places

    def count(self, payloads: Payloads) -> Counts:
        """Return how many reports name each place."""
        return np.bincount(read(payloads), minlength=self.places).astype(np.int64)

    def supported(self, counts: Counts) -> Counts:
        """Return how many reports support each value: (all + the row's sum) / 2, rows by the fast transform."""
        sums = _transformed(counts)
        return np.asarray((sums[0] + sums[1 : self.domain + 1]) // 2)


def _transformed(counts: Counts) -> Counts:
    """Return the Hadamard matrix times the counts, in exact integers (Walsh 1923; n log n by halves)."""
    table, half = counts.copy(), 1
    while half < len(table):
        pairs = table.reshape(-1, 2, half)
        upper = pairs[:, 0] - pairs[:, 1]
        pairs[:, 0] += pairs[:, 1]
        pairs[:, 1] = upper
        half *= 2
    return table
