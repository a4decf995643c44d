"""Tables as attackers hold them: read through Arrow from any frame, and coded as integers that two tables share."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sordino.arguments import Number
from sordino.errors import ArgumentError
from sordino.query.answer.answer import Answer

Codes = NDArray[np.int64]


def arrow(name: str, table: Any) -> pa.Table:
    """Return a table of pandas, polars, Arrow, DuckDB or a sordino answer, or a dict of arrays, as an Arrow table."""
    if isinstance(table, Answer):
        return table.to_arrow()
    try:
        return pa.table(table)
    except (TypeError, ValueError, pa.ArrowInvalid):
        raise ArgumentError(
            f"{name} must be a table (pandas, polars, Arrow, an answer, or a dict of arrays of one length), "
            f"not {type(table).__name__}",
            "SRD-A001",
        ) from None


def column(name: str, table: pa.Table, wanted: str) -> pa.ChunkedArray:
    """Return one column, or say which there are."""
    if wanted not in table.column_names:
        raise ArgumentError(f"{name} has no column {wanted!r}; it has {', '.join(table.column_names)}", "SRD-A001")
    return table.column(wanted)


def numbers_in(name: str, table: pa.Table, wanted: str) -> NDArray[np.float64]:
    """Return a column of numbers, or of dates as days, as floats; what is missing is refused."""
    values = column(name, table, wanted)
    if pa.types.is_temporal(values.type):
        values = values.cast(pa.date32(), safe=False).cast(pa.int32())
    if values.null_count or not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        raise ArgumentError(f"{name}'s column {wanted!r} must hold numbers or dates, none missing", "SRD-A001")
    return np.asarray(values.to_numpy(), dtype=np.float64)


def shared_codes(names: Sequence[str], tables: Sequence[pa.Table], on: Sequence[str]) -> tuple[list[Codes], int]:
    """Return for each table the code of each row's combination of the columns `on`, and how many codes there are.

    Equal combinations have equal codes, in whichever table they stand; what is missing is a value like any other.
    """
    if isinstance(on, str) or not on:
        raise ArgumentError("name the columns to compare as a list of one or more names", "SRD-A001")
    return codes_of_any(names, tables, on)


def codes_of_any(names: Sequence[str], tables: Sequence[pa.Table], on: Sequence[str]) -> tuple[list[Codes], int]:
    """Return the same for any number of columns: without one, all rows are alike."""
    codes = np.zeros(sum(table.num_rows for table in tables), dtype=np.int64)
    for wanted in on:
        parts = [column(name, table, wanted) for name, table in zip(names, tables, strict=True)]
        codes = combined(codes, _encoded(wanted, parts))
    ends = np.cumsum([table.num_rows for table in tables])[:-1]
    return list(np.split(codes, ends)), int(codes.max(initial=-1 if on else 0)) + 1


def combined(first: Codes, second: Codes) -> Codes:
    """Return the code of each pair of codes, numbered from 0 without gaps, ordered by the first and then the second."""
    pairs = first * (int(second.max(initial=0)) + 1) + second
    return np.asarray(np.unique(pairs, return_inverse=True)[1], dtype=np.int64).reshape(-1)


def _encoded(wanted: str, parts: Sequence[pa.ChunkedArray]) -> Codes:
    kind = _plain(parts[0].type)
    try:
        chunks = [chunk for part in parts for chunk in part.cast(kind).chunks]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ArgumentError(
            f"the column {wanted!r} is of kinds that cannot be compared: "
            f"{' and '.join(sorted({str(part.type) for part in parts}))}; cast one of them",
            "SRD-A001",
        ) from None
    encoded = pc.dictionary_encode(pa.chunked_array(chunks, type=kind), null_encoding="encode").combine_chunks()
    # An empty chunked array combines into one without rows, and an array of several chunks into one chunk.
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type in which values are compared: dictionaries by their values, and one size of text."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    return kind


def count_column(private: Any, table: pa.Table, count: str | None) -> str:
    """Return the name of the column of noisy counts: an answer knows it, of other tables it must be said."""
    if count is None and isinstance(private, Answer) and len(private.noisy_names) == 1:
        return private.noisy_names[0]
    if count is None or count not in table.column_names:
        raise ArgumentError(
            f"say which column of the private table to use: count=… with one of {', '.join(table.column_names)}",
            "SRD-A003",
        )
    return count


def claimed_by(private: Any, epsilon: Number | None, delta: Number) -> tuple[Number, Number]:
    """Return the (ε, δ) that a private release claims: what is said, else what an answer's receipt says."""
    if epsilon is not None:
        return epsilon, delta
    price = private.details["price"] if isinstance(private, Answer) else {}
    if price.get("epsilon") is None:
        raise ArgumentError(
            "say what the private table claims: epsilon=… (and delta=…); an answer that was priced in ε says so itself",
            "SRD-A003",
        )
    return Fraction(price["epsilon"]), Fraction(price["delta"])
