"""How an answer's values are written: as many digits as the noise leaves meaning to, and nothing a terminal obeys."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sordino.arguments import Number
from sordino.query.estimate.convolution import Floats
from sordino.query.estimate.estimate import Several
from sordino.query.estimate.evaluate import Evaluated

_LONGEST = 48
_PLAIN = 1e15  # from here on, and below its inverse, numbers are written with an exponent
_LOPSIDED = 0.15


@dataclass(frozen=True)
class Cell:
    """One value, and what may be said about how far it is off (empty if nothing)."""

    text: str
    spread: str = ""


def cells(column: Evaluated, confidence: Number) -> list[Cell]:
    """Return the cells of a column."""
    ends = column.interval(confidence)
    if isinstance(column.bare, Several):
        return [Cell(_listed(column.bare, row)) for row in column.values]
    if not column.kind.is_number or not isinstance(column.values, np.ndarray):
        return [Cell(plain(value)) for value in column.values]
    if ends is None:
        return [Cell(_number(value, 0 if column.whole else 4)) for value in column.values]
    low, high = ends
    decimals = 0 if column.whole else _decimals(np.maximum(high - column.values, column.values - low))
    return [_noisy(*row, decimals) for row in zip(column.values, low, high, strict=True)]


def plain(value: Any) -> str:
    """Return a key as a short text without control characters."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ", ".join(plain(part) for part in value)
    text = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in str(value))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(bool(unicodedata.combining(character)) for character in text)


def _decimals(reaches: Floats) -> int:
    """Return how many decimals show two digits of the usual reach."""
    usual = np.sort(reaches[np.isfinite(reaches) & (reaches > 0)])
    if not len(usual):
        return 2
    middle = usual[(len(usual) - 1) // 2 : len(usual) // 2 + 1]  # np.median would load numpy.ma for it
    return max(0, 1 - math.floor(math.log10(float(np.mean(middle)))))


def _number(value: float, decimals: int) -> str:
    if np.isnan(value):
        return "NULL"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) >= _PLAIN or decimals > 12:
        return f"{value:.4g}".replace("-", "−")
    return f"{value:,.{decimals}f}".replace("-", "−")


def _noisy(value: float, low: float, high: float, decimals: int) -> Cell:
    if np.isnan(value):
        return Cell("NULL")
    above, below = high - value, value - low
    reach = max(above, below)
    if np.isfinite(reach) and abs(above - below) <= _LOPSIDED * reach:
        return Cell(_number(value, decimals), f"± {_number(reach, decimals)}")
    return Cell(_number(value, decimals), f"({_number(low, decimals)} … {_number(high, decimals)})")


def _listed(several: Several, row: Floats) -> str:
    decimals = 0 if all(part.whole for part in several.parts) else _decimals(np.abs(row)) + 1
    numbers = [_number(value, decimals) for value in row]
    labels: Sequence[str] = several.labels or ()
    pairs = [f"{plain(label)}: {number}" for label, number in zip(labels, numbers, strict=False)]
    return ", ".join(pairs or numbers)
