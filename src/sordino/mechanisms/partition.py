"""Partition selection: which keys of an unknown set may be shown, given how many units have each key.

A key that one person alone has must almost never come out. All three rules here take the numbers of units per key and
never keep a key that nobody has; the key itself and its place in the input are the caller's to hide unless it is kept.

**Guarantee** (`TruncatedGeometric`): (ε, δ) for all keys of one unit together. A key with n units is kept with
probability π(n), where π(0) = 0 and, with a rational r ≤ e^(ε/k) and δ' = δ/k for k keys per unit,
π(n+1) = min(r·π(n) + δ', 1 − (1 − π(n) − δ')/r, 1), rounded down to a multiple of 2⁻⁶². Rounding down keeps
π(n+1) ≤ r·π(n) + δ' and 1 − π(n) ≤ r·(1 − π(n+1)) + δ'; the two opposite inequalities hold because π does not fall
(each step rises by at least δ' before rounding, and δ' ≥ 2⁻⁶⁰). These four are (ε/k, δ/k) for one key (its outcome is
one bit), and k keys compose to (ε, δ). The exact root 1 − (1 − δ)^(1/k) for δ' would gain a factor below 1 + δ.
**Source**: Desfontaines, Voss, Gipson, Mandayam 2022, Theorem 1 (this π, without rounding, is the largest possible).

**Guarantee** (`LaplaceThreshold`, `GaussianThreshold`): the noise's event and a failure of probability δ. Let x and y
be neighbours. Keys that only one of them has (at most l0, with counts at most linf) pass the threshold with probability
at most δ/l0 each, so none passes with probability at least 1 − δ. Given that, which is independent of the other keys'
noise, both outputs are post-processing of noisy counts over the keys that both have. So on events of probability
≥ 1 − δ the outputs are as close as the noise makes them; on the rest nothing is claimed.
**Source**: Korolova, Kenthapadi, Mishra, Ntoulas 2009; Wilson et al. 2020; Swanberg et al. 2023 (Gaussian).
**Assumes** (all): a unit counts at most once per key (linf = 1), or linf says how much, and has at most l0 keys.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from sordino import noise
from sordino.accounting.bound import Bound
from sordino.accounting.events import Approximate, Composed, PartitionSelection
from sordino.accounting.grant import Grant
from sordino.arguments import Number, numbers, probability, rational, whole
from sordino.errors import ArgumentError
from sordino.noise.enclosure import exp_negative

from .gaussian import Gaussian
from .grid import Steps
from .laplace import Laplace
from .mechanism import remembered, use_grant

_BITS = 62
_LONGEST = 2**18
_SLACK = 1 + 2.0**-30
_LEAST_SLACK = 2.0**-40  # covers floats where the failure is near ½ and what is left of the logarithm near zero
_LEAST_FAILURE = Fraction(1, 10**300)


class Selected(NamedTuple):
    """What a threshold releases: which keys are kept, and the noisy counts of those alone, in the same order."""

    keep: NDArray[np.bool_]
    counts: Steps


@dataclass(frozen=True)
class KeysOfOneUnit:
    """What rules for (`epsilon`, `delta`) share that are made for units with up to `keys` keys, counted once each."""

    epsilon: Fraction
    delta: Fraction
    keys: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", rational("epsilon", self.epsilon, above=0, most="1e4"))
        object.__setattr__(self, "delta", probability("delta", self.delta))
        object.__setattr__(self, "keys", whole("keys", self.keys, least=1))

    def check(self, bound: Bound) -> None:
        """Refuse a bound that lets one unit do more than the rule was made for."""
        if bound.linf > 1 or bound.l0 > self.keys:
            raise ArgumentError(
                f"one unit may change {self.keys} keys' counts by one each here, but the bound says l0={bound.l0}, "
                f"linf={bound.linf}; build {type(self).__name__} with more keys, and count units, not rows",
                "SRD-A003",
            )


@dataclass(frozen=True)
class TruncatedGeometric(KeysOfOneUnit):
    """Keeps as many keys as (`epsilon`, `delta`) allows when one unit has up to `keys` of them; tells no counts.

    >>> round(float(TruncatedGeometric(1, "1e-5").probability(10)), 3)
    0.128
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta / self.keys < Fraction(1, 2**60):
            raise ArgumentError("delta/keys must be at least 2^-60", "SRD-A002")
        if 2 * self._crossing > _LONGEST:
            raise ArgumentError("epsilon/keys is so small that this rule is impractical; use a threshold", "SRD-A002")

    @remembered
    def event(self, bound: Bound) -> PartitionSelection:
        """Return what one release runs; refuse a bound that lets one unit do more than the rule was made for."""
        self.check(bound)
        return PartitionSelection(self.epsilon, self.delta)

    def release(self, value: Any, grant: Grant) -> NDArray[np.bool_]:
        """Return which keys to keep, given the number of units of each key."""
        counts = checked_counts(value)
        use_grant(self, grant)
        coins = noise.uniform(2**_BITS, counts.shape)
        keep: NDArray[np.bool_] = coins < self._table[np.minimum(counts, len(self._table) - 1)]
        return keep

    def error(self, confidence: float = 0.95) -> float:
        """Return how many units a key needs to be kept with probability `confidence`: smaller keys may be lost."""
        wanted = math.ceil(probability("confidence", confidence) * 2**_BITS)
        return float(np.searchsorted(self._table, wanted))

    def probability(self, units: int) -> Fraction:
        """Return the exact probability by which a key of that many units is kept."""
        position = min(whole("units", units, least=0), len(self._table) - 1)
        return Fraction(int(self._table[position]), 2**_BITS)

    @property
    def _crossing(self) -> float:
        """About how many units a key needs to be kept with probability ½; with twice as many it is always kept."""
        epsilon, delta = float(self.epsilon / self.keys), float(self.delta / self.keys)
        growth = math.expm1(min(epsilon, 700.0))
        return math.log1p(growth * (1 - delta) / ((growth + 2) * delta)) / epsilon if epsilon > 0 else math.inf

    @cached_property
    def _table(self) -> Steps:
        """π in units of 2⁻⁶², up to the first 1."""
        one, failure = 2**_BITS, math.floor(self.delta / self.keys * 2**_BITS)
        growth = self.epsilon / self.keys
        shrink = exp_negative(growth.numerator, growth.denominator, 2 * _BITS)[1]
        shrink = min(shrink, 2 ** (2 * _BITS))  # 1 ≥ 1/r ≥ e^(−ε/k), in units of 2^-124
        table = [0]
        while table[-1] < one:
            here = table[-1]
            grown = (here << (2 * _BITS)) // shrink + failure
            left = max(one - here - failure, 0)
            table.append(min(grown, one + ((-left * shrink) >> (2 * _BITS)), one))
        return np.array(table, dtype=np.int64)


@dataclass(frozen=True)
class _Threshold(ABC):
    """What both thresholds share: noisy counts, of which those below a public threshold are never seen."""

    delta: Fraction

    @property
    @abstractmethod
    def counting(self) -> Laplace | Gaussian:
        """The mechanism that makes counts noisy."""

    @abstractmethod
    def _reach(self, failure: Fraction) -> int:
        """Return t ≥ 1 such that the noise is t or more with probability `failure` at most."""

    def threshold(self, bound: Bound) -> int:
        """Return the least noisy count that is shown."""
        moved = self.counting.grid.sensitivity(bound)
        return moved.linf + self._reach(self.delta / moved.l0)

    @remembered
    def event(self, bound: Bound) -> Composed:
        """Return what one release runs: the noise, and a failure of probability δ."""
        self.threshold(bound)  # a failure too small for it is refused here rather than after the draw
        return Composed((self.counting.event(bound), Approximate(Fraction(0), self.delta)))

    def release(self, value: Any, grant: Grant) -> Selected:
        """Return which keys to keep, and their noisy counts, given the number of units of each key."""
        counts = checked_counts(value)
        bound = use_grant(self, grant)
        noisy = counts + self.counting.law.draw(counts.shape)
        keep = (noisy >= self.threshold(bound)) & (counts > 0)
        return Selected(keep, noisy[keep])

    def error(self, confidence: float = 0.95) -> float:
        """Return how far one noisy count is off, at most, with probability `confidence` (before selection)."""
        return self.counting.error(confidence)

    def size_shown(self, confidence: Number, bound: Bound) -> int:
        """Return how many units a key needs to be shown with probability `confidence`, ½ or more."""
        both = max(2 * probability("confidence", confidence) - 1, Fraction(0))
        return self.threshold(bound) + (int(self.counting.law.tail(both)) if both else 0)

    @property
    def variance_of_error(self) -> float:
        """The mean square of the noise, before selection."""
        return self.counting.variance_of_error

    @abstractmethod
    def log_at_least(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return ln P[noise ≥ value] for whole numbers."""


@dataclass(frozen=True)
class LaplaceThreshold(_Threshold):
    """Counts with Laplace noise of `scale`, shown where they reach a threshold that a lone unit passes with ≤ `delta`.

    >>> LaplaceThreshold("1e-6", scale=1).threshold(Bound.scalar(1))
    15
    """

    scale: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", probability("delta", self.delta))
        object.__setattr__(self, "scale", self.counting.scale)

    @classmethod
    def for_epsilon(cls, epsilon: Number, delta: Number, bound: Bound) -> LaplaceThreshold:
        """Return the mechanism whose counts cost `epsilon` under `bound`, and which fails with probability `delta`."""
        return cls(probability("delta", delta), Laplace.for_epsilon(epsilon, bound).scale)

    @cached_property
    def counting(self) -> Laplace:
        """The mechanism that makes counts noisy."""
        return Laplace(self.scale)

    def _reach(self, failure: Fraction) -> int:
        # P[X ≥ t] = e^(−t/b)/(1 + e^(−1/b)) ≤ failure, solved for t and rounded up.
        scale = float(self.scale)
        logarithm = _log(1 / failure) - math.log1p(math.exp(-1 / scale))
        return max(1, math.ceil(scale * (logarithm * _SLACK + _LEAST_SLACK)))

    def log_at_least(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return ln P[noise ≥ value] for whole numbers."""
        scale, steps = float(self.scale), np.asarray(values, dtype=np.float64)
        far = -np.where(steps > 0, steps, 1 - steps) / scale - math.log1p(math.exp(-1 / scale))
        return np.where(steps > 0, far, np.log1p(-np.exp(far)))


@dataclass(frozen=True)
class GaussianThreshold(_Threshold):
    """Counts with Gaussian noise of `variance`, shown where they reach a threshold, as `LaplaceThreshold` does.

    >>> GaussianThreshold("1e-6", variance=1).threshold(Bound.scalar(1))
    7
    """

    variance: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", probability("delta", self.delta))
        object.__setattr__(self, "variance", self.counting.variance)

    @classmethod
    def for_rho(cls, rho: Number, delta: Number, bound: Bound) -> GaussianThreshold:
        """Return the mechanism whose counts cost `rho` under `bound`, and which fails with probability `delta`."""
        return cls(probability("delta", delta), Gaussian.for_rho(rho, bound).variance)

    @cached_property
    def counting(self) -> Gaussian:
        """The mechanism that makes counts noisy."""
        return Gaussian(self.variance)

    def _reach(self, failure: Fraction) -> int:
        # The rounded noise is t or more if and only if the Gaussian is t − ½ or more.
        if failure < _LEAST_FAILURE:
            raise ArgumentError("delta/l0 must be at least 1e-300", "SRD-A002")
        deviation = math.sqrt(float(self.variance))
        quantile = max(0.0, float(-scipy.special.ndtri(float(failure))))
        return max(1, math.ceil(0.5 + deviation * (quantile * _SLACK + _LEAST_SLACK)))

    def log_at_least(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return ln P[noise ≥ value] for whole numbers."""
        steps = np.asarray(values, dtype=np.float64)
        return np.asarray(scipy.special.log_ndtr((0.5 - steps) / math.sqrt(float(self.variance))))


def checked_counts(value: Any) -> Steps:
    """Return numbers of units as an array of ints, stopped at 0 and at 2^53 − 1: no value is refused."""
    array = numbers("the counts", value, "iu")
    if array.ndim != 1:
        raise ArgumentError("the counts must be one array of ints, a number of units per key", "SRD-A001")
    most = min(2**53 - 1, int(np.iinfo(array.dtype).max))
    return np.asarray(np.minimum(np.maximum(array, 0), most), dtype=np.int64)


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)
