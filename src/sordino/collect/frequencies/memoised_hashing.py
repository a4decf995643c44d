"""LOLOHA: a hash function for life, a permanent k-ary response about the value's cell, and daily ones from that.

A device draws one of `seeds` functions into g cells and keeps it. Permanent: k-ary response over the cells at ε∞.
Daily: k-ary response with the permanent cell as its value, whose chance of each lie is the least multiple of 2⁻⁶⁴ at
which one report loses ε₁ at most. If D is by how much truth is likelier than a lie, both floors together have D =
D∞·D₁, and their ratio is 1 + g·D/(1 − D): so D ≤ (e^ε₁ − 1)/(e^ε₁ − 1 + g), solved for the daily coin in fractions.

**Guarantee**: ε∞ for replacing one value, however many reports are drawn from its permanent answer; ε₁ for one report
alone. Over days that change see ``memory.py``; here permanent answers belong to values, not to cells: if two values
shared one, which days are alike would show in one history and not in another.
**Assumes**: as `k_ary`; for accuracy, as `collisions`.
**Source**: Arcolezi, Pinzón, Palamidessi, Gambs 2023, *Frequency Estimation of Evolving Data Under Local Differential
Privacy*. The number of cells is the one with the smallest variance, by trying.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.accounting import events
from sordino.accounting.event import Event
from sordino.arguments import rational, whole
from sordino.collect.coins import LEAST_EPSILON, MOST_EPSILON, WORD, at_least, local_epsilon, odds
from sordino.collect.estimate import Estimate
from sordino.collect.fingerprint import cell, cells_of, key, keys
from sordino.collect.frequencies.collisions import with_collisions
from sordino.collect.frequencies.k_ary import KAry
from sordino.collect.frequencies.numbered import read, written
from sordino.collect.frequencies.support import Support, Supporting
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.errors import ArgumentError
from sordino.noise.keystream import SOURCE, BitSource

_MOST_CELLS = 256
_AT_A_TIME = 2**21


@dataclass(frozen=True)
class MemoisedHashing(Supporting):
    """Permanent answers at `longitudinal`, of which one report alone loses `epsilon`.

    >>> MemoisedHashing(domain=100, longitudinal=4, epsilon=2).size
    3
    """

    domain: int
    longitudinal: Fraction
    epsilon: Fraction
    seeds: int = 2**16
    salt: int = 0

    protocol: ClassVar[str] = "memoised-hashing"

    def __post_init__(self) -> None:
        longitudinal = rational("longitudinal", self.longitudinal, least=LEAST_EPSILON, most=MOST_EPSILON)
        object.__setattr__(self, "longitudinal", longitudinal)
        object.__setattr__(self, "epsilon", local_epsilon(self.epsilon))
        whole("domain", self.domain, least=2, most=2**24)
        whole("seeds", self.seeds, least=1, most=2**16)
        whole("salt", self.salt, least=0, most=2**64 - 1)
        if self.seeds & (self.seeds - 1):
            raise ArgumentError("seeds must be a power of two: one word then draws them evenly", "SRD-C154")
        if self.epsilon >= self.longitudinal:
            raise ArgumentError("one report must lose less than all of them: epsilon < longitudinal", "SRD-C151")

    @cached_property
    def cells(self) -> int:
        """How many cells a function has."""
        return _best(self.longitudinal, self.epsilon)

    @cached_property
    def kept(self) -> KAry:
        """How a permanent answer is drawn."""
        return KAry(self.cells, self.longitudinal)

    @cached_property
    def lie(self) -> int:
        """How many words tell each other cell than the permanent one."""
        return _daily_lie(self.cells, self.longitudinal, self.epsilon)

    @property
    def size(self) -> int:
        """Two bytes for the function, one for the cell."""
        return 3

    @cached_property
    def support(self) -> Support:
        """A report supports the values in the cell that it names."""
        return Support(_truth(self.cells, self.longitudinal, self.epsilon), Fraction(1, self.cells))

    def event(self) -> Event:
        """Return one report alone; for many see `Memoised` and `Renewed`."""
        return events.Pure(self.epsilon)

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return one round of shuffled reports alone; of rounds that share permanent answers nothing is claimed."""
        return events.ShuffledLocal(self.epsilon, reports, delta)

    def public(self) -> Mapping[str, Any]:
        """Return the functions, the words of both coins, and what a permanent answer loses."""
        return {
            "protocol": self.protocol,
            "longitudinal": str(self.longitudinal),
            "domain": self.domain,
            "cells": self.cells,
            "seeds": self.seeds,
            "salt": str(self.salt),
            "permanent": str(self.kept.lie),
            "daily": str(self.lie),
        }

    def enrol(self, source: BitSource) -> int:
        """Return the device's function, by one word."""
        return (source.word() * self.seeds) >> 64

    def permanent(self, value: int, enrolled: int, source: BitSource) -> bytes:
        """Return the cell that is kept for a value, by one word."""
        return self.kept.report(cell(value, key(self.salt, enrolled), self.cells), source)

    def daily(self, permanent: bytes, enrolled: int, source: BitSource) -> bytes:
        """Return the function and the cell of one report, by one word."""
        place = source.word() // self.lie
        told = (permanent[0] + (1 + place if place < self.cells - 1 else 0)) % self.cells
        return enrolled.to_bytes(2, "little") + bytes([told])

    def report(self, value: int, source: BitSource) -> bytes:
        """Return the report of a device that answers once."""
        enrolled = self.enrol(source)
        return self.daily(self.permanent(value, enrolled, source), enrolled, source)

    def reports(self, values: Codes) -> Payloads:
        """Return reports of devices that answer once each."""
        enrolled = self.enrol_all(len(values))
        return self.daily_all(self.permanent_all(values, enrolled), enrolled)

    def enrol_all(self, people: int) -> Codes:
        """Return functions of many devices."""
        return (SOURCE.words(people) >> np.uint64(32)).astype(np.int64) * self.seeds >> 32

    def permanent_all(self, values: Codes, enrolled: Codes) -> Codes:
        """Return cells that many devices keep."""
        return read(self.kept.reports(cells_of(values.astype(np.uint64), keys(self.salt, enrolled), self.cells)))

    def daily_all(self, permanent: Codes, enrolled: Codes) -> Payloads:
        """Return one report of each of many devices."""
        place = (SOURCE.words(len(permanent)) // np.uint64(self.lie)).astype(np.int64)
        told = (permanent + np.where(place < self.cells - 1, 1 + place, 0)) % self.cells
        return np.hstack([written(enrolled, 2), written(told, 1)])

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which name a function and a cell that there are."""
        return (read(payloads[:, :2]) < self.seeds) & (read(payloads[:, 2:]) < self.cells)

    def count(self, payloads: Payloads) -> Counts:
        """Return how many reports there are for each function and cell."""
        place = read(payloads[:, :2]) * self.cells + read(payloads[:, 2:])
        return np.bincount(place, minlength=self.seeds * self.cells).astype(np.int64).reshape(self.seeds, self.cells)

    def supported(self, counts: Counts) -> Counts:
        """Return how many reports support each value."""
        seeds = np.arange(self.seeds)
        by, found = keys(self.salt, seeds), np.empty(self.domain, dtype=np.int64)
        step = max(1, _AT_A_TIME // self.seeds)
        for start in range(0, self.domain, step):
            values = np.arange(start, min(start + step, self.domain), dtype=np.uint64)
            places = cells_of(values[:, None], by[None, :], self.cells)
            found[start : start + step] = counts[seeds[None, :], places].sum(axis=1)
        return found

    def estimate(self, counts: Counts, reports: int) -> Estimate:
        """Return how many hold each value."""
        plain = self.support.estimate(self.supported(counts), reports)
        heavy = np.square(plain.values) - np.square(plain.standard_errors)
        squares = min(max(float(heavy.sum()), 0.0), float(reports) ** 2)
        return with_collisions(plain, squares, cells=self.cells, hashes=self.seeds)


def _daily_lie(cells: int, longitudinal: Fraction, epsilon: Fraction) -> int:
    kept, extra = KAry(cells, longitudinal), odds(epsilon) - 1
    contrast = Fraction(kept.truth - kept.lie, WORD)
    return max(1, at_least(max(Fraction(0), 1 - extra / (extra + cells) / contrast) / cells))


def _truth(cells: int, longitudinal: Fraction, epsilon: Fraction) -> Fraction:
    """Return the chance that a report names the value's own cell, by both floors."""
    kept, lie = KAry(cells, longitudinal), _daily_lie(cells, longitudinal, epsilon)
    truth = WORD - (cells - 1) * lie
    return Fraction(kept.truth * truth + (cells - 1) * kept.lie * lie, WORD**2)


@lru_cache(maxsize=256)
def _best(longitudinal: Fraction, epsilon: Fraction) -> int:
    """Return the number of cells with the smallest variance; it has one minimum, so rising ends the search."""
    best, least = 2, float("inf")
    for cells in range(2, _MOST_CELLS + 1):
        variance = Support(_truth(cells, longitudinal, epsilon), Fraction(1, cells)).of_others
        if variance > least:
            break
        best, least = cells, variance
    return best
