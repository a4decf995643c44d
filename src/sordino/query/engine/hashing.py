"""Keyed hashes in the engine, for choosing which of a person's rows or groups are kept.

Privacy does not depend on a hash's quality: whatever it gives for a row, it gives by that row and the salt alone, and
rows that it takes for equal are ordered by their content. The salt is fresh for every run and never leaves, so nobody
can write rows that are always kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import ibis

from .measures import whole

Mix = Callable[[Any, Any], Any]
"""From what was hashed so far and one more column to the next hash."""
Finish = Callable[[Any], Any]
_BITS = 60
"""Of a keyed number."""


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


def _as_it_is(state: Any) -> Any:
    return state


def _of_digits(mixed: Any) -> Any:
    """Return the number that the first digits to the base of 16 write."""
    alphabet = ibis.literal("0123456789abcdef")
    digits = [alphabet.find(mixed.substr(place, 1)) for place in range(_BITS // 4)]
    return reduce(lambda number, digit: number * whole(16) + digit, digits, whole(0))


@dataclass(frozen=True)
class _Hash:
    """How an engine hashes: column after column, at the end once more, and what number the result gives."""

    mix: Mix
    finish: Finish = _as_it_is
    number: Finish = lambda mixed: mixed & ibis.literal(2**_BITS - 1, type="int64")


_BY_ENGINE = {
    "duckdb": _Hash(
        _duckdb, _duckdb_finish, lambda mixed: (mixed & ibis.literal(2**_BITS - 1, type="uint64")).cast("int64")
    ),
    "pyspark": _Hash(_spark),
    "postgres": _Hash(lambda state, column: _postgres_text(_text(column), state)),
}
_ELSEWHERE = _Hash(
    lambda state, column: _md5(state.cast("string") + ibis.literal("|") + _text(column)), number=_of_digits
)


def keyed_hash(engine: str, salt: Any, columns: Iterable[Any]) -> Any:
    """Return a hash of the columns under the salt (`salt_on` the engine), as a column that can be ordered by."""
    hashing = _BY_ENGINE.get(engine, _ELSEWHERE)
    return hashing.finish(reduce(hashing.mix, columns, salt))


def keyed_number(engine: str, salt: Any, column: Any) -> Any:
    """Return a hash of one column under the salt as a number from 0 to 2^60 − 1."""
    return _BY_ENGINE.get(engine, _ELSEWHERE).number(keyed_hash(engine, salt, [column]))
