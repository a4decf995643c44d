"""The table of curves: every event type is registered once with what it costs in each calculus that knows it.

A calculus asks `curve(event, "renyi")` and gets a function or a refusal; nobody walks over types by hand. Composition
lives here too: `flatten` is the one place in the library where a count is applied, so it cannot be forgotten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.errors import UnsupportedError

from .event import Event
from .events import Composed, PoissonSampled, Repeated, Replaced, TruncatedPoissonSampled
from .replaced import doubled
from .truncated import uncut

Floats = NDArray[np.float64]


class Pair(Protocol):
    """A dominating pair (P, Q) of distributions for one direction of one event, seen through its privacy loss.

    The loss of an outcome is ln(dP/dQ). Whatever (P, Q) tells apart, the event's outputs on neighbours tell apart
    less well (Zhu, Dong, Wang 2022, Definition 7).
    """

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return P and Q of the losses in (−∞, e₀], (e₀, e₁], …, (eₙ, ∞); losses of +∞ count in the last cell only
        for P (Q has no mass there), losses of −∞ in the first only for Q. Accurate to a few ulp, tails included.
        """
        ...

    def reach(self, tail: float) -> tuple[float, float]:
        """Return losses (low, high) such that P outside of [low, high], +∞ left aside, is at most `tail`."""
        ...


@dataclass(frozen=True)
class Curves:
    """What one event type costs. A calculus that is missing here does not know the event and refuses it.

    `own_delta` is a failure probability that the event brings along (partition selection, shuffling); all other
    entries hold outside of that failure. Where a float must round, it is rounded up (towards more cost).
    """

    pure: Callable[[Any], Fraction] | None = None
    zcdp: Callable[[Any], Fraction] | None = None
    renyi: Callable[[Any, Floats], Floats] | None = None
    gaussian: Callable[[Any], Fraction] | None = None
    """μ², exact."""
    loss: Callable[[Any], tuple[Pair, ...]] | None = None
    """One dominating pair, or one for each direction where adding and removing differ."""
    own_delta: Callable[[Any], Fraction] = lambda _event: Fraction(0)


CURVES: dict[type[Event], Curves] = {}


def curve(event: Event, calculus: str) -> Callable[..., Any]:
    """Return the function that prices `event` in `calculus`, or refuse."""
    entry = CURVES.get(type(event))
    function = None if entry is None else getattr(entry, calculus)
    if function is None:
        raise UnsupportedError(
            f"no {calculus!r} curve for {type(event).__name__}; price it in another calculus",
            "SRD-C001",
        )
    return function  # type: ignore[no-any-return]


def flatten(event: Event, count: int = 1) -> Counter[Event]:
    """Return how often each simple event is run in all: the only place where a count is applied."""
    if isinstance(event, Repeated):
        return flatten(event.event, count * event.count)
    if isinstance(event, Composed):
        parts: Counter[Event] = Counter()
        for part in event.events:
            parts.update(flatten(part, count))
        return parts
    if isinstance(event, TruncatedPoissonSampled):
        return flatten(uncut(event), count)
    if isinstance(event, PoissonSampled) and isinstance(event.event, PoissonSampled):
        # a sample of a sample: both coins must fall well
        return flatten(PoissonSampled(event.event.event, event.rate * event.event.rate), count)
    if isinstance(event, Replaced):
        replaced: Counter[Event] = Counter()
        for part, times in flatten(event.event, count).items():
            replaced.update(_replaced(part, times))
        return replaced
    return Counter({event: count})


def _replaced(part: Event, count: int) -> Counter[Event]:
    """Return the runs that price a simple event for a unit that is replaced; a sample of everybody is no sample."""
    if isinstance(part, PoissonSampled) and part.rate == 1:
        return flatten(Replaced(part.event), count)
    return Counter({doubled(part) or Replaced(part): count})
