"""The fields of events: each kind of field makes what it is given exact, or refuses it with the remedy."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any

from sordino.arguments import probability, rational, whole
from sordino.errors import ArgumentError

from .event import Check, Event

_DEEPEST = 64


def several(name: str, value: Any) -> tuple[Any, ...]:
    """Return the parts of a tuple."""
    if not isinstance(value, tuple | list):
        raise ArgumentError(f"{name} must be a tuple, not {type(value).__name__}", "SRD-A001")
    return tuple(value)


def _text(name: str, value: Any) -> str:
    """Return a text that JSON can hold."""
    if not isinstance(value, str) or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ArgumentError(f"{name} must be a text without lone surrogates", "SRD-A001")
    return str(value)


def _as(read: Callable[..., Any], **limits: Any) -> Check:
    """Make a field what `read` makes of it within limits."""

    def check(event: Event, name: str) -> None:
        object.__setattr__(event, name, read(name, getattr(event, name), **limits))

    return check


def _positive(event: Event, name: str) -> None:
    """Make a field exact, and greater than 0: written out, for most fields are such and plans build many events."""
    object.__setattr__(event, name, rational(name, getattr(event, name), above=0))


def _made_of(event: Event, name: str) -> None:
    """Refuse parts that are no events, or that are nested so deep that walking through them would fail."""
    value = getattr(event, name)
    parts = value if isinstance(value, tuple) else (value,)
    for part in parts:
        if not isinstance(part, Event):
            raise ArgumentError(f"{name} must be an event, not {type(part).__name__}", "SRD-A001")
    depth = 1 + max((part.depth for part in parts), default=0)
    if depth > _DEEPEST:
        raise ArgumentError(
            f"{name} would be nested more than {_DEEPEST} deep; put events side by side in one Composed", "SRD-A002"
        )
    object.__setattr__(event, "depth", depth)


Positive = Annotated[Fraction, _positive]
NotNegative = Annotated[Fraction, _as(rational, least=0)]
Probability = Annotated[Fraction, _as(probability)]
Rate = Annotated[Fraction, _as(rational, above=0, most=1)]
Count = Annotated[int, _as(whole, least=1)]
Several = Annotated[int, _as(whole, least=2)]
Text = Annotated[str, _as(_text)]
Part = Annotated[Event, _made_of]
Parts = Annotated[tuple[Event, ...], _as(several), _made_of]
