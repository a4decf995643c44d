"""Personalised privacy by sampling: people who want more of it are left out more often.

**Guarantee**: let `mechanism` be t-differentially private (pure, add/remove) on what `statistic` computes. Each unit of
a class with ε < t is kept with probability π = (e^ε−1)/(e^t−1), rounded down, all others always; then the mechanism
runs on those kept. Towards a unit of a class with ε the release is min(ε, t)-differentially private. A budget is
charged the highest of these.
**Assumes**: one row for each unit; classes are public and do not depend on the data (see ``policy.py``); `statistic`
moves by no more than the bound when one row is added or removed, for any rows, and fails on none.
**Source**: Jorgensen, Yu & Cormode 2015, Definition 9 and Theorem 3 (the Sample mechanism).
**Proof**: fix the others' coins. With the unit in the data, the output is P with probability π and Q with 1 − π, where
P and Q are t-close; without it, Q. So the ratio is at most 1 + π(e^t−1) ≤ e^ε one way, and the other way at most
1/(1 − π(1−e^−t)) ≤ e^ε, since (1 + πx)(1 − πx/(1+x)) ≥ 1 for x = e^t − 1 and 0 ≤ π ≤ 1. A smaller π only helps, so
rounding down is safe. ∎
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.accounting import events, pure
from sordino.accounting.approximate import own_delta
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import array
from sordino.errors import ArgumentError

from .classes import LARGEST_EPSILON, Classes
from .mechanism import Mechanism, remembered, use_grant

_DIGITS = 600  # e^1000 has 435 digits before the point; what is left keeps differences like e^ε − 1 exact enough
_FINENESS = 2**64


@dataclass(frozen=True)
class PersonalisedSample:
    """`mechanism` on the `statistic` of a sample, into which each unit comes as often as its class allows."""

    policy: Classes
    statistic: Callable[[NDArray[Any]], Any]
    mechanism: Mechanism

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Classes):
            raise ArgumentError("policy must be a Classes, such as Classes.of({name: ε})", "SRD-A001")
        if not callable(self.statistic):
            raise ArgumentError("statistic must be a function of an array of rows", "SRD-A001")
        if not isinstance(self.mechanism, Mechanism):
            raise ArgumentError("mechanism must have the verbs event, release and error", "SRD-A001")

    @remembered
    def event(self, bound: Bound) -> events.Personalised:
        """Return a release that gives each class its ε, or the whole mechanism's where that is less."""
        return self.policy.capped(self.strength(bound)).event()

    def strength(self, bound: Bound) -> Fraction:
        """Return t, the pure ε of the mechanism on those who are kept."""
        if bound.neighbours is not Neighbours.ADD_REMOVE:
            raise ArgumentError("sampling needs a bound for add/remove neighbours", "SRD-A003")
        inner = self.mechanism.event(bound)
        if own_delta(inner):
            raise ArgumentError("the mechanism must be purely private: its event has a δ of its own", "SRD-A003")
        strength = pure.total(inner)
        if strength > LARGEST_EPSILON:
            raise ArgumentError(f"the mechanism must be {LARGEST_EPSILON}-private or better by itself", "SRD-A002")
        return strength

    def release(self, value: tuple[Any, Any], grant: Grant) -> Any:
        """Return the mechanism's answer; `value` is (rows, classes), one class name for each row."""
        rows, places = self._rows(value)
        bound = use_grant(self, grant)
        kept = self._coins(places, self.strength(bound))
        inner = Grant(self.mechanism.event(bound), bound)
        return self.mechanism.release(self.statistic(rows[kept]), inner)

    def error(self, confidence: float = 0.95) -> float:
        """Return the mechanism's own error. What the sample leaves out comes on top and depends on the data."""
        return self.mechanism.error(confidence)

    def _rows(self, value: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
        if not isinstance(value, tuple) or len(value) != 2:
            raise ArgumentError("the value must be a pair: rows, and the class name of each", "SRD-A001")
        rows, places = array("rows", value[0]), self.policy.places(value[1])
        if rows.ndim == 0 or len(rows) != len(places):
            raise ArgumentError("the value must have one class name for each row", "SRD-A003")
        return rows, places

    def _coins(self, places: NDArray[np.intp], strength: Fraction) -> NDArray[np.bool_]:
        kept = np.ones(len(places), dtype=np.bool_)
        for place, epsilon in enumerate(self.policy.epsilons):
            if epsilon < strength:
                members = np.flatnonzero(places == place)
                kept[members] = noise.bernoulli(keeping_rounded_down(epsilon, strength), members.size)
        return kept


@lru_cache(maxsize=1024)
def keeping_rounded_down(epsilon: Fraction, strength: Fraction) -> Fraction:
    """Return (e^ε−1)/(e^t−1), rounded down to a multiple of 2^−64, for 0 < ε < t ≤ 1000.

    The exponentials of nearby decimals are correctly rounded and then pushed outwards by one unit in the last place.
    """
    with localcontext() as context:
        context.prec = _DIGITS
        low = _decimal(epsilon).next_minus().exp().next_minus()
        high = _decimal(strength).next_plus().exp().next_plus()
    share = (Fraction(low) - 1) / (Fraction(high) - 1)
    return max(Fraction(0), Fraction(share.numerator * _FINENESS // share.denominator, _FINENESS))


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
