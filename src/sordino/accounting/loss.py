"""Which dominating pairs each event type has: the table `LOSSES`, merged into the table of curves.

A function here takes an event and returns one pair, if it dominates whichever neighbour comes first, or two: from data
with the unit to data without it, and back. An event type that is missing has no pair and is refused by the calculus.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from sordino.errors import UnsupportedError

from . import approximate, events, pair, pure
from .curve import CURVES, Pair, curve, flatten
from .event import Event
from .pair_allocated import allocated_pairs
from .pair_mixture import Mixed, Reversed
from .pair_sampled import Added, FixedSize, Removed, Swapped, swapped_claim, swapped_range
from .pair_tabled import skellam_pair, summed_gaussian_pair
from .skellam import norms

Pairs = tuple[Pair, ...]

_SMALLEST, _LARGEST = 1e-100, 1e100
_LARGEST_RANGE = 30.0  # beyond it bounded range is hardly less than pure ε


def computable(name: str, value: Fraction | int) -> float:
    """Return the nearest float, or refuse a size at which float64 computations break down."""
    if not Fraction(_SMALLEST) <= value <= Fraction(_LARGEST):
        raise UnsupportedError(
            f"a privacy loss distribution cannot be computed where {name} is below 1e-100 or above 1e100; "
            "price such an event by another calculus",
            "SRD-C014",
        )
    return float(value)


def gaussian_mu(parts: Mapping[Event, int]) -> float:
    """Return μ of all the Gaussian noise in `parts` taken together (0 if there is none): μ² adds up."""
    return math.sqrt(
        math.fsum(
            computable("the number of runs", count) * computable("Δ²/σ²", part.sensitivity_squared / part.variance)
            for part, count in parts.items()
            if isinstance(part, events.Gaussian)
        )
    )


def _gaussian(event: events.Gaussian) -> Pairs:
    return (pair.gaussian_pair(gaussian_mu({event: 1})),)


def _laplace(event: events.Laplace) -> Pairs:
    return (pair.laplace_pair(computable("ε", event.sensitivity / event.scale)),)


def _discrete_laplace(event: events.DiscreteLaplace) -> Pairs:
    """One coordinate's pair covers any number of them: see `pair.Shifted`."""
    computable("ε", event.sensitivity / event.scale)
    computable("the sensitivity", event.sensitivity)
    return (pair.discrete_laplace_pair(computable("the scale", event.scale), event.sensitivity),)


def _steps(event: events.DiscreteGaussian | events.SummedDiscreteGaussian) -> int:
    """Return how far an integer answer moves: a whole number of steps, so ⌊√(sensitivity²)⌋ at most."""
    if event.coordinates > 1:
        raise UnsupportedError(
            "a discrete Gaussian on several coordinates has no single worst direction, hence no dominating pair; "
            "price it by zCDP or Rényi, or describe each coordinate as an event of its own",
            "SRD-C011",
        )
    return math.isqrt(math.floor(event.sensitivity_squared))


def _discrete_gaussian(event: events.DiscreteGaussian) -> Pairs:
    steps = _steps(event)
    if not steps:
        return (pair.claimed_pair(0.0),)
    computable("Δ²/σ²", steps**2 / event.variance)
    computable("the sensitivity", steps)
    return (pair.discrete_gaussian_pair(computable("the variance", event.variance), steps),)


def _summed_gaussian(event: events.SummedDiscreteGaussian) -> Pairs:
    steps = _steps(event)
    computable("the variance", event.variance)
    return (summed_gaussian_pair(event.parties, event.variance, steps) if steps else pair.claimed_pair(0.0),)


def _skellam(event: events.Skellam) -> Pairs:
    steps, _ = norms(event)
    computable("the variance", event.variance)
    return (skellam_pair(event.variance, steps) if steps else pair.claimed_pair(0.0),)


def _mixture(event: events.GaussianMixture) -> Pairs:
    for size in event.sensitivities:
        if size:
            computable("Δ²/σ²", size**2 / event.variance)
    moves = [(size, chance) for size, chance in zip(event.sensitivities, event.probabilities, strict=True) if size]
    rate = sum((chance for _, chance in moves), Fraction(0))
    distances = [math.sqrt(size**2 / event.variance) for size, _ in moves]
    mixed = Mixed([float(chance / rate) for _, chance in moves], distances)
    if rate == 1:
        return mixed, Reversed(mixed)
    return Removed(mixed, _rate(rate)), Added(Reversed(mixed), _rate(rate))


def _allocated(event: events.Allocated) -> Pairs:
    square = computable("Δ²/σ²", event.sensitivity_squared / event.variance)
    return allocated_pairs(square, event.steps) if event.steps > 1 else (pair.gaussian_pair(math.sqrt(square)),)


def _exponential(event: events.Exponential) -> Pairs:
    return (pair.BoundedRange(computable("ε", event.epsilon)),)


def _response(event: events.RandomizedResponse) -> Pairs:
    computable("the number of categories", event.categories)
    return (pair.response_pair(computable("ε", event.epsilon), event.categories),)


def _claimed(event: Event) -> Pairs:
    """Return the pair of what an event claims: its pure ε outside of a failure of probability δ."""
    epsilon, delta = curve(event, "pure")(event), CURVES[type(event)].own_delta(event)
    if epsilon:
        computable("ε", epsilon)
    if delta:
        computable("δ", delta)
        computable("1 − δ", 1 - delta)
    return (pair.claimed_pair(float(epsilon), delta),)


def _sampled_part(event: Event) -> Pairs:
    """Return the pairs of what is run on a sample: one event, or Gaussian noises that add up to one."""
    parts = flatten(event)
    if not parts:
        return (pair.claimed_pair(0.0),)
    if all(isinstance(part, events.Gaussian) for part in parts):
        return (pair.gaussian_pair(gaussian_mu(parts)),)
    if parts.total() > 1:
        raise UnsupportedError(
            "several events on one sample have no dominating pair in closed form (unless all are Gaussian noise); "
            "sample anew for each of them, or price the run by Rényi",
            "SRD-C012",
        )
    (part,) = parts
    pairs: Pairs = curve(part, "loss")(part)
    return pairs


def whole_sample(event: Event) -> Event | None:
    """Return what is run on the sample if the sample is all of the data, else None."""
    match event:
        case events.PoissonSampled(inner, rate) if rate == 1:
            return inner
        case events.FixedSizeSampled(inner, size, population) if size == population:
            return inner
    return None


def _poisson(event: events.PoissonSampled) -> Pairs:
    unsampled = _sampled_part(event.event)
    if whole_sample(event):
        return unsampled
    return Removed(unsampled[0], _rate(event.rate)), Added(unsampled[-1], _rate(event.rate))


def _rate(rate: Fraction) -> Fraction:
    """Return a sampling rate below 1, or refuse one that is as good as 0 or 1."""
    computable("the sampling rate", rate)
    computable("1 − the sampling rate", 1 - rate)
    return rate


def _fixed_size(event: events.FixedSizeSampled) -> Pairs:
    unsampled = _sampled_part(event.event)
    if whole_sample(event):
        return unsampled
    if len(unsampled) > 1:
        raise UnsupportedError(
            "fixed-size sampling is for replace-one neighbours, what is run on the sample for add/remove; "
            "describe both under one relation",
            "SRD-C013",
        )
    return (FixedSize(Removed(unsampled[0], _rate(Fraction(event.size, event.population)))),)


def _replaced(event: events.Replaced) -> Pairs:
    """Return the pair of what is sampled where a unit is replaced: of its noise, its range, or what it claims."""
    inner: events.PoissonSampled = event.event  # type: ignore[assignment]  # the curves refuse all else
    own = CURVES[events.Replaced].own_delta(event) and approximate.own_delta(inner.event)
    rate = _rate(inner.rate)
    if own:
        computable("δ", own)
        return (swapped_claim(_claimed_epsilon(inner.event), rate, own),)
    (unsampled, *others) = _sampled_part(inner.event)
    if isinstance(unsampled, pair.Shifted) and not others:
        return (Swapped(unsampled, rate),)
    if isinstance(unsampled, pair.BoundedRange) and unsampled.epsilon <= _LARGEST_RANGE:
        return (swapped_range(unsampled.epsilon, rate),)
    return (swapped_claim(_claimed_epsilon(inner.event), rate),)


def _claimed_epsilon(event: Event) -> float:
    epsilon = pure.total(event)
    return computable("ε", epsilon) if epsilon else 0.0


LOSSES: dict[type[Event], Callable[[Any], Pairs]] = {
    events.Gaussian: _gaussian,
    events.Laplace: _laplace,
    events.DiscreteLaplace: _discrete_laplace,
    events.DiscreteGaussian: _discrete_gaussian,
    events.SummedDiscreteGaussian: _summed_gaussian,
    events.Skellam: _skellam,
    events.GaussianMixture: _mixture,
    events.Allocated: _allocated,
    events.Exponential: _exponential,
    events.RandomizedResponse: _response,
    events.PermuteAndFlip: _claimed,
    events.LaplaceNoisyMax: _claimed,
    events.SparseVector: _claimed,
    events.Ladder: _claimed,
    events.SmoothCauchy: _claimed,
    events.Personalised: _claimed,
    events.Pure: _claimed,
    events.Approximate: _claimed,
    events.PartitionSelection: _claimed,
    events.SmoothLaplace: _claimed,
    **dict.fromkeys((events.Shuffled, events.ShuffledLocal, events.ShuffledResponse, events.ShuffledUnary), _claimed),
    events.Declared: _claimed,
    events.Searched: _claimed,
    events.PoissonSearched: _claimed,
    events.PoissonSampled: _poisson,
    events.FixedSizeSampled: _fixed_size,
    events.Replaced: _replaced,
}
"""The dominating pairs of each event type that has any; a bare zCDP claim has none."""
