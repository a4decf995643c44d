"""Ways to answer with a number as cases for the laws: a device that releases one report for one grant.

Laws are the papers' chances in floats on a small grid, not our words.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.collect.numbers.attributes import Attributes
from sordino.collect.numbers.classes import EpsilonClasses
from sordino.collect.numbers.hybrid import Hybrid
from sordino.collect.numbers.laplace import LocalLaplace
from sordino.collect.numbers.piecewise import Piecewise
from sordino.collect.numbers.square_wave import SquareWave
from sordino.collect.numbers.two_values import TwoValues
from sordino.collect.numbers.vectors import RADIUS, Directions
from sordino.errors import ArgumentError
from sordino.mechanisms.checks import Case
from sordino.mechanisms.mechanism import use_grant
from sordino.noise.keystream import SOURCE

EPSILON = Fraction(2)
ONE_PERSON = Bound.scalar(neighbours=Neighbours.REPLACE_ONE)
STEPS = 4


@dataclass(frozen=True)
class Answered:
    """A device as the laws see it: one code, one grant, one report."""

    randomizer: Any
    codes: int
    """How many codes a person holds; 0 for one by itself."""

    def event(self, bound: Bound) -> Event:
        if bound.neighbours is Neighbours.ADD_REMOVE:
            raise ArgumentError("a report hides what was answered, not that it was", "SRD-A003")
        return self.randomizer.event()

    def release(self, value: Any, grant: Grant) -> bytes:
        codes = value if isinstance(value, tuple) else (value,)
        if len(codes) != max(self.codes, 1) or any(
            isinstance(code, bool) or not isinstance(code, int) for code in codes
        ):
            raise ArgumentError("a code is a whole number, or several", "SRD-A001")
        use_grant(self, grant)
        return self.randomizer.report(value, SOURCE)

    def error(self, confidence: float = 0.95) -> float:
        """By Chebyshev's inequality, with the largest of the standard errors."""
        error = self.randomizer.error(1)
        return max(error if isinstance(error, tuple) else (error,)) / math.sqrt(1 - confidence)


def _window_law(width: int, begin: int, epsilon: float) -> dict[int, float]:
    low = 1 / (width * math.exp(epsilon) + STEPS)
    near = range(begin, begin + width)
    return {cell: low * (math.exp(epsilon) if cell in near else 1.0) for cell in range(STEPS + width)}


def _two_values(epsilon: float, code: int) -> dict[int, float]:
    ends = 1 / (math.exp(epsilon) + 1)
    return {1: ends + code / STEPS * (1 - 2 * ends), 0: 1 - ends - code / STEPS * (1 - 2 * ends)}


def _case(
    name: str,
    make: Callable[[Fraction], Any],
    values: tuple[Any, Any],
    outcome: Callable[[bytes], Any],
    law: Callable[[Any, float], Any] | None = None,
    tightness: float = 0.3,
) -> Case:
    return Case(
        name,
        lambda level: Answered(make(EPSILON / level), len(values[0]) if isinstance(values[0], tuple) else 0),
        ONE_PERSON,
        value=values[0],
        neighbour=values[1],
        outcome=outcome,
        law=law,
        tightness=tightness,
        draws=8000,
    )


def _cell(payload: bytes) -> int:
    return int.from_bytes(payload, "little")


NUMBERS = (
    _case(
        "two-values", lambda e: TwoValues(e, STEPS), (0, STEPS), _cell, lambda v, level: _two_values(2 / level, v), 0.7
    ),
    _case(
        "piecewise",
        lambda e: Piecewise(e, STEPS),
        (0, STEPS),
        _cell,
        lambda v, level: _window_law(max(1, round(STEPS * math.exp(-1 / level))), v, 2 / level),
    ),
    _case("hybrid", lambda e: Hybrid(e, STEPS), (0, STEPS), _cell),
    _case("local-laplace", lambda e: LocalLaplace(e, 2), (0, 2), lambda p: min(max(_cell(p), 26), 36), None, 0.4),
    _case("square-wave", lambda e: SquareWave(e, STEPS), (0, STEPS), _cell),
    _case(
        "drawn-attributes",
        lambda e: Attributes((TwoValues(e, STEPS),) * 2),
        ((0, 0), (STEPS, STEPS)),
        lambda p: p[1],
        None,
        0.7,
    ),
    _case(
        "epsilon-classes",
        lambda e: EpsilonClasses(("careful", "open"), (TwoValues(e / 2, STEPS), TwoValues(e, STEPS))),
        ((1, 0), (1, STEPS)),
        _cell,
        None,
        0.7,
    ),
    # The seed is fresh each time: what tells two vectors apart is on which side the direction lies.
    _case(
        "directions",
        lambda e: Directions(e, 1, 4),
        ((RADIUS,), (-RADIUS,)),
        lambda p: bool(_side(p) > 0),
        None,
        0.2,
    ),
)


def _side(payload: bytes) -> int:
    rows = np.frombuffer(payload, dtype=np.uint8)[None]
    return int(Directions(EPSILON, 1, 4).count(rows)[1])
