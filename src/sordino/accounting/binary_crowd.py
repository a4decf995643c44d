"""Shuffled binary responses, exactly: how many of n people reported 1, whatever the others hold.

Each tells the truth with probability p/(p + 1), p = e^{ε₀}; let r = 1/(p + 1). If the others hold `ones` and `zeros`,
their reports of 1 are S ~ Bin(ones, 1 − r) + Bin(zeros, r), and one person adds a 1 with probability 1 − r or r. S is
log-concave, so the worst set is {≥ t} for some t, and with E = e^ε

    δ = max over t of  r(p − E)·P[S = t − 1] − (E − 1)·P[S ≥ t],

for a person who changes from 1 to 0; the way back is the same with zeros and ones exchanged.

**Whom the others are.** All numbers of ones are gone through. That a crowd of equals is the worst is nearly but not
quite so: t is whole, and the crowd that happens to suit it may hold a few others. Leaving people out never helps to
hide (who is left out may be told), so a crowd of at least i ones and at least j zeros is bounded by i ones and j zeros
alone: ranges of crowds are bounded so, and split where the bound is too large.

**Rounding.** Binomial laws are built from their middle by ratios, every term with a relative error of ulps for each
step; they end where Bernstein's inequality leaves e^{−L} at each side, which is added. All sums have terms of one sign.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .curve import Floats

MOST_EXACT = 10**6  # beyond it fewer are counted: who is left out would only hide better
_ULP = 2.0**-53
_MOST_RANGES = 3000


@dataclass(frozen=True)
class Binomial:
    """A binomial law without its ends, in which at most `beyond` is missing."""

    masses: Floats
    beyond: float

    def at_least(self) -> Floats:
        """Return the masses of all from each place on."""
        return np.cumsum(self.masses[::-1])[::-1]


def binomial(trials: int, odds: float, log_beyond: float) -> Binomial:
    """Return the law of successes of so many trials at `odds` to one; masses are not too small."""
    mean, variance = trials * odds / (1 + odds), trials * odds / (1 + odds) ** 2
    reach = math.sqrt(2 * log_beyond * variance) + 2 * log_beyond / 3 + 1
    first, last = max(0, math.floor(mean - reach)), min(trials, math.ceil(mean + reach))
    middle = min(max(round(mean), first), last)
    up = np.arange(middle, last, dtype=np.float64)
    down = np.arange(middle, first, -1, dtype=np.float64)
    above = np.cumprod((trials - up) / (up + 1) * odds)
    below = np.cumprod(down / (trials - down + 1) / odds)
    masses = np.concatenate([below[::-1], [1.0], above])
    return Binomial(masses / masses.sum(), 2 * math.exp(-log_beyond))


def crowd_delta(odds: float, ones: int, zeros: int, factor: float, log_beyond: float) -> float:
    """Return δ, rounded up, for a person who changes from 1 to 0 among so many others."""
    lie = 1 / (odds + 1)
    some, more = binomial(ones, odds, log_beyond), binomial(zeros, 1 / odds, log_beyond)
    gain, loss = lie * (odds - factor + 4 * _ULP * odds), (factor - 1) * (1 - 4 * _ULP)
    size, tails = len(some.masses) + len(more.masses) - 1, more.at_least()
    low, high = 0, size  # of t − 1, from the first place of S on
    while low < high:
        middle = (low + high) // 2
        here, before = _mass(some.masses, more.masses, middle + 1), _mass(some.masses, more.masses, middle)
        if gain * before >= (gain + loss) * here:
            high = middle
        else:
            low = middle + 1
    ulps = 16 * _ULP * (size + 16)
    beyond = some.beyond + more.beyond
    reached = _reached(some.masses, tails, low + 1) * (1 - beyond) * (1 - ulps)
    return max(gain * _mass(some.masses, more.masses, low) * (1 + ulps) - loss * reached, 0.0) + gain * beyond


def _mass(one: Floats, other: Floats, place: int) -> float:
    """Return the mass of one sum."""
    first, last = max(0, place - len(other) + 1), min(len(one) - 1, place)
    if first > last:
        return 0.0
    return float(one[first : last + 1] @ other[place - last : place - first + 1][::-1])


def _reached(one: Floats, tails: Floats, place: int) -> float:
    """Return the mass of all sums from a place on."""
    last = min(len(one) - 1, place)
    first = max(0, place - len(tails) + 1)
    surely = float(one[place + 1 :].sum())  # these reach it by themselves
    if first > last:
        return surely
    return surely + float(one[first : last + 1] @ tails[place - last : place - first + 1][::-1])


def all_crowds_below(odds: float, reports: int, epsilon: float, delta: float) -> bool:
    """Return whether δ at ε was found to be at most `delta` for all crowds of others; False if that took too long."""
    factor = math.exp(epsilon) * (1 - 4 * _ULP)
    if factor >= odds:
        return True
    others = min(reports, MOST_EXACT) - 1
    log_beyond = 20 - math.log(delta)
    ranges, seen = [(0, 0), (others, others), (0, others)], 0
    while ranges:
        least, most = ranges.pop()
        seen += 1
        if crowd_delta(odds, least, others - most, factor, log_beyond) <= delta:
            continue
        if least == most or seen > _MOST_RANGES:
            return False
        middle = (least + most) // 2
        ranges += [(least, middle), (middle + 1, most)]
    return True


def ends_delta(odds: float, reports: int, epsilon: float, log_beyond: float) -> float:
    """Return the larger δ of the two crowds of equals, which are nearly the worst."""
    factor = math.exp(epsilon) * (1 - 4 * _ULP)
    if factor >= odds:
        return 0.0
    others = min(reports, MOST_EXACT) - 1
    return max(crowd_delta(odds, ones, others - ones, factor, log_beyond) for ones in (0, others))
