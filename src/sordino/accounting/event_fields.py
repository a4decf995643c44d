"""Checks of the fields of events: each makes a field exact, or refuses it with the remedy."""

from __future__ import annotations

from typing import Any

from sordino.arguments import rational, whole
from sordino.errors import ArgumentError

from .event import Event

_DEEPEST = 64


def positive(event: Event, *names: str) -> None:
    """Make the fields named exact, and greater than 0."""
    for name in names:
        object.__setattr__(event, name, rational(name, getattr(event, name), above=0))


def counting(event: Event, *names: str, least: int = 1) -> None:
    """Make the fields named whole numbers, at least `least`."""
    for name in names:
        object.__setattr__(event, name, whole(name, getattr(event, name), least=least))


def made_of(event: Event, name: str, parts: tuple[Any, ...]) -> None:
    """Refuse parts that are no events, or that are nested so deep that walking through them would fail."""
    for part in parts:
        if not isinstance(part, Event):
            raise ArgumentError(f"{name} must be an event, not {type(part).__name__}", "SRD-A001")
    depth = 1 + max((part.depth for part in parts), default=0)
    if depth > _DEEPEST:
        raise ArgumentError(
            f"{name} would be nested more than {_DEEPEST} deep; put events side by side in one Composed", "SRD-A002"
        )
    object.__setattr__(event, "depth", depth)


def several(name: str, value: Any) -> tuple[Any, ...]:
    """Return the parts of a tuple."""
    if not isinstance(value, tuple | list):
        raise ArgumentError(f"{name} must be a tuple, not {type(value).__name__}", "SRD-A001")
    return tuple(value)


def text(name: str, value: Any) -> str:
    """Return a text that JSON can hold."""
    if not isinstance(value, str) or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ArgumentError(f"{name} must be a text without lone surrogates", "SRD-A001")
    return str(value)
