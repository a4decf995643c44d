"""Sums that are exact whatever the number of rows, and their way into numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.errors import RunError

_WHOLE = "decimal(38,0)"
_WIDENS_SUMS = ("duckdb", "postgres")
"""Engines whose sum of 64-bit integers is wider by itself (and much faster than a sum of decimals)."""


def whole_sum(engine: str, column: Any) -> Any:
    """Return the exact sum of 64-bit (or wider) integers; NULL where there are none."""
    return column.sum() if engine in _WIDENS_SUMS else column.cast(_WHOLE).sum()


def as_whole(column: Any) -> Any:
    """Return a sum or count as the one type in which whole numbers leave an engine."""
    return column.cast(_WHOLE)


def fetch(expression: ibis.Table) -> pa.Table:
    """Run the expression on its engine.

    **Guarantee**: if the engine fails, the error says so and nothing more: no value, no row, no text of the engine's,
    not even as the error's context.
    """
    try:
        backend = expression.get_backend()
        return _FETCHERS.get(backend.name, _plainly)(backend, expression)
    except Exception:  # engines print cells in errors of many types; all of them are hidden here
        failure = RunError("the engine could not compute this answer; the charge stands", "SRD-R001")
    raise failure


def _plainly(backend: Any, expression: ibis.Table) -> pa.Table:
    return backend.to_pyarrow(expression)


def _from_spark(backend: Any, expression: ibis.Table) -> pa.Table:
    """Run on Spark without the detour over pandas, which turns integers with NULL into floats."""
    backend._run_pre_execute_hooks(expression)
    return backend._session.sql(backend.compile(expression)).toArrow()


_FETCHERS: dict[str, Callable[[Any, ibis.Table], pa.Table]] = {"pyspark": _from_spark}


def whole_numbers(column: pa.ChunkedArray) -> NDArray[Any]:
    """Return decimals without a fraction as int64 if all of them fit, else as Python ints. NULL is 0.

    A 128-bit decimal lies in memory as two 64-bit words, the low one first; it fits into the low word if the high one
    is nothing but its sign.
    """
    array = column.cast(pa.decimal128(38, 0)).combine_chunks().fill_null(0)
    words = np.frombuffer(array.buffers()[1], dtype="<i8").reshape(-1, 2)[array.offset : array.offset + len(array)]
    low, high = words[:, 0], words[:, 1]
    if np.array_equal(high, low >> 63):
        return low.astype(np.int64)
    wide: NDArray[Any] = low.astype(np.uint64).astype(object) + high.astype(object) * 2**64
    return wide
