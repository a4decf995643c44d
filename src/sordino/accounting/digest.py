"""Digests of public values: two plans that would run different things never share one.

A value is spelled by what it holds: frozen dataclasses by the name of their type and of every field, mappings and sets
in the order of their spelled keys, arrays by type, shape and bytes. Neither memory addresses, nor the order in which a
dictionary was filled, nor the process have a say. What cannot be spelled completely is refused, never left out.

**Guarantee**: equal digests mean equal spellings (or a collision of SHA-256), and a spelling can be read in one way:
each part is tagged by its kind and prefixed by its length.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import Any, TypeVar

import numpy as np

K = TypeVar("K", bound=type)

Known = dict[int, bytes]
"""What was spelled already, by identity: a plan holds its question many times."""


_ONCE: set[type] = set()
_KEPT = "_spelled"


def spelled_once(kind: K) -> K:
    """Mark a dataclass whose values never change and are shared by many plans: each is spelled once in its life."""
    _ONCE.add(kind)
    return kind


def digest_of(value: object) -> str:
    """Return the SHA-256 of a public value, in hexadecimal.

    >>> digest_of({"b": 1, "a": 2}) == digest_of({"a": 2, "b": 1})
    True
    >>> digest_of((1, 23)) == digest_of((12, 3))
    False
    """
    return hashlib.sha256(_spelled(value, {})).hexdigest()


def _spelled(value: Any, known: Known) -> bytes:
    kind = type(value)
    simple = _SIMPLE.get(kind)
    if simple is not None:
        return simple(value)
    found = known.get(id(value))
    if found is None:
        found = known[id(value)] = _composite(value, kind, known)
    return found


def _composite(value: Any, kind: type, known: Known) -> bytes:
    if is_dataclass(kind):
        return _record(value, kind, known)
    if isinstance(value, Enum):
        return b"E" + f"{kind.__qualname__}.{value.name}".encode()
    if isinstance(value, tuple | list):
        return _node(b"L", [_spelled(each, known) for each in value])
    if isinstance(value, Mapping):
        pairs = sorted((_spelled(key, known), _spelled(each, known)) for key, each in value.items())
        return _node(b"M", [part for pair in pairs for part in pair])
    if isinstance(value, set | frozenset):
        return _node(b"U", sorted(_spelled(each, known) for each in value))
    if isinstance(value, np.ndarray) and value.dtype != object:
        return _node(b"A", [value.dtype.str.encode(), repr(value.shape).encode(), value.tobytes()])
    if isinstance(value, np.generic):
        return _spelled(value.item(), known)
    raise TypeError(f"a plan holds a {kind.__name__}, which has no spelling of its own; give it one in digest.py")


def _record(value: Any, kind: type, known: Known) -> bytes:
    kept = value.__dict__ if kind in _ONCE else {}
    found: bytes | None = kept.get(_KEPT)
    if found is None:
        parts = [_spelled(getattr(value, name), known) for name in _names(kind)]
        found = kept[_KEPT] = _node(b"C", [kind.__qualname__.encode(), *parts])
    return found


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _node(tag: bytes, parts: list[bytes]) -> bytes:
    """Return a hash that stands for parts in order, so that what is large is spelled once."""
    whole = b"".join([b"%d:%b" % (len(part), part) for part in parts])
    return tag + hashlib.sha256(tag + whole).digest()


_SIMPLE: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: b"N",
    bool: lambda value: b"B1" if value else b"B0",
    int: lambda value: b"I%d" % value,
    float: lambda value: b"F" + value.hex().encode(),
    str: lambda value: b"S" + value.encode("utf-8", "surrogatepass"),
    bytes: lambda value: b"Y" + value,
    Fraction: lambda value: b"Q%d/%d" % (value.numerator, value.denominator),
    Decimal: lambda value: b"D" + str(value).encode(),
    datetime: lambda value: b"T" + value.isoformat().encode(),
    date: lambda value: b"d" + value.isoformat().encode(),
    time: lambda value: b"t" + value.isoformat().encode(),
    timedelta: lambda value: b"e%d %d %d" % (value.days, value.seconds, value.microseconds),
}
