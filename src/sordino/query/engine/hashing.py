"""Keyed hashes in the engine, for choosing which of a person's rows or groups are kept.

Privacy does not depend on a hash's quality: whatever it gives for a row, it gives by that row and the salt alone, and
rows that it takes for equal are ordered by their content. The salt is fresh for every run and never leaves, so nobody
can write rows that are always kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

import ibis

Mix = Callable[[Any, Any], Any]
"""From what was hashed so far and one more column to the next hash."""
Finish = Callable[[Any], Any]


def _builtin(name: str, result: str) -> Mix:
    """Return an engine's own function of two arguments of any type."""

    def mix(state: Any, column: Any) -> Any:
        """Hash one more column."""

    mix.__name__ = name
    function: Mix = ibis.udf.scalar.builtin(mix, name=name, signature=((None, None), result))
    return function


def _builtin_of_one(name: str, kind: str) -> Finish:
    """Return an engine's own function that keeps the type of its argument."""

    def finish(state: Any) -> Any:
        """Hash once more."""

    finish.__name__ = name
    function: Finish = ibis.udf.scalar.builtin(finish, name=name, signature=((kind,), kind))
    return function


_duckdb = _builtin("hash", "uint64")
_duckdb_finish = _builtin_of_one("hash", "uint64")
"""DuckDB's hash of two arguments ends in an exclusive or with the hash of the second, so one person's rows would be
ordered by fixed numbers under a mask. That favours those that share few leading bits with others; hashing once more
gives all rows the same chance."""
_spark = _builtin("xxhash64", "int64")
_postgres_text = _builtin("hashtextextended", "int64")
_md5 = _builtin_of_one("md5", "string")
"""The one hash that means the same on all engines."""


def _text(column: Any) -> Any:
    return column.cast("string").fill_null("")


def _postgres(state: Any, column: Any) -> Any:
    return _postgres_text(_text(column), state)


def _portable(state: Any, column: Any) -> Any:
    return _md5(state.cast("string") + ibis.literal("|") + _text(column))


def _as_it_is(state: Any) -> Any:
    return state


_BY_ENGINE: dict[str, tuple[Mix, Finish]] = {
    "duckdb": (_duckdb, _duckdb_finish),
    "pyspark": (_spark, _as_it_is),
    "postgres": (_postgres, _as_it_is),
}


def keyed_hash(engine: str, salt: Any, columns: Iterable[Any]) -> Any:
    """Return a hash of the columns under the salt (`salt_on` the engine), as a column that can be ordered by."""
    mix, finish = _BY_ENGINE.get(engine, (_portable, _as_it_is))
    return finish(reduce(mix, columns, salt))
