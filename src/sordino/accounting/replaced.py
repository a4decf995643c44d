"""From add/remove to replace-one: what an event costs where one unit goes and another comes in its place.

`Replaced(event)` is taken apart by `flatten`, part by part: composition holds under replace-one as under add/remove.
Each simple part becomes an event of the same mechanism under the other relation, by the table below. Two steps lead
from one data set to the other, over the data without either unit, so

* noise has its bounds doubled, as `Bound.replacing` does (the triangle inequality of each norm);
* ε-bounded range becomes 2ε (both logarithmic ranges add up), and pure ε becomes 2ε;
* ρ becomes 4ρ (Bun, Steinke 2016, Proposition 1.9, for groups of two);
* (ε, δ) becomes (2ε, (1 + e^ε)δ): P ≤ e^ε·R + δ and R ≤ e^ε·Q + δ.

A unit that is allocated to a step by chance may be thought to come where the other went: it is priced as in that step.
What is declared as a whole is declared anew for the run that is replaced; the best of many runs is the best of as many
that are. It is not twice the charge: ρ and Rényi divergences of noise grow fourfold. Sampled events are priced in
``sampled_replaced.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sordino.errors import UnsupportedError

from . import events
from .event import Event
from .rounding import decimal_rounded_up

_HUGE = 1000


def doubled(event: Event) -> Event | None:
    """Return the simple event that prices `event` for a unit that is replaced; None for what the table leaves out."""
    rule = _DOUBLED.get(type(event))
    return None if rule is None else rule(event)


def _twice(event: Any) -> Event:
    same: Event = type(event)(2 * event.epsilon)
    return same


def _failing(event: Any) -> Event:
    delta = failure(event.epsilon, event.delta)
    if delta >= 1:
        raise UnsupportedError(
            "for a unit that is replaced, (1 + e^ε)·δ of this event is 1 or more, which promises nothing; run it with "
            "a smaller δ or ε, or bound it under replace-one itself",
            "SRD-C002",
        )
    return events.Approximate(2 * event.epsilon, delta)


def _declared(event: events.Declared) -> Event:
    from .declared import declare  # which prices events, by the table that this one is part of

    return declare(events.Replaced(event.event), event.delta)


def failure(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return (1 + e^ε)·δ, rounded up; 1 where ε is so large that it is past any use."""
    return Fraction(1) if epsilon > _HUGE else decimal_rounded_up(lambda e, d: (1 + e.exp()) * d, epsilon, delta)


_DOUBLED: dict[type[Event], Callable[[Any], Event]] = {
    events.Laplace: lambda event: events.Laplace(event.scale, 2 * event.sensitivity),
    events.DiscreteLaplace: lambda event: events.DiscreteLaplace(
        event.scale, 2 * event.sensitivity, 2 * event.coordinates
    ),
    events.Gaussian: lambda event: events.Gaussian(event.variance, 4 * event.sensitivity_squared),
    events.Allocated: lambda event: events.Gaussian(event.variance, 4 * event.sensitivity_squared),
    events.DiscreteGaussian: lambda event: events.DiscreteGaussian(
        event.variance, 4 * event.sensitivity_squared, 2 * event.coordinates
    ),
    events.Correlated: lambda event: replace(event, sensitivity_squared=4 * event.sensitivity_squared),
    events.SummedDiscreteGaussian: lambda event: replace(
        event, sensitivity_squared=4 * event.sensitivity_squared, coordinates=2 * event.coordinates
    ),
    events.Skellam: lambda event: replace(
        event, sensitivity=2 * event.sensitivity, sensitivity_squared=4 * event.sensitivity_squared
    ),
    **dict.fromkeys(
        (
            events.Exponential,
            events.PermuteAndFlip,
            events.LaplaceNoisyMax,
            events.SmoothCauchy,
            events.Ladder,
            events.Pure,
        ),
        _twice,
    ),
    events.SparseVector: lambda event: events.Pure(
        2 * (event.epsilon_threshold + event.epsilon_queries + event.epsilon_values)
    ),
    events.Personalised: lambda event: events.Personalised(tuple(2 * each for each in event.epsilons)),
    events.Concentrated: lambda event: events.Concentrated(4 * event.rho),
    **dict.fromkeys((events.PartitionSelection, events.SmoothLaplace, events.Approximate), _failing),
    events.Declared: _declared,
    events.Searched: lambda event: replace(event, event=events.Replaced(event.event)),
    events.PoissonSearched: lambda event: replace(event, event=events.Replaced(event.event)),
    events.Sensitive: lambda event: event,  # which no calculus prices, under no relation
}
