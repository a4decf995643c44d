"""Dominating pairs of integer noise that is known by a table of its masses: Skellam noise, sums of discrete Gaussians.

Both are symmetric and log-concave, since Poisson variables and discrete Gaussians are log-concave and convolution keeps
that. So everything that `pair.Shifted` proves holds: the loss grows with the output, and a move of a vector counts by
its 1-norm. Masses are computed in long doubles, as sums and products of positive terms alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from sordino.errors import UnsupportedError

from .curve import Floats
from .pair import Shifted

_DEPTH = 760.0  # −ln of a mass that is nothing in float64
_WIDEST = 10**6  # of a variance: a table of some 40,000 masses
_WIDEST_SUM = 10**4
_FARTHEST = 10**5
_EXACT = np.longdouble


@dataclass(frozen=True)
class Tabled:
    """The losses ℓ(x) at x = −reach, …, reach, ascending."""

    losses: Floats
    reach: int

    def _place(self, loss: Any) -> Any:
        """Return the greatest x whose loss is no greater; −reach − 1 where all are."""
        return np.searchsorted(self.losses, loss, side="right") - 1 - self.reach

    def cut(self, loss: Floats) -> Floats:
        """Return the half-integer after the greatest output with no greater loss."""
        return np.where(np.isinf(loss), loss, self._place(loss) + 0.5)

    def reflected(self, loss: float) -> float:
        """Return ℓ(−x) where ℓ(x) is `loss`."""
        return float(self.losses[self.reach - int(np.clip(self._place(loss), -self.reach, self.reach))])

    def unmixed(self, rate: Fraction, mixed: Floats) -> Floats:
        """Return the greatest ℓ(x) for which ln(1 − q + q·e^ℓ(x)) − ln(1 − q + q·e^ℓ(−x)) is at most `mixed` ≥ 0."""
        rest, share = math.log(float(1 - rate)), math.log(float(rate))
        logs = np.logaddexp(rest, share + self.losses)
        places = np.searchsorted(np.maximum.accumulate((logs - logs[::-1])[self.reach :]), mixed, side="right") - 1
        found: Floats = self.losses[self.reach + np.maximum(places, 0)]
        return np.where(np.isinf(mixed), mixed, found)


def skellam_pair(variance: Fraction, distance: int) -> Shifted:
    """Return the pair of Skellam laws whose centres lie `distance` apart."""
    _refuse_wide(variance, _WIDEST, distance)
    return _pair(_skellam_logs(variance, distance), distance)


def summed_gaussian_pair(parties: int, variance: Fraction, distance: int) -> Shifted:
    """Return the pair of sums of discrete Gaussians whose centres lie `distance` apart."""
    _refuse_wide(parties * variance, _WIDEST_SUM, distance)
    return _pair(_summed_logs(parties, variance, distance), distance)


def _refuse_wide(variance: Fraction, widest: int, distance: int) -> None:
    if variance > widest or distance > _FARTHEST:
        raise UnsupportedError(
            f"a privacy loss distribution of this noise is computed up to a variance of {widest} squared steps and a "
            f"move of {_FARTHEST} steps; price it by Rényi, which loses next to nothing where noise is that wide",
            "SRD-C017",
        )


def _pair(logs: Any, distance: int) -> Shifted:
    """Return the pair of the noise whose logarithmic masses at 0, 1, … are given."""
    last = len(logs) - 1
    reach = last - distance
    outputs = np.arange(-reach, reach + 1)
    losses = np.maximum.accumulate((logs[np.abs(outputs - distance)] - logs[np.abs(outputs)]).astype(np.float64))
    above = np.append(np.cumsum(np.exp(logs[::-1]))[::-1][1:], 0.0).astype(np.float64)
    table = Tabled(losses, reach)

    def tail(half: Floats) -> Floats:
        found: Floats = above[np.minimum(half, last).astype(np.int64)]
        return found

    def bounds(share: float) -> tuple[float, float]:
        far = int(np.argmax(above <= max(share / 2, 1e-300)))  # P[noise > far] is no more
        low, high = np.clip([reach + distance - far - 1, reach + distance + far + 1], 0, 2 * reach)
        return float(losses[low]), float(losses[high])

    return Shifted(float(distance), table.cut, tail, bounds, table)


@lru_cache(maxsize=64)
def _skellam_logs(variance: Fraction, distance: int) -> Any:
    """Return ln P[Z = k], k = 0, 1, …, from ratios of Bessel functions I by their recurrence downwards.

    I_k/I_{k−1} = 1/(2k/μ + I_{k+1}/I_k): all terms are positive, and what it begins with is forgotten on the way.
    """
    mu = _EXACT(variance.numerator) / _EXACT(variance.denominator)
    last = _skellam_reach(float(mu)) + 2 * distance
    start = last + 4 * math.isqrt(math.ceil(mu)) + 64
    ratio, logs = mu / (2 * start + 2), np.zeros(last + 1, dtype=_EXACT)
    for k in range(start, 0, -1):
        ratio = 1 / (2 * k / mu + ratio)
        if k <= last:
            logs[k] = np.log(ratio)
    return _normalized(np.cumsum(logs))


def _skellam_reach(mu: float) -> int:
    """Return an output beyond which the mass is nothing: ln P[Z > t] ≤ √(t²+μ²) − μ − t·asinh(t/μ) (Chernoff)."""
    reach = 64.0
    while reach * math.asinh(reach / mu) - (math.hypot(reach, mu) - mu) < _DEPTH:
        reach *= 1.25
    return math.ceil(reach)


@lru_cache(maxsize=64)
def _summed_logs(parties: int, variance: Fraction, distance: int) -> Any:
    """Return ln P[X₁ + … + Xₙ = k], k = 0, 1, …, by convolution, doubling the number of parties.

    Each law is cut where its mass is nothing. An outcome of the sum that matters has its parties' shares well inside.
    """
    spread = math.sqrt(variance)
    total, count, law = np.ones(1, dtype=_EXACT), 0, _discrete_gaussian(variance, 46 * spread + 2 * distance)
    power = 1
    while count < parties:
        if parties & power:
            count += power
            total = _trimmed(np.convolve(total, law), 46 * spread * math.sqrt(count) + 2 * distance + 4)
        power *= 2
        if power <= parties:
            law = _trimmed(np.convolve(law, law), 46 * spread * math.sqrt(power) + 2 * distance + 4)
    middle = len(total) // 2
    return _normalized(np.log(total[middle:]))


def _discrete_gaussian(variance: Fraction, reach: float) -> Any:
    outputs = np.arange(-math.ceil(reach) - 2, math.ceil(reach) + 3).astype(_EXACT)
    weights = np.exp(-(outputs**2) * variance.denominator / (2 * _EXACT(variance.numerator)))
    return weights / np.sum(weights)


def _trimmed(law: Any, reach: float) -> Any:
    middle, kept = len(law) // 2, min(len(law) // 2, math.ceil(reach))
    return law[middle - kept : middle + kept + 1]


def _normalized(logs: Any) -> Any:
    return logs - np.log(2 * np.sum(np.exp(logs - logs[0])) - 1) - logs[0]
