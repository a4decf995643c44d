"""Small hostile tables, and tasks over them, for the tests of ``exact``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ibis
import pyarrow as pa

from query.engines import Engine
from sordino.accounting.bound import ROW, Unit
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column, OwnedByColumn, OwnedByRow, Schema, Table
from sordino.query.engine.exact import compute
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import ColumnRef
from sordino.query.model.question import Key
from sordino.query.model.relation import Scan
from sordino.query.model.task import Exact, Measure, Monomial, Task

INT_MIN, INT_MAX = -(2**63), 2**63 - 1
INFINITY, NAN = float("inf"), float("nan")
HOSTILE_REALS = (NAN, INFINITY, -INFINITY, -0.0, 0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, None, 1.0, 2.5, -3.0, 4.0)
HOSTILE_INTEGERS = (INT_MIN, INT_MAX, 0, -1, 1, 7, None, 2**53 + 1)
CITIES = ("Aix", "Bonn", "Çeşme", "aix")
TYPES = {"person": pa.int64(), "city": pa.string(), "level": pa.int64(), "x": pa.float64(), "n": pa.int64()}
COLUMNS = {
    "person": Column(Kind.INTEGER),
    "city": Column(Kind.TEXT),
    "level": Column(Kind.INTEGER),
    "x": Column(Kind.REAL),
    "n": Column(Kind.INTEGER),
}

Row = dict[str, Any]
Tables = Callable[[str], ibis.Table]

PERSONS = Table("visits", COLUMNS, OwnedByColumn("person"))
ROWS = Table("visits", COLUMNS, OwnedByRow())


def reference(name: str) -> ColumnRef:
    return ColumnRef(COLUMNS[name].kind, name)


def key(name: str, *values: Any) -> Key:
    return Key(name, reference(name), Column(COLUMNS[name].kind, keys=values or None))


X = Measure(reference("x"), Range.of(-4, 4), 16, missing_is_middle=False)
X_FILLED = Measure(reference("x"), Range.of(-4, 4), 16, missing_is_middle=True)
N = Measure(reference("n"), Range.of(0, 7), 7, missing_is_middle=False)
MOMENTS = (
    Monomial((0, 0)),
    Monomial((0, 0), frozenset({0})),
    Monomial((1, 0), frozenset({0})),
    Monomial((2, 0), frozenset({0})),
    Monomial((1, 1), frozenset({0, 1})),
    Monomial((1, 0), frozenset({0, 1})),
)


def task(bounding: Bounding, *keys: Key, **further: Any) -> Task:
    """Return a task over all visits with two measures and their moments, unless told otherwise."""
    scan = Scan(ROWS if bounding.method == "row" else PERSONS)
    return Task(scan, keys, bounding, **({"measures": (X, N), "monomials": MOMENTS} | further))


def arrow(rows: list[Row]) -> pa.Table:
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in TYPES.items()})


def load(engine: Engine, rows: list[Row]) -> ibis.Table:
    return engine.load("visits", arrow(rows))


def run(asked: Task, table: ibis.Table, salt: int = 5) -> Exact:
    face = asked.relation.table  # type: ignore[attr-defined]
    schema = Schema("test", {"visits": face}, ROW if face is ROWS else Unit("person"))
    return compute(asked, schema, lambda _: table, salt)


def as_lists(exact: Exact) -> dict[str, Any]:
    return {
        "keys": [list(values) for values in exact.keys],
        "sums": [[int(value) for value in line] for line in exact.sums],
        "people": None if exact.people is None else exact.people.tolist(),
        "distincts": exact.distincts.tolist(),
        "histograms": [each.tolist() for each in exact.histograms],
    }


def visit(person: int | None, city: str | None = "Aix", level: int | None = 1, x: Any = 1.0, n: Any = 1) -> Row:
    return {"person": person, "city": city, "level": level, "x": x, "n": n}
