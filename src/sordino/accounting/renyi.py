"""Rényi differential privacy (Mironov 2017): divergences of each order add up under composition, also adaptive.

**Sources**: Mironov 2017, Proposition 1 (composition); Canonne, Kamath, Steinke 2020, Proposition 12 (conversion):
a divergence of at most c at order α, in both directions, gives (ε, δ) with

    ε = c + ln((α−1)/α) − (ln δ + ln α)/(α−1).

Each order gives a valid ε; for events fixed beforehand the least of them is valid too. (For events chosen along the way
it is not: see the filters.) Order ∞ is pure ε and is taken into account where every event has one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from sordino.arguments import Number, rational, rounded_down, rounded_up
from sordino.errors import ArgumentError

from . import pure
from .approximate import own_delta, remaining
from .curve import Floats
from .curve import curve as price
from .event import Event
from .relation import parts
from .rounding import deltas_rounded_up, exp_rounded_up, lifted, log_rounded_down

ORDERS: Floats = np.concatenate(
    [
        [1.01, 1.02, 1.05],
        np.arange(11, 110) / 10,
        np.arange(11.0, 65.0),
        np.round(64 * 2 ** (np.arange(1, 25) / 4)),
    ]
)
ORDERS.setflags(write=False)
"""The orders at which the conversions look first: dense to 64, then at ratios of 2^¼ up to 4096."""

MOST_EPSILON = 1e250
"""Conversions to δ look no further than this ε, which is safe as δ falls with ε, and keeps their floats finite."""

_ROUNDS = 2
_BETWEEN = 33
_SLACK = 8 * float(np.finfo(np.float64).eps)
_LEAST = float(np.finfo(np.float64).tiny)  # room for divergences that underflow


def curve(event: Event, orders: Floats) -> Floats:
    """Return the Rényi divergence of all that `event` runs, at each order (finite, above 1).

    **Guarantee**: an upper bound in both directions, outside of the events' own failures.
    """
    alphas = np.asarray(orders, dtype=np.float64)
    if alphas.ndim != 1 or not np.all(np.isfinite(alphas) & (alphas > 1)):
        raise ArgumentError("orders must be a list of finite numbers above 1", "SRD-A002")
    total = np.zeros_like(alphas)
    for part, count in parts(event).items():
        with np.errstate(over="ignore"):
            total = total + np.maximum(price(part, "renyi")(part, alphas), _LEAST) * rounded_up(Fraction(count))
    return lifted(total)


def epsilon(event: Event, delta: Number) -> float:
    """Return the least ε for which Rényi accounting shows `event` to be (ε, δ)-differentially private, rounded up."""
    left = remaining(event, delta)
    known = pure.known(event)
    if left == 0 and known is None:
        raise ArgumentError("delta must exceed the events' own: this event is not purely private", "SRD-A003")
    bound = math.inf if known is None else rounded_up(known)
    if left == 0:
        return bound
    log_delta = log_rounded_down(left)
    return min(bound, least_over_orders(lambda orders: to_epsilon(orders, curve(event, orders), log_delta), ORDERS))


def delta(event: Event, epsilon: Number) -> float:
    """Return the least δ for which Rényi accounting shows `event` to be (ε, δ)-differentially private, rounded up."""
    exact = rational("epsilon", epsilon, least=0)
    own = rounded_up(own_delta(event))
    known = pure.known(event)
    if known is not None and known <= exact:
        return own
    at = min(rounded_down(exact), MOST_EPSILON)
    log_delta = least_over_orders(lambda orders: to_log_delta(orders, curve(event, orders), at), ORDERS)
    return deltas_rounded_up(own, exp_rounded_up(log_delta))


def to_epsilon(orders: Floats, divergences: Floats, log_delta: float) -> Floats:
    """Return, for each order, the ε that its divergence gives at δ = exp(log_delta); never below 0."""
    value = divergences + _log_shrink(orders) - (log_delta + np.log(orders)) / (orders - 1)
    slack = _SLACK * (divergences + (abs(log_delta) + np.log(orders)) / (orders - 1))
    return np.maximum(lifted(np.maximum(value, 0)) + slack, 0)


def to_log_delta(orders: Floats, divergences: Floats, epsilon: float) -> Floats:
    """Return, for each order, ln δ that its divergence gives at ε."""
    # (α−1)·ln(α−1) − α·ln α where that keeps its digits: near 1 both terms vanish
    rest = np.where(
        orders < 2,
        (orders - 1) * np.log(orders - 1) - orders * np.log(orders),
        orders * _log_shrink(orders) - np.log(orders - 1),
    )
    with np.errstate(over="ignore"):
        return (orders - 1) * (divergences - epsilon) + rest + _SLACK * orders * (divergences + epsilon + 1)


def _log_shrink(orders: Floats) -> Floats:
    """Return ln(1 − 1/α), with its digits also next to 1."""
    return np.asarray(np.where(orders < 2, np.log((orders - 1) / orders), np.log1p(-1 / orders)))


def least_over_orders(value: Callable[[Floats], Floats], orders: Floats, rounds: int = _ROUNDS) -> float:
    """Return the least value over orders: first at those given, then ever more closely around the best.

    Every order gives a valid bound, so an imperfect search stays sound.
    """
    best = math.inf
    for _ in range(1 + rounds):
        values = value(orders)
        place = int(np.argmin(values))
        best = min(best, float(values[place]))
        orders = np.linspace(orders[max(place - 1, 0)], orders[min(place + 1, len(orders) - 1)], _BETWEEN)
    return best
