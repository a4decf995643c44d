"""Laws that every accountant keeps, whatever its calculus.

Two kinds are told apart. *Unsound*: a price lies below what is certainly lost (``floors.py``), so that
somebody's promise is broken. *Inconsistent*: two ways to write down one run, or a run and a larger one, have prices
that cannot both be right to within the slack; one of them is then wrong or needlessly dear.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sordino.accounting.event import Event
from sordino.accounting.events import Composed, PoissonSampled, Repeated, Replaced
from sordino.errors import ArgumentError, UnsupportedError

from .events import noisier
from .floors import lost_at_least

Pricing = Callable[[Event, float], float | None]
"""ε of an event at δ; None, or `UnsupportedError`, for what the accountant does not know."""
Failure = Callable[[Event, float], float | None]
"""δ of an event at ε."""

FOREIGN = "SRD-V061"
"""The code of an error that somebody else's code raised."""
_MOST_COPIES = 20
_STRICT = 1e-6


@dataclass(frozen=True)
class Crash:
    """An event on which an accountant ended with an error that is no refusal, at this δ (or ε)."""

    event: Event
    amount: float
    words: str


class Prices:
    """An accountant whose every price is asked for once; what it refuses is None.

    Where it crashes that is None, too, and is kept among `crashes`: nothing was judged there.
    """

    def __init__(self, price: Pricing, failure: Failure | None, slack: float) -> None:
        self._price = price
        self._failure = failure
        self._slack = slack
        self._known: dict[tuple[Event, float], float | None] = {}
        self.asked = 0
        self.crashes: list[Crash] = []

    def __call__(self, event: Event, delta: float) -> float | None:
        """Return ε of an event at δ."""
        if (event, delta) not in self._known:
            self.asked += 1
            self._known[event, delta] = self._asked(self._price, event, delta)
        return self._known[event, delta]

    def failure(self, event: Event, epsilon: float) -> float | None:
        """Return δ of an event at ε, if the accountant has the word for it."""
        return None if self._failure is None else self._asked(self._failure, event, epsilon)

    def _asked(self, function: Pricing, event: Event, amount: float) -> float | None:
        try:
            found = function(event, amount)
            return None if found is None else float(found)
        except (UnsupportedError, ArgumentError) as error:
            # What somebody else's code raised comes as an error of ours that says so; it is no refusal.
            if error.code == FOREIGN:
                self.crashes.append(Crash(event, amount, error.message))
        except Exception as error:
            self.crashes.append(Crash(event, amount, f"{type(error).__name__}: {error}"))
        return None

    def below(self, less: float, more: float) -> bool:
        """Return whether one price is less than another by more than the slack, relative and absolute."""
        return less < more - self._slack * max(1.0, abs(more)) if math.isfinite(more) else less < more

    def above(self, price: float) -> float:
        """Return a price that is greater by the slack."""
        return price + self._slack * max(1.0, price)


@dataclass(frozen=True)
class Breach:
    """What an accountant said, and what it should have said."""

    said: float
    due: float
    words: str


Check = Callable[[Prices, Event, float], Breach | None]


def number_check(prices: Prices, event: Event, delta: float) -> Breach | None:
    """A price is a number, and not below 0."""
    said = prices(event, delta)
    if said is None or said >= 0:
        return None
    return Breach(said, 0.0, f"the price is {said}")


def floor_check(prices: Prices, event: Event, delta: float) -> Breach | None:
    """No price is below what a test between two neighbours certainly finds."""
    said = prices(event, delta)
    if said is None or math.isinf(said):
        return None
    floor = lost_at_least(event, delta)
    if said >= floor * (1 - _STRICT):
        return None
    return Breach(said, floor, f"ε = {said:.6g} is said; at least {floor:.6g} is lost")


def delta_floor_check(prices: Prices, event: Event, delta: float) -> Breach | None:
    """No δ is below what is certainly lost: at an ε at which more than δ is lost, δ is not said to suffice."""
    floor = lost_at_least(event, delta)
    if not 0 < floor < math.inf:
        return None
    epsilon = floor * (1 - _STRICT)
    said = prices.failure(event, epsilon)
    if said is None or said >= delta * (1 - _STRICT):
        return None
    return Breach(said, delta, f"δ = {said:.6g} is said at ε = {epsilon:.6g}; more than {delta:.6g} is lost")


def count_check(prices: Prices, event: Event, delta: float) -> Breach | None:
    """n at once cost what n one after the other cost, and as much as n·m for n times m."""
    if not isinstance(event, Repeated):
        return None
    others: list[tuple[str, Event]] = []
    if event.count <= _MOST_COPIES:
        others.append((f"{event.count} one after the other", Composed((event.event,) * event.count)))
    if event.count % 2 == 0 and event.count > 2:
        others.append(("twice half as many", Repeated(Repeated(event.event, event.count // 2), 2)))
    return _same(prices, event, others, delta, f"{event.count} at once")


def order_check(prices: Prices, event: Event, delta: float) -> Breach | None:
    """The order in which events are written down does not matter."""
    if not isinstance(event, Composed):
        return None
    return _same(prices, event, [("in reverse order", Composed(event.events[::-1]))], delta, "in this order")


def more_check(prices: Prices, event: Event, delta: float) -> Breach | None:
    """Whoever runs more pays no less."""
    found = (
        _no_less(prices, (event, delta), (part, delta), f"all of it costs {{:.6g}}, {words} {{:.6g}}")
        for words, part in _parts(event)
    )
    return next((breach for breach in found if breach is not None), None)


def _parts(event: Event) -> Iterator[tuple[str, Event]]:
    match event:
        case Repeated(count=count) if count >= 2:
            yield "one", event.event
            yield "one run less", Repeated(event.event, count - 1)
        case Composed():
            yield from (("one part alone", part) for part in event.events)
        case Replaced():
            yield "where a unit comes or goes", event.event


def noise_check(prices: Prices, event: Event, delta: float) -> Breach | None:
    """Twice the noise never costs more."""
    louder = noisier(event)
    if louder is None:
        return None
    return _no_less(prices, (event, delta), (louder, delta), "{:.6g} as it is, {:.6g} with twice the noise")


def rate_check(prices: Prices, event: Event, delta: float) -> Breach | None:
    """Whoever takes larger samples pays no less."""
    if not isinstance(event, PoissonSampled):
        return None
    larger = PoissonSampled(event.event, min(Fraction(1), 2 * event.rate))
    words = f"{{1:.6g}} at rate {event.rate}, {{0:.6g}} at {larger.rate}"
    return _no_less(prices, (larger, delta), (event, delta), words)


def delta_check(prices: Prices, event: Event, delta: float) -> Breach | None:
    """At a larger δ ε is no larger."""
    words = f"{{:.6g}} at δ = {delta:g}, {{:.6g}} at ten times that"
    return _no_less(prices, (event, delta), (event, min(10 * delta, 0.5)), words)


def identity_check(prices: Prices, event: Event, delta: float) -> Breach | None:
    """Sampling at rate 1 is no sampling, and no cheaper."""
    if isinstance(event, Repeated | Composed | PoissonSampled | Replaced):
        return None
    sampled = PoissonSampled(event, Fraction(1))
    return _no_less(prices, (sampled, delta), (event, delta), "{1:.6g} unsampled, {0:.6g} sampled at rate 1")


def inverse_check(prices: Prices, event: Event, delta: float) -> Breach | None:
    """At the ε that was found for δ, and a slack above it, no more than δ is found."""
    epsilon = prices(event, delta)
    if epsilon is None or not math.isfinite(epsilon):
        return None
    back = prices.failure(event, prices.above(epsilon))
    if back is None or back <= delta * 1.1:
        return None
    return Breach(back, delta, f"δ = {delta:.6g} gives ε = {epsilon:.6g}, which gives δ = {back:.6g}")


def _no_less(prices: Prices, more: tuple[Event, float], less: tuple[Event, float], words: str) -> Breach | None:
    """Return the breach, told by `words` of both prices, where `more` costs less than `less`."""
    said, due = prices(*more), prices(*less)
    if said is None or due is None or not prices.below(said, due):
        return None
    return Breach(said, due, words.format(said, due))


def _same(prices: Prices, event: Event, others: list[tuple[str, Event]], delta: float, here: str) -> Breach | None:
    said = prices(event, delta)
    for there, other in others:
        again = prices(other, delta)
        if said is None or again is None:
            continue
        if prices.below(said, again) or prices.below(again, said):
            return Breach(said, again, f"{here} cost {said:.6g}, {there} {again:.6g}")
    return None


SOUNDNESS: Mapping[str, Check] = {"floor": floor_check, "delta floor": delta_floor_check, "number": number_check}
"""A price that breaks one of these is wrong."""
CONSISTENCY: Mapping[str, Check] = {
    "count": count_check,
    "order": order_check,
    "more": more_check,
    "noise": noise_check,
    "rate": rate_check,
    "delta": delta_check,
    "identity": identity_check,
    "inverse": inverse_check,
}
"""Of two prices that break one of these, one is wrong or needlessly dear."""
CHECKS: Mapping[str, Check] = {**SOUNDNESS, **CONSISTENCY}
