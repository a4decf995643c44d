"""The personalised exponential mechanism: answers that would need less-protected people to change are likelier.

Every unit has a public place and a public class; what it holds (a yes or no, a number) is private. The cost of an
answer r is the least total of ε over units whose data would have to change for r to be right, and P[r] ∝
exp(−cost(r)/2).

**Guarantee**: towards a unit of a class with ε, the release is ε-differentially private under replace-one. A budget is
charged the highest ε of the policy.
**Assumes**: units and their classes are public and do not depend on the data (see ``policy.py``); each unit holds one
place.
**Source**: Jorgensen, Yu & Cormode 2015, Definition 10 and Theorem 4 (the PE mechanism).
**Proof**: cost(D, r) is the distance of D from the set of data on which r is right, where changing unit i costs εᵢ. By
the triangle inequality it moves by at most εᵢ when unit i changes, for every r, so the exponential mechanism at rate ½
gives that unit εᵢ. The set does not depend on D, and only the right-hand side of the inequality depends on i. ∎
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import numbers, probability, rational, whole
from sordino.errors import ArgumentError

from .classes import Classes
from .mechanism import remembered, use_grant

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class _PersonalisedChoice:
    """What both choices share: the policy, a public number of people, and what they hold."""

    policy: Classes
    units: int

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Classes):
            raise ArgumentError("policy must be a Classes, such as Classes.of({name: ε})", "SRD-A001")
        object.__setattr__(self, "units", whole("units", self.units, least=1, most=2**31))
        if self.units * max(_weights(self.policy)) > 2**62:
            raise ArgumentError("the ε's of the policy have too many digits for so many units; round them", "SRD-A002")

    @remembered
    def event(self, bound: Bound) -> events.Personalised:
        """Return a release that gives each class its ε."""
        if bound.neighbours is Neighbours.ADD_REMOVE or bound.l0 != 1:
            raise ArgumentError(
                "this mechanism takes units and their classes as public, one place each; "
                "state the bound as Bound.scalar(…, neighbours=Neighbours.REPLACE_ONE)",
                "SRD-A003",
            )
        return self.policy.event()

    def _unpack(self, value: Any, kinds: str) -> tuple[NDArray[Any], NDArray[np.intp]]:
        if not isinstance(value, tuple) or len(value) != 2:
            raise ArgumentError(
                "the value must be a pair: what each unit holds, and the class name of each", "SRD-A001"
            )
        held, places = numbers("what units hold", value[0], kinds), self.policy.places(value[1])
        if held.shape != (self.units,) or places.shape != (self.units,):
            raise ArgumentError(f"the value must be about {self.units} units, with a class name for each", "SRD-A003")
        return held, places

    def _choose(self, costs: Integers) -> int:
        return noise.choose(-costs, Fraction(1, 2 * _common(self.policy)))

    def _ranks(self, candidates: int, confidence: float) -> float:
        missing = 1 - float(probability("confidence", confidence))
        return 2 * (math.log(candidates) + math.log(1 / missing)) / float(min(self.policy.epsilons))


@dataclass(frozen=True)
class PersonalisedCount(_PersonalisedChoice):
    """How many of `units` people say yes, each protected by the ε of their class."""

    def release(self, value: tuple[Any, Any], grant: Grant) -> int:
        """Return a count of 0 … units; `value` is (answers, classes): booleans, and a class name for each."""
        answers, places = self._unpack(value, "b")
        use_grant(self, grant)
        yes = np.bincount(places[answers], minlength=len(self.policy.classes))
        no = np.bincount(places[~answers], minlength=len(self.policy.classes))
        changes = np.arange(self.units + 1) - yes.sum()
        return self._choose(
            _cheapest(self.policy, yes[:, None], -changes) + _cheapest(self.policy, no[:, None], changes)
        )

    def error(self, confidence: float = 0.95) -> float:
        """Return how far off the count is, at most, with probability `confidence`, if all had the smallest ε."""
        return self._ranks(self.units + 1, confidence)


@dataclass(frozen=True)
class PersonalisedMedian(_PersonalisedChoice):
    """A median of `units` people's numbers out of public `candidates`, each protected by the ε of their class.

    r is a median if at most half of the numbers (rounded down) are below r and at most as many above it. A NaN is
    neither.
    """

    candidates: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.candidates, tuple) or not self.candidates:
            raise ArgumentError("candidates must be a tuple of at least one number", "SRD-A001")
        exact = tuple(rational("candidates", candidate) for candidate in self.candidates)
        if any(low >= high for low, high in pairwise(exact)):
            raise ArgumentError("candidates must rise strictly", "SRD-A003")
        object.__setattr__(self, "candidates", exact)

    def release(self, value: tuple[Any, Any], grant: Grant) -> float:
        """Return one of the candidates; `value` is (numbers, classes), a class name for each number."""
        held, places = self._unpack(value, "iuf")
        use_grant(self, grant)
        offered = np.array([float(candidate) for candidate in self.candidates])
        below, above = _sides(held.astype(np.float64), places, offered, len(self.policy.classes))
        half = self.units // 2
        costs = _cheapest(self.policy, below, below.sum(axis=0) - half)
        costs += _cheapest(self.policy, above, above.sum(axis=0) - half)
        return float(offered[self._choose(costs)])

    def error(self, confidence: float = 0.95) -> float:
        """Return by how many ranks more than the best candidate the choice is off, at most, with `confidence`."""
        return self._ranks(len(self.candidates), confidence)


def _weights(policy: Classes) -> list[int]:
    """Return the ε of each class in whole multiples of one over their common denominator."""
    common = _common(policy)
    return [int(epsilon * common) for epsilon in policy.epsilons]


def _common(policy: Classes) -> int:
    return math.lcm(*(epsilon.denominator for epsilon in policy.epsilons))


def _cheapest(policy: Classes, members: Integers, needed: Integers) -> Integers:
    """Return the least weight of `needed[j]` units out of `members[c, j]` of each class; nothing if none is needed."""
    weights = _weights(policy)
    left = np.maximum(needed, 0)
    costs = np.zeros_like(left)
    for place in sorted(range(len(weights)), key=weights.__getitem__):
        taken = np.minimum(left, members[place])
        costs += taken * weights[place]
        left = left - taken
    return costs


def _sides(
    numbers: NDArray[np.float64], places: NDArray[np.intp], offered: NDArray[np.float64], classes: int
) -> tuple[Integers, Integers]:
    """Return how many numbers of each class are below and above each candidate."""
    below = np.zeros((classes, offered.size), dtype=np.int64)
    above = np.zeros_like(below)
    for place in range(classes):
        held = np.sort(numbers[(places == place) & ~np.isnan(numbers)])
        below[place] = np.searchsorted(held, offered, side="left")
        above[place] = held.size - np.searchsorted(held, offered, side="right")
    return below, above
