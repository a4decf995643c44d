"""Vectors of length at most 1: a public seed stands for M directions, and one of the k nearest is sent more often.

It is PrivUnit on finitely many directions: a cap that holds exactly k of M, whatever the vector, so that no area on a
sphere need be computed. Each device draws its seed; directions are nearly normal in every coordinate, so no axis is
preferred. A vector shorter than 1 gets one more coordinate that makes it as long as 1 and is left out again.

One word is the seed, and the next one decides: the k directions with the largest inner products (in whole numbers; of
equal ones the first) have the higher of two levels of chances (`two_levels`).

**Guarantee**: ε for replacing one vector, exactly. The seed does not depend on the vector; given it, k of M indices
have the higher level, whatever the vector. How directions lie does not matter to privacy.
**Unbiased** up to what the directions' coordinates differ from normal ones: less than 0.2 % of each coordinate's mean,
and rounding of 2⁻¹⁵.
**Source**: Bhowmick, Duchi, Freudiger, Kapoor, Rogers 2018 (PrivUnit); Isik, Chen, Özgür, Weissman, No 2023 (the k
nearest of a random code book).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.accounting import events
from sordino.accounting.event import Event
from sordino.arguments import whole
from sordino.collect.frequencies.numbered import bytes_below, read, written
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.errors import ArgumentError
from sordino.noise.keystream import SOURCE, BitSource

from .directions import LARGEST, SQUARE, directions
from .estimated import Estimated, people, some
from .means import checked_epsilon
from .nearest import Nearest
from .two_levels import TwoLevels

RADIUS = 2**15
"""Steps of the grid of vectors in a length of 1."""
MOST_DIMENSION = 4096
MOST_DIRECTIONS = 4096
_SEED = 8  # bytes
_CHUNK = 2**22  # coordinates at a time
_REFUSED = 1e-6  # of honest reports: those whose direction is longer than poison is bounded by


@dataclass(frozen=True)
class Directions:
    """An index of one of `count` directions, for a vector of `dimension` whole numbers of length at most 2¹⁵."""

    epsilon: Fraction
    dimension: int
    count_directions: int = 128

    protocol: ClassVar[str] = "directions"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        whole("dimension", self.dimension, least=1, most=MOST_DIMENSION)
        whole("count_directions", self.count_directions, least=2, most=MOST_DIRECTIONS)

    @cached_property
    def nearest(self) -> Nearest:
        """How many are near, and what the choice of one says about the vector."""
        return Nearest.best(self.epsilon, self.count_directions)

    @property
    def levels(self) -> TwoLevels:
        """The words of near directions and of others."""
        return self.nearest.levels

    @property
    def size(self) -> int:
        """The bytes of a seed and of an index."""
        return _SEED + bytes_below(self.count_directions)

    @cached_property
    def longest(self) -> int:
        """The largest square of a direction's length that is taken: a multiple of 2¹⁶, lest a float's digits matter."""
        from scipy.special import chdtri

        steps = int(chdtri(self.dimension, _REFUSED) * SQUARE) // 2**16 + 1
        return min(steps * 2**16, self.dimension * LARGEST**2)

    def event(self) -> Event:
        """Return what one report costs."""
        return events.Pure(self.epsilon)

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return shuffled reports of any randomizer with this ε."""
        return events.ShuffledLocal(self.epsilon, reports, delta)

    def public(self) -> Mapping[str, Any]:
        """Return the dimension, the directions, how many are near, and their words."""
        words = {"outside": str(self.levels.outside), "inside": str(self.levels.inside)}
        sizes = {"dimension": self.dimension, "directions": self.count_directions, "near": self.nearest.near}
        return {"protocol": self.protocol, **sizes, **words, "longest": str(self.longest)}

    def report(self, value: Sequence[int], source: BitSource) -> bytes:
        """Return the seed and the index of a direction: one word each."""
        seed = np.array([source.word()], dtype=np.uint64)
        ranked = self._ranked(np.asarray([value], dtype=np.int64), seed)[0]
        own, place = self.levels.place(source.word())
        chosen = np.flatnonzero(ranked == own)[place]
        return int(seed[0]).to_bytes(_SEED, "little") + int(chosen).to_bytes(self.size - _SEED, "little")

    def reports(self, values: Codes) -> Payloads:
        """Return payloads for many vectors at once, some thousands at a time."""
        each = max(1, _CHUNK // (self.count_directions * (self.dimension + 1)))
        parts = [self._some(values[start : start + each]) for start in range(0, len(values), each)]
        return np.concatenate([np.zeros((0, self.size), dtype=np.uint8), *parts])

    def _some(self, values: Codes) -> Payloads:
        seeds = SOURCE.words(len(values))
        ranked = self._ranked(values, seeds)
        own, place = self.levels.places(SOURCE.words(len(values)))
        wanted = ranked == own[:, None]
        chosen = np.argmax(np.cumsum(wanted, axis=1) == place[:, None] + 1, axis=1)
        return np.concatenate([_bytes(seeds), written(chosen, self.size - _SEED)], axis=1)

    def _ranked(self, values: Codes, seeds: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Tell which directions of each seed are the k nearest to the vector."""
        if values.ndim != 2 or values.shape[1] != self.dimension or np.abs(values).max(initial=0) > RADIUS:
            raise ArgumentError(f"a vector has {self.dimension} whole numbers from −{RADIUS} to {RADIUS}", "SRD-C207")
        longer = np.column_stack([values, _missing(values)])
        count = self.count_directions
        drawn = directions(seeds[:, None], np.arange(count)[None, :], self.dimension + 1)
        products = np.einsum("nmd,nd->nm", drawn, longer)
        order = np.argsort(-products, axis=1, kind="stable")[:, : self.nearest.near]
        ranked = np.zeros((len(values), count), dtype=np.bool_)
        np.put_along_axis(ranked, order, True, axis=1)
        return ranked

    def _drawn(self, payloads: Payloads) -> NDArray[np.int64]:
        seeds = np.ascontiguousarray(payloads[:, :_SEED]).view("<u8")[:, 0].astype(np.uint64)
        return directions(seeds, read(payloads[:, _SEED:]), self.dimension + 1)[:, : self.dimension]

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which name a direction that is not too long; an honest one is, once in a million reports."""
        named = read(payloads[:, _SEED:]) < self.count_directions
        return np.asarray(named & (np.square(self._drawn(payloads)).sum(axis=1) <= self.longest))

    def count(self, payloads: Payloads) -> Counts:
        """Return how many reports there are, then the sum of each coordinate, then of its squares."""
        drawn = self._drawn(payloads)
        return np.concatenate([[len(drawn)], drawn.sum(axis=0), np.square(drawn).sum(axis=0)]).astype(np.int64)

    def estimate(self, counts: Counts, reports: float) -> Estimated:
        """Return the mean vector of `reports` people, those who answered or more, as a share of the longest."""
        found = some(counts, 2 * self.dimension + 1)
        total = people(int(found[0]))
        gain = self.nearest.gain * math.sqrt(SQUARE)
        means = found[1 : self.dimension + 1] / total / gain
        squares = found[self.dimension + 1 :] / total / gain**2
        held = np.clip(self.nearest.held(squares), np.square(means), 1.0)
        missing = 1 - total / reports if reports > total else 0.0
        spread = self.nearest.variance(held) + missing * (held - np.square(means))
        return Estimated(means, np.sqrt(np.maximum(spread, 0.0) / total), total)

    def variance(self, vector: Any) -> NDArray[np.float64]:
        """Return the variance of one report in each coordinate for a vector, before anything is spent."""
        return np.asarray(self.nearest.variance(np.square(np.asarray(vector, dtype=np.float64))))

    @property
    def worst(self) -> float:
        """The largest sum of the variances of all coordinates, whatever vector."""
        across, along = float(self.nearest.variance(0.0)), float(self.nearest.variance(1.0))
        return (self.dimension - 1) * across + max(across, along)

    def error(self, people: int) -> float:
        """Return the root of the expected squared distance from the mean vector, at most."""
        return math.sqrt(self.worst / whole("people", people, least=1))

    def poison(self, people: int, colluding: int) -> float:
        """Return how far, as a length, so many can move the mean vector: all send one of the longest directions."""
        count = whole("people", people, least=1)
        one = math.sqrt(self.longest / SQUARE) / self.nearest.gain + 1
        return whole("colluding", colluding, least=0, most=count) / count * one


def _missing(values: Codes) -> Codes:
    """Return the whole number that makes each vector as long as 2¹⁵, rounded down."""
    left = RADIUS**2 - np.square(values).sum(axis=1)
    roots = np.floor(np.sqrt(np.maximum(left, 0).astype(np.float64)))  # of whole numbers below 2⁵², so exact
    return np.asarray(roots, dtype=np.int64)


def _bytes(words: NDArray[np.uint64]) -> Payloads:
    return np.ascontiguousarray(words.astype("<u8")[:, None]).view(np.uint8)
