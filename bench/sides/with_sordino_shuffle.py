"""sordino's prices of shuffled reports, and beside them pairs of crowds whose ε is exact, by plain sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from time import perf_counter
from typing import Any

import numpy as np
import scipy

import sordino as so
from sordino.accounting import pure
from sordino.accounting.event import Event
from sordino.accounting.events import ShuffledLocal, ShuffledResponse
from sordino.collect.frequencies.unary import Unary

DELTA = Fraction(1, 10**6)
_SPREADS = 9
_HALVINGS = 50


def versions() -> dict[str, str]:
    return {"sordino": so.__version__, "scipy": scipy.__version__}


def price(way: str, values: int, epsilon: int, reports: int) -> tuple[float, int, dict[str, Any]]:
    """Return the ε that is claimed, the time it takes, and the ε of a pair of crowds that nobody can be below."""
    event = _event(way, values, epsilon, reports)
    started = perf_counter()
    claimed = float(pure.total(event))
    seconds = perf_counter() - started
    return seconds, 1, {"claimed": claimed, "pair": _least(_pair(way, values, epsilon, reports), epsilon)}


def _event(way: str, values: int, epsilon: int, reports: int) -> Event:
    if way == "k-ary":
        return ShuffledResponse(Fraction(epsilon), values, reports, DELTA)
    if way == "any":
        return ShuffledLocal(Fraction(epsilon), reports, DELTA)
    coins = "symmetric" if way == "unary-symmetric" else "optimised"
    return Unary(values, Fraction(epsilon), coins).shuffled(reports, DELTA)


def _pair(way: str, values: int, epsilon: int, reports: int) -> Callable[[float], float]:
    """Return δ as a function of ε for one person among others who all hold the same, by what was sent alone."""
    odds = math.exp(epsilon)
    if way.startswith("unary"):
        half = math.exp(epsilon / 2)
        own, other = (0.5, 1 / (odds + 1)) if way == "unary" else (half / (half + 1), 1 / (half + 1))
        return lambda at: _bits_pair(own, other, reports, at)
    if way == "k-ary" and values == 2:
        return lambda at: _binary_pair(odds, reports, at)
    return lambda at: _third_value_pair(odds, 3 if way == "any" else values, reports, at)


def _binary_pair(odds: float, reports: int, at: float) -> float:
    """Others all hold 0; counts of ones."""
    lie = 1 / (odds + 1)
    crowd = _binomial(reports - 1, lie)
    less, more = np.append(crowd, 0.0), np.append(0.0, crowd)
    one, two = lie * less + (1 - lie) * more, (1 - lie) * less + lie * more
    return max(_excess(one, two, at), _excess(two, one, at))


def _third_value_pair(odds: float, values: int, reports: int, at: float) -> float:
    """Others all hold a third value: counts of the two values, one binomial given the other."""
    lie = 1 / (odds + values - 1)
    first = np.arange(*_reach(reports - 1, lie))
    second = np.arange(*_reach(reports - 1, lie))
    crowd = scipy.stats.binom.pmf(first, reports - 1, lie)[:, None]
    crowd = crowd * scipy.stats.binom.pmf(second[None, :], reports - 1 - first[:, None], lie / (1 - lie))
    one, two, rest = np.zeros_like(crowd), np.zeros_like(crowd), (values - 2) * lie * crowd
    one[1:], two[:, 1:] = lie * crowd[:-1], lie * crowd[:, :-1]
    return _excess(odds * one + two + rest, one + odds * two + rest, at)


def _bits_pair(own: float, other: float, reports: int, at: float) -> float:
    """Others all hold a third value: the bits of two values alone, which are independent coins for all but one person.

    Against n people with coins of others, the density of one of them holding the value is the mean, over people, of
    own/other where the bit is 1 and (1 − own)/(1 − other) where it is 0.
    """
    counts = np.arange(*_reach(reports, other))
    chances = scipy.stats.binom.pmf(counts, reports, other)
    density = (counts * own / other + (reports - counts) * (1 - own) / (1 - other)) / reports
    excess = np.maximum(density[:, None] - math.exp(at) * density[None, :], 0.0)
    return float(chances @ excess @ chances)


def _reach(trials: int, chance: float) -> tuple[int, int]:
    centre, reach = trials * chance, _SPREADS * math.sqrt(trials * chance) + 40
    return max(0, int(centre - reach)), min(trials, int(centre + reach)) + 1


def _binomial(trials: int, chance: float) -> Any:
    return scipy.stats.binom.pmf(np.arange(*_reach(trials, chance)), trials, chance)


def _excess(one: Any, two: Any, at: float) -> float:
    return float(np.maximum(one - math.exp(at) * two, 0.0).sum())


def _least(delta: Callable[[float], float], most: float) -> float:
    low, high = 0.0, most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if delta(middle) > DELTA else (low, middle)
    return low
