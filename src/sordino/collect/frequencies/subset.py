"""Subset selection: a set of w values that, by a coin, has the value held among them.

w is the whole number next to domain/(e^ε + 1) by which estimates are best. The value held is in the set with the chance
T/2⁶⁴, T = ⌊2⁶⁴·w·e^ε / (w·e^ε + domain − w)⌋; the rest of the set is drawn from the other values, all sets alike.

**Guarantee**: ε for replacing one value, exactly. A given set has the chance T/2⁶⁴ / C(k−1, w−1) if the value is in it,
and (1 − T/2⁶⁴) / C(k−1, w) if not; the quotient is T/(2⁶⁴ − T) · (k − w)/w ≤ e^ε.
**Assumes**: who takes part is public.
**Source**: Wang, Huang, Nie et al. 2016; Ye, Barg 2018 (its error is the least of all, but for lower terms).

A device takes one word for the coin, and then for j = m − r, …, m − 1 (r values wanted of m = domain − 1 others) one
for a number t uniform on 0 … j: a word modulo j + 1, and the next word instead of one of the last 2⁶⁴ mod (j + 1). It
takes other number t, or j where t is taken already (Floyd 1987). Other number o is value o, or o + 1 from the value
held on. A payload is the set as a bit for each value or, where that is shorter, as numbers in rising order.
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

from sordino import noise
from sordino.accounting import events
from sordino.accounting.event import Event
from sordino.arguments import whole
from sordino.collect.coins import WORD, at_most, below, local_epsilon, odds
from sordino.collect.frequencies.columns import column_counts, nothing_beyond
from sordino.collect.frequencies.numbered import bytes_below, read, written
from sordino.collect.frequencies.support import Support, Supporting
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.noise.keystream import SOURCE, BitSource
from sordino.noise.planes import planes

LARGEST = 2**20
"""Values at most, as for unary encoding."""
_BLOCK = 1 << 26  # bytes of bits for sets that are drawn at once


@dataclass(frozen=True)
class Subset(Supporting):
    """A set of `chosen` of `domain` values.

    >>> Subset(domain=100, epsilon=1).chosen
    27
    """

    domain: int
    epsilon: Fraction

    protocol: ClassVar[str] = "subset"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", local_epsilon(self.epsilon))
        whole("domain", self.domain, least=2, most=LARGEST)

    @cached_property
    def chosen(self) -> int:
        """How many values a set has: one of the two beside domain/(e^ε + 1), by the squared error."""
        near = math.floor(self.domain / (odds(self.epsilon) + 1))
        sizes = [size for size in (near, near + 1) if 1 <= size < self.domain]
        return min(sizes, key=lambda size: self._with(size).mean_squared_error(self.domain))

    @cached_property
    def truth(self) -> int:
        """Of how many words the value held is in the set."""
        return self._truth(self.chosen)

    @cached_property
    def support(self) -> Support:
        """A report supports the values in its set."""
        return self._with(self.chosen)

    @property
    def listed(self) -> bool:
        """Whether a payload is a list of numbers; else it is bits."""
        return self.chosen * bytes_below(self.domain) < (self.domain + 7) // 8

    @property
    def size(self) -> int:
        """As many bytes as the shorter form needs."""
        return min(self.chosen * bytes_below(self.domain), (self.domain + 7) // 8)

    def event(self) -> Event:
        """Return one ε-private report."""
        return events.Pure(self.epsilon)

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return shuffled reports of an ε-private randomizer: nothing tighter is proven for this one."""
        return events.ShuffledLocal(self.epsilon, reports, delta)

    def public(self) -> Mapping[str, Any]:
        """Return the domain, the size of sets, the words of the coin, and the form of payloads."""
        return {
            "protocol": self.protocol,
            "domain": self.domain,
            "chosen": self.chosen,
            "truth": str(self.truth),
            "listed": self.listed,
        }

    def report(self, value: int, source: BitSource) -> bytes:
        """Return the set as bits or as numbers."""
        chosen = self.chosen
        inside = source.word() < self.truth
        others = self.domain - 1
        found: set[int] = set()
        for last in range(others - chosen + inside, others):
            drawn = below(last + 1, source)
            found.add(last if drawn in found else drawn)
        told = {other + (other >= value) for other in found} | ({value} if inside else set())
        if self.listed:
            return b"".join(each.to_bytes(bytes_below(self.domain), "little") for each in sorted(told))
        return sum(1 << each for each in told).to_bytes(self.size, "little")

    def reports(self, values: Codes) -> Payloads:
        """Return payloads for many values at once, in blocks that fit in memory."""
        step = max(1, _BLOCK // ((self.domain + 7) // 8))
        parts = [self._block(values[start : start + step]) for start in range(0, len(values), step)]
        return np.concatenate(parts) if parts else np.empty((0, self.size), dtype=np.uint8)

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which are sets of the right size of values of the domain."""
        if not self.listed:
            held = np.bitwise_count(payloads).sum(axis=1, dtype=np.int64)
            return np.asarray(nothing_beyond(payloads, self.domain) & (held == self.chosen))
        told = self._told(payloads)
        rising = np.all(told[:, 1:] > told[:, :-1], axis=1)
        return np.asarray(rising & (told[:, -1] < self.domain))

    def count(self, payloads: Payloads) -> Counts:
        """Return how many sets have each value."""
        if not self.listed:
            return column_counts(payloads)[: self.domain]
        return np.bincount(self._told(payloads).ravel(), minlength=self.domain).astype(np.int64)

    def _truth(self, chosen: int) -> int:
        weight = chosen * odds(self.epsilon)
        return at_most(weight / (weight + self.domain - chosen))

    def _with(self, chosen: int) -> Support:
        """Return the support of sets of that size: others share what is left of the set."""
        own = Fraction(self._truth(chosen), WORD)
        return Support(own, (chosen - own) / (self.domain - 1))

    def _block(self, values: Codes) -> Payloads:
        inside = SOURCE.words(len(values)) < np.uint64(self.truth)
        return self._numbers(values, inside) if self.listed else self._bits(values, inside)

    def _bits(self, values: Codes, inside: NDArray[np.bool_]) -> Payloads:
        """Toss a coin for each other value, then add or take away other values at random until there are enough.

        Given how many there are, all sets of so many are alike; one more or one less of them at random keeps that.
        """
        people, rows = len(values), np.arange(len(values))
        words = planes(self._fewer, (people * self.size + 7) // 8)
        taken = words.astype("<u8", copy=False).view(np.uint8)[: people * self.size].reshape(people, self.size)
        if self.domain % 8:
            taken[:, -1] &= np.uint8((1 << self.domain % 8) - 1)
        own, bits = values >> 3, np.uint8(1) << (values & 7).astype(np.uint8)
        taken[rows, own] &= ~bits
        more = self.chosen - inside - np.bitwise_count(taken).sum(axis=1, dtype=np.int64)
        left = np.flatnonzero(more)
        while len(left):
            drawn = noise.uniform(self.domain, len(left))
            held = (taken[left, drawn >> 3] >> (drawn & 7).astype(np.uint8)) & 1
            turned = ((more[left] < 0) == (held == 1)) & (drawn != values[left])
            who, place = left[turned], drawn[turned]
            taken[who, place >> 3] ^= np.uint8(1) << (place & 7).astype(np.uint8)
            more[who] -= np.sign(more[who])
            left = left[more[left] != 0]
        taken[rows, own] |= np.where(inside, bits, np.uint8(0))
        return taken

    @cached_property
    def _fewer(self) -> int:
        """Of how many words a bit is tossed as 1: so that mostly some are missing, which are sooner found than held."""
        share = self.chosen / self.domain
        spread = math.sqrt(share * (1 - share) / self.domain)
        return at_most(Fraction(max(share - 1.5 * spread, 0.0)))

    def _numbers(self, values: Codes, inside: NDArray[np.bool_]) -> Payloads:
        """Draw sets by Floyd's way, one step for all people at once; `taken` has a bit for each value."""
        people, chosen, others = len(values), self.chosen, self.domain - 1
        taken = np.zeros((people, (self.domain + 7) // 8), dtype=np.uint8)
        told = np.empty((people, chosen), dtype=np.int64)
        told[:, 0] = values  # of those who are not inside the first step draws it
        everyone = np.arange(people)
        for step in range(chosen):
            rows = everyone if step else np.flatnonzero(~inside)
            last = others - chosen + step
            drawn = noise.uniform(last + 1, len(rows))
            drawn += drawn >= values[rows]
            full = (taken[rows, drawn >> 3] >> (drawn & 7).astype(np.uint8)) & 1
            drawn = np.where(full, last + (last >= values[rows]), drawn)
            taken[rows, drawn >> 3] |= np.uint8(1) << (drawn & 7).astype(np.uint8)
            told[rows, step] = drawn
        told.sort(axis=1)
        return written(told.ravel(), bytes_below(self.domain)).reshape(people, self.size)

    def _told(self, payloads: Payloads) -> Codes:
        return read(payloads.reshape(-1, bytes_below(self.domain))).reshape(len(payloads), self.chosen)
