"""Events: frozen descriptions of what was run, with one canonical JSON form.

An event says what happened, never what it costs: curves (see ``curve.py``) price it. Its meaning never changes once
shipped, because ledgers hold events for years; a changed mechanism is a new event type under a new name. All numbers
in an event are exact: ints and fractions, never floats. Unknown events are refused, not guessed.

The canonical form is JSON with sorted keys, no white space and no numbers: whole numbers and fractions are decimal
texts ("3", "1/10"). So any two implementations agree on its bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, TypeVar, get_type_hints

from sordino.errors import ArgumentError

from .neighbours import Neighbours

E = TypeVar("E", bound="type[Event]")

EVENT_TYPES: dict[str, type[Event]] = {}

Check = Callable[["Event", str], None]
"""Makes one field of an event exact, or refuses it."""

_NAMES: dict[type[Event], tuple[str, ...]] = {}
_SPELLING = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True)
class Event:
    """The root of all events. A subclass is a frozen dataclass whose fields are exact and carry no data.

    Field types allowed: int, Fraction, str, bool, Neighbours, Event, tuple of those.
    **Guarantee**: what is built holds only values that the checks of its fields let through, as they made them.
    """

    kind: ClassVar[str] = ""
    depth: ClassVar[int] = 0
    """How many events deep this one is built; 0 unless it is made of others."""
    checks: ClassVar[tuple[tuple[Check, str], ...]] = ()
    """What makes fields exact or refuses them, by what is annotated (``event_fields.py``)."""

    def __post_init__(self) -> None:
        for check, name in self.checks:
            check(self, name)

    def to_json(self) -> str:
        """Return the canonical JSON text."""
        return _SPELLING.encode(_plain(self))

    @staticmethod
    def from_json(text: str) -> Event:
        """Return the event that a canonical text describes; refuse all else, also another spelling of a known event.

        **Guarantee**: ``Event.from_json(text).to_json() == text``. So no two texts stand for one event, and whoever
        compares, signs or counts texts compares, signs or counts events.
        """
        try:
            event = _build(json.loads(text))
            canonical = event.to_json() if isinstance(event, Event) else None
        except (RecursionError, TypeError, ValueError, KeyError, AttributeError, ZeroDivisionError) as error:
            if isinstance(error, ArgumentError):
                raise
            raise ArgumentError("this text does not describe an event of sordino", "SRD-A004") from error
        if not isinstance(event, Event):
            raise ArgumentError("this text does not describe an event of sordino", "SRD-A004")
        if canonical != text:
            raise ArgumentError("this text is not in the canonical form that to_json() writes", "SRD-A004")
        return event


def field_names(kind: type[Event]) -> tuple[str, ...]:
    """Return the names of the fields that events of one type have, found once: events are spelled under a lock."""
    names = _NAMES.get(kind)
    if names is None:
        names = _NAMES[kind] = tuple(field.name for field in fields(kind))
    return names


def event_type(kind: str) -> Any:
    """Register a frozen dataclass as the event type that JSON calls `kind`."""

    def register(cls: E) -> E:
        if kind in EVENT_TYPES:
            raise ValueError(f"event type {kind!r} is registered twice")
        cls.kind = kind
        types = get_type_hints(cls, include_extras=True)
        cls.checks = tuple((check, name) for name in types for check in getattr(types[name], "__metadata__", ()))
        EVENT_TYPES[kind] = cls
        return cls

    return register


def _plain(value: object) -> Any:
    match value:
        case Event():
            body = {name: _plain(getattr(value, name)) for name in field_names(type(value))}
            return {"kind": value.kind, **body}
        case bool():
            return value
        case int() | Fraction():
            return str(value)
        case Neighbours():
            return {"neighbours": value.value}
        case str():
            return {"text": value}
        case tuple():
            return [_plain(item) for item in value]
    raise TypeError(f"an event may not hold a {type(value).__name__}")


def _build(value: Any) -> Any:
    match value:
        case {"kind": str(kind), **body}:
            if kind not in EVENT_TYPES:
                raise ArgumentError(f"event type {kind!r} is not known to this version of sordino", "SRD-A004")
            return EVENT_TYPES[kind](**{str(name): _build(item) for name, item in body.items()})
        case {"neighbours": str(word)}:
            return Neighbours(word)
        case {"text": str(text)}:
            return text
        case list():
            return tuple(_build(item) for item in value)
        case bool():
            return value
        case str() if "/" in value:
            return Fraction(value)
        case str():
            return int(value)
    raise TypeError("not part of a canonical event")
