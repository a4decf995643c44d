"""RAPPOR: a Bloom filter of the word, its bits flipped once for life, and flipped again in each report.

A device draws one of `cohorts`, which decides by which `hashes` functions a word sets bits among `bits`. *Permanent*:
each bit of the filter is turned over with the chance φ = f/2, and the result is kept. *Instantaneous*: each bit of a
report is 1 with the chance q where the permanent bit is 1, and p where it is 0.

**Guarantee**: two filters of h = `hashes` differ in h bits that one has and h that the other has, at most. So
permanent bits, and any number of reports from them, lose 2h·ln((1 − φ)/φ) ≤ `longitudinal`. One report alone has a 1
with the chance q* = (1 − φ)q + φp where the filter has one, p* = φq + (1 − φ)p elsewhere, and loses h·ln(q*(1 − p*) /
(p*(1 − q*))) ≤ `epsilon`. Both are checked in fractions, in `__post_init__`, for the coins as they are. Over words that
change see ``memory.py``.
**Assumes**: as `k_ary`. The cohort is seen.
**Source**: Erlingsson, Pihur, Korolova 2014, theorems 1 and 2.
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
from sordino.arguments import rational, whole
from sordino.collect.coins import LEAST_EPSILON, MOST_EPSILON, local_epsilon, odds
from sordino.collect.fingerprint import cell, cells_of, key, keys
from sordino.collect.frequencies.grouped import ones_by_group
from sordino.collect.frequencies.numbered import read, written
from sordino.collect.frequencies.rappor_coins import RapporCoins, best_coins, coins_of, epsilon_of
from sordino.collect.poison import Poison
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.errors import ArgumentError
from sordino.noise.keystream import SOURCE, BitSource
from sordino.noise.planes import planes


@dataclass(frozen=True)
class Rappor:
    """Words (as fingerprints) by Bloom filters; coins are the best for both ε unless they are given.

    >>> way = Rappor(longitudinal=6, epsilon=2)
    >>> way.size, float(round(way.coins.q, 3)), float(round(way.coins.p, 3))
    (18, 0.566, 0.203)
    """

    longitudinal: Fraction
    epsilon: Fraction
    bits: int = 128
    hashes: int = 2
    cohorts: int = 64
    salt: int = 0
    given: RapporCoins | None = None

    protocol: ClassVar[str] = "rappor"

    def __post_init__(self) -> None:
        longitudinal = rational("longitudinal", self.longitudinal, least=LEAST_EPSILON, most=MOST_EPSILON)
        object.__setattr__(self, "longitudinal", longitudinal)
        object.__setattr__(self, "epsilon", local_epsilon(self.epsilon))
        whole("bits", self.bits, least=8, most=2**14)
        whole("hashes", self.hashes, least=1, most=16)
        whole("cohorts", self.cohorts, least=1, most=2**15)
        whole("salt", self.salt, least=0, most=2**64 - 1)
        if self.bits % 8 or self.cohorts & (self.cohorts - 1):
            raise ArgumentError("bits must be a multiple of 8 and cohorts a power of two", "SRD-C154")
        if self.epsilon >= self.longitudinal:
            raise ArgumentError("one report must lose less than all of them: epsilon < longitudinal", "SRD-C151")
        permanent, single = self.coins.ratios()
        if permanent ** (2 * self.hashes) > odds(self.longitudinal) or single**self.hashes > odds(self.epsilon):
            raise ArgumentError("these coins lose more than the ε that is stated; state more, or flip more", "SRD-C151")

    @classmethod
    def published(
        cls,
        f: Any = Fraction(1, 2),
        p: Any = Fraction(1, 2),
        q: Any = Fraction(3, 4),
        *,
        bits: int = 128,
        hashes: int = 2,
        cohorts: int = 64,
        salt: int = 0,
    ) -> Rappor:
        """Return RAPPOR by the paper's own parameters, with both ε computed from them and rounded up."""
        coins = coins_of(f, p, q)
        permanent, single = coins.ratios()
        longitudinal, epsilon = epsilon_of(permanent, 2 * hashes), epsilon_of(single, hashes)
        return cls(longitudinal, epsilon, bits, hashes, cohorts, salt, coins)

    @cached_property
    def coins(self) -> RapporCoins:
        """The coins given, or the best ones."""
        return self.given or best_coins(self.longitudinal, self.epsilon, self.hashes)

    @property
    def size(self) -> int:
        """Two bytes for the cohort, and the bits."""
        return 2 + self.bits // 8

    def event(self) -> Event:
        """Return one report alone; for many see `Memoised` and `Renewed`."""
        return events.Pure(self.epsilon)

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return one round of shuffled reports alone; of rounds that share permanent answers nothing is claimed."""
        return events.ShuffledLocal(self.epsilon, reports, delta)

    def public(self) -> Mapping[str, Any]:
        """Return the shape of the filters, the words of the coins, and what a permanent answer loses."""
        shape = {"bits": self.bits, "hashes": self.hashes, "cohorts": self.cohorts, "salt": str(self.salt)}
        coins = {"flip": str(self.coins.flip), "zero": str(self.coins.zero), "one": str(self.coins.one)}
        return {"protocol": self.protocol, "longitudinal": str(self.longitudinal), **shape, **coins}

    def places(self, values: NDArray[np.uint64], cohorts: Codes) -> Codes:
        """Return which bits each value sets in its cohort, one column a function; two may be the same."""
        by = keys(self.salt, cohorts[..., None] * self.hashes + np.arange(self.hashes))
        return cells_of(values[..., None], by, self.bits)

    def enrol(self, source: BitSource) -> int:
        """Return the device's cohort, by one word."""
        return (source.word() * self.cohorts) >> 64

    def permanent(self, value: int, enrolled: int, source: BitSource) -> bytes:
        """Return the permanent bits of a value: a word a bit, from the first on, turns it over."""
        filled = np.zeros(self.bits, dtype=np.bool_)
        for which in range(self.hashes):
            filled[cell(value, key(self.salt, enrolled * self.hashes + which), self.bits)] = True
        flipped = source.words(self.bits) < np.uint64(self.coins.flip)
        return np.packbits(filled ^ flipped, bitorder="little").tobytes()

    def daily(self, permanent: bytes, enrolled: int, source: BitSource) -> bytes:
        """Return the cohort and the bits of one report: a word a bit, from the first on."""
        bits = np.unpackbits(np.frombuffer(permanent, dtype=np.uint8), bitorder="little") > 0
        limits = np.where(bits, np.uint64(self.coins.one), np.uint64(self.coins.zero))
        told = source.words(self.bits) < limits
        return enrolled.to_bytes(2, "little") + np.packbits(told, bitorder="little").tobytes()

    def report(self, value: int, source: BitSource) -> bytes:
        """Return the report of a device that answers once."""
        enrolled = self.enrol(source)
        return self.daily(self.permanent(value, enrolled, source), enrolled, source)

    def reports(self, values: Codes) -> Payloads:
        """Return reports of devices that answer once each."""
        cohorts = (SOURCE.words(len(values)) >> np.uint64(32)).astype(np.int64) * self.cohorts >> 32
        return self.daily_all(self.permanent_all(values, cohorts), cohorts)

    def permanent_all(self, values: Codes, enrolled: Codes) -> Payloads:
        """Return the permanent bits of many devices."""
        places = self.places(values.astype(np.uint64), enrolled)
        filled = np.zeros((len(values), self.bits // 8), dtype=np.uint8)
        for column in places.T:
            filled[np.arange(len(values)), column >> 3] |= (1 << (column & 7)).astype(np.uint8)
        return filled ^ self._coins(self.coins.flip, len(values))

    def daily_all(self, permanent: Payloads, enrolled: Codes) -> Payloads:
        """Return one report of each of many devices."""
        ones, zeros = (self._coins(each, len(permanent)) for each in (self.coins.one, self.coins.zero))
        return np.hstack([written(enrolled, 2), (permanent & ones) | (~permanent & zeros)])

    def _coins(self, chance: int, people: int) -> Payloads:
        words = planes(chance, -(-people * self.bits // 64)).astype("<u8", copy=False)
        return words.view(np.uint8)[: people * self.bits // 8].reshape(people, -1)

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which name a cohort that there is."""
        return read(payloads[:, :2]) < self.cohorts

    def count(self, payloads: Payloads) -> Counts:
        """Return, for each cohort, how many reports it has and how many 1s each bit."""
        return ones_by_group(payloads, self.cohorts)

    def variance(self, reports: int, held: float = 0.0) -> float:
        """Return the variance of a word's estimate, about: where no bit is shared by many, and words are many.

        A word sets h of k bits in each cohort, all others about evenly: n·s(1 − s) / (h(1 − h/k)(q* − p*)²), s being
        how often a bit of the word is 1. What `decode` returns has standard errors of the filters at hand.
        """
        own, other = float(self.coins.own), float(self.coins.other)
        crowd = self.hashes / self.bits
        ones = other + (own - other) * min(1.0, crowd + held / reports)
        return reports * ones * (1 - ones) / (self.hashes * (1 - crowd) * (own - other) ** 2)

    def poison(self) -> Poison:
        """Return how far one client can move a word's estimate, about: on the assumptions of `variance`.

        With all bits of the word and no other it adds 1/(q* − p*); an honest one would have added 0, on average. What
        `decode` returns has the bound for the filters at hand.
        """
        reach = 1 + 1 / (self.coins.own - self.coins.other)
        return Poison(reach, reach)
