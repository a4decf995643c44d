"""Keys of all kinds on all engines: numbered exactly, in their order, from lists and from public tables."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pytest

from query.engines import Engine
from sordino.accounting.bound import ROW
from sordino.data.kinds import Kind
from sordino.data.metadata import Column, OwnedByRow, Public, Schema, Table
from sordino.errors import ArgumentError
from sordino.query.engine import group_keys
from sordino.query.engine.exact import compute
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import ColumnRef
from sordino.query.model.question import Key, KeyTable
from sordino.query.model.relation import Scan
from sordino.query.model.task import Exact, Monomial, Task

VALUES: dict[Kind, tuple[list[Any], pa.DataType]] = {
    Kind.TEXT: (["a", "A", "a ", "ä", "", "O'Brien\\", "z\nz", "10", "9"], pa.string()),
    Kind.INTEGER: ([0, -1, 2**63 - 1, -(2**63), 5], pa.int64()),
    Kind.BOOLEAN: ([True, False], pa.bool_()),
    Kind.DATE: ([date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31)], pa.date32()),
    Kind.TIMESTAMP: ([datetime(2024, 2, 29, 12, 30, 5, 123456), datetime(1970, 1, 1)], pa.timestamp("us")),
}


def count_by(engine: Engine, kind: Kind, keys: tuple[Any, ...] | None, stored: list[Any]) -> Exact:
    column = Column(kind, keys=keys)
    table = engine.load("keyed", pa.table({"key": pa.array(stored, VALUES[kind][1])}))
    face = Table("keyed", {"key": Column(kind)}, OwnedByRow())
    asked = Key("key", ColumnRef(kind, "key"), column)
    task = Task(Scan(face), (asked,), Bounding("row", rows=1), monomials=(Monomial(()),))
    return compute(task, Schema("test", {"keyed": face}, ROW), lambda _: table, 1)


@pytest.mark.parametrize("kind", VALUES, ids=str)
def test_public_keys_of_every_kind_come_back_in_their_order(engine: Engine, kind: Kind) -> None:
    values = VALUES[kind][0]
    stored = [value for place, value in enumerate(values) for _ in range(place + 1)] + [None] * 3
    found = count_by(engine, kind, (*values[::-1], None), stored)
    assert found.keys == ([*values[::-1], None],)
    assert found.sums.tolist() == [[*range(len(values), 0, -1), 3]]


@pytest.mark.parametrize("kind", VALUES, ids=str)
def test_private_keys_of_every_kind_come_back_ascending(engine: Engine, kind: Kind) -> None:
    values = VALUES[kind][0]
    found = count_by(engine, kind, None, [*values, None, *values])
    assert found.keys == ([*sorted(values), None],)
    assert found.sums.tolist() == [[2] * len(values) + [1]]


@pytest.mark.parametrize("awkward", ["\x1f", "\x1f\x1e", "\x1f\x1e|", "\x1f\x1e|\n", "a\0b"], ids=repr)
def test_no_key_is_taken_apart(duckdb_engine: Engine, awkward: str) -> None:
    """Lists travel as one text between separators; what has the separators itself must not be split there."""
    keys = (f"a{awkward}b", "a", "b", "", f"{awkward}", "$sordino_salt", "NULL", "[a, b]")
    found = count_by(duckdb_engine, Kind.TEXT, keys, [*keys, *keys, "ab", "a'b", None])
    assert found.keys == (list(keys),)
    assert found.sums.tolist() == [[2] * len(keys)]


def test_long_lists_of_keys_are_sent_as_tables(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_keys, "_MOST_INDEXED", 3)
    monkeypatch.setattr(group_keys, "_MOST_SPLIT", 3)
    values = tuple(f"key {place}" for place in range(50))
    found = count_by(engine, Kind.TEXT, values, [*values[::2], "other"])
    assert found.keys == (list(values),)
    assert found.sums.tolist() == [[1, 0] * 25]


def test_only_null_can_be_a_key(engine: Engine) -> None:
    assert count_by(engine, Kind.TEXT, (None,), ["a", None, None]).sums.tolist() == [[2]]


def test_keys_from_a_public_table(engine: Engine) -> None:
    """Its different rows are the groups, ascending with NULL last; combinations that it lacks are none."""
    columns = {"city": Column(Kind.TEXT), "level": Column(Kind.INTEGER)}
    private, public = Table("visits", {**columns}, OwnedByRow()), Table("places", columns, Public())
    tuples = [("b", 2), ("a", None), ("b", 1), (None, 1), ("b", 2), ("c", 7)]
    stored = [("b", 2)] * 3 + [("a", None)] * 2 + [(None, 1), ("a", 1), ("b", None), (None, None), ("x", 9)]
    tables = {
        name: engine.load(name, pa.table({"city": [row[0] for row in rows], "level": [row[1] for row in rows]}))
        for name, rows in (("visits", stored), ("places", tuples))
    }
    keys = tuple(Key(name, ColumnRef(column.kind, name), column) for name, column in columns.items())
    asked = Task(
        Scan(private),
        keys,
        Bounding("row", rows=1),
        monomials=(Monomial(()),),
        key_table=KeyTable(Scan(public), ("city", "level")),
    )
    found = compute(asked, Schema("test", {"visits": private, "places": public}, ROW), tables.__getitem__, 1)
    assert list(zip(*found.keys, strict=True)) == [("a", None), ("b", 1), ("b", 2), ("c", 7), (None, 1)]
    assert found.sums.tolist() == [[2, 0, 3, 0, 1]]


def test_keys_that_are_there_twice_are_refused(duckdb_engine: Engine) -> None:
    """A row would be two rows."""
    with pytest.raises(ArgumentError, match="differ"):
        count_by(duckdb_engine, Kind.TEXT, ("a", "b", "a"), ["a"])
