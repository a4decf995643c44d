"""From a target to the noise: the least noise whose event stays within ε and δ, or within ρ, by any calculus.

**Guarantee**: the event built with the value returned has been priced and is within the target; the value is at most
10⁻⁶ (relative) above the least one that is. **Assumes** that more noise never costs more.

>>> from sordino.accounting.events import Laplace
>>> calibrate(Laplace, epsilon="0.1", calculus="pure")
Fraction(10, 1)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from sordino.arguments import Number, rational, whole
from sordino.errors import ArgumentError, UnsupportedError

from . import accountants, composition, zcdp
from .approximate import target
from .event import Event
from .events import DiscreteGaussian, Gaussian, PoissonSampled, Repeated
from .gaussian import analytic_sigma

TOLERANCE = Fraction(1, 10**6)
_FURTHEST = 100
_SUMS = ("pure", "basic")


def calibrate(
    build: Callable[[Fraction], Event],
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    calculus: str = accountants.BEST,
) -> Fraction:
    """Return the least noise parameter for which ``build(noise)`` costs no more than the target.

    Args:
        build: from the noise parameter (scale, standard deviation, 1/ε …) to the event that is run with it.
        epsilon: the target ε, at `delta` (0 if left out), by `calculus`.
        delta: the target δ.
        rho: the target ρ of zCDP, instead of `epsilon`.
        calculus: "pure", "basic", "advanced", "optimal", "zcdp", "renyi", "gaussian", "pld", or "best" of them.
    """
    if (epsilon is None) == (rho is None) or (rho is not None and delta is not None):
        raise ArgumentError("give either epsilon (with delta, if any) or rho alone", "SRD-A003")
    if rho is not None:
        cap = rational("rho", rho, above=0)
        return least_noise(build, zcdp.rho, cap)
    most, failure = rational("epsilon", epsilon, above=0), target(0 if delta is None else delta)
    return least_noise(build, lambda event: _price(event, failure, calculus), most)


def _price(event: Event, delta: Fraction, calculus: str) -> Fraction | float:
    """Return ε, as an exact sum where the calculus is one: then a target such as 0.1 is met without a last ulp."""
    if calculus in _SUMS:
        accountants.epsilon(event, delta, calculus)  # refuses what this calculus does not know at this δ
        return composition.basic(event)[0]
    return accountants.epsilon(event, delta, calculus)


def laplace(epsilon: Number, sensitivity: Number = 1) -> Fraction:
    """Return the scale of Laplace noise, continuous or discrete, that is ε-DP: sensitivity/ε, exactly."""
    return rational("sensitivity", sensitivity, above=0) / rational("epsilon", epsilon, above=0)


def gaussian(epsilon: Number, delta: Number, sensitivity: Number = 1) -> Fraction:
    """Return the least σ of Gaussian noise that is (ε, δ)-DP, rounded up (Balle, Wang 2018)."""
    return Fraction(analytic_sigma(epsilon, delta)) * rational("sensitivity", sensitivity, above=0)


def discrete_gaussian(
    *, epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None, sensitivity: int = 1
) -> Fraction:
    """Return the least variance of discrete Gaussian noise within (ε, δ), or within ρ: then Δ²/(2ρ), exactly."""
    size = whole("sensitivity", sensitivity, least=1)
    if rho is not None and epsilon is None and delta is None:
        return size**2 / (2 * rational("rho", rho, above=0))
    return calibrate(
        lambda variance: DiscreteGaussian(variance, Fraction(size**2)), epsilon=epsilon, delta=delta, rho=rho
    )


def sampled_gaussian(
    epsilon: Number, delta: Number, *, rate: Number, steps: int, calculus: str = accountants.BEST
) -> Fraction:
    """Return the least σ (sensitivity 1) with which `steps` Poisson-sampled Gaussian steps stay within (ε, δ)."""
    share = rational("rate", rate, above=0, most=1)
    count = whole("steps", steps, least=1)

    def build(sigma: Fraction) -> Event:
        return Repeated(PoissonSampled(Gaussian(sigma**2), share), count)

    return calibrate(build, epsilon=epsilon, delta=delta, calculus=calculus)


def least_noise(
    build: Callable[[Fraction], Event], price: Callable[[Event], Fraction | float], most: Fraction
) -> Fraction:
    """Return the least noise for which what is built has a price of at most `most`, by any price that falls with noise.

    It is the safe end of a narrow enough interval: `low` is never within the target, `high` always.

    Prices are close to powers of the noise, so the place where a straight line between their logarithms meets the
    target is probed on both sides; where that does not help, the interval is halved.
    """
    prices: dict[Fraction, Fraction | float] = {}

    def safe(noise: Fraction) -> bool:
        prices[noise] = price(build(noise))
        return prices[noise] <= most

    low, high = _bracket(safe)
    while high - low > TOLERANCE * low:
        width = high - low
        guess = _crossing(low, high, prices, most)
        margin = max(TOLERANCE / 4, width / low / 64)
        for probe in (guess * (1 + margin), guess * (1 - margin), None):
            middle = (low + high) / 2 if probe is None else probe
            if low < middle < high and (probe is not None or high - low > width / 4):
                low, high = (low, middle) if safe(middle) else (middle, high)
    tidy = _simplest(low, high)
    return tidy if safe(tidy) else high


def _crossing(low: Fraction, high: Fraction, prices: Mapping[Fraction, Fraction | float], most: Fraction) -> Fraction:
    """Return where a line through both ends, in logarithms, meets the target; the middle if there is no such line."""
    before, after = (float(prices[end]) for end in (low, high))
    if not math.inf > before > after > 0:
        return (low + high) / 2
    share = math.log(before / float(most)) / math.log(before / after)
    return Fraction(float(low) * math.exp(min(max(share, 0.0), 1.0) * math.log(high / low)))


def _bracket(safe: Callable[[Fraction], bool]) -> tuple[Fraction, Fraction]:
    """Return noises a factor of 2 apart, the lower not safe and the higher safe."""
    noise, two = Fraction(1), Fraction(2)
    start = safe(noise)
    for _ in range(_FURTHEST):
        following = noise / two if start else noise * two
        if safe(following) != start:
            return (following, noise) if start else (noise, following)
        noise = following
    raise UnsupportedError(
        f"no noise between 2^-{_FURTHEST} and 2^{_FURTHEST} is the least that meets this target: "
        + ("even the smallest does" if start else "even the largest does not")
        + "; change the target, or the delta of events that bring their own",
        "SRD-C006",
    )


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction with the least denominator in (low, high]."""
    floor = math.floor(low)
    if floor + 1 <= high:
        return Fraction(floor + 1)
    rest_low, rest_high = low - floor, high - floor
    if rest_low == 0:
        return floor + Fraction(1, math.ceil(1 / rest_high))
    return floor + 1 / _simplest_below(1 / rest_high, 1 / rest_low)


def _simplest_below(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction with the least denominator in [low, high)."""
    ceiling = math.ceil(low)
    if ceiling < high:
        return Fraction(ceiling)
    floor = ceiling - 1
    return floor + 1 / _simplest(1 / (high - floor), 1 / (low - floor))
