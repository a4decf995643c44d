"""What sampled events cost, from the curves of the events inside: the rows of the table that look inward.

**Own failures.** If the inner pair is a mixture that fails with probability δ, its hockey-stick divergence at any level
is at most δ + (1−δ) times that of the rest. Poisson sampling multiplies the excess by at most q in either direction
(Balle, Barthe, Gaboardi 2018, Theorem 2), so the sampled pair is a post-processing of one that fails with probability
qδ and otherwise is the sampled rest (Blackwell). Hence `own_delta` is qδ and all curves may speak about the rest.
For fixed-size samples that argument is made for pure ε only, so an event inside that has a failure and no pure ε is
refused in Rényi.

**zCDP** does not shrink under sampling; but sampling never adds cost (divergences are jointly quasi-convex), so the
unsampled ρ is charged, or what the sampled pure ε implies if that is less.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from sordino.arguments import rounded_up
from sordino.errors import UnsupportedError

from . import approximate, closed_forms, gaussian, pure, renyi, sampled_renyi, zcdp
from .curve import Floats
from .event import Event
from .events import (
    DiscreteGaussian,
    DiscreteLaplace,
    FixedSizeSampled,
    Gaussian,
    Laplace,
    PoissonSampled,
    Replaced,
    Skellam,
    SummedDiscreteGaussian,
)
from .events import RandomizedResponse as Response
from .relation import parts, relations
from .rounding import lifted

SYMMETRIC: frozenset[type[Event]] = frozenset(
    {Laplace, DiscreteLaplace, Gaussian, DiscreteGaussian, SummedDiscreteGaussian, Skellam, Response}
)
"""Events whose every pair of neighbouring outputs can be swapped by one reflection (see ``sampled_renyi.py``)."""

_CLOSE = 1.02  # the ratio of the orders at which a sample inside of a sample is priced


def _moments(event: Event) -> sampled_renyi.Moments:
    """Return (k−1)·D_k of what is sampled; of a sample of a sample at some orders, with chords of that convex curve."""

    def moments(orders: Floats) -> Floats:
        return renyi.curve(event, orders) * (orders - 1)

    if not any(isinstance(part, FixedSizeSampled | PoissonSampled | Replaced) for part in parts(event)):
        return moments

    def chords(orders: Floats) -> Floats:
        steps = np.arange(math.log(orders[-1] / 2, _CLOSE))
        nodes = np.unique(np.append(np.ceil(2 * _CLOSE**steps), orders[[0, -1]]))
        between = np.interp(orders, nodes, moments(nodes))
        return lifted(np.where(np.isnan(between), np.inf, between))

    return chords


def _symmetric(event: Event) -> bool:
    inside = parts(event)
    return inside.total() == 1 and all(type(part) in SYMMETRIC for part in inside)


def _share(event: PoissonSampled | FixedSizeSampled) -> Fraction:
    return event.rate if isinstance(event, PoissonSampled) else Fraction(event.size, event.population)


def sampled_pure(event: PoissonSampled | FixedSizeSampled) -> Fraction:
    """Return ln(1 + q(e^ε − 1)), rounded up."""
    relations(event)
    return pure.sampled(pure.total(event.event), _share(event))


def sampled_own_delta(event: PoissonSampled | FixedSizeSampled) -> Fraction:
    """Return q times the failures of what is sampled."""
    return _share(event) * approximate.own_delta(event.event)


def poisson_zcdp(event: PoissonSampled) -> Fraction:
    """Return the unsampled ρ, or what the sampled pure ε implies if that is less."""
    relations(event)
    unsampled = zcdp.rho(event.event)
    inside = pure.known(event.event)
    return unsampled if inside is None else min(unsampled, pure.rho(pure.sampled(inside, event.rate)))


def poisson_renyi(event: PoissonSampled, orders: Floats) -> Floats:
    """Return the least of the bounds that apply, at each order: Gaussian, symmetric or general, pure, unsampled.

    Several Gaussians in one sample are one Gaussian in a larger space, whose μ² is the sum. Other compositions inside
    one sample are general: chosen adaptively, they need not be symmetric.
    """
    relations(event)
    rate = rounded_up(event.rate)
    bounds = [renyi.curve(event.event, orders)]
    if not parts(event.event):
        return bounds[0]
    if all(isinstance(part, Gaussian) for part in parts(event.event)):
        bounds.append(sampled_renyi.sampled_gaussian(rounded_up(gaussian.mu_squared(event.event)), rate, orders))
    elif _symmetric(event.event):
        bounds.append(sampled_renyi.sampled_symmetric(_moments(event.event), rate, orders))
    else:
        bounds.append(sampled_renyi.sampled_general(_moments(event.event), rate, orders))
    inside = pure.known(event.event)
    if inside is not None:
        bounds.append(sampled_renyi.sampled_pure(rounded_up(inside), rate, orders))
    return np.asarray(np.min(bounds, axis=0))


def fixed_size_zcdp(event: FixedSizeSampled) -> Fraction:
    """Return the unsampled ρ, or what the sampled pure ε implies if that is less."""
    relations(event)
    inside = pure.known(event.event)
    if inside is None:
        _refuse_failure(event)
        return zcdp.rho(event.event)
    sampled = pure.rho(pure.sampled(inside, _share(event)))
    return sampled if approximate.own_delta(event.event) else min(sampled, zcdp.rho(event.event))


def fixed_size_renyi(event: FixedSizeSampled, orders: Floats) -> Floats:
    """Return the least of the bounds that apply, at each order: Wang et al. 2019, sampled pure ε, unsampled."""
    relations(event)
    inside = pure.known(event.event)
    bounds = []
    if inside is not None:
        bounds.append(closed_forms.randomized_response(rounded_up(pure.sampled(inside, _share(event))), orders))
    else:
        _refuse_failure(event)
    if inside != 0 and not approximate.own_delta(event.event):
        largest = math.inf if inside is None else rounded_up(inside)
        bounds.append(renyi.curve(event.event, orders))
        bounds.append(sampled_renyi.fixed_size(_moments(event.event), largest, rounded_up(_share(event)), orders))
    return np.asarray(np.min(bounds, axis=0))


def _refuse_failure(event: FixedSizeSampled) -> None:
    if approximate.own_delta(event.event):
        raise UnsupportedError(
            "an event with a δ of its own and no pure ε cannot be priced in a fixed-size sample; sample its parts "
            "separately, or use Poisson sampling",
            "SRD-C004",
        )
