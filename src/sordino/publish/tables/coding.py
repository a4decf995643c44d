"""Rows of values as rows of cells: the way back from what is released, and for rows that are public."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.data.kinds import Kind
from sordino.errors import ArgumentError

from .fields import Field


def cells_of_table(fields: Sequence[Field], table: pa.Table) -> NDArray[np.int64]:
    """Return each row's cells; rows with a value that has none are left out."""
    missing = [field.name for field in fields if field.name not in table.column_names]
    if missing:
        raise ArgumentError(f"these rows have no column {missing[0]!r}; they need all that are published", "SRD-P101")
    cells = np.stack([_cells(field, table[field.name]) for field in fields], axis=1)
    found: NDArray[np.int64] = cells[(cells >= 0).all(axis=1)]
    return found


def _cells(field: Field, column: Any) -> NDArray[np.int64]:
    """Return the cell of each value, −1 where it has none."""
    if field.keys is not None:
        numbers = {key: place for place, key in enumerate(field.keys)}
        return np.array([numbers.get(value, -1) for value in column.to_pylist()], dtype=np.int64)
    absent = np.asarray(column.is_null())
    edges = np.array([float(edge) for edge in field.edges])
    places = np.searchsorted(edges, _coordinates(field.kind, column), side="right") - 1
    return np.where(absent, field.parts if field.missing else -1, np.clip(places, 0, field.parts - 1)).astype(np.int64)


def _coordinates(kind: Kind, column: Any) -> NDArray[np.float64]:
    if kind is Kind.DATE:
        days = column.cast(pa.date32()).cast(pa.int32()).fill_null(0)
        return np.asarray(days, dtype=np.float64) + 719163  # the ordinal of 1970-01-01
    if kind is Kind.TIMESTAMP:
        return np.asarray(column.cast(pa.timestamp("us")).cast(pa.int64()).fill_null(0), dtype=np.float64) / 1e6
    return np.asarray(column.cast(pa.float64()).fill_null(0), dtype=np.float64)
