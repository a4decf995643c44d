"""What is certainly lost where a unit is replaced: attained pairs for `Replaced(event)`, without our own curves.

Let M be the output without the unit, V and W with the one and with the other. The mechanisms are chosen so that V and W
lie on opposite sides of M, as far from it as the event allows:

* noise: the one unit moves the answer up by all of the bound, the other down;
* the exponential mechanism between two candidates: the one multiplies their odds by e^ε, the other divides them;
* a claim (ε, δ): let G be the largest power of a test that it allows. With W uniform on [0, 1] and M and V such that
  M[0, t] = G(t) and V[0, t] = G(G(t)), every best test is some [0, t], since G is concave. So both steps keep the claim
  and no more, and the best test of both together has the power G∘G (Dong, Roth, Su 2022, Theorem 2.14);
* Gaussian and Laplace noise on a sample at rate q: (1−q)·N(0) + q·N(Δ) against (1−q)·N(0) + q·N(−Δ).

**Guarantee** of the losses of a sample: neighbouring outputs are merged, which is post-processing; what is merged is
rounded down, and small masses are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from sordino.accounting import events
from sordino.accounting.event import Event

from .losses import Floats, Losses, power


def _whole_steps(event: events.DiscreteGaussian) -> events.DiscreteGaussian:
    """One coordinate moves by whole steps, up and down."""
    distance = math.isqrt(math.floor(event.sensitivity_squared))
    return events.DiscreteGaussian(event.variance, Fraction(4 * distance**2)) if distance else event


_APART: Mapping[type[Event], Callable[[Any], Event]] = {
    events.Gaussian: lambda event: events.Gaussian(event.variance, 4 * event.sensitivity_squared),
    events.Concentrated: lambda event: events.Concentrated(4 * event.rho),
    events.Laplace: lambda event: events.Laplace(event.scale, 2 * event.sensitivity),
    events.DiscreteLaplace: lambda event: events.DiscreteLaplace(event.scale, 2 * event.sensitivity),
    events.DiscreteGaussian: _whole_steps,
    events.Exponential: lambda event: events.Exponential(2 * event.epsilon),
    events.PartitionSelection: lambda event: (
        event
    ),  # the group of the one is shown by itself, and that of the other never
}

_POINTS = 1 << 15  # into which the outputs of a sampled mechanism are cut
_STEPS = 20  # of a lattice in one standard deviation of the loss
_LIKELY = 1e-3  # mass of cells to which the lattice is fitted
_OUTMOST = {events.Gaussian: 12.0, events.Laplace: 60.0}  # in deviations, or in scales


def apart(event: Event) -> Event:
    """Return an event whose attained pair is one of `Replaced(event)`; that itself where the pair is its own."""
    find = _APART.get(type(event))
    return events.Replaced(event) if find is None else find(event)


def has_losses(event: Event) -> bool:
    """Return whether `losses` knows an event."""
    if not isinstance(event, events.Replaced):
        return False
    inner = event.event
    return isinstance(inner, events.Pure | events.Approximate) or (
        isinstance(inner, events.PoissonSampled) and type(inner.event) in _OUTMOST
    )


def losses(event: events.Replaced, count: int) -> Losses:
    """Return what is lost by `count` runs."""
    match event.event:
        case events.Pure(epsilon=epsilon):
            return power(_claimed(epsilon, 0.0), count)
        case events.Approximate(epsilon=epsilon, delta=delta):
            return power(_claimed(epsilon, float(delta)), count)
        case events.PoissonSampled(event=noise, rate=rate):
            return _sampled(noise, rate, count)
    raise KeyError(event.kind)


def _claimed(epsilon: Fraction, delta: float) -> Losses:
    """Return the losses of G∘G: ∞ on what G(δ) leaves to V alone, then 2ε, 0 and −2ε.

    G(c) = min(δ + e^ε·c, 1 − e^−ε·(1 − δ − c)) has its corner at (1 − δ)/(1 + e^ε).
    """
    grow = math.exp(epsilon)
    lost, corner = delta * (1 + grow), (1 - delta) / (1 + grow)
    top = delta + grow * corner
    if lost >= corner or top > 1 - delta:  # the claim promises next to nothing; it fails with δ at least
        return Losses(0.0, Fraction(1), np.zeros(1), delta)
    middle = corner - (corner - delta) / grow
    masses = np.array([1 - top - middle, middle, top - lost])
    if epsilon == 0:
        return Losses(0.0, Fraction(1), np.array([masses.sum()]), lost)
    return Losses(-2 * float(epsilon), 2 * epsilon, masses, lost)


@lru_cache(maxsize=1024)
def _sampled(noise: events.Gaussian | events.Laplace, rate: Fraction, count: int) -> Losses:
    first, second = _mixtures(noise, float(rate))
    fine = np.log(first) - np.log(second)
    deviation = math.sqrt(first @ (fine - first @ fine) ** 2)
    step = fine.max() / (math.ceil(fine.max() * _STEPS / deviation) + 0.5)  # what is likeliest lies amid a cell
    _, cells = np.unique(np.floor(fine / step), return_inverse=True)
    here, there = np.bincount(cells, first), np.bincount(cells, second)
    merged = (np.log(here) - np.log(there)) / step
    shifts = merged % 1
    tried = shifts[here > _LIKELY]
    shift = tried[np.argmin(here @ ((shifts[:, None] - tried) % 1))]  # by which least is rounded off in the mean
    places = np.floor(merged - shift + 1e-9).astype(np.int64)
    start = int(places.min())
    one = Losses((start + shift) * step, Fraction(step), np.bincount(places - start, here).astype(np.float64))
    return power(one, count)


def _mixtures(noise: events.Gaussian | events.Laplace, rate: float) -> tuple[Floats, Floats]:
    """Return the masses of outputs, cell by cell, where the one unit may be sampled and where the other may."""
    from scipy.special import ndtr

    if isinstance(noise, events.Gaussian):
        shift = math.sqrt(noise.sensitivity_squared / noise.variance)
    else:
        shift = float(noise.sensitivity / noise.scale)
    reach = shift + _OUTMOST[type(noise)]
    # Edges at both centres and at 0, where the density of Laplace noise has its corners.
    edges = np.unique(np.concatenate((np.linspace(-reach, reach, _POINTS), np.linspace(-shift, shift, _POINTS + 1))))

    def masses(centre: float) -> Floats:
        """Return the noise's mass between the edges, by differences of the nearer tail."""
        outputs = edges - centre
        near = ndtr(-np.abs(outputs)) if isinstance(noise, events.Gaussian) else np.exp(-np.abs(outputs)) / 2
        left, right = np.diff(near), -np.diff(near)
        found: Floats = np.where(outputs[1:] <= 0, left, np.where(outputs[:-1] >= 0, right, 1 - near[1:] - near[:-1]))
        return found

    rest = (1 - rate) * masses(0.0)
    first, second = rest + rate * masses(shift), rest + rate * masses(-shift)
    some = (first > 0) & (second > 0)
    return first[some], second[some]
