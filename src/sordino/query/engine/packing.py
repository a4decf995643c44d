"""A row as one integer: a keyed hash above all that a query uses of it, which DuckDB orders faster than rows.

All that a query uses of a row (the number of its group, steps, buckets) is a tuple of whole numbers from known ranges.
If together they leave room in 63 bits, they are packed below the bits of a keyed hash of owner and content. So the
order of these integers is that of (hash, content), and equal integers are rows that are equal in everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ibis
from ibis.expr import datatypes as dt

from .hashing import keyed_hash
from .measures import whole
from .scan import OWNER

_BITS = 63
_LEAST_HASH_BITS = 24
PACKED = "packed__"


@dataclass(frozen=True)
class Field:
    """A column of whole numbers from `least` to `most`, or NULL."""

    name: str
    least: int
    most: int

    @property
    def bits(self) -> int:
        """How many bits its values and NULL take."""
        return (self.most - self.least + 1).bit_length()

    @property
    def narrowest(self) -> dt.DataType:
        """The narrowest type that holds its values."""
        return narrowest(self.least, self.most)


def narrowest(least: int, most: int) -> dt.DataType:
    """Return the narrowest of the types of whole numbers that all engines have and that holds `least` and `most`."""
    return next(each for each in (dt.int16, dt.int32, dt.int64) if each.bounds[0] <= least and most <= each.bounds[1])


def can_pack(engine: str, fields: tuple[Field, ...]) -> bool:
    """Whether rows of these fields are packed here."""
    return engine == "duckdb" and _content_bits(fields) <= _BITS - _LEAST_HASH_BITS


def pack(rows: ibis.Table, fields: tuple[Field, ...], salt: Any) -> ibis.Table:
    """Return each row's owner and integer."""
    content = _content_bits(fields)
    contents = rows.select(OWNER, **{PACKED: _side_by_side(rows, fields)})
    mixed = keyed_hash("duckdb", salt, [contents[OWNER], contents[PACKED]])
    first = (mixed & ibis.literal(2 ** (_BITS - content) - 1, type="uint64")).cast("int64")
    return contents.select(OWNER, **{PACKED: first * whole(2**content) + contents[PACKED]})


def unpack(packed: ibis.Table, fields: tuple[Field, ...]) -> ibis.Table:
    """Return the rows again."""
    columns, shift = {}, 0
    for field in reversed(fields):
        counted = (packed[PACKED] >> shift) & (2**field.bits - 1)
        columns[field.name] = counted.nullif(0) + whole(field.least - 1)
        shift += field.bits
    return packed.select(OWNER, **columns)


def _content_bits(fields: tuple[Field, ...]) -> int:
    return sum(field.bits for field in fields)


def _side_by_side(rows: ibis.Table, fields: tuple[Field, ...]) -> Any:
    """Return the fields side by side, each counted from 1; 0 is NULL."""
    result: Any = None
    for field in fields:
        counted = (rows[field.name] - whole(field.least - 1)).fill_null(whole(0))
        result = counted if result is None else result * whole(2**field.bits) + counted
    return whole(0) if result is None else result
