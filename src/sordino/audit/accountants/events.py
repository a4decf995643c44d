"""Events to try an accountant with: of every kind, alone, repeated, composed and sampled; and smaller ones.

Parameters are few and round, so that what breaks a law is small to begin with; all of it is a function of the dice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from sordino.accounting.event import Event
from sordino.accounting.events import (
    Approximate,
    Composed,
    Concentrated,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    LaplaceNoisyMax,
    PermuteAndFlip,
    PoissonSampled,
    Pure,
    RandomizedResponse,
    Repeated,
    Replaced,
)
from sordino.audit.dice import Dice

_EPSILONS = tuple(map(Fraction, ("1/10", "1/4", "1/2", "1", "2")))
_COUNTS = (2, 3, 7, 20, 64)
_SHORT = (2, 3, 5)
_RATES = tuple(map(Fraction, ("1/100", "1/10", "1/2")))


def _one(dice: Dice, choices: tuple[Any, ...]) -> Any:
    return choices[int(dice.integers(len(choices)))]


LEAVES: dict[str, Callable[[Dice], Event]] = {
    "gaussian": lambda dice: Gaussian(_one(dice, (1, 4, 25, 100))),
    "laplace": lambda dice: Laplace(1 / _one(dice, _EPSILONS)),
    "discrete-laplace": lambda dice: DiscreteLaplace(2 / _one(dice, _EPSILONS), int(dice.integers(1, 4))),
    "discrete-gaussian": lambda dice: DiscreteGaussian(_one(dice, (1, 4, 25))),
    "exponential": lambda dice: Exponential(_one(dice, _EPSILONS)),
    "permute-and-flip": lambda dice: PermuteAndFlip(_one(dice, _EPSILONS)),
    "laplace-noisy-max": lambda dice: LaplaceNoisyMax(_one(dice, _EPSILONS)),
    "randomized-response": lambda dice: RandomizedResponse(_one(dice, _EPSILONS), int(dice.integers(2, 5))),
    "pure": lambda dice: Pure(_one(dice, _EPSILONS)),
    "approximate": lambda dice: Approximate(_one(dice, _EPSILONS), Fraction(1, 10**14)),
    "concentrated": lambda dice: Concentrated(_one(dice, tuple(map(Fraction, ("1/100", "1/10", "1/2"))))),
}
"""A draw of each kind of simple event."""

_SAMPLED = ("gaussian", "laplace")
_STAYING = ("randomized-response",)
"""Kinds that are priced for units that keep their place, and so are not replaced."""


def tried(dice: Dice, rounds: int) -> Iterator[Event]:
    """Yield events: in every round each kind alone, a few times, often, beside others, sampled and replaced."""
    for _ in range(rounds):
        for name, leaf in LEAVES.items():
            yield leaf(dice)
            yield Repeated(leaf(dice), _one(dice, _SHORT))
            yield Repeated(leaf(dice), _one(dice, _COUNTS))
            yield Composed((leaf(dice), Repeated(_other(dice), _one(dice, _SHORT))))
            if name in _SAMPLED:
                sampled = PoissonSampled(leaf(dice), _one(dice, _RATES))
                yield from (sampled, Repeated(sampled, _one(dice, _COUNTS)), Composed((sampled, leaf(dice))))
                yield Repeated(sampled, 1000)
                yield from (Replaced(sampled), Repeated(Replaced(sampled), _one(dice, _COUNTS)))
            if name not in _STAYING:
                yield Replaced(Repeated(leaf(dice), _one(dice, _SHORT)))


def _other(dice: Dice) -> Event:
    return LEAVES[_one(dice, tuple(LEAVES))](dice)


_QUIETER: dict[type[Event], tuple[str, Fraction]] = {
    Gaussian: ("variance", Fraction(4)),
    Laplace: ("scale", Fraction(2)),
    DiscreteLaplace: ("scale", Fraction(2)),
    DiscreteGaussian: ("variance", Fraction(4)),
    Concentrated: ("rho", Fraction(1, 4)),
    **dict.fromkeys(
        (Exponential, PermuteAndFlip, LaplaceNoisyMax, RandomizedResponse, Pure, Approximate),
        ("epsilon", Fraction(1, 2)),
    ),
}


def noisier(event: Event) -> Event | None:
    """Return the same event with twice the noise throughout, or None where that is not known."""
    match event:
        case Repeated() | PoissonSampled() | Replaced():
            inner = noisier(event.event)
            return None if inner is None else replace(event, event=inner)
        case Composed():
            parts = tuple(noisier(part) for part in event.events)
            return None if None in parts else Composed(parts)  # type: ignore[arg-type]
    if type(event) not in _QUIETER:
        return None
    name, factor = _QUIETER[type(event)]
    return replace(event, **{name: getattr(event, name) * factor})


def kinds(event: Event) -> frozenset[str]:
    """Return the kinds of the simple events in an event, sampled and replaced ones by name."""
    match event:
        case Repeated():
            return kinds(event.event)
        case PoissonSampled():
            return frozenset(f"sampled {each}" for each in kinds(event.event))
        case Replaced():
            return frozenset(f"replaced {each}" for each in kinds(event.event))
        case Composed():
            return frozenset().union(*(kinds(part) for part in event.events))
    return frozenset({event.kind})


def size(event: Event) -> tuple[int, int, int]:
    """Return how large an event is: parts, runs, digits. Whatever `smaller` yields is less in this order."""
    match event:
        case Repeated():
            parts, runs, digits = size(event.event)
            return parts + 1, runs * event.count, digits
        case PoissonSampled():
            parts, runs, digits = size(event.event)
            return parts + 1, runs, digits + len(str(event.rate))
        case Replaced():
            parts, runs, digits = size(event.event)
            return parts + 1, runs, digits
        case Composed():
            each = [size(part) for part in event.events]
            return 1 + sum(s[0] for s in each), sum(s[1] for s in each), sum(s[2] for s in each)
    return 1, 1, sum(len(str(getattr(event, each.name))) for each in fields(event))


def smaller(event: Event) -> Iterator[Event]:
    """Yield events that are smaller in one place, the smallest first."""
    match event:
        case Repeated():
            yield event.event
            for count in dict.fromkeys((2, event.count // 2, event.count - 1)):
                if 2 <= count < event.count:
                    yield Repeated(event.event, count)
            yield from (replace(event, event=inner) for inner in smaller(event.event))
        case PoissonSampled():
            yield event.event
            if len(str(event.rate)) > len("1/2"):
                yield replace(event, rate=Fraction(1, 2))
            yield from (replace(event, event=inner) for inner in smaller(event.event))
        case Replaced():
            yield event.event
            yield from (Replaced(inner) for inner in smaller(event.event))
        case Composed():
            yield from event.events
            for place, part in enumerate(event.events):
                rest = event.events[:place], event.events[place + 1 :]
                if len(event.events) > 2:
                    yield Composed(rest[0] + rest[1])
                yield from (Composed((*rest[0], inner, *rest[1])) for inner in smaller(part))
        case _:
            yield from _rounder(event)


def _rounder(event: Event) -> Iterator[Event]:
    for each in fields(event):
        value = getattr(event, each.name)
        if isinstance(value, Fraction) and value > 0 and len(str(value)) > 1 and each.name != "delta":
            yield replace(event, **{each.name: Fraction(1)})
