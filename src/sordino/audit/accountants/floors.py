"""What is certainly lost by an event: lower bounds on ε that a real attack attains, found without our own accountants.

Every event here stands for a mechanism that somebody may run. For each there is one pair of neighbours whose outputs
are told apart as well as the event allows, and the best test between n such outputs is enumerated: exactly for Gaussian
noise (Balle, Wang 2018, Theorem 8) and wherever losses lie on a lattice (randomized response, discrete noise, the
exponential mechanism between two candidates); from below where they are rounded down to one.

**Guarantee**: no accountant may say less than `lost_at_least`: at a smaller ε the composition is not (ε, δ)-private.
Proof: δ(ε) = E_P[(1 − e^{ε−L})₊] grows with the privacy loss L, so rounding losses down and leaving out outcomes and
whole events only lowers it; and a bound from one pair of inputs is a bound from below on the worst pair.
What is sampled has no closed form: there the proven lower end of our privacy loss distribution is taken, and only for
pairs that are attained (``pld.py``). Where a unit is replaced, see ``replaced_floors.py``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from sordino.accounting import events
from sordino.accounting.event import Event
from sordino.accounting.pld import accountant as pld

from .losses import NOTHING, Floats, Losses, power
from .replaced_floors import apart, has_losses, losses

_LARGEST = 1 << 13  # places of a lattice
_CELLS = 16  # into which a continuous loss is cut
_SIDES = 8  # ways to tilt a choice between two candidates that are tried
_FURTHEST = 12.0  # standard deviations of discrete Gaussian noise that are looked at


def lost_at_least(event: Event, delta: float) -> float:
    """Return a lower bound on every ε such that `event` is (ε, `delta`)-private; 0 where none is known."""
    counted = unrolled(event)
    if any(isinstance(part, events.PoissonSampled) for part in counted):
        return _by_distribution(counted, delta)
    mu_squared = sum((_mu_squared(part) * count for part, count in counted.items()), Fraction(0))
    others = {part: count for part, count in counted.items() if type(part) in _PAIRS or has_losses(part)}
    if not others:
        return gaussian_epsilon(math.sqrt(mu_squared), delta)
    runs = frozenset(others.items())
    return max(_epsilon(*_composed(runs, math.sqrt(mu_squared), side), delta) for side in _sides(others))


def unrolled(event: Event, count: int = 1) -> Counter[Event]:
    """Return how often each simple event is run; an own reading, so that nobody is judged by his own."""
    match event:
        case events.Repeated():
            return unrolled(event.event, count * event.count)
        case events.Composed():
            return sum((unrolled(part, count) for part in event.events), Counter())
        case events.PoissonSampled() if event.rate == 1:
            return unrolled(event.event, count)
        case events.Replaced():
            runs: Counter[Event] = Counter()
            for part, times in unrolled(event.event, count).items():
                runs[apart(part)] += times
            return runs
    return Counter({event: count})


# ---- Gaussian noise -------------------------------------------------------------------------------------------------


def _mu_squared(part: Event) -> Fraction:
    match part:
        case events.Gaussian():
            return part.sensitivity_squared / part.variance
        case events.Concentrated():
            return 2 * part.rho  # Gaussian noise is ρ-zCDP with ρ = μ²/2
    return Fraction(0)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the exact ε of Gaussian noise whose centres lie `mu` standard deviations apart (Balle, Wang 2018)."""
    from scipy.optimize import brentq
    from scipy.special import log_ndtr

    if mu == 0:
        return 0.0

    def excess(epsilon: float) -> float:
        above, below = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
        return float(above + math.log(-math.expm1(min(below - above, -1e-300)))) - math.log(delta)

    if delta >= 1 or excess(0.0) <= 0:
        return 0.0
    high = mu * mu / 2 + mu * (1 + math.sqrt(2 * math.log(1 / delta)))
    return float(brentq(excess, 0.0, high, xtol=1e-12 * max(1.0, high)))


# ---- pairs of neighbours --------------------------------------------------------------------------------------------


def _response(event: events.RandomizedResponse) -> Losses:
    own = 1 / (1 + (event.categories - 1) * math.exp(-event.epsilon))
    other = own * math.exp(-event.epsilon)
    return Losses(-float(event.epsilon), event.epsilon, np.array([other, (event.categories - 2) * other, own]))


def _claimed(event: events.Pure) -> Losses:
    return _response(events.RandomizedResponse(event.epsilon))


def _approximate(event: events.Approximate) -> Losses:
    if event.epsilon == 0:
        return _failing(event)
    plain = _claimed(events.Pure(event.epsilon))
    return replace(plain, masses=plain.masses * float(1 - event.delta), lost=float(event.delta))


def _failing(event: events.Approximate | events.PartitionSelection) -> Losses:
    """Something that with probability δ shows whether somebody is there, and else shows nothing."""
    rest = float(1 - event.delta)
    return Losses(math.log(rest) if rest else 0.0, Fraction(1), np.array([rest]), float(event.delta))


def _laplace(event: events.Laplace) -> Losses:
    epsilon = event.sensitivity / event.scale
    step = epsilon / _CELLS
    edges = np.arange(-_CELLS, _CELLS + 1) * float(step)
    above = 1 - 0.5 * np.exp((edges - float(epsilon)) / 2)  # P[L ≥ l] for −ε < l ≤ ε
    above[0] = 1.0
    return Losses(-float(epsilon), step, above - np.append(above[1:], 0.0))


def _discrete_laplace(event: events.DiscreteLaplace) -> Losses:
    """One coordinate moves all the way: the loss of output k between the centres is (2k − d)/scale."""
    ratio, distance = math.exp(-1 / event.scale), event.sensitivity
    middle = np.arange(1, distance) / float(event.scale)
    inner = np.exp(middle - distance / float(event.scale)) * (1 - ratio) / (1 + ratio)
    ends = math.exp(-distance / event.scale) / (1 + ratio), 1 / (1 + ratio)
    masses = np.concatenate(([ends[0]], inner, [ends[1]]))
    return Losses(-float(distance / event.scale), 2 / event.scale, masses)


def _discrete_gaussian(event: events.DiscreteGaussian) -> Losses:
    """One coordinate moves by whole steps d: the loss of output k is (2kd − d²)/(2·variance)."""
    distance = math.isqrt(math.floor(event.sensitivity_squared))
    variance = float(event.variance)
    reach = math.ceil(_FURTHEST * math.sqrt(variance))
    offsets = np.arange(-reach, reach + 1)
    weights = np.exp(-(offsets**2) / (2 * variance))
    first = (2 * (distance - reach) * distance - distance**2) / (2 * variance)
    if distance == 0:
        return Losses(0.0, Fraction(1), np.ones(1))
    beyond = 2 * math.exp(-(reach**2) / (2 * variance)) * (variance / reach + 1)  # so that masses are rounded down
    return Losses(first, distance / event.variance, weights / (weights.sum() + beyond))


def _exponential(event: events.Exponential, side: int) -> Losses:
    """Two candidates whose odds move by e^ε: losses t and t − ε, for any t between (Dong, Durfee, Rogers 2020)."""
    epsilon = float(event.epsilon)
    high = epsilon * side / _SIDES
    chosen = math.expm1(high - epsilon) / math.expm1(-epsilon)  # P of the candidate that gains
    return Losses(high - epsilon, event.epsilon, np.array([1 - chosen, chosen]))


_PAIRS: Mapping[type[Event], Callable[[Any], Losses] | None] = {
    events.RandomizedResponse: _response,
    events.Pure: _claimed,
    events.Approximate: _approximate,
    events.PartitionSelection: _failing,
    events.Laplace: _laplace,
    events.DiscreteLaplace: _discrete_laplace,
    events.DiscreteGaussian: _discrete_gaussian,
    events.Exponential: None,
}
"""The pair of each event; that of the exponential mechanism has a side to choose."""


def _sides(parts: Mapping[Event, int]) -> range:
    return range(1, _SIDES) if any(isinstance(part, events.Exponential) for part in parts) else range(1, 2)


def _runs(part: Event, count: int, side: int) -> Losses:
    """Return what is lost by `count` runs of a simple event."""
    if isinstance(part, events.Replaced):
        return losses(part, count)
    find = _PAIRS[type(part)]
    one = _exponential(part, side) if isinstance(part, events.Exponential) or find is None else find(part)  # type: ignore[arg-type]
    return power(one, count)


# ---- composition ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _composed(parts: frozenset[tuple[Event, int]], mu: float, side: int) -> tuple[Floats, Floats, float]:
    """Return losses, P's mass of each, and the mass of what only P can give."""
    runs = [_runs(part, count, side) for part, count in parts]
    step = _lattice(runs, mu)
    start, masses, kept = 0.0, np.ones(1), 1.0
    for each in runs:
        masses = np.convolve(masses, each.rounded_down(step).masses)
        start += each.start
        kept *= 1 - each.lost
    if mu:
        noise = _gaussian_losses(mu, step)
        start, masses = start + noise.start, np.convolve(masses, noise.masses)
    losses: Floats = np.arange(len(masses), dtype=np.float64) * float(step) + start
    heavy = masses > NOTHING
    return losses[heavy], masses[heavy] * (1 - 1e-10), 1 - kept


def _lattice(runs: list[Losses], mu: float) -> Fraction:
    """Return a step on which all losses lie, or a coarse one to which they are rounded down."""
    steps = [each.step for each in runs if len(each.masses) > 1]
    width = sum(float(each.step) * (len(each.masses) - 1) for each in runs)
    common = steps[0] if steps else Fraction(1)
    for each in steps[1:]:
        common = Fraction(math.gcd(common.numerator * each.denominator, each.numerator * common.denominator)) / (
            common.denominator * each.denominator
        )
    if mu:
        common, width = min(common, Fraction(mu) / 64), width + 2 * _FURTHEST * mu
    return max(common, Fraction(max(width, 1e-9) / _LARGEST))


def _gaussian_losses(mu: float, step: Fraction) -> Losses:
    from scipy.special import ndtr

    reach = math.ceil(_FURTHEST * mu / float(step))
    edges = (np.arange(-reach, reach + 1) + round(mu * mu / 2 / float(step))) * float(step)
    above = ndtr(mu / 2 - edges / mu)
    return Losses(float(edges[0]), step, above - np.append(above[1:], 0.0))


def _epsilon(losses: Floats, masses: Floats, lost: float, delta: float) -> float:
    from scipy.optimize import brentq

    def excess(epsilon: float) -> float:
        return lost + float(masses @ -np.expm1(np.minimum(epsilon - losses, 0.0))) - delta

    if lost >= delta * (1 + 1e-9):
        return math.inf
    if excess(0.0) <= 0 or losses[-1] <= 0:
        return 0.0
    return float(brentq(excess, 0.0, losses[-1], xtol=1e-13)) if excess(float(losses[-1])) < 0 else float(losses[-1])


# ---- what is sampled ------------------------------------------------------------------------------------------------

_ATTAINED = (events.Gaussian, events.Laplace, events.DiscreteLaplace, events.RandomizedResponse, events.Pure)


def _by_distribution(parts: Mapping[Event, int], delta: float) -> float:
    known = tuple(
        part if count == 1 else events.Repeated(part, count)
        for part, count in parts.items()
        if isinstance(part, _ATTAINED)
        or (isinstance(part, events.PoissonSampled) and isinstance(part.event, events.Gaussian | events.Laplace))
    )
    return _lower_end(events.Composed(known), delta) if known else 0.0


@lru_cache(maxsize=4096)
def _lower_end(event: Event, delta: float) -> float:
    return pld.epsilon_bracket(event, str(delta)).lower
