"""The columns of what is read: the numbers of an output, and numbers made of them.

Large numbers are read by how far they are from a *centre*, so that those beyond 2⁵³ differ by one where they do.
*Distances* are from the middle of a first sample, for leaks that both tails show at once. *Grids* say by which power of
two a number can be divided: of whole numbers, of floats at some billionths of their spread. The last bits of a double
are left to ``attacks.floating_point``: there every sum of doubles leaves traces, however good its noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sordino.accounting.curve import Floats

from .flattening import is_element
from .numbering import less, named

_LARGE = 2.0**53
_GRID_BITS = 36
"""How much finer than the spread of a column its grid is looked at."""
_ROUNDED = 2.0**-8
"""A grid is never finer than this part of the largest number would allow, or the roundings of doubles would show."""
_FINEST = 52
_MOST_GRIDS = 64
_ALONE = ("distance of {} from {:.6g}", "power of two in {}")
_TOGETHER = (
    "sum",
    "least",
    "greatest",
    "place of the first true",
    "how many differ",
    "sum of distances from the middle",
    "greatest distance from the middle",
    "place of the greatest",
    "place of the least",
)
_GRIDS = ("least power of two", "greatest power of two")


@dataclass(frozen=True)
class Columns:
    """Paths of numbers; for each a centre, the middle of a first sample less that centre, and the unit of its grid."""

    paths: tuple[str, ...]
    given_centres: tuple[int, ...] = ()
    middles: tuple[float, ...] = ()
    units: tuple[float, ...] = ()

    @classmethod
    def of(cls, paths: tuple[str, ...], base: Floats) -> Columns:
        """Return columns with what a first sample, read without centres, says of them."""
        centres, middles, units = [], [], []
        for column in base.T:
            some = column[np.isfinite(column)]
            middle = float(np.median(some)) if len(some) else 0.0
            centre = int(middle) if abs(middle) >= _LARGE else 0
            spread = float(np.quantile(some, 0.9) - np.quantile(some, 0.1)) if len(some) else 0.0
            whole = bool(len(some)) and bool(np.all(some == np.rint(some)))
            largest = float(np.abs(some).max()) if len(some) else 0.0
            size = max(spread, largest * _ROUNDED) or 1.0
            centres.append(centre)
            middles.append(middle - centre)
            units.append(1.0 if whole else 2.0 ** max(math.floor(math.log2(size)) - _GRID_BITS, -1000))
        return cls(paths, tuple(centres), tuple(middles), tuple(units))

    @cached_property
    def centres(self) -> tuple[int, ...]:
        """What is taken off each column; nothing, before a sample was seen."""
        return self.given_centres or (0,) * len(self.paths)

    @cached_property
    def elements(self) -> tuple[int, ...]:
        """The columns that are numbers of the output itself."""
        return tuple(place for place, path in enumerate(self.paths) if is_element(path))

    def first(self, many: int) -> list[int]:
        """Return the places of the first elements."""
        return list(self.elements[:many])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the columns are, in words."""
        if len(self.elements) < 2:
            alone = [
                words.format(self.paths[place], self.middles[place] + self.centres[place])
                for place in self.elements
                for words in _ALONE
            ]
            return (*self.paths, *alone)
        return (*self.paths, *_TOGETHER, *(_GRIDS if self._grids else ()))

    @property
    def grids(self) -> range:
        """The places of the columns that say by which power of two numbers can be divided."""
        some = 1 if len(self.elements) == 1 else len(_GRIDS) if len(self.elements) > 1 and self._grids else 0
        return range(len(self.names) - some, len(self.names))

    def shown(self, place: int, number: float) -> str:
        """Return a number of a column in words, its centre added."""
        centre = self.centres[place] if place < len(self.paths) else 0
        if centre and math.isfinite(number):
            return str(centre + int(number)) if number == int(number) else f"{centre} {number:+.6g}"
        return "nothing" if math.isnan(number) else f"{number:.6g}"

    @property
    def _grids(self) -> bool:
        return len(self.elements) <= _MOST_GRIDS

    def placed(self, outputs: Any) -> Floats:
        """Return the rows of an array as columns."""
        rows, names = outputs.reshape(len(outputs), -1), named(outputs[:1])
        names = names if outputs.ndim == 1 else names[1:]
        known = {path: place for place, path in enumerate(self.paths)}
        base = np.full((len(outputs), len(self.paths)), np.nan)
        for column, path in enumerate(names):
            place = known.get(path)
            if place is not None:
                base[:, place] = less(rows[:, column], self.centres[place])
        if outputs.ndim > 1 and "output length" in known:
            base[:, known["output length"]] = outputs.shape[1]
        return base

    def derived(self, base: Floats) -> Floats:
        """Return the columns with those that are made of them."""
        places = list(self.elements)
        if not places:
            return base
        elements, middles = base[:, places], np.array([self.middles[place] for place in places])
        units = np.array([self.units[place] for place in places])
        with np.errstate(invalid="ignore"):  # an infinity less an infinity is no number, and says so
            distances = np.abs(elements - middles)
        if len(places) == 1:
            return np.column_stack([base, distances, grids(elements, units)])
        made = _together(elements, distances)
        if self._grids:
            found = grids(elements, units)
            some = ~np.isnan(found)
            least, greatest = np.where(some, found, np.inf).min(axis=1), np.where(some, found, -np.inf).max(axis=1)
            made += [np.where(some.any(axis=1), end, np.nan) for end in (least, greatest)]
        return np.column_stack([base, *made])

    def to_json(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {
            "paths": list(self.paths),
            "centres": [str(centre) for centre in self.centres],
            "middles": list(self.middles),
            "units": list(self.units),
        }

    @classmethod
    def from_json(cls, plain: Any) -> Columns:
        """Return the columns that were written."""
        return cls(
            tuple(plain["paths"]), tuple(map(int, plain["centres"])), tuple(plain["middles"]), tuple(plain["units"])
        )


def grids(numbers: Floats, units: Floats) -> Floats:
    """Return the power of two by which each number, to the nearest unit, can be divided; NaN where there is none."""
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.rint(numbers / units)
    usable = np.abs(steps) < _LARGE
    whole = np.where(usable, steps, 0.0).astype(np.int64)
    lowest = np.bitwise_and(whole, -whole)
    # Zero lies on every grid. Among whole numbers it is an even one; a float that is zero is better told as an outcome.
    zero = np.where(units == 1.0, float(_FINEST), 0.0)
    found = np.where(whole == 0, zero, np.log2(np.maximum(lowest, 1).astype(float)))
    return np.where(usable, found, np.nan)


def _together(elements: Floats, distances: Floats) -> list[Floats]:
    """Return numbers that are made of all elements of an output."""
    some = ~np.isnan(elements)
    any_number = some.any(axis=1)
    true = elements == 1.0
    with np.errstate(invalid="ignore"):
        sums = np.where(any_number, np.where(some, elements, 0.0).sum(axis=1), np.nan)
        differ = any_number + (np.diff(np.sort(elements, axis=1), axis=1) > 0).sum(axis=1)
    low, high = np.where(some, elements, np.inf), np.where(some, elements, -np.inf)
    far = np.where(np.isnan(distances), 0.0, distances)
    found = [
        sums,
        low.min(axis=1),
        high.max(axis=1),
        np.where(true.any(axis=1), true.argmax(axis=1), np.nan),
        differ.astype(float),
        far.sum(axis=1),
        far.max(axis=1),
        high.argmax(axis=1).astype(float),
        low.argmin(axis=1).astype(float),
    ]
    return [np.where(any_number, column, np.nan) for column in found]
