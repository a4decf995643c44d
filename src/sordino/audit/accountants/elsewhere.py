"""Accountants of others as prices to audit: our events are told in their words, where they have words for them.

    >>> from sordino.accounting.events import Gaussian
    >>> round(dp_accounting("pld")(Gaussian(variance=4), 1e-6), 2)
    2.25

Only events with an exact twin are told; all others are unknown to the accountant, which is nobody's fault. One relation
is asked for at a time: randomized response is priced for a value that is replaced, everything else for a unit that
comes or goes, so what mixes the two is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from sordino.accounting import events
from sordino.accounting.event import Event
from sordino.arguments import one_of
from sordino.errors import ArgumentError, UnsupportedError

from .checks import Pricing
from .events import kinds

_REPLACED = frozenset({events.RandomizedResponse.kind})


def dp_accounting(calculus: str) -> Pricing:
    """Return Google's accountant ``rdp`` or ``pld`` as it is installed; it is asked for ε, and for nothing else."""
    one_of("calculus", calculus, ("rdp", "pld"))
    try:
        from dp_accounting import dp_event, pld, rdp  # type: ignore[import-untyped]
        from dp_accounting.privacy_accountant import (  # type: ignore[import-untyped]
            NeighboringRelation,
            UnsupportedEventError,
        )
    except ImportError:
        raise ArgumentError("to audit this accountant, install it: pip install dp-accounting", "SRD-A005") from None

    def price(event: Event, delta: float) -> float:
        found = kinds(event)
        if found & _REPLACED and found != _REPLACED:
            raise UnsupportedError("events of two relations are not told together", "SRD-C002")
        relation = NeighboringRelation.REPLACE_ONE if found == _REPLACED else NeighboringRelation.ADD_OR_REMOVE_ONE
        accountant = (
            rdp.RdpAccountant(neighboring_relation=relation) if calculus == "rdp" else pld.PLDAccountant(relation)
        )
        try:
            accountant.compose(told(event, dp_event))
        except UnsupportedEventError:
            raise UnsupportedError(f"dp_accounting's {calculus} does not know this event", "SRD-C001") from None
        return float(accountant.get_epsilon(delta))

    return price


def told(event: Event, words: ModuleType) -> Any:
    """Return an event of ours as an event of dp_accounting's module `words`; refuse what has no twin there."""
    tell = _TWINS.get(type(event))
    twin = None if tell is None else tell(event, words)
    if twin is None:
        raise UnsupportedError(f"{type(event).__name__} has no twin in dp_accounting", "SRD-C001")
    return twin


def _made(words: ModuleType, name: str, *values: Any) -> Any:
    """Build an event of theirs, or None in versions that do not have it yet."""
    kind = getattr(words, name, None)
    return None if kind is None else kind(*values)


def _response(event: events.RandomizedResponse, words: ModuleType) -> Any:
    """Theirs tells the truth, or with probability p any of the k values, the true one among them."""
    noise = event.categories / (math.exp(event.epsilon) + event.categories - 1)
    return words.RandomizedResponseDpEvent(noise, event.categories)


_TWINS: dict[type[Event], Callable[[Any, ModuleType], Any]] = {
    events.Repeated: lambda event, words: words.SelfComposedDpEvent(told(event.event, words), event.count),
    events.Composed: lambda event, words: words.ComposedDpEvent([told(part, words) for part in event.events]),
    events.PoissonSampled: lambda event, words: words.PoissonSampledDpEvent(
        float(event.rate), told(event.event, words)
    ),
    events.Gaussian: lambda event, words: words.GaussianDpEvent(math.sqrt(event.variance / event.sensitivity_squared)),
    events.Laplace: lambda event, words: words.LaplaceDpEvent(float(event.scale / event.sensitivity)),
    events.DiscreteLaplace: lambda event, words: words.DiscreteLaplaceDpEvent(
        1 / float(event.scale), event.sensitivity
    ),
    events.Concentrated: lambda event, words: words.ZCDpEvent(float(event.rho)),
    events.RandomizedResponse: _response,
    events.Exponential: lambda event, words: _made(words, "ExponentialMechanismDpEvent", float(event.epsilon)),
    events.PermuteAndFlip: lambda event, words: _made(words, "PermuteAndFlipDpEvent", float(event.epsilon)),
}
