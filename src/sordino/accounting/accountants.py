"""Every accountant side by side: one table from the name of a calculus to ε at a given δ, and to δ at a given ε.

All of these are upper bounds on the same truth, for events that are declared up front; the least of them may be
claimed for such a run. What an interactive account charges is another matter: see the filters.

Every calculus answers with a float that is rounded up, so that answers can be compared. What is exact, or known from
both sides, has a name of its own beside it: `pure.total`, `composition.basic`, `zcdp.rho`, `pld.epsilon_bracket`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sordino.arguments import Number, one_of, rational, rounded_up
from sordino.errors import ArgumentError, UnsupportedError

from . import composition, gaussian, pld, pure, renyi, zcdp
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
    """A proven lower bound on ε of the dominating pairs, from a calculus that brackets it. For an event that is a mere
    claim, or of bounded range, no single mechanism need attain it: it bounds the pair, not the event."""
    wide: bool = False
    """Whether the bracket is so wide (5 % and more) that ε may be charged for what is not there."""


def _pure(event: Event, delta: Fraction) -> float:
    own = own_delta(event)
    if own:
        raise UnsupportedError(
            f"not purely private: the events bring along a δ of {float(own):.3g}; see basic composition", "SRD-C005"
        )
    return pure.epsilon(event, delta)


def _basic(event: Event, delta: Fraction) -> float:
    remaining(event, delta)
    return rounded_up(composition.basic(event)[0])


def _pld(event: Event, delta: Fraction) -> float:
    return _pld_bracket(event, delta).upper


def _pld_bracket(event: Event, delta: Fraction) -> pld.Bracket:
    if delta == 0:
        raise UnsupportedError("a privacy loss distribution needs a delta above 0; pure ε needs none", "SRD-C005")
    bracket = pld.epsilon_bracket(event, delta)
    if math.isinf(bracket.upper):
        raise UnsupportedError("no finite ε at this delta; ask for a larger one", "SRD-C005")
    return bracket


ACCOUNTANTS: dict[str, tuple[Callable[[Event, Fraction], float], str]] = {
    "pure": (_pure, "sum of pure ε, δ = 0"),
    "basic": (_basic, "sums of ε and of δ"),
    "advanced": (composition.advanced, "Dwork, Rothblum, Vadhan 2010"),
    "optimal": (composition.optimal, "best for given (ε, δ)'s: Kairouz et al. 2015, Murtagh, Vadhan 2016"),
    "zcdp": (zcdp.epsilon, "zero-concentrated DP"),
    "renyi": (renyi.epsilon, "Rényi DP, best order"),
    "gaussian": (gaussian.epsilon, "Gaussian DP, exact"),
    "pld": (_pld, "privacy loss distribution, pessimistic value"),
}
"""For each calculus: the function from an event and δ to ε, and what it is in a few words."""

DELTAS: dict[str, Callable[[Event, Fraction], float]] = {
    "pure": pure.delta,
    "zcdp": zcdp.delta,
    "renyi": renyi.delta,
    "gaussian": gaussian.delta,
    "pld": pld.delta,
}
"""For each calculus that goes the other way: the function from an event and ε to δ."""


def epsilon(event: Event, delta: Number, calculus: str = BEST) -> float:
    """Return ε of `event` at `delta` by the calculus named, or by the best of those that know it; rounded up."""
    name = one_of("calculus", calculus, (BEST, *ACCOUNTANTS))
    exact = target(delta)
    if name != BEST:
        return ACCOUNTANTS[name][0](event, exact)
    return _least({each: function for each, (function, _) in ACCOUNTANTS.items()}, event, exact)


def delta(event: Event, epsilon: Number, calculus: str = BEST) -> float:
    """Return δ of `event` at `epsilon` by the calculus named, or by the best of those that know it; rounded up."""
    name = one_of("calculus", calculus, (BEST, *DELTAS))
    exact = rational("epsilon", epsilon, least=0)
    return _least(DELTAS, event, exact) if name == BEST else DELTAS[name](event, exact)


def side_by_side(event: Event, delta: Number | None = None) -> list[Quote]:
    """Return what every calculus says about `event` at `delta` (0 if left out), in the order of the table."""
    exact = target(0 if delta is None else delta)
    return [_quote(name, event, exact) for name in ACCOUNTANTS]


def _least(table: dict[str, Callable[[Event, Fraction], float]], event: Event, at: Fraction) -> float:
    """Return the least that any calculus of `table` says, or refuse with what each of them says instead."""
    known, refusals = [], []
    for name, function in table.items():
        try:
            known.append(function(event, at))
        except (UnsupportedError, ArgumentError) as error:
            refusals.append(f"{name}: {error}")
    if not known:
        raise UnsupportedError("no calculus prices this event here: " + "; ".join(refusals), "SRD-C005")
    return min(known)


def _quote(name: str, event: Event, delta: Fraction) -> Quote:
    function, remark = ACCOUNTANTS[name]
    try:
        if function is not _pld:
            return Quote(name, function(event, delta), remark)
        bracket = _pld_bracket(event, delta)
    except (UnsupportedError, ArgumentError) as error:
        return Quote(name, None, str(error))
    if bracket.wide:
        remark += f"; wide: the true value may be as low as {bracket.lower:.3g}"
    return Quote(name, bracket.upper, remark, bracket.lower, bracket.wide)
