"""Checks of arguments, shared by all rooms: each returns the exact value or raises an error that names the remedy.

Numbers are read as the decimal that the caller wrote: ``0.1`` is one tenth, not the float beside it. Booleans, NaN and
infinities are never numbers here. Whatever is passed may be data in the wrong place, so error texts show numbers, where
a number is wanted, and short words, where a word is: see `shown`.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import ArgumentError

Number = int | float | str | Fraction | Decimal
"""What a caller may write where an exact number is wanted."""

# As tuples, for Python would make a union anew at every check, and these are made very often.
_BOOLEANS = (bool, np.bool_)
_INTEGERS = (int, np.integer)
_FLOATS = (float, np.floating)
_KINDS = {"i": "ints", "f": "floats", "b": "booleans"}
_LONGEST = 400  # digits in a number's text; beyond it only mischief lives
_LONGEST_BITS = 13_000  # of an int, or of either part of a fraction: Python refuses to print more than 4,300 digits
_LONGEST_SHOWN = 60  # characters of an argument in an error
_LONGEST_PATH = 400
_SHOWN_NUMBERS = (bool, int, float, Fraction, Decimal, np.bool_, np.number)
_LARGEST_ARRAY = 2**40  # elements; the largest machines hold no more
_MOST_DIMENSIONS = 32


def shown(value: Any, longest: int = _LONGEST_SHOWN) -> str:
    """Return an argument as an error may show it: a number or a short word as it is, of all else the type alone."""
    if value is None or isinstance(value, _SHOWN_NUMBERS):
        return repr(value) if len(str(value)) <= longest else f"a long {type(value).__name__}"
    if isinstance(value, str) and len(value) <= longest and value.isprintable():
        return str.__repr__(value)
    return f"a text of {len(value)} characters" if isinstance(value, str) else type(value).__name__


def shown_path(path: Any) -> str:
    """Return the path of a file as an error may show it; a text of lines, or of more than 400 characters, is none."""
    return shown(os.fspath(path), _LONGEST_PATH)


def rational(
    name: str, value: Any, *, above: Number | None = None, least: Number | None = None, most: Number | None = None
) -> Fraction:
    """Return `value` as the exact fraction that its decimal text denotes, checked against the limits given."""
    exact = _parse(name, value)
    if above is not None and not _exceeds(exact, above):
        raise ArgumentError(f"{name} must be greater than {above}, not {shown(value)}", "SRD-A002")
    if least is not None and exact < _limit(least):
        raise ArgumentError(f"{name} must be at least {least}, not {shown(value)}", "SRD-A002")
    if most is not None and exact > _limit(most):
        raise ArgumentError(f"{name} must be at most {most}, not {shown(value)}", "SRD-A002")
    return exact


def _exceeds(exact: Fraction, limit: Number) -> bool:
    return exact.numerator > 0 if limit == 0 else exact > _limit(limit)


@lru_cache(maxsize=256)
def _limit(number: Number) -> Fraction:
    return Fraction(number)


def _parse(name: str, value: Any) -> Fraction:
    if isinstance(value, _BOOLEANS):
        raise ArgumentError(f"{name} must be a number, not the boolean {value!r}", "SRD-A001")
    if isinstance(value, Fraction):
        _refuse_endless(name, value.numerator, value.denominator)
        return value
    if isinstance(value, _INTEGERS):
        _refuse_endless(name, int(value))
        return Fraction(int(value))
    if isinstance(value, (*_FLOATS, Decimal, str)):
        text = repr(float(value)) if isinstance(value, _FLOATS) else str(value)
        return _parse_text(name, text)
    raise ArgumentError(
        f"{name} must be a number (int, float, Decimal, Fraction or a decimal text), not {type(value).__name__}",
        "SRD-A001",
    )


def _parse_text(name: str, text: str) -> Fraction:
    try:
        decimal = Decimal(text)
    except InvalidOperation:
        raise ArgumentError(f"{name} must be a decimal number, not another text", "SRD-A001") from None
    if not decimal.is_finite():
        raise ArgumentError(f"{name} must be finite, not {shown(text)}", "SRD-A001")
    if len(text) > _LONGEST or (decimal and not -_LONGEST <= decimal.adjusted() <= _LONGEST):
        raise ArgumentError(f"{name} is absurdly large, small or long ({shown(text)})", "SRD-A002")
    return Fraction(decimal)


def _refuse_endless(name: str, *numbers: int) -> None:
    if max(map(int.bit_length, numbers)) > _LONGEST_BITS:
        raise ArgumentError(f"{name} is absurdly large, small or long (more than 3,900 digits)", "SRD-A002")


def whole(name: str, value: Any, *, least: int | None = None, most: int | None = None) -> int:
    """Return `value` as an int if it is a whole number (not a boolean, not 2.0), checked against the limits given."""
    if isinstance(value, _BOOLEANS) or not isinstance(value, _INTEGERS):
        raise ArgumentError(f"{name} must be a whole number (an int), not {type(value).__name__}", "SRD-A001")
    number = int(value)
    _refuse_endless(name, number)
    if least is not None and number < least:
        raise ArgumentError(f"{name} must be at least {least}, not {number}", "SRD-A002")
    if most is not None and number > most:
        raise ArgumentError(f"{name} must be at most {most}, not {number}", "SRD-A002")
    return number


def probability(name: str, value: Any) -> Fraction:
    """Return `value` as an exact fraction strictly between 0 and 1."""
    exact = rational(name, value, above=0)
    if exact >= 1:
        raise ArgumentError(f"{name} must be strictly between 0 and 1, not {shown(value)}", "SRD-A002")
    return exact


def one_of(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return `value` if it is one of the words in `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ArgumentError(f"{name} must be one of {', '.join(map(repr, choices))}, not {shown(value)}", "SRD-A001")
    return str(value)


def shape(name: str, value: Any) -> tuple[int, ...]:
    """Return the array shape that `value` (an int or a tuple of ints) denotes."""
    sizes = value if isinstance(value, tuple) else (value,)
    checked = tuple(whole(name, size, least=0, most=_LARGEST_ARRAY) for size in sizes)
    if len(checked) > _MOST_DIMENSIONS or math.prod(checked) > _LARGEST_ARRAY:
        raise ArgumentError(
            f"{name} must have at most {_MOST_DIMENSIONS} dimensions and 2**40 elements in all; ask for parts of it",
            "SRD-A002",
        )
    return checked


def array(name: str, value: Any) -> NDArray[Any]:
    """Return `value` as an array; refuse masks and rows of different lengths, without showing what it holds."""
    # Loaded by whoever has a masked array, and slow to load for all others; another thread may be loading it just now.
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", ())
    if isinstance(value, masked):
        raise ArgumentError(
            f"{name} must not be masked, for what a mask hides would count; leave it out or fill it in first",
            "SRD-A001",
        )
    try:
        return np.asarray(value)
    except (ValueError, TypeError, OverflowError):
        raise ArgumentError(f"{name} must be a number or an array with rows of one length", "SRD-A001") from None


def numbers(name: str, value: Any, kinds: str = "iuf") -> NDArray[Any]:
    """Return `value` as an array if it holds numbers of the `kinds` given, of up to 64 bits; never show it.

    Kinds are NumPy's letters: ``i`` and ``u`` for ints, ``f`` for floats, ``b`` for booleans. An empty list will do.
    """
    found = array(name, value)
    if found.dtype.kind in "Of" and not isinstance(value, np.ndarray | np.generic | float):
        found = _whole_numbers(value, found)
    if found.size == 0 and found.dtype.kind == "f":
        return found if "f" in kinds else found.astype(np.bool_ if kinds == "b" else np.int64)
    if found.dtype.kind not in kinds or found.dtype.itemsize > 8:
        wanted = " or ".join(_KINDS[kind] for kind in kinds if kind in _KINDS)
        # The type's bare name: a dtype of texts would tell how long the longest one is.
        raise ArgumentError(f"{name} must be {wanted} or an array of them, not {found.dtype.type.__name__}", "SRD-A001")
    return found


def _whole_numbers(value: Any, found: NDArray[Any]) -> NDArray[Any]:
    """Return a list of ints of which some leave 64 bits, and NumPy makes floats or objects, stopped at ±2^63."""
    cells = np.asarray(value, dtype=object) if found.size and isinstance(found.flat[0], int | np.floating) else found
    if cells.dtype.kind != "O" or not all(type(cell) is int for cell in cells.flat):
        return found
    return np.asarray(np.clip(cells, -(2**63), 2**63 - 1), dtype=np.int64)


def rounded_up(value: Fraction) -> float:
    """Return the least float that is not below `value`."""
    nearest = _nearest(value)
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


def rounded_down(value: Fraction) -> float:
    """Return the greatest float that is not above `value`."""
    nearest = _nearest(value)
    return nearest if nearest <= value else math.nextafter(nearest, -math.inf)


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
