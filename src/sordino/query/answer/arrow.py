"""Columns of an answer as Arrow arrays, as lists, and as JSON. Types follow from the plan alone, never from values.

Lists do not go by way of Arrow, which loads pandas, where it is installed, to make an array of anything.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sordino.data.kinds import Kind
from sordino.query.estimate.convolution import Floats
from sordino.query.estimate.estimate import Picked, Several
from sordino.query.estimate.evaluate import Evaluated

if TYPE_CHECKING:
    from .answer import Answer

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


def to_json(answer: Answer) -> str:
    """Return an answer as one JSON text, of which a ledger keeps the digest, and which a service sends.

    It has columns (name, kind, values, low and high ends where there is noise), notes, confidence and details.
    """
    columns = []
    for name in answer.names:
        column = answer.column(name)
        body: dict[str, Any] = {"name": name, "kind": _kind(column), "values": column_list(column)}
        ends = column.interval(answer.confidence)
        if ends is not None:
            body["low"], body["high"] = map(number_list, ends)
        columns.append(_json(body))
    whole = {
        "columns": columns,
        "confidence": float(answer.confidence),
        "notes": answer.notes,
        "details": answer.details,
    }
    return json.dumps(whole, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _kind(column: Evaluated) -> str:
    """Return what the values are: a count with noise of fractions is a real number, until it is rounded."""
    bare = column.bare
    whole = all(part.whole for part in bare.parts) if isinstance(bare, Several) else column.whole or not column.noisy
    fractional = column.kind is Kind.INTEGER and not whole and not isinstance(bare, Picked)
    return (Kind.REAL if fractional else column.kind).value


def _json(value: Any) -> Any:
    """Return what JSON can hold: dates as ISO texts, ends without a limit as null."""
    if isinstance(value, dict):
        return {key: _json(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_json(each) for each in value]
    if isinstance(value, date):
        return value.isoformat()
    return None if isinstance(value, float) and not math.isfinite(value) else value
