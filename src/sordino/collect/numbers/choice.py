"""Which way to answer: the one with the least variance, whatever people hold; of nearly equal ones the shorter report.

What is chosen depends on what is asked alone, so it is public before anybody answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from sordino.arguments import Number, one_of, rational
from sordino.errors import ArgumentError

from .attributes import Attributes
from .ball import VectorQuestion
from .classes import EpsilonClasses
from .hybrid import Hybrid
from .laplace import LocalLaplace
from .means import checked_epsilon
from .piecewise import Piecewise
from .questions import ClassQuestion, NumberQuestion
from .scale import FINE, Scale
from .several import SeveralQuestion
from .square_wave import SquareWave
from .two_values import TwoValues
from .variance import VarianceQuestion
from .vectors import Directions

WAYS: Mapping[str, Callable[[Fraction, int], Any]] = {
    way.protocol: way for way in (TwoValues, Piecewise, Hybrid, LocalLaplace)
}
"""For means, by their names on the wire."""

AS_GOOD = 1.01
"""Variances within this factor of the best count as equal."""
_WAVE_STEPS = 64


def way_for_mean(epsilon: Any, *, steps: int = FINE, way: str | None = None) -> tuple[Any, str]:
    """Return a way to answer for means, and why it is this one."""
    exact = checked_epsilon(epsilon)
    if way is not None:
        return WAYS[one_of("way", way, tuple(WAYS))](exact, steps), f"{way}: asked for"
    built = {name: make(exact, steps) for name, make in WAYS.items()}
    least = min(each.worst for each in built.values())
    near = {name: each for name, each in built.items() if each.worst <= AS_GOOD * least}
    name = min(near, key=lambda each: (near[each].size, near[each].worst))
    others = ", ".join(f"{other} {built[other].worst / least:.2f}" for other in built if other != name)
    size = "one byte" if near[name].size == 1 else f"{near[name].size} bytes"
    return near[name], f"{name}: least variance in the worst case (others, times as much: {others}), {size} a report"


def number(
    low: Number,
    high: Number,
    *,
    epsilon: Number,
    what: str = "mean",
    steps: int | None = None,
    way: str | None = None,
) -> NumberQuestion | VarianceQuestion:
    """Return a question about one number between bounds: its ``mean``, ``variance`` or ``distribution``.

    Numbers beyond the bounds count as the nearest bound, and all are rounded to `steps` equal steps, a power of two.

    >>> number(0, 120, epsilon=1).error(people=10_000) < 1.3
    True
    """
    if one_of("what", what, ("mean", "variance", "distribution")) == "distribution":
        one_of("way", way or SquareWave.protocol, (SquareWave.protocol,))
        wave = SquareWave(checked_epsilon(epsilon), _WAVE_STEPS if steps is None else steps)
        scale = Scale(rational("low", low), rational("high", high), wave.steps)
        return NumberQuestion(scale, wave, what, "square-wave: the way that is for distributions")
    found, why = way_for_mean(epsilon, steps=FINE if steps is None else steps, way=way)
    scale = Scale(rational("low", low), rational("high", high), found.steps)
    if what == "variance":
        return VarianceQuestion(scale, Attributes((found, found)), why)
    return NumberQuestion(scale, found, what, why)


def several_numbers(bounds: Mapping[str, tuple[Number, Number]], *, epsilon: Number) -> SeveralQuestion:
    """Return a question about several numbers, by name with their bounds; each device draws one to answer for.

    >>> several_numbers({"age": (0, 120), "steps": (0, 30_000)}, epsilon=1).names
    ('age', 'steps')
    """
    if not isinstance(bounds, Mapping) or not bounds or not all(isinstance(each, tuple) for each in bounds.values()):
        raise ArgumentError("give the bounds of each number by its name, as {'age': (0, 120)}", "SRD-C206")
    found, why = way_for_mean(epsilon)
    scales = tuple(Scale(rational("low", low), rational("high", high), found.steps) for low, high in bounds.values())
    return SeveralQuestion(tuple(bounds), scales, Attributes((found,) * len(bounds)), why)


def number_by_class(low: Number, high: Number, *, epsilons: Mapping[str, Number]) -> ClassQuestion:
    """Return a question about one number, with an ε for each public class of people.

    >>> number_by_class(0, 1, epsilons={"careful": 0.5, "open": 4}).randomizer.epsilon
    Fraction(4, 1)
    """
    if not isinstance(epsilons, Mapping) or not epsilons:
        raise ArgumentError("give an ε for each class by its name, as {'careful': 0.5, 'open': 2}", "SRD-C206")
    chosen = {name: way_for_mean(epsilon) for name, epsilon in epsilons.items()}
    why = "; ".join(f"{name}: {why}" for name, (_, why) in chosen.items())
    ways = tuple(way for way, _ in chosen.values())
    return ClassQuestion(
        Scale(rational("low", low), rational("high", high), ways[0].steps), EpsilonClasses(tuple(chosen), ways), why
    )


def vector(dimension: int, *, radius: Number = 1, epsilon: Number, directions: int = 128) -> VectorQuestion:
    """Return a question about a vector of length `radius` at most: the mean of all, in each coordinate.

    More `directions` are a little better for large ε, and take a device more time.
    """
    found = Directions(checked_epsilon(epsilon), dimension, directions)
    return VectorQuestion(rational("radius", radius, above=0), found)
