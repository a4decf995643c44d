"""What an engine is asked to compute exactly: bounded contributions, added up by group in whole numbers.

A `Task` holds no data. ``exact.py`` runs it; what comes back, an `Exact`, must only ever meet noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.data.kinds import Range

from .bounding import Bounding
from .expression import Expression
from .question import Key, KeyTable
from .relation import Relation


@dataclass(frozen=True)
class Measure:
    """A number of each row, as a whole number of steps from −`steps` to `steps` around the middle of its range.

    step(x) = ⌊(clip(x) − middle)·steps/half + ½⌋, clipped again in whole numbers, so that it is within ±`steps`
    whatever the float did. NULL, NaN: with `missing_is_middle` 0; else the row has no such number (not present).
    """

    expression: Expression
    range: Range
    steps: int
    missing_is_middle: bool


@dataclass(frozen=True)
class Monomial:
    """For each row: Π stepᵢ^powers[i] if all measures in `present` are there (those with a power above 0 must be listed
    there as well), else 0. With no measures it is 1 for every row."""

    powers: tuple[int, ...]
    present: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Histogram:
    """How the rows of each group are spread over `buckets` equal parts of a range, or over public categories.

    Number: bucket = ⌊(clip(x) − low)·buckets/(high − low)⌋, at most buckets − 1; NULL and NaN are left out.
    Category (`categories` given): the place in that list; other values are left out.
    """

    expression: Expression
    range: Range | None
    buckets: int
    categories: tuple[Any, ...] | None = None
    edges: tuple[Fraction, ...] | None = None
    """Explicit ascending edges (buckets + 1 of them) instead of equal parts; values outside are left out."""


@dataclass(frozen=True)
class Task:
    """Everything that one question needs from the engine."""

    relation: Relation
    keys: tuple[Key, ...]
    bounding: Bounding
    measures: tuple[Measure, ...] = ()
    monomials: tuple[Monomial, ...] = ()
    people: bool = False
    """Also count the owners in each group (after bounding; under row-level privacy: rows)."""
    distincts: tuple[Expression, ...] = ()
    """Also count the distinct values of these in each group. Only with the methods row and sample."""
    histograms: tuple[Histogram, ...] = ()
    key_table: KeyTable | None = None

    @property
    def public_keys(self) -> bool:
        """Whether every group is known beforehand, and so returned always."""
        return self.key_table is not None or all(key.column.keys is not None for key in self.keys)


@dataclass(frozen=True, repr=False, eq=False)
class Exact:
    """What came back: exact, bounded, secret. Groups are in canonical order: public keys as declared (all of them,
    also those without rows), private keys ascending with NULL last."""

    keys: tuple[list[Any], ...]
    """For each key the values, one for each group."""
    sums: NDArray[Any]
    """Monomials × groups: Σ weight·monomial, int64 or, where that is too small, Python ints."""
    people: NDArray[np.int64] | None
    distincts: NDArray[np.int64]
    """Expressions × groups."""
    histograms: tuple[NDArray[np.int64], ...]
    """For each histogram the rows (group, bucket, Σ weight), sorted."""

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.sums.shape[1])
