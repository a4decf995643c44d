"""Outputs at array speed: which lists are arrays, and what stands in the rows of an array.

**Guarantee**: of an output the same is read here as by ``flattening``, so whether a batch happens to be an array makes
no difference. That is why only lists of one kind of numbers are turned into one: NumPy would round whole numbers that
stand beside a float.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from sordino.accounting.curve import Floats

from . import labels
from .flattening import PlainNumber

_WHOLE = {int, np.int64, np.int32, np.int16, np.int8, np.uint8, np.uint16, np.uint32, np.uint64}
_REAL = {float, np.float64, np.float32, np.float16}
_LARGEST = float(np.finfo(float).max)
_LOW_BITS = 32


def as_array(outputs: Any) -> Any:
    """Return outputs as an array of numbers, one row each, or as a list of anything."""
    if isinstance(outputs, np.ndarray) or hasattr(outputs, "__array__"):  # arrays, data frames, tensors
        found = np.asarray(outputs)
        if found.dtype.kind in "mM":
            found = found.astype("int64")
        if found.dtype.kind == "c":
            found = np.stack([found.real, found.imag], axis=-1)
        return found if found.dtype.kind in "biuf" and found.ndim else found.tolist()
    listed = list(outputs)
    return _stacked(listed) if listed else listed


def _stacked(outputs: list[Any]) -> Any:
    """Return a list as an array where that changes nothing."""
    kinds = set(map(type, outputs))
    if kinds == {np.ndarray}:
        forms = {(output.shape, output.dtype) for output in outputs}
        (shape, dtype) = next(iter(forms))
        return np.stack(outputs) if len(forms) == 1 and shape and dtype.kind in "biuf" else outputs
    if kinds <= {list, tuple}:
        if len(set(map(len, outputs))) > 1 or not outputs[0]:
            return outputs
        kinds = set(map(type, chain.from_iterable(outputs)))
    if not (kinds <= _WHOLE or kinds <= _REAL or kinds == {bool}):
        return outputs
    try:
        found = np.array(outputs)
    except OverflowError:
        return outputs
    whole = kinds <= _WHOLE
    return found if found.dtype.kind in ("iu" if whole else "bf") else outputs


def named(outputs: Any, name: str = "output") -> tuple[str, ...]:
    """Return the paths of the numbers in the rows of an array."""
    if outputs.ndim == 1:
        return (name,)
    return (
        f"{name} length",
        *(name + "".join(f"[{place}]" for place in index) for index in np.ndindex(outputs.shape[1:])),
    )


def row_shapes(outputs: Any) -> labels.Words:
    """Return the hashed shapes of the rows of an array: most are all numbers, others have patterns."""
    rows = outputs.reshape(len(outputs), -1)
    one = outputs.ndim == 1
    if rows.dtype.kind == "b":
        codes = rows.astype(np.uint8) + 2
    elif rows.dtype.kind == "f":
        codes = np.isnan(rows).astype(np.uint8)
    else:
        codes = np.zeros((1, rows.shape[1]), dtype=np.uint8)
    if not codes.any():
        return np.full(len(rows), labels.text_word(_shape(codes[0], one=one)), dtype=np.uint64)
    packed = np.ascontiguousarray(codes).view(np.dtype((np.void, codes.shape[1]))).ravel()
    distinct, first, places = np.unique(packed, return_index=True, return_inverse=True)
    words = labels.text_words([_shape(codes[place], one=one) for place in first])
    return words[places.reshape(-1)] if len(distinct) else words


def _shape(codes: Any, *, one: bool) -> str:
    tokens = [("#", "NaN", "false", "true")[code] for code in codes.tolist()]
    return tokens[0] if one else f"[{','.join(tokens)}]"


def filled(rows: Sequence[Mapping[str, PlainNumber]], paths: tuple[str, ...], centres: tuple[int, ...]) -> Floats:
    """Return numbers by path as rows of floats: how far each is from the centre of its column, NaN where none is."""
    missing = math.nan
    where = list(zip(paths, centres, strict=True))
    return np.array(
        [[nearest(row[path], centre) if path in row else missing for path, centre in where] for row in rows],
        dtype=float,
    ).reshape(len(rows), len(paths))


def nearest(number: PlainNumber, centre: int = 0) -> float:
    """Return the float nearest to ``number − centre``, of numbers of any length; beyond the largest float it is ∞.

    >>> nearest(10**30 + 3, 10**30)
    3.0
    """
    kind = type(number)
    if kind is float:
        return number - centre  # type: ignore[return-value]
    try:
        if centre == 0:
            return float(number)
        if kind is Decimal:
            return float(Fraction(number) - centre)
        return float(number - centre)
    except OverflowError:
        return math.inf if number > centre else -math.inf


def less(column: Any, centre: int) -> Floats:
    """Return how far the numbers of an array are from a centre that is a float, each to the nearest float."""
    if centre == 0 or column.dtype.kind not in "iu":
        with np.errstate(over="ignore"):
            return np.asarray(column.astype(float) - float(centre))
    # Whole numbers in two halves: differences of halves are exact, and only their sum is rounded.
    base = np.int64(1 << _LOW_BITS) if column.dtype.kind == "i" else np.uint64(1 << _LOW_BITS)
    high, low = np.divmod(column.astype(base.dtype), base)
    centre_high, centre_low = divmod(centre, 1 << _LOW_BITS)
    return np.asarray((high.astype(float) - float(centre_high)) * float(base) + (low.astype(float) - float(centre_low)))
