"""Apple's Hadamard Count-Mean Sketch: as the Count-Mean Sketch, but one bit a report, of the row's Hadamard transform.

The device draws function j and coordinate l, evenly, and sends the sign (−1)^(l·cell), l·cell being the parity of the
bits that both have; by a coin of the chance φ, the least multiple of 2⁻⁶⁴ with (1 − φ)/φ ≤ e^ε, the other sign.

**Guarantee**: ε for replacing one value, exactly: function and coordinate do not look at the value, and either sign has
the chance 1 − φ or φ.
**Assumes**: as `count_mean`.
**Source**: Apple Differential Privacy Team 2017, *Learning with Privacy at Scale*, algorithms 4 and 5. In the words of
`support`: a report supports all values whose cell has the sign that was sent; cells other than the holder's have it for
exactly half of the coordinates.
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
from sordino.collect.fingerprint import cells_of, keys
from sordino.collect.frequencies.collisions import squares_of, with_collisions
from sordino.collect.frequencies.numbered import read, written
from sordino.collect.frequencies.sketch import Sketch, check_sketch, supports
from sordino.collect.frequencies.support import Support
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.noise.keystream import SOURCE, BitSource, Words


@dataclass(frozen=True)
class HadamardCountMeanSketch(Sketch):
    """One sign of a row of `width` by one of `hashes` functions; values are any whole numbers below `domain`.

    >>> sketch = HadamardCountMeanSketch(domain=10, epsilon=1, hashes=16, width=64)
    >>> len(sketch.report(3, SOURCE)) == sketch.size == 2
    True
    """

    domain: int
    epsilon: Fraction
    hashes: int = 256
    width: int = 1024
    salt: int = 0

    protocol: ClassVar[str] = "hadamard-count-mean-sketch"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", local_epsilon(self.epsilon))
        check_sketch(self)

    @cached_property
    def flip(self) -> int:
        """How many words send the other sign."""
        return at_least(1 / (odds(self.epsilon) + 1))

    @property
    def places(self) -> int:
        """How many pairs of a function and a coordinate there are."""
        return self.hashes * self.width

    @property
    def size(self) -> int:
        """As many bytes as function, coordinate and sign take."""
        return (self.places.bit_length() + 7) // 8

    @cached_property
    def support(self) -> Support:
        """A holder's sign is right unless flipped; another's for half of the coordinates, or by a shared cell."""
        flipped = Fraction(self.flip, WORD)
        return Support(1 - flipped, Fraction(1, 2) + (Fraction(1, 2) - flipped) / self.width)

    def event(self) -> Event:
        """Return one ε-private report."""
        return events.Pure(self.epsilon)

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return shuffled reports of some ε-private randomizer."""
        return events.ShuffledLocal(self.epsilon, reports, delta)

    def public(self) -> Mapping[str, Any]:
        """Return the shape of the sketch and how many words send the other sign."""
        return {**self.shape(), "flip": str(self.flip)}

    def report(self, value: int, source: BitSource) -> bytes:
        """Return 2·(function·width + coordinate) + (1 for a minus): by a word for the place and one for the coin."""
        words = np.concatenate([source.words(1), source.words(1)])
        told = self._told(np.array([value % 2**64], dtype=np.uint64), words[:1], words[1:])
        return int(told[0]).to_bytes(self.size, "little")

    def reports(self, values: Codes) -> Payloads:
        """Return payloads for many values at once."""
        told = self._told(values.astype(np.uint64), SOURCE.words(len(values)), SOURCE.words(len(values)))
        return written(told, self.size)

    def _told(self, values: Words, places: Words, coins: Words) -> Codes:
        place = (places >> np.uint64(65 - self.places.bit_length())).astype(np.int64)
        which, coordinate = place // self.width, place % self.width
        cells = cells_of(values, keys(self.salt, which), self.width)
        minus = np.bitwise_count(cells & coordinate) & 1
        return np.asarray(2 * place + (minus ^ (coins < np.uint64(self.flip))), dtype=np.int64)

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which name a place of the sketch."""
        return read(payloads) < 2 * self.places

    def count(self, payloads: Payloads) -> Counts:
        """Return, for each function and coordinate, how many reports have plus and how many minus."""
        found = np.bincount(read(payloads), minlength=2 * self.places).astype(np.int64)
        return found.reshape(self.hashes, self.width, 2)

    def estimate_of(self, values: Words, counts: Counts, reports: int) -> Estimate:
        """Return how many hold each of `values`."""
        rows = counts.sum(axis=(1, 2))
        signed = transformed(counts[:, :, 0] - counts[:, :, 1])
        # Of a function's n reports (n + the transform) / 2 have the sign of a cell.
        plain = self.support.estimate(supports(self, (signed + rows[:, None]) // 2, values), reports)
        squares = self._squares(signed, rows, reports)
        return with_collisions(plain, squares, cells=self.width, hashes=self.hashes)

    def _squares(self, signed: Counts, rows: Counts, reports: int) -> float:
        used = rows > 1
        if not used.any():
            return float(reports) ** 2
        n = rows[used, None].astype(np.float64)
        scale = 1 / (1 - 2 * self.flip / WORD)
        shares = signed[used] / n * scale
        return squares_of(shares, (scale**2 - shares**2) / (n - 1), reports)


def transformed(rows: Counts) -> Counts:
    """Return the Walsh-Hadamard transform of each row, in whole numbers; its length is a power of two."""
    found, step = rows.copy(), 1
    while step < found.shape[1]:
        pairs = found.reshape(len(found), -1, 2, step)
        found = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2)
        found = found.reshape(len(rows), -1)
        step *= 2
    return found
