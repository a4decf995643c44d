"""Columns of an answer as Arrow arrays. Types follow from the plan alone, never from values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sordino.query.estimate.convolution import Floats
from sordino.query.estimate.estimate import Picked, Several
from sordino.query.estimate.evaluate import Evaluated
from sordino.query.model.kinds import Kind

_TYPES = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.INTEGER: pa.int64(),
    Kind.REAL: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}


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
