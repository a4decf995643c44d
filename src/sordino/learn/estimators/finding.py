"""Finding what was not declared: the bounds of columns, the length of rows, the labels, each for a share of ε.

**Guarantee**: bounds are read off noisy counts of values by powers of two, one place a column for each row. A place
counts if its noisy count is above what noise alone reaches in any of all places once in a
hundred fits: post-processing.
Labels are places named by data, so one is shown only if its noisy count passes a threshold (``mechanisms.partition``).
**Source**: Wilson et al. 2020, section 4.1 (approximate bounds); Korolova et al. 2009 (labels).
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound

from .plan import COUNTS, Sum
from .releases import Floats, Releases, Whole, additive

BOUNDS_SHARE = Fraction(1, 10)
"""The part of what is spent that finding bounds, or the length of rows, takes."""
CLASSES_SHARE = Fraction(1, 10)

MOST_CLASSES = 1000
"""At most so many labels are found: those with the largest noisy counts."""

_POWERS = 2.0 ** np.linspace(-30, 34, 4 * 64 + 1)
"""Magnitudes by which lengths are told apart, four for each power of two."""
_EDGES = np.concatenate([-_POWERS[::-2], _POWERS[::2]])
"""The ends of the places of values; what is beyond counts in the outermost place."""
_FALSE_ALARM = 0.01


def bounds_sum(columns: int, name: str = "bounds", share: Fraction = BOUNDS_SHARE) -> Sum:
    """Return the sum by which the bounds of so many columns are found: each row has one place in each."""
    return Sum(name, Bound.vector(l0=columns, linf=1), share)


def find_bounds(values: Floats, releases: Releases, name: str = "bounds") -> tuple[Floats, Floats]:
    """Return lower and upper ends of every column; NaN for a column in which nothing was found.

    A NaN has no place; an infinity has the outermost one.
    """
    counts = np.stack([_counted(column, _EDGES) for column in values.T])
    seen = releases.noisy(name, in_steps(counts)) > _reach(releases, name, counts.size)
    found = seen.any(axis=1)
    low = np.where(found, _EDGES[np.argmax(seen, axis=1)], np.nan)
    high = np.where(found, _EDGES[seen.shape[1] - np.argmax(seen[:, ::-1], axis=1)], np.nan)
    return low, high


def _counted(values: Floats, edges: Floats) -> Whole:
    """Return how many values lie between each edge and the next."""
    known = values[~np.isnan(values)]
    places = np.clip(np.searchsorted(edges, known, side="right") - 1, 0, len(edges) - 2)
    return np.bincount(places, minlength=len(edges) - 1).astype(np.int64)


def _reach(releases: Releases, name: str, places: int) -> float:
    """Return what noise alone passes in any of so many places with a probability of at most 1 %, and no less than ½."""
    mechanism = additive(releases.of(name))
    return max(float(mechanism.law.tail(1 - _FALSE_ALARM / places) * mechanism.grid.step), 0.5)


def in_steps(counts: Whole) -> Whole:
    """Return counts in whole steps of their grid."""
    return counts << -COUNTS.exponent


def norm_sum(name: str = "norm") -> Sum:
    """Return the sum by which the length of rows is found."""
    return Sum(name, Bound.scalar(1), BOUNDS_SHARE)


def find_norm(values: Floats, releases: Releases, name: str = "norm") -> float:
    """Return a length that nearly no row exceeds; what is not a finite number counts as 0."""
    counts = _counted(_lengths(values), _POWERS)
    seen = np.flatnonzero(releases.noisy(name, in_steps(counts)) > _reach(releases, name, counts.size))
    return float(_POWERS[seen[-1] + 1]) if len(seen) else 1.0


def _lengths(values: Floats) -> Floats:
    """Return the 2-norm of each row, added up column by column: the same for a row wherever it stands."""
    known = np.where(np.isfinite(values), values, 0.0)
    largest, length = np.full(len(known), _POWERS[0]), np.zeros(len(known))
    for column in known.T:
        np.maximum(largest, np.abs(column), out=largest)
    for column in known.T:
        length += (column / largest) ** 2
    with np.errstate(over="ignore"):
        found: Floats = np.sqrt(length) * largest
    return found


def classes_sum() -> Sum:
    """Return the sum by which labels are found: each row has one."""
    return Sum("classes", Bound.scalar(1), CLASSES_SHARE, names=True)


def find_classes(labels: NDArray[Any], releases: Releases) -> NDArray[Any]:
    """Return the labels that enough rows have, sorted; where there are none, the zero of their kind."""
    counts = Counter(plain_label(each) for each in labels.tolist() if _is_label(each))
    names = sorted(counts, key=_by_kind)  # so that the order of rows breaks no tie
    shown = releases.kept("classes", np.array([counts[name] for name in names], dtype=np.int64))
    kept = [name for name, keep in zip(names, shown.keep, strict=True) if keep]
    most = np.argsort(-shown.counts, kind="stable")[:MOST_CLASSES]
    return sorted_classes([kept[place] for place in most], labels.dtype)


def sorted_classes(names: list[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return labels as one sorted array of the kind of `dtype`; how long texts are is that of these labels alone."""
    as_it_is = dtype.kind == "O" and not all(type(each) is int for each in names)
    kind: Any = dtype if dtype.kind in "biuf" else object if as_it_is else None
    if not names:
        return np.zeros(1, dtype=kind) if dtype.kind in "biuf" else np.array([""], dtype=kind)
    try:
        ordered = sorted(names)
    except TypeError:  # labels of several types have no order among each other
        ordered = sorted(names, key=_by_kind)
    return np.array(ordered, dtype=kind)


def numbered(labels: NDArray[Any], classes: NDArray[Any]) -> Whole:
    """Return the place of each label among the classes; −1 for one that is none."""
    places = {name: place for place, name in enumerate(classes.tolist())}
    return np.fromiter(
        (places.get(each, -1) if _is_label(each) else -1 for each in labels.tolist()), dtype=np.int64, count=len(labels)
    )


def plain_label(value: Any) -> Any:
    """Return the one spelling of all labels that are equal: 1 for True and 1.0, 0 for -0.0.

    Equal labels are one class, and its name must not tell how the first row of the class spells it.
    """
    if isinstance(value, str | bytes):
        return str(value) if isinstance(value, str) else bytes(value)
    return int(value) if isinstance(value, int) or value.is_integer() else float(value)


def _by_kind(name: Any) -> tuple[str, str]:
    return type(name).__name__, str(name)


def _is_label(value: Any) -> bool:
    """Return whether a value can be a label: missing ones, and what cannot be told apart by its value, are none."""
    return isinstance(value, bool | int | str | bytes) or (isinstance(value, float) and not math.isnan(value))
