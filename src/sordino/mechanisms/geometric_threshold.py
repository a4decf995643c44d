"""Keys and their counts for one price: the noise that hides a count also decides whether the key is shown.

Selection by itself (`TruncatedGeometric`) spends ε on a coin for each key and tells nothing else. Here the coin is the
count's noise: a key of n units is shown where n − J > 0, and then with the count n − J + c. J is a number from 0 on
with a law p that has no tails: one person alone (n = 1) is shown if J = 0, which has probability δ/k at most.

**Guarantee**: (ε, δ) for all keys of one unit together, whether they are shown and with which counts. No rule that is
(ε/k, δ/k) for each key shows one of n units more often, up to rounding, even if it shows no counts.
**Proof**. Let r ≤ e^(ε/k) and δ' = δ/k for k keys per unit, and p_{−1} = p_L = 0. With n units the count n − J + c is
shown with probability p_J for J < n, and nothing with Σ_{j≥n} p_j. From n + 1 units to n: the same count is shown with
p_i and p_{i−1}, and nothing is not more likely than before; so P_{n+1}(S) ≤ r·P_n(S) + Σ_i (p_i − r·p_{i−1})⁺ for every
set S of outcomes. From n units to n + 1: p_i and p_{i+1} for what is shown, and for nothing
Σ_{j≥n} p_j − r·Σ_{j>n} p_j ≤ Σ_{j≥n} (p_j − r·p_{j+1})⁺; so P_n(S) ≤ r·P_{n+1}(S) + Σ_i (p_i − r·p_{i+1})⁺.
When the law is built, both sums are computed in whole numbers and compared with δ'; where one were larger, it is
refused. So each key is (ε/k, δ/k), and k keys compose to (ε, δ). ∎
**The law**: whole numbers of 2⁻⁶² that add up to one. From J = 0 on they rise from δ' by the factor r, and from the
other end likewise, but for the last one, x ≤ δ', beside which stands δ' + (r − 1)·x: x is what makes the sum one. Their
partial sums are the probabilities of `TruncatedGeometric`, which are the largest possible.
**Source**: Desfontaines, Voss, Gipson, Mandayam 2022, Theorem 1, and its reading as a threshold on noise that is cut
off; the last entry, which spends all of δ whatever ε is, is ours.
**Assumes**: a unit counts at most once per key and has at most k keys.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.accounting.bound import Bound
from sordino.accounting.events import Approximate
from sordino.accounting.grant import Grant
from sordino.arguments import Number, probability, whole
from sordino.errors import ArgumentError
from sordino.noise.enclosure import exp_negative

from .grid import Steps
from .mechanism import remembered, use_grant
from .partition import KeysOfOneUnit, Selected, checked_counts

_BITS = 62
_ONE = 2**_BITS
_FINE = 2 * _BITS  # binary digits of 1/r
_LONGEST = 2**14
_MOST_GROWTH_BITS = 40  # of r; a smaller r is safe
_LEAST_FAILURE = 2**12
_LEAST_RISE = 64  # (r − 1)·δ' in units of 2⁻⁶²: below, rounding would be felt


@dataclass(frozen=True)
class GeometricThreshold(KeysOfOneUnit):
    """Shows as many keys as (`epsilon`, `delta`) allows when one unit has up to `keys` of them, and their noisy counts.

    >>> rule = GeometricThreshold(1, "1e-6")
    >>> rule.threshold(Bound.scalar(1)), round(float(rule.probability(13)), 2), rule.error(0.95)
    (14, 0.37, 3.0)
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        _law(self.epsilon / self.keys, self.delta / self.keys)  # what is refused is refused here, before any data

    @remembered
    def event(self, bound: Bound) -> Approximate:
        """Return what one release runs; refuse a bound that lets one unit do more than the rule was made for."""
        self.check(bound)
        return Approximate(self.epsilon, self.delta)

    def release(self, value: Any, grant: Grant) -> Selected:
        """Return which keys to keep, and their noisy counts, given the number of units of each key."""
        counts = checked_counts(value)
        use_grant(self, grant)
        drawn = np.searchsorted(self._sums, noise.uniform(_ONE, counts.shape), side="right")
        keep = drawn < counts
        return Selected(keep, (counts - drawn)[keep] + self._centre)

    def error(self, confidence: float = 0.95) -> float:
        """Return how far one noisy count is off, at most, with probability `confidence` (before selection)."""
        wanted = probability("confidence", confidence)
        order = np.argsort(np.abs(self._noises), kind="stable")
        reached = int(np.searchsorted(np.cumsum(self._masses[order]), math.ceil(wanted * _ONE)))
        return float(abs(self._noises[order[reached]]))

    def threshold(self, bound: Bound) -> int:
        """Return the least noisy count that is shown."""
        self.event(bound)
        return self._centre + 1

    def size_shown(self, confidence: Number, bound: Bound) -> int:
        """Return how many units a key needs to be shown with probability `confidence`."""
        self.event(bound)
        return 1 + int(np.searchsorted(self._sums, math.ceil(probability("confidence", confidence) * _ONE)))

    def probability(self, units: int) -> Fraction:
        """Return the exact probability by which a key of that many units is shown."""
        place = min(whole("units", units, least=0), len(self._sums))
        return Fraction(int(self._sums[place - 1]), _ONE) if place else Fraction(0)

    def log_at_least(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return ln P[noise ≥ value] for whole numbers."""
        places = np.clip(self._centre - np.asarray(values), -1, len(self._sums) - 1).astype(np.int64)
        logarithms = np.append(np.log(self._sums / _ONE), -np.inf)
        return np.asarray(logarithms[places])

    @cached_property
    def variance_of_error(self) -> float:
        """The mean square of the noise, before selection."""
        return float((self._masses / _ONE) @ self._noises.astype(np.float64) ** 2)

    @cached_property
    def _masses(self) -> Steps:
        """The law of J, in units of 2⁻⁶²."""
        return np.array(_law(self.epsilon / self.keys, self.delta / self.keys), dtype=np.int64)

    @cached_property
    def _sums(self) -> Steps:
        return np.asarray(np.cumsum(self._masses), dtype=np.int64)

    @cached_property
    def _centre(self) -> int:
        """c: the mean of J, rounded, so that noisy counts are whole and off by less than ½ on average."""
        mean = float((self._masses / _ONE) @ np.arange(len(self._masses)))
        return math.floor(mean + 0.5)

    @cached_property
    def _noises(self) -> Steps:
        """What is added to a count: c − J."""
        return np.asarray(self._centre - np.arange(len(self._masses)), dtype=np.int64)


@lru_cache(maxsize=16)
def _law(epsilon: Fraction, delta: Fraction) -> tuple[int, ...]:
    """Return p for one key, in units of 2⁻⁶²."""
    failure = math.floor(delta * _ONE)
    if failure < _LEAST_FAILURE:
        raise ArgumentError("delta/keys must be at least 2^-50; use LaplaceThreshold", "SRD-A002")
    if not math.log1p(float(epsilon) / (2 * float(delta))) < float(epsilon) * _LONGEST:
        raise ArgumentError("epsilon/keys is so small that this rule is impractical; use LaplaceThreshold", "SRD-A002")
    shrink: int = max(exp_negative(epsilon.numerator, epsilon.denominator, _FINE)[1], 2 ** (_FINE - _MOST_GROWTH_BITS))
    if failure * (2**_FINE - shrink) < _LEAST_RISE * shrink:
        raise ArgumentError("delta/keys is too small for this epsilon; use LaplaceThreshold", "SRD-A002")
    masses = _Ends(failure, shrink).joined()
    for order in (masses, masses[::-1]):
        pairs = zip((0, *order), (*order, 0), strict=True)
        beyond = sum(max(0, mass - (before << _FINE) // shrink) for before, mass in pairs)
        if beyond > failure or min(masses) < 0 or sum(masses) != _ONE:
            raise ArgumentError("delta/keys is too small for this epsilon; use LaplaceThreshold", "SRD-A002")
    return masses


class _Ends:
    """The two ends of the law, each from its outermost entry inwards. 1/r is `shrink` · 2⁻¹²⁴.

    Entries rise by r' = r·(1 − 2/failure) and are rounded down only at last: so each is at most r times the one before,
    since from `failure` on rounding takes less than that off.
    """

    def __init__(self, failure: int, shrink: int) -> None:
        self.failure, self.shrink = failure, shrink
        self._slower = shrink * failure // (failure - 2) + 1

    def joined(self) -> tuple[int, ...]:
        """Return both ends, joined in the middle: one in all."""
        rising = self._rising()
        falling = self._falling(len(rising) + (2 * sum(rising) < _ONE), _ONE - sum(rising))
        middle = rising if rising[-1] >= falling[-1] else falling
        middle[-1] -= sum(rising) + sum(falling) - _ONE
        return tuple(mass for mass in (*rising, *reversed(falling)) if mass)

    def _climb(self, mass: int) -> Iterator[int]:
        fine = mass << _BITS
        while True:
            yield fine >> _BITS
            fine = (fine << _FINE) // self._slower

    def _rising(self) -> list[int]:
        """Return the first end, so long that the other one is longer by an entry at most."""
        climb = self._climb(self.failure)
        rising, risen = [next(climb)], self.failure
        while 2 * risen + (mass := next(climb)) <= _ONE:
            rising.append(mass)
            risen += mass
        return rising

    def _falling(self, length: int, missing: int) -> list[int]:
        """Return the other end, of that length and with such a last entry that it is `missing`, or barely more."""
        if length == 1:
            return [missing]
        gained = 2**_FINE - self.shrink  # (r − 1)/r

        def end(second: int) -> list[int]:
            last = -((self.failure - second) * self.shrink // gained)
            return [last, *islice(self._climb(second), length - 1)]

        # The sum is linear in the second entry but for rounding, and between those of the last entries 0 and δ'.
        low, high = self.failure, (self.failure << _FINE) // self.shrink
        least, most = sum(end(low)), sum(end(high))
        second = low + max(missing - least, 0) * (high - low) // (most - least)
        while sum(masses := end(second)) < missing:
            second += 1
        return masses
