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
            return _plain(name, convert(name, given))
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
            arrays[column] = pa.array(_readable(frame[column]), from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise ArgumentError(
                f"column {column!r} of {name!r} holds values of different kinds, or of one that Arrow has not; give it "
                f"one type first: frame[{column!r}] = frame[{column!r}].astype('string'), or 'float64'",
                "SRD-A001",
            ) from None
    return pa.table(arrays)


_AS_TEXT = ("interval", "period")


def _readable(column: Any) -> Any:
    """Return a column; intervals as texts, which is what ``pandas.cut`` makes for people to read: ``(0, 10]``."""
    categories = getattr(column.dtype, "categories", None)
    kind = column.dtype if categories is None else categories.dtype
    return column.astype("string") if str(kind).startswith(_AS_TEXT) else column


def _plain(name: str, table: pa.Table) -> pa.Table:
    """Return the table without dictionaries, whose values DuckDB would make part of the type's name, without
    nanoseconds in a zone, which Ibis does not know, and without types that DuckDB does not read."""
    if not table.num_columns:
        raise ArgumentError(
            f"the frame of {name!r} has no columns; give one that has, and make an index a column by reset_index()",
            "SRD-A001",
        )
    for place, column in enumerate(table.schema):
        plain = _plain_type(column.type)
        if plain != column.type:
            try:
                made = table[column.name].cast(plain, safe=False)
            except pa.ArrowException:
                raise ArgumentError(
                    f"column {column.name!r} of {name!r} is of the type {column.type}, which cannot be read; cast it "
                    "to a number or a text first",
                    "SRD-A001",
                ) from None
            table = table.set_column(place, column.name, made)
    return table


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_null(kind):  # an empty column of objects, which says nothing of what it would hold
        return pa.string()
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
