"""Every accountant side by side: one table from the name of a calculus to ε at a given δ.

All of these are upper bounds on the same truth, for events that are declared up front; the least of them may be
claimed for such a run. What an interactive account charges is another matter: see the filters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sordino.arguments import Number, one_of, rounded_up
from sordino.errors import ArgumentError, UnsupportedError

from . import composition, gaussian, pld, renyi, zcdp
from . import pure as pure_dp
from .approximate import own_delta, remaining, target
from .event import Event

BEST = "best"


@dataclass(frozen=True)
class Quote:
    """What one calculus says: ε, or None and why not."""

    calculus: str
    epsilon: float | None
    remark: str
    lower: float | None = None
    """A proven lower bound on ε of the dominating pairs, from a calculus that brackets it."""


def _pure(event: Event, _delta: Fraction) -> float:
    own = own_delta(event)
    if own:
        raise UnsupportedError(
            f"not purely private: the events bring along a δ of {float(own):.3g}; see basic composition", "SRD-C005"
        )
    return rounded_up(pure_dp.epsilon(event))


def _basic(event: Event, delta: Fraction) -> float:
    remaining(event, delta)
    return rounded_up(composition.basic(event)[0])


def _pld(event: Event, delta: Fraction) -> pld.Bracket:
    if delta == 0:
        raise UnsupportedError("a privacy loss distribution needs a delta above 0; pure ε needs none", "SRD-C005")
    bracket = pld.epsilon(event, delta)
    if math.isinf(bracket.upper):
        raise UnsupportedError("no finite ε at this delta; ask for a larger one", "SRD-C005")
    return bracket


ACCOUNTANTS: dict[str, tuple[Callable[[Event, Fraction], float | pld.Bracket], str]] = {
    "pure": (_pure, "sum of pure ε, δ = 0"),
    "basic": (_basic, "sums of ε and of δ"),
    "advanced": (composition.advanced, "Dwork, Rothblum, Vadhan 2010"),
    "optimal": (composition.optimal, "best for given (ε, δ)'s: Kairouz et al. 2015, Murtagh, Vadhan 2016"),
    "zcdp": (zcdp.epsilon, "zero-concentrated DP"),
    "renyi": (renyi.epsilon, "Rényi DP, best order"),
    "gaussian": (gaussian.epsilon, "Gaussian DP, exact"),
    "pld": (_pld, "privacy loss distribution, pessimistic value"),
}
"""For each calculus: the function from an event and δ to ε (or its bracket), and what it is in a few words."""


def epsilon(event: Event, delta: Number, calculus: str = BEST) -> float:
    """Return ε of `event` at `delta` by the calculus named, or by the best of those that know it."""
    name = one_of("calculus", calculus, (BEST, *ACCOUNTANTS))
    exact = target(delta)
    if name != BEST:
        return _bracket(ACCOUNTANTS[name][0](event, exact))[1]
    quotes = side_by_side(event, exact)
    known = [quote.epsilon for quote in quotes if quote.epsilon is not None]
    if not known:
        raise UnsupportedError(
            "no calculus prices this event at this delta: " + "; ".join(f"{q.calculus}: {q.remark}" for q in quotes),
            "SRD-C005",
        )
    return min(known)


def side_by_side(event: Event, delta: Number | None = None) -> list[Quote]:
    """Return what every calculus says about `event` at `delta` (0 if left out), in the order of the table."""
    exact = target(0 if delta is None else delta)
    return [_quote(name, event, exact) for name in ACCOUNTANTS]


def _quote(name: str, event: Event, delta: Fraction) -> Quote:
    function, remark = ACCOUNTANTS[name]
    try:
        lower, upper = _bracket(function(event, delta))
        return Quote(name, upper, remark, lower)
    except (UnsupportedError, ArgumentError) as error:
        return Quote(name, None, str(error))


def _bracket(value: float | pld.Bracket) -> tuple[float | None, float]:
    return (value.lower, value.upper) if isinstance(value, pld.Bracket) else (None, value)
