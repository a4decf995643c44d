"""What to ask for instead, when an event does not fit: the same kind with more noise, or fewer runs of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any

from .columns import Vector
from .event import Event
from .events import Declared, Repeated
from .filter import Filter
from .units import significant

_MORE_IS_DEARER = {"epsilon": True, "rho": True, "scale": False, "variance": False}
"""The fields by which an event's noise is set, and whether a larger one costs more."""

_FARTHEST = 2.0**40
_HALVINGS = 50


def what_would_fit(rule: Filter, spent: Vector, event: Event) -> str | None:
    """Return the nearest event of the same kind that would fit, in words, or None if there is none to name."""

    def fits(candidate: Event) -> bool:
        return rule.fits(spent, rule.charge(candidate))

    if isinstance(event, Repeated):
        return _fewer(event, fits)
    if isinstance(event, Declared):
        return None  # its ε follows from the run
    knob = next((field.name for field in fields(event) if field.name in _MORE_IS_DEARER), None)
    return None if knob is None else _noisier(event, knob, fits)


def _fewer(event: Repeated, fits: Callable[[Event], bool]) -> str | None:
    low, high = 0, event.count - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(replace(event, count=middle)) else (low, middle - 1)
    return f"{low} of its {event.count} runs" if low else None


def _noisier(event: Event, knob: str, fits: Callable[[Event], bool]) -> str | None:
    """Bisect for the least factor of noise that fits, and name the value rounded to the side that fits."""
    dearer = _MORE_IS_DEARER[knob]
    given: Fraction = getattr(event, knob)

    def scaled(factor: float) -> Decimal:
        exact = given / Fraction(factor) if dearer else given * Fraction(factor)
        return significant(exact, 4, ROUND_FLOOR if dearer else ROUND_CEILING)

    def with_value(value: Any) -> Event:
        return replace(event, **{knob: Fraction(value)})

    low, high = 1.0, _FARTHEST
    if not fits(with_value(scaled(high))):
        return None
    for _ in range(_HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if fits(with_value(scaled(middle))) else (middle, high)
    return f"the same with {knob} at {'most' if dearer else 'least'} {scaled(high):f}"
