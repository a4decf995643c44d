"""Tables in memory (pandas, polars, Arrow) as Arrow, without a word about what they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from sordino.errors import ArgumentError


def arrow_of(name: str, given: Any) -> pa.Table:
    """Return a frame as an Arrow table; what cannot be one is refused by the names of columns and types alone."""
    for each in type(given).__mro__:
        convert = _CONVERTERS.get((each.__module__.split(".")[0], each.__name__))
        if convert is not None:
            return _plain(convert(name, given))
    raise ArgumentError(
        f"the source of {name!r} must be a path, a database URL, a pandas, polars or Arrow table, or an Ibis table, "
        f"not {type(given).__name__}",
        "SRD-A001",
    )


def _from_pandas(name: str, frame: Any) -> pa.Table:
    if not all(isinstance(column, str) for column in frame.columns) or not frame.columns.is_unique:
        raise ArgumentError(f"the columns of {name!r} must have texts as names, each another one", "SRD-A001")
    arrays = {}
    for column in frame.columns:
        try:
            arrays[column] = pa.array(frame[column], from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise ArgumentError(
                f"column {column!r} of {name!r} holds values of different kinds; give it one type first", "SRD-A001"
            ) from None
    return pa.table(arrays)


def _plain(table: pa.Table) -> pa.Table:
    """Return the table without dictionaries, whose values DuckDB would make part of the type's name, and without
    nanoseconds in a zone, which Ibis does not know."""
    for place, column in enumerate(table.schema):
        plain = _plain_type(column.type)
        if plain != column.type:
            table = table.set_column(place, column.name, table[column.name].cast(plain, safe=False))
    return table


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    return pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) and kind.tz and kind.unit == "ns" else kind


_CONVERTERS: dict[tuple[str, str], Callable[[str, Any], pa.Table]] = {
    ("pandas", "DataFrame"): _from_pandas,
    ("polars", "DataFrame"): lambda _, frame: frame.to_arrow(),
    ("polars", "LazyFrame"): lambda _, frame: frame.collect().to_arrow(),
    ("pyarrow", "Table"): lambda _, table: table,
    ("pyarrow", "RecordBatch"): lambda _, batch: pa.Table.from_batches([batch]),
    ("pyarrow", "RecordBatchReader"): lambda _, reader: reader.read_all(),
    ("ibis", "Table"): lambda _, table: table.to_pyarrow(),
}
