"""Texts and dates after the noise: keys of groups, constants, and what is made of them, one value for each group.

None is NULL. Operations are total: an impossible date or cast gives NULL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.query.model.operations import LONGEST_MADE

from .bands import Band
from .dated import PARTS, midnight, moved, moved_months, seconds_between, truncated


@dataclass(frozen=True, eq=False)
class Words:
    """Texts, dates or timestamps."""

    values: NDArray[Any]
    """Python objects."""
    sure: bool = True
    """False if noise may have decided which value a group has."""

    @classmethod
    def of(cls, values: Sequence[Any], sure: bool = True) -> Words:
        """Return the objects as an array, whatever they are."""
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return cls(array, sure)


Operand = Band | Words
Detail = Any


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([value is None for value in values], dtype=bool)


def _mapped(function: Callable[..., Any], arguments: Sequence[Words]) -> list[Any]:
    """Apply a function to each group's values, NULL if any is NULL."""
    rows = zip(*(argument.values for argument in arguments), strict=True)
    return [None if any(value is None for value in row) else function(*row) for row in rows]


def _to_words(function: Callable[..., Any]) -> Callable[..., Words]:
    def operation(*arguments: Words) -> Words:
        return Words.of(_mapped(function, arguments), all(argument.sure for argument in arguments))

    return operation


def _to_numbers(function: Callable[..., Any]) -> Callable[..., Band]:
    def operation(*arguments: Words) -> Band:
        numbers = [np.nan if value is None else float(value) for value in _mapped(function, arguments)]
        return number_of(np.array(numbers, dtype=np.float64), all(argument.sure for argument in arguments))

    return operation


def _to_truth(function: Callable[..., bool]) -> Callable[..., Band]:
    def operation(*arguments: Words) -> Band:
        numbers = [np.nan if value is None else float(value) for value in _mapped(function, arguments)]
        truth = np.array(numbers, dtype=np.float64)
        if all(argument.sure for argument in arguments):
            return Band.exact(truth)
        return Band(truth, 0 * truth, 0 * truth + 1)

    return operation


def number_of(numbers: NDArray[np.float64], sure: bool) -> Band:
    """Return numbers that were read from words; if those are not sure, nothing is known of the numbers."""
    return Band.exact(numbers) if sure else Band(numbers, numbers - np.inf, numbers + np.inf)


_REAL = re.compile(r" *[+-]?([0-9]{1,50}([.][0-9]{0,50})?|[.][0-9]{1,50})([eE][+-]?[0-9]{1,2})? *")
_INTEGER = re.compile(r" *[+-]?[0-9]{1,18} *")
_DATE = re.compile(r" *([0-9]{4}-[0-9]{2}-[0-9]{2}) *")


def _to_date(value: Any) -> date | None:
    if isinstance(value, date):
        return value.date() if isinstance(value, datetime) else value
    found = _DATE.fullmatch(value)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


@lru_cache(maxsize=256)
def _like(pattern: str) -> Callable[[str], bool]:
    """Return whether a text is LIKE the pattern: % is any text, _ any character.

    What stands between two % is looked for from left to right, once, so that no pattern takes long.
    """
    texts = pattern.split("%")
    pieces = [re.compile("".join("." if c == "_" else re.escape(c) for c in text), re.DOTALL) for text in texts]

    def matches(text: str) -> bool:
        if len(pieces) == 1:
            return pieces[0].fullmatch(text) is not None
        found = pieces[0].match(text)
        for piece in pieces[1:-1]:
            found = found and piece.search(text, found.end())
        last = len(text) - len(texts[-1])
        return found is not None and found.end() <= last and pieces[-1].match(text, last) is not None

    return matches


PLAIN: dict[str, Callable[..., Operand]] = {
    "equal": _to_truth(lambda x, y: x == y),
    "not_equal": _to_truth(lambda x, y: x != y),
    "less": _to_truth(lambda x, y: x < y),
    "less_equal": _to_truth(lambda x, y: x <= y),
    "greater": _to_truth(lambda x, y: x > y),
    "greater_equal": _to_truth(lambda x, y: x >= y),
    "is_null": lambda words: Band.exact(_is_missing(words.values).astype(np.float64)),
    "lower": _to_words(str.lower),
    "upper": _to_words(str.upper),
    "trim": _to_words(lambda text: text.strip(" ")),
    "length": _to_numbers(len),
    "concat": _to_words(lambda *texts: _cut("".join(map(_cut, texts)))),
    "days_between": _to_numbers(lambda x, y: (x - y).days),
    "to_real": _to_numbers(lambda text: float(text) if _REAL.fullmatch(text) else None),
    "to_integer": _to_numbers(lambda text: int(text) if _INTEGER.fullmatch(text) else None),
    "to_text": _to_words(lambda value: value if isinstance(value, str) else value.isoformat()),
    "to_date": _to_words(_to_date),
    "to_timestamp": _to_words(midnight),
    "seconds_between": _to_numbers(seconds_between),
}
"""What each operation does to words."""

DETAILED: dict[str, Callable[[Words, Detail], Operand]] = {
    "in": lambda words, values: _to_truth(lambda value: value in values)(words),
    "like": lambda words, text: _to_truth(_like(text))(words),
    "ilike": lambda words, text: _to_truth(lambda value: _like(text.lower())(value.lower()))(words),
    "starts_with": lambda words, prefix: _to_truth(lambda value: value.startswith(prefix))(words),
    "substring": lambda words, place: _to_words(lambda text: _part_of(text, *place))(words),
    "right": lambda words, length: _to_words(lambda text: text[max(len(text) - length[0], 0) :])(words),
    "position": lambda words, wanted: _to_numbers(lambda text: text.find(wanted) + 1)(words),
    "replace": lambda words, change: _to_words(lambda text: _cut(_cut(text).replace(*change)))(words),
    "split_part": lambda words, place: _to_words(lambda text: _split(text, *place))(words),
    "date_part": lambda words, unit: _to_numbers(PARTS[unit])(words),
    "date_trunc": lambda words, unit: _to_words(lambda value: truncated(value, unit))(words),
    "add_days": lambda words, days: _to_words(lambda value: moved(value, timedelta(days=days[0])))(words),
    "add_months": lambda words, months: _to_words(lambda value: moved_months(value, months[0]))(words),
    "add_seconds": lambda words, seconds: _to_words(lambda value: moved(value, timedelta(seconds=seconds[0])))(words),
}
"""What operations with a detail do to words."""


def _part_of(text: str, start: int, length: int | None) -> str:
    return text[start - 1 :] if length is None else text[start - 1 : start - 1 + length]


def _cut(text: str) -> str:
    return text[:LONGEST_MADE]


def _split(text: str, separator: str, place: int) -> str:
    parts = text.split(separator)
    return parts[place - 1] if place <= len(parts) else ""


def choose(conditions: Sequence[Band], branches: Sequence[Words], default: Words) -> Words:
    """Return the value of the first condition that is true, else the default."""
    chosen = default.values.copy()
    for condition, branch in zip(reversed(conditions), reversed(branches), strict=True):
        chosen = np.where(condition.value == 1, branch.values, chosen)
    sure = all(condition.sure for condition in conditions) and all(branch.sure for branch in (*branches, default))
    return Words(chosen, sure)


def first_of(arguments: Sequence[Words]) -> Words:
    """Return the first value that is not NULL."""
    chosen = arguments[0].values
    for argument in arguments[1:]:
        chosen = np.where(_is_missing(chosen), argument.values, chosen)
    return Words(chosen, all(argument.sure for argument in arguments))
