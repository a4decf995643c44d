"""Apple's Count-*Mean* Sketch: a device draws one of many hash functions and sends its row of bits, some flipped.

The device draws function j, writes a row of `width` bits with a 1 in the value's cell alone, and flips each bit by a
coin of the chance φ, the least multiple of 2⁻⁶⁴ with (1 − φ)/φ ≤ e^(ε/2). The server averages over functions; it does
not take the smallest row, as a Count-Min Sketch would: with noise in every cell the smallest is the luckiest.

**Guarantee**: ε for replacing one value, exactly: two values' rows differ in two bits at most, each of which changes
chances by (1 − φ)/φ at most; the function is drawn without looking at the value.
**Assumes**: as `k_ary`; for accuracy, that cells are as good as random (`fingerprint`).
**Source**: Apple Differential Privacy Team 2017, *Learning with Privacy at Scale*, algorithms 1, 2 and 3. In the words
of `support` the estimate there is: a report supports all values whose cell, by its function, shows a 1.
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
from sordino.collect.coins import WORD, at_least, local_epsilon, odds
from sordino.collect.estimate import Estimate
from sordino.collect.fingerprint import cell, cells_of, key, keys
from sordino.collect.frequencies.collisions import squares_of, with_collisions
from sordino.collect.frequencies.grouped import ones_by_group
from sordino.collect.frequencies.numbered import read, written
from sordino.collect.frequencies.sketch import Sketch, check_sketch, hash_of, supports
from sordino.collect.frequencies.support import Support
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.noise.keystream import SOURCE, BitSource, Words
from sordino.noise.planes import planes

_BLOCK = 2**22  # bytes of payloads that are worked on at a time


@dataclass(frozen=True)
class CountMeanSketch(Sketch):
    """A row of `width` bits by one of `hashes` functions; values are any whole numbers below `domain`, up to 2⁶⁴.

    >>> sketch = CountMeanSketch(domain=10, epsilon=4, hashes=16, width=64)
    >>> len(sketch.report(3, SOURCE)) == sketch.size == 10
    True
    """

    domain: int
    epsilon: Fraction
    hashes: int = 256
    width: int = 256
    salt: int = 0

    protocol: ClassVar[str] = "count-mean-sketch"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", local_epsilon(self.epsilon))
        check_sketch(self)

    @cached_property
    def flip(self) -> int:
        """How many words flip a bit."""
        return at_least(1 / (odds(self.epsilon / 2) + 1))

    @property
    def size(self) -> int:
        """Two bytes for the function, and the bits."""
        return 2 + self.width // 8

    @cached_property
    def support(self) -> Support:
        """A holder's bit is 1 unless flipped; another's only by a flip or a shared cell."""
        flipped = Fraction(self.flip, WORD)
        return Support(1 - flipped, flipped + (1 - 2 * flipped) / self.width)

    def event(self) -> Event:
        """Return one ε-private report."""
        return events.Pure(self.epsilon)

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return shuffled reports of some ε-private randomizer."""
        return events.ShuffledLocal(self.epsilon, reports, delta)

    def public(self) -> Mapping[str, Any]:
        """Return the shape of the sketch and how many words flip a bit."""
        return {**self.shape(), "flip": str(self.flip)}

    def report(self, value: int, source: BitSource) -> bytes:
        """Return the function and the row: one word draws the function, then one a bit, from the first on, flips."""
        which = hash_of(source.word(), self.hashes)
        bits = source.words(self.width) < np.uint64(self.flip)
        bits[cell(value, key(self.salt, which), self.width)] ^= True
        return which.to_bytes(2, "little") + np.packbits(bits, bitorder="little").tobytes()

    def reports(self, values: Codes) -> Payloads:
        """Return payloads for many values at once."""
        found = np.empty((len(values), self.size), dtype=np.uint8)
        step = max(1, _BLOCK // self.size)
        for start in range(0, len(values), step):
            self._write(found[start : start + step], values[start : start + step].astype(np.uint64))
        return found

    def _write(self, into: Payloads, values: Words) -> None:
        which = (SOURCE.words(len(values)) >> np.uint64(32)).astype(np.int64) * self.hashes >> 32
        lanes = -(-self.width // 64)
        rows = planes(self.flip, len(values) * lanes).astype("<u8", copy=False).view(np.uint8).reshape(len(values), -1)
        place = cells_of(values, keys(self.salt, which), self.width)
        rows[np.arange(len(values)), place >> 3] ^= (1 << (place & 7)).astype(np.uint8)
        into[:, :2] = written(which, 2)
        into[:, 2:] = rows[:, : self.width // 8]

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which name a function that there is."""
        return read(payloads[:, :2]) < self.hashes

    def count(self, payloads: Payloads) -> Counts:
        """Return, for each function, how many reports it has and how many 1s each cell."""
        return ones_by_group(payloads, self.hashes)

    def estimate_of(self, values: Words, counts: Counts, reports: int) -> Estimate:
        """Return how many hold each of `values`."""
        plain = self.support.estimate(supports(self, counts[:, 1:], values), reports)
        return with_collisions(plain, self._squares(counts, reports), cells=self.width, hashes=self.hashes)

    def _squares(self, counts: Counts, reports: int) -> float:
        rows = counts[counts[:, 0] > 1]
        if not len(rows):
            return float(reports) ** 2
        flipped = self.flip / WORD
        ones = rows[:, 1:] / rows[:, :1]
        contrast = 1 - 2 * flipped
        variances = ones * (1 - ones) / (rows[:, :1] - 1) / contrast**2
        return squares_of((ones - flipped) / contrast, variances, reports)


def _which(payloads: Payloads) -> Codes:
    return payloads[:, 0].astype(np.int64) + 256 * payloads[:, 1].astype(np.int64)
