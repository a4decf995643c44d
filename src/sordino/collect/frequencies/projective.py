"""Projective geometry response: values are points of a projective space, and a report is a point, too.

Let q be a prime and t ≥ 2. The K = (q^t − 1)/(q − 1) points are the vectors over the field of q elements whose first
coordinate that is not 0 is 1. To each value belongs a point u, and to it the hyperplane of all v with u·v = 0: c =
(q^(t−1) − 1)/(q − 1) points, of which two values share (q^(t−2) − 1)/(q − 1). One word decides: each of the q^(t−1)
points off the hyperplane has L of the 2⁶⁴ words, and those on it share the rest evenly, some having one word more.

**Guarantee**: ε for replacing one value, exactly. L is the least whole number with L·(c·e^ε + K − c) ≥ 2⁶⁴ + c, so a
point on the hyperplane has at most (2⁶⁴ − (K − c)·L)/c + 1 ≤ e^ε·L words, and (as e^ε ≥ 1, by the choice of L) at
least L: `__post_init__` checks both in whole numbers.
**Assumes**: as `k_ary`.
**Source**: Feldman, Nelson, Nguyen, Talwar 2022, *Private Frequency Estimation via Projective Geometry*. Prime powers
are left out, so q is a prime near e^ε + 1, and q^t at most 2²⁴ keeps decoding (by a Fourier transform) within a second.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.accounting import events
from sordino.accounting.event import Event
from sordino.arguments import whole
from sordino.collect.coins import WORD, local_epsilon, odds
from sordino.collect.frequencies.numbered import bytes_below, read, written
from sordino.collect.frequencies.points import Space
from sordino.collect.frequencies.support import Support, Supporting
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.errors import ArgumentError
from sordino.noise.keystream import SOURCE, BitSource, Words

_LARGEST = 2**24  # vectors in all: the array that decoding transforms
_AS_GOOD = 1.001
_BLOCK = 1 << 13  # reports made at once, so that their vectors stay in the processor's cache


@dataclass(frozen=True)
class ProjectiveGeometry(Supporting):
    """A point of the space that suits `domain` and `epsilon` best; values are the space's first points.

    >>> way = ProjectiveGeometry(domain=1000, epsilon=2)
    >>> way.space.q, way.space.t, way.size
    (7, 5, 2)
    """

    domain: int
    epsilon: Fraction

    protocol: ClassVar[str] = "projective-geometry"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", local_epsilon(self.epsilon))
        whole("domain", self.domain, least=2, most=2**22)
        on, least = WORD - self.space.off * self.lie, self.lie * self.space.on
        if on < least or -(-on // self.space.on) > self.lie * odds(self.epsilon):
            raise ArgumentError("this ε is too small for a domain of this size; take a larger one", "SRD-C155")

    @cached_property
    def space(self) -> Space:
        """The space with the smallest error."""
        return _best(self.domain, self.epsilon)

    @cached_property
    def lie(self) -> int:
        """How many words each point off the hyperplane has."""
        return _lie(self.space, self.epsilon)

    @property
    def size(self) -> int:
        """As many bytes as a point takes."""
        return bytes_below(self.space.points)

    @cached_property
    def support(self) -> Support:
        """A report supports the values whose hyperplane it lies on."""
        return _support(self.space, self.epsilon)

    def event(self) -> Event:
        """Return one ε-private report."""
        return events.Pure(self.epsilon)

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return shuffled reports of some ε-private randomizer."""
        return events.ShuffledLocal(self.epsilon, reports, delta)

    def public(self) -> Mapping[str, Any]:
        """Return the space and how many words each point off the hyperplane has."""
        space = {"prime": self.space.q, "dimensions": self.space.t}
        return {"protocol": self.protocol, "domain": self.domain, **space, "lie": str(self.lie)}

    def report(self, value: int, source: BitSource) -> bytes:
        """Return a point, lowest byte first: by one word."""
        return bytes(self._payloads(np.array([value], dtype=np.int64), source.words(1))[0])

    def reports(self, values: Codes) -> Payloads:
        """Return payloads for many values at once."""
        blocks = [values[start : start + _BLOCK] for start in range(0, max(1, len(values)), _BLOCK)]
        return np.concatenate([self._payloads(block, SOURCE.words(len(block))) for block in blocks])

    def _payloads(self, values: Codes, words: Words) -> Payloads:
        space, beyond = self.space, np.uint64(self.space.off * self.lie)
        lied = words < beyond
        told = np.empty(len(values), dtype=np.int64)
        off = (words[lied] // np.uint64(self.lie)).astype(np.int64)
        on = ((words[~lied] - beyond) % np.uint64(space.on)).astype(np.int64)
        told[lied] = space.off_hyperplane(values[lied], off)
        told[~lied] = space.on_hyperplane(values[~lied], on)
        return written(told, self.size)

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which name a point of the space."""
        return read(payloads) < self.space.points

    def count(self, payloads: Payloads) -> Counts:
        """Return how many reports name each point."""
        return np.bincount(read(payloads), minlength=self.space.points).astype(np.int64)

    def supported(self, counts: Counts) -> Counts:
        """Return how many reports lie on each value's hyperplane."""
        return self.space.on_hyperplanes(counts, self.domain)


def _lie(space: Space, epsilon: Fraction) -> int:
    return math.ceil((WORD + space.on) / (space.on * odds(epsilon) + space.off))


def _support(space: Space, epsilon: Fraction) -> Support:
    lie = _lie(space, epsilon)
    own = WORD - space.off * lie
    other = Fraction(own * space.shared, space.on) + (space.on - space.shared) * lie
    return Support(Fraction(own, WORD), other / WORD)


@lru_cache(maxsize=256)
def _best(domain: int, epsilon: Fraction) -> Space:
    """Return the smallest space with room for the domain whose squared error is as good as the smallest."""
    primes = _primes(math.isqrt(_LARGEST))
    near = sorted(primes, key=lambda q: abs(math.log(q / (float(odds(min(epsilon, Fraction(20)))) + 1))))
    spaces = []
    for dimensions in range(2, _LARGEST.bit_length()):
        fitting = [q for q in near if q**dimensions <= _LARGEST and Space(q, dimensions).points >= domain]
        # Near e^ε + 1 two values share little; with the fewest points a small domain is told more plainly.
        spaces += [Space(q, dimensions) for q in {*fitting[:3], *sorted(fitting)[:2]}]
    errors = {space: _support(space, epsilon).mean_squared_error(domain) for space in spaces}
    best = min(errors.values())
    return min((space for space, error in errors.items() if error <= best * _AS_GOOD), key=lambda each: each.points)


def _primes(most: int) -> list[int]:
    sieve = np.ones(most + 1, dtype=np.bool_)
    sieve[:2] = False
    for each in range(2, math.isqrt(most) + 1):
        sieve[each * each :: each] = False
    return [int(each) for each in np.flatnonzero(sieve)]
