"""Columns of a table as Arrow, for a run that was charged: what comes of it is secret until it has met noise.

**Guarantee**: if the engine fails, the error says so and nothing more: no value, no row, no text of the engine's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sordino.errors import RunError

from .connections import lease

if TYPE_CHECKING:
    import pyarrow as pa

    from .dataset import Dataset


def fetched(dataset: Dataset, table: str, columns: Sequence[str]) -> pa.Table:
    """Return these columns of a table, all rows, in whatever order the engine has them."""
    expression = dataset.table(table).select(*columns)
    backend = dataset.backend
    try:
        return _FETCH.get(backend.name, _by_ibis)(backend, expression)
    except Exception:  # engines print cells in errors of many types; all of them are hidden here
        failure = RunError("the engine could not read this table; the charge stands", "SRD-R001")
    raise failure


def _by_ibis(backend: Any, expression: Any) -> pa.Table:
    with lease(backend):
        return backend.to_pyarrow(expression)


def _from_duckdb(backend: Any, expression: Any) -> pa.Table:
    text = backend.compile(expression)
    with lease(backend) as connection:
        return connection.sql(text).to_arrow_table()


def _from_spark(backend: Any, expression: Any) -> pa.Table:
    """By Arrow: by way of pandas, as in Ibis, integers with NULL would become floats."""
    return backend._session.sql(backend.compile(expression)).toArrow()


_FETCH: dict[str, Callable[[Any, Any], Any]] = {"duckdb": _from_duckdb, "pyspark": _from_spark}
