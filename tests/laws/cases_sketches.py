"""Sketches, points, words and memoised answers as cases for the laws: a device that releases one report for one grant.

An outcome says which of two values, the one held and its neighbour's, a report supports. Laws are the papers' chances.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.collect.fingerprint import cell, key
from sordino.collect.frequencies.count_mean import CountMeanSketch
from sordino.collect.frequencies.hadamard_mean import HadamardCountMeanSketch
from sordino.collect.frequencies.memoised_hashing import MemoisedHashing
from sordino.collect.frequencies.prefix_tree import PrefixTree
from sordino.collect.frequencies.projective import ProjectiveGeometry
from sordino.collect.frequencies.rappor import Rappor
from sordino.errors import ArgumentError
from sordino.mechanisms.checks import Case
from sordino.mechanisms.mechanism import use_grant
from sordino.noise.keystream import SOURCE

EPSILON = Fraction(2)
ONE_PERSON = Bound.scalar(neighbours=Neighbours.REPLACE_ONE)
HELD, OTHER = 3, 5
Both = tuple[bool, bool]
"""Whether HELD is supported, and whether OTHER is."""


@dataclass(frozen=True)
class Reported:
    """A device as the laws see it: one value, one grant, which of two values its report supports."""

    way: Any
    supports: Callable[[Any, bytes, int], bool]

    def event(self, bound: Bound) -> Event:
        if bound.neighbours is Neighbours.ADD_REMOVE:
            raise ArgumentError("a report hides what was answered, not that it was", "SRD-A003")
        return self.way.event()

    def release(self, value: Any, grant: Grant) -> Both:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ArgumentError("a value is a whole number", "SRD-A001")
        use_grant(self, grant)
        payload = self.way.report(value, SOURCE)
        return self.supports(self.way, payload, HELD), self.supports(self.way, payload, OTHER)

    def error(self, confidence: float = 0.95) -> float:
        """By Chebyshev's inequality, for one report."""
        return math.sqrt(self.way.variance(1) / (1 - confidence))


def _bit(way: Any, payload: bytes, value: int) -> bool:
    bits = way.width if isinstance(way, CountMeanSketch) else way.bits
    place = cell(value, key(0, 0), bits)
    return bool(payload[2 + place // 8] >> place % 8 & 1)


def _sign(way: Any, payload: bytes, value: int) -> bool:
    sent = int.from_bytes(payload, "little")
    return (cell(value, key(0, 0), way.width) & (sent // 2)).bit_count() % 2 == sent % 2


def _told(way: Any, payload: bytes, value: int) -> bool:
    return cell(value, key(0, 0), way.cells) == payload[-1]


def _point(way: Any, payload: bytes, value: int) -> bool:
    return int.from_bytes(payload, "little") in _hyperplane(way, value)


@lru_cache
def _hyperplane(way: ProjectiveGeometry, value: int) -> frozenset[int]:
    count = way.space.on
    return frozenset(way.space.on_hyperplane(np.full(count, value), np.arange(count)).tolist())


def _law(own: float, other: float) -> Callable[[int], dict[Both, float]]:
    """Both supports independent: `own` for the value held, `other` for the other one."""

    def of(value: int) -> dict[Both, float]:
        first, second = (own, other) if value == HELD else (other, own)
        return {
            (a, b): (first if a else 1 - first) * (second if b else 1 - second)
            for a in (True, False)
            for b in (True, False)
        }

    return of


def _one_cell(own: float, cells: int) -> Callable[[int], dict[Both, float]]:
    """One cell is told: the value's own, the other's, or a third."""
    lie = (1 - own) / (cells - 1)

    def of(value: int) -> dict[Both, float]:
        first, second = (own, lie) if value == HELD else (lie, own)
        return {(True, False): first, (False, True): second, (False, False): 1 - own - lie}

    return of


def _points(epsilon: float) -> Callable[[int], dict[Both, float]]:
    """Points on both hyperplanes, on one of them, on none; e^ε times likelier on one's own."""
    space = ProjectiveGeometry(13, Fraction(epsilon).limit_denominator(1000)).space
    odds, alone = math.exp(epsilon), space.on - space.shared
    rest = space.points - 2 * space.on + space.shared
    unit = 1 / (space.on * odds + space.points - space.on)

    def of(value: int) -> dict[Both, float]:
        one, other = alone * odds * unit, alone * unit
        first, second = (one, other) if value == HELD else (other, one)
        law = {(True, True): space.shared * odds * unit, (True, False): first, (False, True): second}
        return law | {(False, False): rest * unit}

    return of


def _logistic(epsilon: float) -> float:
    return 1 / (1 + math.exp(-epsilon))


def _kary(epsilon: float, cells: int) -> Callable[[int], dict[Both, float]]:
    return _one_cell(math.exp(epsilon) / (math.exp(epsilon) + cells - 1), cells)


def _case(name: str, make: Callable[[Fraction], Any], supports: Any, law: Callable[[float, Any], Any]) -> Case:
    return Case(
        name,
        lambda level: Reported(make(EPSILON / level), supports),
        ONE_PERSON,
        value=HELD,
        neighbour=OTHER,
        law=lambda value, level: law(2 / level, make(EPSILON / Fraction(level)))(value),
        tightness=0.5,
        draws=8000,
    )


SKETCHES = (
    _case(
        "count-mean-sketch",
        lambda e: CountMeanSketch(9, e, hashes=1, width=64),
        _bit,
        lambda e, _: _law(_logistic(e / 2), 1 - _logistic(e / 2)),
    ),
    _case(
        "hadamard-count-mean-sketch",
        lambda e: HadamardCountMeanSketch(9, e, hashes=1, width=64),
        _sign,
        lambda e, _: _law(_logistic(e), 0.5),
    ),
    _case("projective-geometry", lambda e: ProjectiveGeometry(13, e), _point, lambda e, _: _points(e)),
    _case(
        "prefix-tree",
        lambda e: PrefixTree(e, longest=1, seeds=1),
        _told,
        lambda e, way: _kary(e, way.cells),
    ),
    _case(
        "memoised-hashing",
        lambda e: MemoisedHashing(9, 2 * e, e, seeds=1, salt=0),
        _told,
        lambda e, way: _kary(e, way.cells),
    ),
    _case(
        "rappor",
        lambda e: Rappor(2 * e, e, bits=64, hashes=1, cohorts=1),
        _bit,
        lambda e, _: _law(0.5, 1 - _logistic(e)),
    ),
)
