"""Columns of an answer as Arrow arrays, and as lists. Types follow from the plan alone, never from values.

Lists do not go by way of Arrow, which loads pandas, where it is installed, to make an array of anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from sordino.data.kinds import Kind
from sordino.query.estimate.convolution import Floats
from sordino.query.estimate.estimate import Picked, Several
from sordino.query.estimate.evaluate import Evaluated

_TYPES = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.INTEGER: pa.int64(),
    Kind.REAL: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}
_PLAIN: dict[Kind, Callable[[Any], Any]] = {Kind.BOOLEAN: bool, Kind.INTEGER: int, Kind.REAL: float, Kind.TEXT: str}


def column_array(column: Evaluated) -> pa.Array:
    """Return the values: NULL where they are NaN, whole numbers as int64, lists as lists."""
    bare = column.bare
    if isinstance(bare, Several):
        return _lists(bare.values, bare.labels, all(part.whole for part in bare.parts))
    kind = _TYPES[column.kind]
    if isinstance(bare, Picked) and (bare.lists or any(isinstance(value, list) for value in bare.values)):
        return pa.array(bare.values, type=pa.list_(kind))
    if isinstance(column.values, np.ndarray):
        return _numbers(column.values, column.whole)
    return pa.array(column.values, type=kind)


def column_list(column: Evaluated) -> list[Any]:
    """Return the same values as a list."""
    bare, plain = column.bare, _PLAIN.get(column.kind, lambda value: value)
    if isinstance(bare, Several):
        rows = number_list(bare.values, all(part.whole for part in bare.parts))
        if bare.labels is None:
            return rows
        return [[{"label": name, "value": each} for name, each in zip(bare.labels, row, strict=True)] for row in rows]
    if isinstance(column.values, np.ndarray) and not isinstance(bare, Picked):
        return number_list(column.values, column.whole)
    return [
        [plain(each) for each in value] if isinstance(value, list) else None if value is None else plain(value)
        for value in column.values
    ]


def number_list(values: Floats, whole: bool = False) -> list[Any]:
    """Return numbers as a list, or as a list of lists; None where they are NaN."""
    if values.ndim > 1:
        return [number_list(row, whole) for row in values]
    return [None if math.isnan(each) else int(each) if whole else each for each in values.tolist()]


def ends_arrays(low: Any, high: Any) -> tuple[pa.Array, pa.Array]:
    """Return the ends of intervals."""
    if low.ndim == 2:
        return _lists(low, None, False), _lists(high, None, False)
    return _numbers(low, False), _numbers(high, False)


def _numbers(values: Floats, whole: bool) -> pa.Array:
    if not whole:
        return pa.array(values, type=pa.float64(), from_pandas=True)
    missing = np.isnan(values)
    return pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing)


def _lists(values: Floats, labels: tuple[str, ...] | None, whole: bool) -> pa.Array:
    groups, parts = values.shape
    flat = _numbers(values.ravel(), whole)
    if labels is not None:
        flat = pa.StructArray.from_arrays([pa.array(list(labels) * groups, type=pa.string()), flat], ["label", "value"])
    return pa.ListArray.from_arrays(pa.array(np.arange(groups + 1) * parts, type=pa.int32()), flat)
