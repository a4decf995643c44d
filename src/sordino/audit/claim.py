"""What is promised: ε, (ε, δ), Gaussian DP, or whatever an event costs by the best accountant.

A claim is a curve δ ↦ ε; an auditor tests it at some points. A plain number where a claim is expected means pure ε, a
pair means (ε, δ), an event means its best price.

**Source**: Kairouz, Oh, Viswanath 2015, Theorem 2.5, for what (ε, δ) implies at a larger δ: such a mechanism is a
post-processing of one that fails with probability δ and else is randomized response.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from sordino.accounting import accountants, gaussian
from sordino.accounting.approximate import own_delta
from sordino.accounting.event import Event
from sordino.accounting.tradeoff import TradeOff
from sordino.arguments import Number, rational, rounded_up
from sordino.errors import ArgumentError, UnsupportedError

_DELTAS = (1e-5, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2)
"""Where a whole curve is tested: smaller ones than these cannot be seen in samples."""
_EVENT_DELTAS = (1e-5, 1e-3, 0.01, 0.1)
"""The same for events, whose prices take longer to compute."""

Curve = Callable[[float], float]


@dataclass(frozen=True)
class Claim:
    """A promise of privacy; build it with one of the class methods.

    >>> Claim.approximate(1, "1e-5").epsilon_at(1e-5)
    1.0
    >>> print(Claim.gaussian(1))
    1-Gaussian DP
    """

    words: str
    points: tuple[tuple[float, float], ...]
    """The pairs (ε, δ) at which it is tested."""
    curve: Curve = field(compare=False, repr=False)
    trade_off: TradeOff = field(compare=False, repr=False)
    """The least errors of any attack that the claim allows."""
    exact: tuple[Fraction, Fraction] | None = None
    """ε and δ to the last digit, where these two are all that is promised; `points` are floats."""
    whole: bool = True
    """Whether `trade_off` is all that is promised; if not, it is what the `points` promise."""

    @classmethod
    def pure(cls, epsilon: Number) -> Claim:
        """Return the claim of ε-differential privacy."""
        exact = rational("epsilon", epsilon, least=0)
        epsilon = rounded_up(exact)
        curve, pair = _randomized_response(epsilon, 0.0), (exact, Fraction(0))
        return cls(f"ε = {float(exact):g}", ((epsilon, 0.0),), curve, TradeOff.approximate(exact), pair)

    @classmethod
    def approximate(cls, epsilon: Number, delta: Number) -> Claim:
        """Return the claim of (ε, δ)-differential privacy."""
        exact, chance = rational("epsilon", epsilon, least=0), rational("delta", delta, least=0)
        if chance >= 1:
            raise ArgumentError(f"delta must be below 1, not {delta!r}: at 1 nothing is promised", "SRD-A002")
        if chance == 0:
            return cls.pure(exact)
        words, at = f"ε = {float(exact):g} at δ = {float(chance):g}", float(chance)
        curve = _randomized_response(rounded_up(exact), at)
        return cls(words, ((rounded_up(exact), at),), curve, TradeOff.approximate(exact, chance), (exact, chance))

    @classmethod
    def gaussian(cls, mu: Number) -> Claim:
        """Return the claim that neighbours are as hard to tell apart as N(0, 1) and N(μ, 1)."""
        distance = rounded_up(rational("mu", mu, above=0))

        def curve(delta: float) -> float:
            return gaussian.epsilon_of(distance, delta) if delta > 0 else math.inf

        words = f"{distance:.4g}-Gaussian DP"
        return cls(words, _telling(_DELTAS, curve), curve, TradeOff.gaussian(distance))

    @classmethod
    def of(cls, event: Any, bound: Any = None) -> Claim:
        """Return the claim of an event, or of a mechanism under `bound`: the best accountant's curve."""
        run = event.event(bound) if bound is not None and hasattr(event, "event") else event
        if not isinstance(run, Event):
            raise ArgumentError(
                f"a claim is made of an event, or of a mechanism and its bound, not of {type(event).__name__}",
                "SRD-A001",
            )
        floor = float(own_delta(run))

        @cache
        def curve(delta: float) -> float:
            try:
                return accountants.epsilon(run, delta) if delta >= floor else math.inf
            except UnsupportedError:
                return math.inf

        points = _telling((0.0, *_EVENT_DELTAS), curve)
        if not points:
            accountants.epsilon(run, _EVENT_DELTAS[-1])  # says why nobody prices it
            raise ArgumentError("this event promises nothing at any δ that samples could show", "SRD-A003")
        known = dict(reversed(points))
        promised = TradeOff.profile(known.__getitem__, np.array(sorted(known)))
        return cls(type(run).__name__, points, curve, promised, whole=False)

    @classmethod
    def read(cls, value: Any) -> Claim:
        """Return the claim that `value` stands for: a claim, a number, a pair of numbers, or an event."""
        if isinstance(value, Claim):
            return value
        if isinstance(value, Event):
            return cls.of(value)
        if isinstance(value, tuple | list):
            if len(value) != 2:
                raise ArgumentError("a claim by numbers is ε alone or the pair (ε, δ)", "SRD-A001")
            return cls.approximate(*value)
        return cls.pure(value)

    def epsilon_at(self, delta: float) -> float:
        """Return the ε promised at `delta`, or what the claim implies there; ∞ where it promises nothing."""
        known = {at: epsilon for epsilon, at in self.points}
        return known[delta] if delta in known else self.curve(float(delta))

    @property
    def deltas(self) -> tuple[float, ...]:
        """The δ's at which it is tested; (0.0,) for pure ε."""
        return tuple(delta for _, delta in self.points)

    def __str__(self) -> str:
        return self.words

    def to_json(self) -> dict[str, Any]:
        """Return the claim as plain data."""
        return {"words": self.words, "points": [{"epsilon": epsilon, "delta": delta} for epsilon, delta in self.points]}


def _randomized_response(epsilon: float, own: float) -> Curve:
    """Return the curve of a mechanism that fails with probability `own` and else is randomized response."""

    def curve(delta: float) -> float:
        if delta < own:
            return math.inf
        if delta == own:
            return epsilon
        rest = (delta - own) / (1 - own)
        shrunk = 1 - rest * (1 + math.exp(-epsilon))  # e^{ε′} = e^ε − rest·(1 + e^ε)
        return max(0.0, epsilon + math.log(shrunk)) if shrunk > 0 else 0.0

    return curve


def _telling(deltas: tuple[float, ...], curve: Curve) -> tuple[tuple[float, float], ...]:
    """Return ε and δ for those of `deltas` at which something is promised that could be broken."""
    priced = ((curve(delta), delta) for delta in deltas)
    return tuple((epsilon, delta) for epsilon, delta in priced if epsilon < math.inf and (epsilon > 0 or delta == 0))
