"""Local hashing: a public function, drawn by the device, puts values into few buckets; k-ary response tells a bucket.

The functions are those of ``affine.py``: two values meet in a bucket for exactly the same part of them, whichever two.
A report (function, bucket) supports all values in its bucket: the one held with the chance of truth p of k-ary response
over the buckets, any other with m·p + (1 − m)·l, l being the chance of a lie and m how often two values meet.

*Optimal*: round(e^ε) + 1 buckets, which have the least variance (Wang, Blocki, Li, Jha 2017, Section 4.3). Where the
domain is beyond about 2,000, counting goes through domain/buckets values for each report. *Fast*: so few functions that
counting is a histogram whatever the domain, as in Cormode, Maddock, Maple 2021; but theirs are drawn at random and add
an error, ours are a family that adds none. What it costs instead is that few functions can have few buckets alone: for
large domains and ε beyond 2 or so it is off the best, and `variance` and `mean_squared_error` say by how much.

**Guarantee**: ε for replacing one value, exactly: the function does not depend on the value, the bucket is told by
k-ary response at ε. **Assumes**: who takes part is public.

A device takes a word for each coefficient, modulo the prime, and one for the bucket. The remainder is uniform but for
2⁻³³ at most, which touches estimates by less than one in 10⁹ of the reports, and privacy not at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.accounting import events
from sordino.accounting.event import Event
from sordino.arguments import one_of, whole
from sordino.collect.coins import local_epsilon, odds
from sordino.collect.frequencies.affine import MOST_CELLS, Affine
from sordino.collect.frequencies.k_ary import KAry
from sordino.collect.frequencies.numbered import bytes_below, read, written
from sordino.collect.frequencies.support import Support, Supporting
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.errors import ArgumentError
from sordino.noise.keystream import SOURCE, BitSource

LARGEST = 2**31
_AS_GOOD = 1.001  # fast: the fewest cells among families whose error is within this of the best


@dataclass(frozen=True)
class LocalHashing(Supporting):
    """A function and the bucket of the value held, or another one; `family` is "optimal" or "fast".

    >>> LocalHashing(domain=1000, epsilon=1).functions
    Affine(prime=1009, digits=1, buckets=4)
    """

    domain: int
    epsilon: Fraction
    family: str = "optimal"

    protocol: ClassVar[str] = "hashing"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", local_epsilon(self.epsilon))
        whole("domain", self.domain, least=2, most=LARGEST)
        one_of("family", self.family, ("optimal", "fast"))
        if self.family == "fast" and self.domain > MOST_CELLS // 2:
            raise ArgumentError(
                f"a fast family of hash functions has at most {MOST_CELLS // 2} values; use family='optimal'",
                "SRD-C103",
            )

    @cached_property
    def functions(self) -> Affine:
        """The family of functions."""
        power = odds(self.epsilon)
        return _fast(self.domain, power) if self.family == "fast" else _optimal(self.domain, power)

    @cached_property
    def answer(self) -> KAry:
        """How the bucket is told."""
        return KAry(self.functions.buckets, self.epsilon)

    @cached_property
    def support(self) -> Support:
        """A report supports the values in its bucket."""
        own, lie, meeting = self.answer.support.own, self.answer.support.other, self.functions.meeting
        return Support(own, meeting * own + (1 - meeting) * lie)

    @property
    def size(self) -> int:
        """As many bytes as the coefficients and a bucket take."""
        return (self.functions.digits + 1) * bytes_below(self.functions.prime) + self.answer.size

    def event(self) -> Event:
        """Return one ε-private report."""
        return events.Pure(self.epsilon)

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return shuffled reports of an ε-private randomizer.

        Not those of k-ary response over the buckets: functions are seen, and reports of others hide only reports of
        functions that tell the same two values apart.
        """
        return events.ShuffledLocal(self.epsilon, reports, delta)

    def public(self) -> Mapping[str, Any]:
        """Return the domain, the family, and how many words each other bucket has."""
        return {
            "protocol": self.protocol,
            "domain": self.domain,
            "prime": self.functions.prime,
            "digits": self.functions.digits,
            "buckets": self.functions.buckets,
            "lie": str(self.answer.lie),
        }

    def report(self, value: int, source: BitSource) -> bytes:
        """Return the coefficients, each lowest byte first, and a bucket."""
        prime, width = self.functions.prime, bytes_below(self.functions.prime)
        function = tuple(source.word() % prime for _ in range(self.functions.digits + 1))
        bucket = self.answer.report(self.functions.bucket(function, value), source)
        return b"".join(coefficient.to_bytes(width, "little") for coefficient in function) + bucket

    def reports(self, values: Codes) -> Payloads:
        """Return payloads for many values at once."""
        prime, width = np.uint64(self.functions.prime), bytes_below(self.functions.prime)
        functions = np.empty((self.functions.digits + 1, len(values)), dtype=np.int64)
        for coefficients in functions:
            words = SOURCE.words(len(values))
            coefficients[:] = (words - words // prime * prime).view(np.int64)
        buckets = self.answer.reports(self.functions.bucketed(functions, values))
        return np.hstack([*(written(coefficients, width) for coefficients in functions), buckets])

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which have coefficients below the prime and name a bucket."""
        functions, buckets = self._read(payloads)
        return np.asarray(np.all(functions < self.functions.prime, axis=0) & (buckets < self.functions.buckets))

    def count(self, payloads: Payloads) -> Counts:
        """Return the table of the family, or how many reports support each value."""
        return self.functions.count(*self._read(payloads), self.domain)

    def supported(self, counts: Counts) -> Counts:
        """Return how many reports support each value."""
        return self.functions.supported(counts, self.domain)

    def _read(self, payloads: Payloads) -> tuple[Codes, Codes]:
        width, rows = bytes_below(self.functions.prime), self.functions.digits + 1
        functions = np.empty((rows, len(payloads)), dtype=np.int64)
        for place, coefficients in enumerate(functions):
            coefficients[:] = read(payloads[:, place * width : (place + 1) * width])
        return functions, read(payloads[:, rows * width :])


@lru_cache(maxsize=256)
def _optimal(domain: int, power: Fraction) -> Affine:
    """Return all functions of one digit into the best number of buckets; more buckets than values would be idle."""
    buckets = max(2, min(round(power) + 1, domain))
    return Affine(_prime_from(max(domain, buckets)), 1, buckets)


@lru_cache(maxsize=256)
def _fast(domain: int, power: Fraction) -> Affine:
    """Return the smallest of the families that can be tabled and are as good as the best of them."""
    errors = {family: _error(family, domain, float(power)) for family in _tabled(domain, float(power))}
    best = min(errors.values())
    return min((family for family, error in errors.items() if error <= best * _AS_GOOD), key=lambda each: each.cells)


def _tabled(domain: int, power: float) -> Iterator[Affine]:
    """Yield the families with few enough functions, with the numbers of buckets that may be best."""
    for digits in range(1, MOST_CELLS.bit_length()):
        prime = _prime_from(max(2, math.floor(domain ** (1 / digits)) - 1))
        while prime**digits < domain:
            prime = _prime_from(prime + 1)
        while prime ** (digits + 1) <= MOST_CELLS:
            most = min(prime, domain)
            for buckets in {min(most, max(2, math.floor(power) + step)) for step in (0, 1, 2)}:
                yield Affine(prime, digits, buckets)
            prime = _prime_from(prime + 1)


def _error(family: Affine, domain: int, power: float) -> float:
    """Return the mean squared error with coins that are not rounded yet: to compare families quickly."""
    own = power / (power + family.buckets - 1)
    lie, meeting = own / power, float(family.meeting)
    other = meeting * own + (1 - meeting) * lie
    return (own * (1 - own) + (domain - 1) * other * (1 - other)) / (domain * (own - other) ** 2)


@lru_cache(maxsize=4096)
def _prime_from(number: int) -> int:
    """Return the least prime that is at least `number`."""
    while any(number % divisor == 0 for divisor in range(2, math.isqrt(number) + 1)):
        number += 1
    return number
