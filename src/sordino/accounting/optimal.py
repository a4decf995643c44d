"""The optimal composition of pure ε's: the law of a sum of randomized-response losses, computed on a lattice.

Every εᵢ-DP event is a post-processing of binary randomized response (Kairouz, Oh, Viswanath 2015, Theorem 2.5), whose
loss is +εᵢ with probability e^{εᵢ}/(1+e^{εᵢ}) and −εᵢ otherwise. So the least δ at ε is E[(1 − e^{ε−L})₊] for the sum
L of such losses: a binomial law if all εᵢ are equal (their Theorem 3.3). If they are not, the exact value is #P-hard;
Murtagh, Vadhan 2016 round each εᵢ up to a lattice, which is sound because ε-DP implies ε′-DP for ε′ ≥ ε, and add up by
dynamic programming.

**Error.** If the εᵢ have a common divisor such that the sum's bulk spans at most 2¹⁹ of it, nothing is rounded. Else
the result is optimal for εᵢ′ with 0 ≤ εᵢ′ − εᵢ < h, h = (width of the bulk)/2¹⁹. With s = Σ(εᵢ′ − εᵢ) it is at most
s above the optimum for the εᵢ at δ·e^{−s}: sign by sign, probabilities grow by at most e^s and losses by at most s.
Numerical error is added to δ, not ignored.

**Tails.** Sums are formed under the exponentially tilted law (loss +ε with odds e^{(1+2t)ε}), for which the tail that δ
lives on is the bulk; so errors are relative to the Chernoff bound of δ at the best t rather than to 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy

from sordino.arguments import rounded_up

from .curve import Floats
from .rounding import LIFT

_MOST_CELLS = 2**19
_UNDERFLOW = 1e-300
_MOST_EVENTS = 10**9
_MOST_EPSILON = 10**6
_FEW = 16
_TAIL = 60.0
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class _Sum:
    """Tilted law of a sum L of losses: `masses` at `losses`, off by `error` at most; `log_moment` is ln E[e^{tL}]."""

    losses: Floats
    masses: Floats
    tilt: float
    log_moment: float
    error: float

    def delta(self, epsilon: float) -> float:
        """Return E[(1 − e^{ε−L})₊] of the law before tilting, rounded up."""
        first = int(np.searchsorted(self.losses, epsilon, side="right"))
        beyond = self.losses[first:]
        terms = self.masses[first:] * np.exp(-self.tilt * (beyond - epsilon)) * -np.expm1(epsilon - beyond)
        return math.exp(self.log_moment - self.tilt * epsilon) * (float(np.sum(terms)) + self.error) * (1 + 1e-9)


def optimal_epsilon(claims: list[tuple[Fraction, int]], delta: float, cap: float) -> float:
    """Return the least ε, rounded up, at which events of these (pure ε, count) are (ε, δ)-DP; `cap` is known to do."""
    if sum(count for _, count in claims) > _MOST_EVENTS or max(epsilon for epsilon, _ in claims) > _MOST_EPSILON:
        return cap
    tilt = _best_tilt(claims, delta)
    law = _equal(claims[0], tilt) if len(claims) == 1 else _different(claims, tilt)
    if law.delta(0.0) <= delta:
        return 0.0
    low, high = 0.0, cap
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if law.delta(middle) <= delta else (middle, high)
    return high * LIFT


def _log_moment(epsilon: float, tilt: Floats) -> Floats:
    """Return ln E[e^{tL}] of one loss, ln(1 + 2·sinh((1+t)ε/2)·sinh(tε/2)/cosh(ε/2)), to a few units of roundoff."""
    short = np.minimum((1 + tilt) * epsilon, 600) / (1 + tilt)  # ε itself wherever the form is used
    near = np.log1p(2 * np.sinh((1 + tilt) * short / 2) * np.sinh(tilt * short / 2) / np.cosh(short / 2))
    far = np.logaddexp((1 + tilt) * epsilon, -tilt * epsilon) - np.logaddexp(epsilon, 0.0)
    return np.asarray(np.where((1 + tilt) * epsilon < 600, near, far))


def _single_log_moment(epsilon: float, tilt: float) -> float:
    return float(_log_moment(epsilon, np.array([tilt]))[0])


def _best_tilt(claims: list[tuple[Fraction, int]], delta: float) -> float:
    """Return the t > 0 whose Chernoff bound gives the least ε at δ, or a smaller one.

    Any t is sound as long as ln E[e^{tL}] ≤ 300: then what underflows under the tilted law (masses below 10⁻³⁰⁰, for
    which `error` has room) is nothing in δ either.
    """
    tilts = np.exp(np.linspace(-40.0, 12.0, 521))
    log_moments = np.sum([count * _log_moment(rounded_up(epsilon), tilts) for epsilon, count in claims], axis=0)
    allowed = log_moments <= max(300, log_moments[0])
    return float(tilts[allowed][np.argmin(((log_moments - math.log(delta)) / tilts)[allowed])])


def _down(epsilon: Fraction | float, tilt: float) -> float:
    """Return the tilted probability of the loss −ε: the smaller one, so the one that must keep its digits."""
    shrunk = math.exp(-(1 + 2 * tilt) * float(epsilon))
    return shrunk / (1 + shrunk)


def _bulk(priced: list[tuple[float, int]], tilt: float) -> tuple[float, float]:
    """Return an interval outside of which the tilted sum has mass below 2e^{−60} (Bernstein); at most all its range."""
    downs = [_down(epsilon, tilt) for epsilon, _ in priced]
    mean = sum(count * epsilon * (1 - 2 * down) for (epsilon, count), down in zip(priced, downs, strict=True))
    variance = sum(
        4 * count * epsilon**2 * down * (1 - down) for (epsilon, count), down in zip(priced, downs, strict=True)
    )
    reach = 2 * max(epsilon for epsilon, _ in priced) * _TAIL / 3
    width = reach + math.sqrt(reach**2 + 2 * variance * _TAIL)
    most = sum(count * epsilon for epsilon, count in priced)
    return max(mean - width, -most), min(mean + width, most)


def _equal(claim: tuple[Fraction, int], tilt: float) -> _Sum:
    """Return the law of the sum of `count` equal losses: binomial, nothing rounded."""
    epsilon, count = rounded_up(claim[0]), claim[1]
    low, high = _bulk([(epsilon, count)], tilt)
    fewest, most = math.floor((count - high / epsilon) / 2), math.ceil((count - low / epsilon) / 2)
    downs = np.arange(min(count, most), max(0, fewest) - 1, -1)
    masses = np.asarray(scipy.stats.binom.pmf(downs, count, _down(epsilon, tilt)))
    losses = np.asarray((count - 2.0 * downs) * epsilon, dtype=np.float64)
    error = _UNDERFLOW if len(downs) == count + 1 else 2 * math.exp(-_TAIL)
    return _Sum(losses, masses, tilt, count * _single_log_moment(epsilon, tilt), error)


def _different(claims: list[tuple[Fraction, int]], tilt: float) -> _Sum:
    """Return the law of the sum of different losses, each rounded up to the lattice."""
    low, high = _bulk([(float(epsilon), count) for epsilon, count in claims], tilt)
    divisor = _common_divisor([epsilon for epsilon, _ in claims])
    room = _MOST_CELLS - 4 * len(claims) - 4
    step = divisor if high - low <= divisor * room else Fraction((high - low) / room)
    levels = [(math.ceil(epsilon / step), count) for epsilon, count in claims]
    priced = [(float(level * step), count) for level, count in levels]
    low, high = _bulk(priced, tilt)
    first = math.floor(low / float(step)) - 1
    cells = 2 ** math.ceil(math.log2(math.ceil(high / float(step)) + 2 - first))
    masses = np.zeros(cells)
    masses[0] = 1.0
    complete = 2 * sum(level * count for level, count in levels) < cells
    error = _UNDERFLOW if complete else 2 * math.exp(-_TAIL)
    for level, count in sorted(levels, key=lambda pair: pair[1]):
        masses, rounding = _added(masses, level, count, _down(level * step, tilt))
        error += rounding
    # the sum is known modulo the number of cells; outside of the bulk there is next to nothing
    places = np.arange(first, first + cells)
    log_moment = sum(count * _single_log_moment(epsilon, tilt) for epsilon, count in priced)
    held = places[masses[places % cells] > 0]  # a few events leave most cells empty
    return _Sum(held * float(step), masses[held % cells], tilt, log_moment, error)


def _added(masses: Floats, level: int, count: int, down: float) -> tuple[Floats, float]:
    """Return the law after `count` more losses of ±level, modulo its length, and a bound of the absolute error made.

    A few are added one by one, in sums of positive terms, whose relative error is far below the 10⁻⁹ that `delta` adds.
    """
    cells = len(masses)
    if count <= _FEW:
        for _ in range(count):
            masses = (1 - down) * np.roll(masses, level) + down * np.roll(masses, -level)
        return masses, 0.0
    spread = 40 * math.sqrt(count * down * (1 - down)) + 40
    downs = np.arange(max(0, math.floor(count * down - spread)), min(count, math.ceil(count * down + spread)) + 1)
    more = np.zeros(cells)
    np.add.at(more, ((count - 2 * downs) * level) % cells, np.asarray(scipy.stats.binom.pmf(downs, count, down)))
    both = np.fft.irfft(np.fft.rfft(masses) * np.fft.rfft(more), cells)
    norms = float(np.linalg.norm(masses) * np.linalg.norm(more))
    return np.maximum(both, 0.0), 8 * _EPS * math.log2(cells) * norms * cells


def _common_divisor(values: list[Fraction]) -> Fraction:
    divisor = values[0]
    for value in values[1:]:
        denominator = math.lcm(divisor.denominator, value.denominator)
        divisor = Fraction(math.gcd(int(divisor * denominator), int(value * denominator)), denominator)
    return divisor
