"""Sums that are exact whatever the number of rows, and their way into numpy."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from ibis.expr import datatypes as dt
from numpy.typing import NDArray

_WHOLE = dt.Decimal(38, 0)
_WIDENS_SUMS = ("duckdb", "postgres")
"""Engines whose sum of 64-bit integers is wider by itself (and much faster than a sum of decimals)."""


def whole_sum(engine: str, column: Any) -> Any:
    """Return the exact sum of 64-bit (or wider) integers; NULL where there are none."""
    return column.sum() if engine in _WIDENS_SUMS else column.cast(_WHOLE).sum()


def as_whole(column: Any) -> Any:
    """Return a sum or count as the one type in which whole numbers leave an engine."""
    return column.cast(_WHOLE)


def whole_numbers(column: pa.ChunkedArray) -> NDArray[Any]:
    """Return decimals without a fraction as int64 if all of them fit, else as Python ints. NULL is 0.

    A 128-bit decimal lies in memory as two 64-bit words, the low one first; it fits into the low word if the high one
    is nothing but its sign.
    """
    array = _as(column, pa.decimal128(38, 0))
    words = np.frombuffer(array.buffers()[1], dtype="<i8").reshape(-1, 2)[array.offset : array.offset + len(array)]
    low, high = words[:, 0], words[:, 1]
    if np.array_equal(high, low >> 63):
        return low.astype(np.int64)
    wide: NDArray[Any] = low.astype(np.uint64).astype(object) + high.astype(object) * 2**64
    return wide


def small_numbers(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """Return 64-bit integers. NULL is 0."""
    array = _as(column, pa.int64())
    return np.frombuffer(array.buffers()[1], dtype="<i8")[array.offset : array.offset + len(array)]


def _as(column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    """Return one array of a type, without NULL.

    Arrow loads pandas, for a good part of a second, where it makes an array or a scalar out of Python's objects.
    Whether that happens must not depend on the data, so nothing is made that way here.
    """
    if not column.num_chunks:
        return pa.nulls(0, kind)
    array = (column if column.type == kind else column.cast(kind)).combine_chunks()
    return array.fill_null(_zero(kind)) if array.null_count else array


@cache
def _zero(kind: pa.DataType) -> pa.Scalar:
    return pa.Array.from_buffers(kind, 1, [None, pa.py_buffer(bytes(16))])[0]
