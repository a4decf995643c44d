"""What is handed to a stream becomes whole units: no value is refused, and none counts for more than was declared.

**Guarantee**: whether a batch is refused depends on its shape and kind alone. Each event's value is clipped to the
declared bounds by itself (NaN counts as 0, or as the bound nearest to it) and rounded to units by itself, so one
event moves its step by at most `each`; what a step holds is stopped at ± `most`, which brings no two streams apart.
**Assumes**: where numbers of events are handed over that were counted elsewhere, one event moved them by 1, and one
person by no more events than declared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import array, numbers
from sordino.errors import ArgumentError

from .spec import StreamSpec
from .strategy import Whole

_FAR = 2**62


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
    found = numbers("values", given)
    if found.ndim != 1:
        raise ArgumentError("values must be a list of numbers of events, one for each step", "SRD-A001")
    return _whole(found)


def _whole(given: NDArray[Any]) -> Whole:
    """Return numbers as int64, halves rounded up; what is beyond ±2^62 is stopped there, and NaN counts as 0."""
    if given.dtype.kind == "u":
        return np.minimum(given.astype(np.uint64), np.uint64(_FAR)).astype(np.int64)
    if given.dtype.kind == "i":
        return given.astype(np.int64)
    known = np.nan_to_num(given.astype(np.float64), nan=0.0, posinf=_FAR, neginf=-_FAR)
    return np.floor(np.clip(known, -_FAR, _FAR) + 0.5).astype(np.int64)


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
    counts = numbers("values", given)
    if counts.ndim != 2 or counts.shape[1] != len(keys):
        raise ArgumentError(f"values must have a row of {len(keys)} counts for each step", "SRD-A001")
    return _whole(counts)


def read_events(spec: StreamSpec, at: Any, values: Any) -> tuple[Whole, Whole, Whole]:
    """Return single events: the step of each within the batch, its cell (−1 for none) and its value in units."""
    steps = numbers("at", at, "iu").astype(np.int64)
    if steps.ndim != 1:
        raise ArgumentError(
            "at must be a list of whole numbers: the step of each event in the batch, from 0", "SRD-A001"
        )
    cells, units = np.zeros(len(steps), dtype=np.int64), np.ones(len(steps), dtype=np.int64)
    if spec.keys is not None:
        places = {key: place for place, key in enumerate(spec.keys)}
        keys = array("values", values)
        if keys.ndim != 1:
            raise ArgumentError("values must be a list of keys, one for each event", "SRD-A001")
        cells = np.array([places.get(key, -1) for key in keys.tolist()], dtype=np.int64)
    elif values is not None:
        units = _units(spec, numbers("values", values)) if (spec.low, spec.high) != (0, 1) else units
    if cells.shape != steps.shape or units.shape != steps.shape:
        raise ArgumentError("at, people and values must have one entry for each event", "SRD-A001")
    return steps, cells, units


def summed(spec: StreamSpec, length: int, steps: Whole, cells: Whole, units: Whole) -> Whole:
    """Return single events as one row of cells for each step, stopped at what a step may hold."""
    found = np.zeros((length, spec.arrivals.cells), dtype=np.int64)
    np.add.at(found, (steps, cells), units)
    return np.clip(found, -spec.arrivals.most, spec.arrivals.most)


def _are_texts(given: Any) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str) and any(isinstance(each, str) for each in given)


def _is_ragged(given: Any) -> bool:
    return isinstance(given, Sequence) and any(isinstance(each, Sequence | np.ndarray) for each in given)
