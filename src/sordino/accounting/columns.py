"""What an event costs as a vector of integers, one for each column that an account adds up.

The first column is always the events' own δ: the failure probability that partition selection, shuffling and the like
bring along. The others are what the calculus adds up outside of such failures: ε for pure; ρ for zCDP; for Rényi the
divergence at each finite order and, last, at order ∞, which is the pure ε.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from sordino.errors import ArgumentError, UnsupportedError

from .budget import Calculus
from .curve import CURVES, curve
from .event import Event, field_names
from .events import Composed, Repeated, TruncatedPoissonSampled
from .relation import parts
from .units import PER_DELTA, PER_EPSILON, decimal_text, times, total, units_rounded_up

Vector = tuple[int, ...]
"""Integer units, one for each column."""

_TAKEN_APART = (Composed, Repeated, TruncatedPoissonSampled)


@dataclass(frozen=True)
class Columns:
    """The columns of one account: its calculus and, for Rényi, the finite orders that it watches."""

    calculus: Calculus
    orders: tuple[float, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What each column adds up, in plain words."""
        if self.calculus == "renyi":
            return ("own δ", *(f"Rényi ε of order {order:g}" for order in self.orders), "pure ε")
        return ("own δ", "pure ε" if self.calculus == "pure" else "ρ")

    @property
    def nothing(self) -> Vector:
        """The vector of an account that has spent nothing."""
        return (0,) * len(self.names)

    def charge(self, event: Event) -> Vector:
        """Return what `event` costs in each column, rounded up to whole units.

        **Guarantee**: running `event`, adaptively inside if it is composed, has at most this divergence in each
        column. Each simple event is rounded up by itself and then counted, so n at once cost the same as n times.
        A column that cannot hold its cost is `SATURATED`.
        Events that the calculus does not know are refused with `UnsupportedError`; so are other subclasses of `Event`,
        whose own ideas of equality could otherwise find the price of another event in the cache.
        """
        unknown = {type(part) for part in _everything(event)}.difference(CURVES, _TAKEN_APART)
        if unknown:
            names = ", ".join(sorted(each.__name__ for each in unknown))
            raise UnsupportedError(f"no curve is known for events of type {names}; they cannot be priced", "SRD-C001")
        return _charge(self, event)

    def describe(self, vector: Vector) -> dict[str, str]:
        """Return the columns of `vector` by name, as exact decimals."""
        per = (PER_DELTA, *(PER_EPSILON for _ in vector[1:]))
        return {name: decimal_text(*pair) for name, *pair in zip(self.names, vector, per, strict=True)}


def add(spent: Vector, charge: Vector) -> Vector:
    """Return the sum of two vectors, each column held at `SATURATED`."""
    return tuple(total(*pair) for pair in zip(spent, charge, strict=True))


def _everything(event: Event) -> Iterator[Event]:
    """Yield an event and all events that it is made of, by their fields."""
    yield event
    for name in field_names(type(event)):
        value = getattr(event, name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Event):
                yield from _everything(item)


@lru_cache(maxsize=4096)
def _charge(columns: Columns, event: Event) -> Vector:
    runs = parts(event)
    if not runs:
        raise ArgumentError("this event runs nothing, so there is nothing to charge", "SRD-A003")
    vector = columns.nothing
    for part, count in runs.items():
        vector = add(vector, tuple(times(units, count) for units in _simple(columns, part)))
    return vector


@lru_cache(maxsize=4096)
def _simple(columns: Columns, event: Event) -> Vector:
    """Return what one run of an event that is not composed costs."""
    own_delta = units_rounded_up(curve(event, "own_delta")(event), PER_DELTA)
    # a float may have underflowed to 0, and must not be 0 before it is counted; an exact 0 is one
    least = 0 if _if_known(event, "pure") == 0 else 1
    costs = _renyi(columns.orders, event) if columns.calculus == "renyi" else (_single(columns.calculus, event),)
    return (own_delta, *(max(units_rounded_up(cost, PER_EPSILON), least) for cost in costs))


def _single(calculus: Calculus, event: Event) -> Fraction:
    cost: Fraction = curve(event, calculus)(event)
    return cost


def _renyi(orders: tuple[float, ...], event: Event) -> tuple[Fraction | float, ...]:
    """Return the divergence at each finite order and at ∞; infinite where no curve gives one."""
    alphas = np.array(orders)
    pure = _if_known(event, "pure")
    if pure is None:
        return (*curve(event, "renyi")(event, alphas).tolist(), math.inf)
    finite = _if_known(event, "renyi", alphas) if orders else None
    # divergences grow with the order, so the pure ε bounds them all where nothing better is known
    return (*([pure] * len(orders) if finite is None else finite.tolist()), pure)


def _if_known(event: Event, calculus: str, *arguments: Any) -> Any:
    """Return what `event` costs in `calculus`, or None where that calculus does not know it or a part of it."""
    try:
        return curve(event, calculus)(event, *arguments)
    except UnsupportedError:
        return None
