"""Any output as numbers by their place in it, and as a text that says what stands where between them.

Numbers are whole numbers of any length, floats, decimals, fractions, truths, and those written in texts. Places are
paths such as ``output['ages'][3]``. What is left when numbers are taken out is the *shape*: keys in their order, texts,
what is missing, where a list ends. Each depends on that one output alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

PlainNumber = int | float | Decimal | Fraction

_MOST_PLACES = 4096
_LONGEST_NUMBER = 400
"""Digits of a number in a text; longer runs of digits are text."""
_IN_TEXT = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?(?![0-9]|[A-Za-z_]\w*\d)")
_PLACES = tuple(f"[{place}]" for place in range(_MOST_PLACES))
_LENGTH, _DECIMALS = " length", " decimals"
_PLAIN = {int: "#", float: "#"}


@dataclass(frozen=True, slots=True)
class Flat:
    """One output: its numbers by path, and the shapes of its parts (one, if it is no list)."""

    numbers: dict[str, PlainNumber]
    shapes: list[str]
    listed: bool

    @property
    def shape(self) -> str:
        """What stands where, in one text."""
        return f"[{','.join(self.shapes)}]" if self.listed else self.shapes[0]


def is_element(path: str) -> bool:
    """Whether a path leads to a number of the output itself, not to a length or a number of decimals."""
    return not path.endswith((_LENGTH, _DECIMALS))


def flattened(output: Any, name: str = "output") -> Flat:
    """Return an output as numbers and shapes."""
    numbers: dict[str, PlainNumber] = {}
    if isinstance(output, np.ndarray) and output.ndim:
        output = output.tolist()
    if isinstance(output, list | tuple):
        shapes = []
        numbers[name + _LENGTH] = len(output)
        for place, part in enumerate(output):
            # Most outputs are plain numbers, so that case is kept short.
            token = _PLAIN.get(type(part))
            if token is not None and part == part:
                numbers[name + _place(place)] = part
                shapes.append(token)
            else:
                shapes.append(_shape(part, name + _place(place), numbers))
        return Flat(numbers, shapes, listed=True)
    return Flat(numbers, [_shape(output, name, numbers)], listed=False)


def _place(place: int) -> str:
    return _PLACES[place] if place < _MOST_PLACES else f"[{place}]"


def _shape(value: Any, path: str, numbers: dict[str, PlainNumber]) -> str:
    """Put the numbers of a part under their paths; return its shape."""
    if isinstance(value, np.generic):
        value = value.item()
    match value:
        case bool():
            numbers[path] = int(value)
            return "true" if value else "false"
        case int() | float() | Fraction():
            return _number(value, path, numbers)
        case Decimal():
            numbers[path + _DECIMALS] = _decimals(value)
            return _number(value, path, numbers) if value.is_finite() else str(value)
        case None:
            return "nothing"
        case str():
            return _text(value, path, numbers)
        case complex():
            return _listed((value.real, value.imag), path, numbers)
    return _compound(value, path, numbers)


def _compound(value: Any, path: str, numbers: dict[str, PlainNumber]) -> str:
    if isinstance(value, Mapping):
        parts = (
            f"{key!r}: {_shape(part, f'{path}[{key!r}]' if path else repr(key), numbers)}"
            for key, part in value.items()
        )
        numbers[path + _LENGTH] = len(value)
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, AbstractSet):
        if all(isinstance(part, int | float) for part in value):
            return f"set{_listed(sorted(value), path, numbers)}"
        return _compound(dict.fromkeys(sorted(map(repr, value)), True), path, numbers)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return _listed(value, path, numbers)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__ + _compound({f.name: getattr(value, f.name) for f in fields(value)}, path, numbers)
    if hasattr(value, "__array__"):
        return _listed(np.asarray(value).tolist(), path, numbers)
    if isinstance(value, bytes | bytearray):
        return _text(value.decode("latin-1"), path, numbers)
    # Whatever has no words of its own is told by its address, which says nothing about it.
    wordless = "__repr__" not in {name for kind in type(value).__mro__[:-1] for name in vars(kind)}
    return type(value).__name__ if wordless else _text(str(value), path, numbers)


def _listed(value: Any, path: str, numbers: dict[str, PlainNumber]) -> str:
    if not isinstance(value, Sequence):
        return _shape(value, path, numbers)
    numbers[path + _LENGTH] = len(value)
    return f"[{','.join([_shape(part, path + _place(place), numbers) for place, part in enumerate(value)])}]"


def _number(value: PlainNumber, path: str, numbers: dict[str, PlainNumber]) -> str:
    if value != value:
        return "NaN"
    numbers[path] = value
    return "#"


def _decimals(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else -1


def _text(text: str, path: str, numbers: dict[str, PlainNumber]) -> str:
    """Put the numbers in a text under its path, and its length; return the text without them."""
    numbers[path + _LENGTH] = len(text)
    count = 0

    def taken(found: re.Match[str]) -> str:
        nonlocal count
        word = found.group()
        if len(word) > _LONGEST_NUMBER:
            return word
        where = f"{path} number {count}" if count else path
        count += 1
        if word.lstrip("+-").isdigit():
            numbers[where] = int(word)
        else:
            numbers[where] = Decimal(word)
            numbers[where + _DECIMALS] = _decimals(Decimal(word))
        return "#"

    return repr(_IN_TEXT.sub(taken, text))
