"""Which neighbouring relation an event's curves speak about, so that prices of different relations never add up.

Noise and selection are priced through a `Bound`, which carries its own relation, so they go with any. Sampling and
shuffling do not: Poisson sampling is priced for a unit that is there or not, fixed-size sampling and shuffling for a
unit whose data are replaced. Zeroing a unit out has the same pair of distributions as removing it from the sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from sordino.errors import UnsupportedError

from .curve import flatten
from .event import Event
from .events import Composed, FixedSizeSampled, PoissonSampled, Repeated, Shuffled
from .neighbours import Neighbours

_ANY = frozenset(Neighbours)
_PRESENCE = frozenset({Neighbours.ADD_REMOVE, Neighbours.ZERO_OUT})
_REPLACEMENT = frozenset({Neighbours.REPLACE_ONE})


def relations(event: Event) -> frozenset[Neighbours]:
    """Return the relations under which the curves of `event` hold; refuse an event whose parts share none."""
    common = _ANY
    for part in flatten(event) if isinstance(event, Composed | Repeated) else (event,):
        own = _OWN.get(type(part), _unrestricted)(part)
        common = common & own
    if not common:
        raise UnsupportedError(
            "this event mixes sampling that is priced for units that come and go (Poisson) with sampling or shuffling "
            "that is priced for units that are replaced; use one relation throughout",
            "SRD-C002",
        )
    return common


def parts(event: Event) -> Counter[Event]:
    """Return how often each simple event is run in all, after checking that their prices may be added."""
    relations(event)
    return flatten(event)


def _unrestricted(_event: Event) -> frozenset[Neighbours]:
    return _ANY


def _poisson(event: PoissonSampled) -> frozenset[Neighbours]:
    return relations(event.event) & _PRESENCE


def _fixed_size(event: FixedSizeSampled) -> frozenset[Neighbours]:
    return relations(event.event) & _REPLACEMENT


def _shuffled(_event: Shuffled) -> frozenset[Neighbours]:
    return _REPLACEMENT


_OWN: dict[type[Event], Callable[..., frozenset[Neighbours]]] = {
    PoissonSampled: _poisson,
    FixedSizeSampled: _fixed_size,
    Shuffled: _shuffled,
}
