"""What is handed to a stream becomes whole units: no value is refused, and none counts for more than was declared.

**Guarantee**: whether a batch is refused depends on its shape and kind alone. Each event's value is clipped to the
declared bounds by itself (NaN counts as 0, or as the bound that is nearest to it) and rounded to units by itself, so one
event moves its step by at most `each`; what a step holds is stopped at ± `most`, which brings no two streams apart.
**Assumes**: where numbers of events are handed over that were counted elsewhere, one event moved them by 1, and one
person by no more events than declared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import numbers
from sordino.errors import ArgumentError

from .spec import StreamSpec
from .strategy import Whole


def read(spec: StreamSpec, given: Any) -> Whole:
    """Return a batch as one row of cells for each step, in units."""
    if spec.keys is not None:
        found = _histograms(spec, given)
    elif spec.exponent or (spec.low, spec.high) != (0, 1):
        found = _sums(spec, given)
    else:
        found = _counts(given)[:, None]
    most = spec.arrivals.most
    return np.clip(found, -most if spec.low < 0 else 0, most)


def _counts(given: Any) -> Whole:
    """Return numbers of events, a step each."""
    array = numbers("values", given)
    if array.ndim != 1:
        raise ArgumentError("values must be a list of numbers of events, one for each step", "SRD-A001")
    return _whole(array)


def _whole(array: NDArray[Any]) -> Whole:
    if array.dtype.kind == "f":
        array = np.clip(np.nan_to_num(array.astype(np.float64), nan=0.0, posinf=2.0**62, neginf=-(2.0**62)), -(2.0**62), 2.0**62)
        return np.floor(array + 0.5).astype(np.int64)
    return np.minimum(array, np.array(2**62, dtype=array.dtype) if array.dtype.itemsize == 8 else array).astype(np.int64)


def _sums(spec: StreamSpec, given: Any) -> Whole:
    """Return the sums of events' values: a number for one event in a step, or a list of numbers for many."""
    if _is_ragged(given):
        parts = [numbers("values", each) for each in given]
        if any(each.ndim > 1 for each in parts):
            raise ArgumentError("values must be numbers, or one list of numbers for each step", "SRD-A001")
        lengths = [each.size for each in parts]
        flat = np.concatenate([np.atleast_1d(each).astype(np.float64) for each in parts]) if parts else np.zeros(0)
    else:
        flat = numbers("values", given)
        if flat.ndim != 1:
            raise ArgumentError("values must be numbers, or one list of numbers for each step", "SRD-A001")
        lengths = [1] * len(flat)
    totals = np.concatenate([[0], np.cumsum(_units(spec, flat))])
    ends = np.cumsum(lengths, dtype=np.int64)
    found: Whole = (totals[ends] - totals[ends - np.array(lengths, dtype=np.int64)]).astype(np.int64)
    return found[:, None]


def _units(spec: StreamSpec, values: NDArray[Any]) -> Whole:
    """Return each value in units, clipped to the bounds."""
    nearest = min(max(0, spec.low), spec.high)
    with np.errstate(over="ignore"):
        scaled = values.astype(np.float64) * 2.0**-spec.exponent
    stopped = np.clip(np.where(np.isnan(scaled), nearest, scaled), spec.low, spec.high)
    return np.floor(stopped + 0.5).astype(np.int64)


def _histograms(spec: StreamSpec, given: Any) -> Whole:
    """Return counts of keys: a row of counts for each step, or a list of keys for each step (others do not count)."""
    keys = spec.keys or ()
    if isinstance(given, Sequence) and any(_are_texts(each) for each in given):
        found = np.zeros((len(given), len(keys)), dtype=np.int64)
        places = {key: place for place, key in enumerate(keys)}
        for step, each in enumerate(given):
            if not isinstance(each, Sequence) or isinstance(each, str):
                raise ArgumentError("values must be a list of keys for each step, or a row of counts", "SRD-A001")
            known = [places[key] for key in each if isinstance(key, str) and key in places]
            found[step] = np.bincount(np.array(known, dtype=np.int64), minlength=len(keys))
        return found
    if isinstance(given, Sequence) and all(isinstance(each, Sequence) and not each for each in given):
        return np.zeros((len(given), len(keys)), dtype=np.int64)  # steps in which nothing happened
    array = numbers("values", given)
    if array.ndim != 2 or array.shape[1] != len(keys):
        raise ArgumentError(f"values must have a row of {len(keys)} counts for each step", "SRD-A001")
    return _whole(array)


def _are_texts(given: Any) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str) and any(isinstance(each, str) for each in given)


def _is_ragged(given: Any) -> bool:
    return isinstance(given, Sequence) and any(isinstance(each, Sequence | np.ndarray) for each in given)
