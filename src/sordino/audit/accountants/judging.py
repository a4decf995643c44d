"""Auditing an accountant: events are tried on it, and the smallest that breaks a check is told.

    >>> from sordino.accounting import accountants
    >>> from sordino.accounting.curve import flatten
    >>> def forgetful(event, delta):  # what is run once, twice or a hundred times costs the same
    ...     return sum(accountants.epsilon(part, str(delta)) for part in flatten(event))
    >>> found = accountant(forgetful, rounds=1, seed=1)
    >>> found.refuted, sorted({each.check for each in found.broken if each.unsound})
    (True, ['floor'])

**Guarantee**: *refuted* means that a price is below what an attack certainly finds, which is proven and no matter of
chance. **Assumes** nothing of the accountant but that it prices the events as they are described.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

from sordino.accounting.event import Event
from sordino.arguments import whole
from sordino.audit.dice import dice
from sordino.errors import ArgumentError

from .checks import CHECKS, SOUNDNESS, Breach, Crash, Failure, Prices, Pricing
from .events import kinds, size, smaller, tried

DELTAS = (1e-2, 1e-5, 1e-8, 1e-12)
_MOST_SHRINKS = 200
_LONGEST_WORDS = 200

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class FailedCheck:
    """A check that an accountant breaks, and the smallest event found that shows it."""

    check: str
    event: Event
    delta: float
    said: float
    due: float
    words: str
    unsound: bool
    """Whether the price is below what is certainly lost, so that whoever relies on it is promised too much."""

    def to_json(self) -> dict[str, object]:
        """Return it as plain values; the event in its canonical form."""
        return vars(self) | {"event": json.loads(self.event.to_json())}

    def __str__(self) -> str:
        kind = "unsound" if self.unsound else "inconsistent"
        return f"{kind}: {self.check} check at δ = {self.delta:g}: {self.words}; shown by {shown(self.event)}"


@dataclass(frozen=True)
class FailedPrice:
    """An event on which the accountant crashed: with an error that does not say that it knows no price."""

    event: Event
    amount: float
    words: str
    times: int

    def to_json(self) -> dict[str, object]:
        """Return it as plain values; the event in its canonical form."""
        return vars(self) | {"event": json.loads(self.event.to_json())}

    def __str__(self) -> str:
        times = f"{self.times} times, " if self.times > 1 else ""
        return f"crashed: {self.words}; {times}shown by {shown(self.event)} at {self.amount:g}"


@dataclass(frozen=True)
class AccountantAudit:
    """What came of an audit: the checks that were broken, and how much was tried."""

    broken: tuple[FailedCheck, ...]
    events: int
    priced: int
    """Events that the accountant knew a finite price for; with none, nothing was audited."""
    prices: int
    crashed: tuple[FailedPrice, ...] = ()
    """Errors that were no refusals, one for each kind of error, with the smallest event seen to raise it."""

    @property
    def refuted(self) -> bool:
        """Whether a price was below what is certainly lost."""
        return any(each.unsound for each in self.broken)

    @property
    def verdict(self) -> str:
        """*refuted*; *crashed*, where some events could not be judged; or *not refuted*, which promises nothing."""
        return "refuted" if self.refuted else "crashed" if self.crashed else "not refuted"

    @property
    def exit_code(self) -> int:
        """1 where a price is too low, 2 where the accountant crashed, else 0."""
        return 1 if self.refuted else 2 if self.crashed else 0

    def to_json(self) -> dict[str, object]:
        """Return all of it as plain values."""
        return {
            "verdict": self.verdict,
            "events": self.events,
            "priced": self.priced,
            "prices": self.prices,
            "broken": [each.to_json() for each in self.broken],
            "crashed": [each.to_json() for each in self.crashed],
        }

    def __str__(self) -> str:
        lines = [str(each) for each in (*self.broken, *self.crashed)]
        unsound = sum(each.unsound for each in self.broken)
        found = f"{unsound} unsound and {len(self.broken) - unsound} inconsistent" if self.broken else "no check failed"
        lines.append(f"{self.verdict}: {found}; {self.priced} of {self.events} events priced, {self.prices} prices")
        return "\n".join(lines)


def accountant(
    price: Pricing,
    failure: Failure | None = None,
    *,
    events: Sequence[Event] = (),
    deltas: Sequence[float] = DELTAS,
    rounds: int = 2,
    slack: float = 0.01,
    seed: int | None = None,
    progress: Progress | None = None,
) -> AccountantAudit:
    """Try an accountant with events of every kind, and return the checks that it breaks.

    Args:
        price: ``price(event, delta)`` returns ε; None, or `UnsupportedError`, for events that it does not know.
        failure: ``failure(event, epsilon)`` returns δ, if the accountant has the word for it.
        events: further events to try, before those of the grammar.
        deltas: the δ at which prices are asked for: at all of them for soundness, at one by chance for consistency.
        rounds: how often every kind of event is drawn; 0 tries `events` alone.
        slack: how far apart two prices of one run may be, relative and absolute. Soundness knows no slack.
        seed: the same events for the same seed.
        progress: told how many events were tried, and of how many.
    """
    if not deltas or not all(0 < each < 1 for each in deltas):
        raise ArgumentError("deltas must be numbers between 0 and 1, at least one of them", "SRD-A002")
    drawn = dice(seed)
    all_events = [*events, *tried(drawn, whole("rounds", rounds, least=0))]
    prices = Prices(price, failure, slack)
    broken: dict[tuple[str, frozenset[str]], FailedCheck] = {}
    priced = 0
    for place, event in enumerate(all_events):
        at = float(deltas[int(drawn.integers(len(deltas)))])
        said = prices(event, at)
        priced += said is not None and said != float("inf")
        _judge(prices, event, at, deltas, broken)
        if progress is not None:
            progress(place + 1, len(all_events))
    found = tuple(sorted(broken.values(), key=_rank))
    return AccountantAudit(found, len(all_events), priced, prices.asked, _crashed(prices.crashes))


def _crashed(crashes: Sequence[Crash]) -> tuple[FailedPrice, ...]:
    """Return the smallest event for each kind of error: errors are of one kind that differ in numbers alone."""
    kinds_of_error: dict[str, list[Crash]] = {}
    for each in crashes:
        kinds_of_error.setdefault(re.sub(r"[0-9.e+-]+", "#", each.words)[:_LONGEST_WORDS], []).append(each)
    found = []
    for alike in kinds_of_error.values():
        least = min(alike, key=lambda each: size(each.event))
        found.append(FailedPrice(least.event, least.amount, least.words[:_LONGEST_WORDS], len(alike)))
    return tuple(found)


def _judge(
    prices: Prices,
    event: Event,
    at: float,
    deltas: Sequence[float],
    broken: dict[tuple[str, frozenset[str]], FailedCheck],
) -> None:
    """Try all checks on one event; what is broken already by a part of its kinds is not looked for again."""
    for check in CHECKS:
        for delta in map(float, deltas) if check in SOUNDNESS else (at,):
            known = any(name == check and found <= kinds(event) for name, found in broken)
            breach = None if known else CHECKS[check](prices, event, delta)
            if breach is not None:
                smallest = _smallest(prices, check, event, delta, breach)
                broken[check, kinds(smallest.event)] = smallest


def _rank(broken: FailedCheck) -> tuple[bool, str, str]:
    return not broken.unsound, broken.check, broken.event.to_json()


def _smallest(prices: Prices, check: str, event: Event, delta: float, breach: Breach) -> FailedCheck:
    """Go to smaller events for as long as one of them still breaks the check."""
    tries = 0
    while True:
        for other in smaller(event):
            tries += 1
            again = CHECKS[check](prices, other, delta) if size(other) < size(event) and tries < _MOST_SHRINKS else None
            if again is not None:
                event, breach = other, again
                break
        else:
            return FailedCheck(check, event, delta, breach.said, breach.due, breach.words, check in SOUNDNESS)


def shown(event: Event) -> str:
    """Return an event as people read it: ``20 × RandomizedResponse(epsilon=1/2, categories=2)``."""
    match event.kind:
        case "repeated":
            return f"{event.count} × {shown(event.event)}"  # type: ignore[attr-defined]
        case "composed":
            return " + ".join(shown(part) for part in event.events)  # type: ignore[attr-defined]
        case "poisson-sampled":
            return f"{shown(event.event)} sampled at {event.rate}"  # type: ignore[attr-defined]
        case "replaced":
            return f"({shown(event.event)}) for a unit that is replaced"  # type: ignore[attr-defined]
    inner = ", ".join(f"{each.name}={getattr(event, each.name)}" for each in fields(event))
    return f"{type(event).__name__}({inner})"
