"""Under which neighbouring relations an event has a meaning, and what it is priced as in an account of another.

The curves of an event speak about two outputs. Whether those are the outputs on neighbours depends on the relation:

* Noise, selection and claims are bounded under the relation of their `Bound`, so they go with any.
* Randomized response and shuffled reports show how many answered. A unit that keeps its place is hidden, one that comes
  or goes is not. (Randomized response under zero-out: an emptied place still answers, with one of the values.)
* Poisson sampling is priced by the pair ((1−q)Q + qP, Q), where Q is the output *without* the unit. That is a statement
  about units that come and go. Where a unit keeps its place, zeroed or with other data, both outputs are mixtures,
  (1−q)M + qP and (1−q)M + qP′, and a bound on P against P′ says nothing about M, which shows whether the place was
  sampled. So a sampled event is bounded under add/remove and, in an account of another relation, is `Replaced`.
* A mixture of Gaussians is that of a unit of which parts are sampled, and random allocation is a sample of steps: the
  same holds.
* Fixed-size samples all have one size: what leaves the sample is replaced by another unit. Replace-one only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from sordino.errors import ArgumentError, UnsupportedError

from . import events
from .curve import flatten
from .event import Event
from .neighbours import Neighbours

Relations = frozenset[Neighbours]

_ANY: Relations = frozenset(Neighbours)
_COMING: Relations = frozenset({Neighbours.ADD_REMOVE})
_STAYING: Relations = frozenset({Neighbours.REPLACE_ONE, Neighbours.ZERO_OUT})
_REPLACEMENT: Relations = frozenset({Neighbours.REPLACE_ONE})


def relations(event: Event) -> Relations:
    """Return the relations under which the curves of `event` hold; refuse an event that has a meaning under none."""
    rule = RELATIONS.get(type(event))
    if rule is None:
        return _ANY  # not one of the house: whoever prices it refuses it by its type
    return rule(event) if callable(rule) else rule


def parts(event: Event) -> Counter[Event]:
    """Return how often each simple event is run in all, after checking that their prices may be added."""
    relations(event)
    return flatten(event)


def charged_as(event: Event, ran: Neighbours, held: Neighbours) -> Event:
    """Return what is priced where `event`, bounded and run under `ran`, is charged to an account held under `held`.

    **Guarantee**: the price of what is returned holds for neighbours under `held`. Add/remove events are `Replaced` in
    an account in which units keep their places.
    **Assumes**, under zero-out, that a blank unit is bounded like any other: then the way from a unit to the blank in
    its place leads over the data without either, as under replace-one.
    """
    priced = relations(event)
    if ran not in priced:
        raise ArgumentError(
            f"this event is priced for neighbours under {_words(priced)}, but the bound is under {ran.value}; bound "
            "the answer under the relation of the event. (An account that is held under replace-one takes events of "
            "add/remove at their replace-one price.)",
            "SRD-A003",
        )
    if ran is held:
        return event
    if ran is Neighbours.ADD_REMOVE:
        return events.Replaced(event)
    raise ArgumentError(
        f"what is bounded under {ran.value} says nothing about neighbours under {held.value}: a unit that keeps its "
        "place in the one comes or goes, or is emptied, in the other; bound it under the relation of the account, "
        f"or open an account for {ran.value} neighbours",
        "SRD-A003",
    )


def _words(priced: Relations) -> str:
    return " or ".join(sorted(each.value for each in priced))


def _common(several: tuple[Event, ...]) -> Relations:
    common = _ANY.intersection(*(relations(part) for part in several))
    if not common:
        raise UnsupportedError(
            "this event mixes what is priced for units that come and go (Poisson sampling) with what is priced for "
            "units that keep their place (randomized response, shuffling, fixed-size sampling); use one relation "
            "throughout, or wrap what is priced under add/remove in Replaced",
            "SRD-C002",
        )
    return common


def _poisson(event: events.PoissonSampled) -> Relations:
    inside = relations(event.event)
    if event.rate == 1:
        return inside  # everybody is sampled
    if Neighbours.ADD_REMOVE not in inside:
        raise UnsupportedError(
            "Poisson sampling hides whether a unit was sampled, but what is run on the sample shows how many there "
            "are (randomized response, shuffling, fixed-size sampling); whoever is sampled is protected as without "
            "sampling, so describe it unsampled",
            "SRD-C002",
        )
    return _COMING


def _fixed_size(event: events.FixedSizeSampled) -> Relations:
    if Neighbours.REPLACE_ONE not in relations(event.event):
        raise UnsupportedError(
            "fixed-size sampling is priced for units that are replaced, what is run on the sample for units that come "
            "and go; use one relation throughout, or wrap what is run on the sample in Replaced",
            "SRD-C002",
        )
    return _REPLACEMENT


def _replaced(event: events.Replaced) -> Relations:
    if Neighbours.ADD_REMOVE not in relations(event.event):
        raise UnsupportedError(
            "Replaced is for events that are priced for units that come and go; this one is priced for units that "
            "keep their place already, so leave Replaced out",
            "SRD-C002",
        )
    return _STAYING


RELATIONS: dict[type[Event], Relations | Callable[[Any], Relations]] = {
    **dict.fromkeys((events.Laplace, events.DiscreteLaplace, events.Gaussian, events.DiscreteGaussian), _ANY),
    **dict.fromkeys((events.SummedDiscreteGaussian, events.Skellam, events.Correlated), _ANY),
    **dict.fromkeys((events.Exponential, events.PermuteAndFlip, events.LaplaceNoisyMax, events.SparseVector), _ANY),
    **dict.fromkeys((events.PartitionSelection, events.SmoothLaplace, events.SmoothCauchy, events.Ladder), _ANY),
    **dict.fromkeys((events.Pure, events.Approximate, events.Concentrated, events.Personalised), _ANY),
    events.Sensitive: _ANY,
    events.RandomizedResponse: _STAYING,
    events.Allocated: _COMING,
    events.GaussianMixture: _COMING,
    **dict.fromkeys(
        (events.Shuffled, events.ShuffledLocal, events.ShuffledResponse, events.ShuffledUnary), _REPLACEMENT
    ),
    events.PoissonSampled: _poisson,
    events.TruncatedPoissonSampled: lambda event: _poisson(events.PoissonSampled(event.event, event.rate)),
    events.FixedSizeSampled: _fixed_size,
    events.Replaced: _replaced,
    **dict.fromkeys(
        (events.Declared, events.Searched, events.PoissonSearched, events.Repeated),
        lambda event: relations(event.event),
    ),
    events.Composed: lambda event: _common(event.events),
}
"""For every event type: the relations under which it has a meaning, or how they follow from what it is made of."""
