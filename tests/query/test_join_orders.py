"""A join's answer is the plain engine's, in whatever order its tables are named."""

# ruff: noqa: S608, S311  (texts from names of this file; what is drawn here protects nobody)
from __future__ import annotations

from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sordino as so
from query.join_questions import Asked, shop, tables
from sordino.data.metadata import Limits
from sordino.query.plan import limits as contribution
from sordino.query.sql.parse import parse

LARGE = 10_000
"""The largest ε that may be asked for."""
EXACT, REACHES = 0.45, 8
"""Every answer is a whole number, and this near to it. Noise stays within so many times its reach at 95 %, but for one
in 10¹⁰: an answer whose reach is an eighth of that is off by what it lost, never by noise."""


def plain(engine: duckdb.DuckDBPyConnection, text: str) -> dict[Any, tuple[float, ...]]:
    """Return what DuckDB says: the numbers of each key."""
    return by_key(engine.sql(text).to_arrow_table())


def by_key(table: pa.Table, end: str = "") -> dict[Any, tuple[float, ...]]:
    names = [f"{name}{end}" for name in table.column_names if name.startswith("a") and name[1:].isdigit()]
    return {row.get("k"): tuple(float(row[name] or 0) for name in names) for row in table.to_pylist()}


def judge(seed: int, engine: duckdb.DuckDBPyConnection, account: Any) -> None:
    asked = Asked(Random(seed))
    limits: set[Limits] = set()
    for order in asked.orders():
        text = asked.text(order)
        truth, schema = plain(engine, text), account.dataset.schema
        limits.add(contribution.declared(parse(text, schema)))
        answer = account.sql(text).run(epsilon=LARGE).to_arrow(intervals=True)
        found, lows, highs = (by_key(answer, end) for end in ("", "_low", "_high"))
        assert set(truth) - {None} <= set(found), text
        for key, numbers in found.items():
            expected = truth.get(key, (0.0,) * len(numbers))
            for number, true, low, high in zip(numbers, expected, lows[key], highs[key], strict=True):
                assert REACHES * (high - low) / 2 < EXACT, (seed, text, "noise would hide a row")
                assert abs(number - true) < EXACT, (seed, text, key)
    assert len(limits) == 1, (seed, limits)


def run(first: int, count: int, data_of: int) -> None:
    data = tables(data_of)
    account = so.account(shop(data), so.unlimited("a comparison with the plain engine"))
    with duckdb.connect() as engine:
        for name, table in data.items():
            engine.register(name, table)
        for seed in range(first, first + count):
            judge(seed, engine, account)


@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in (12, 24, 36, 48))])
def test_random_joins_agree_with_the_engine_in_every_order(first: int) -> None:
    run(first, 12, data_of=0)


@pytest.mark.long
@pytest.mark.parametrize("first", range(1000, 11_000, 250))
def test_ten_thousand_random_joins_agree_with_the_engine_in_every_order(first: int) -> None:
    run(first, 250, data_of=first)


PAIR = {
    "customers": so.private(pa.table({"id": range(50)}), unit="id", limits=so.limits(rows=1)),
    "orders": so.private(
        pa.table({"customer_id": [who for who in range(50) for _ in range(6)]}),
        parent={"customer_id": "customers.id"},
        limits=so.limits(rows=10),
    ),
}
"""Each customer has six orders of the ten allowed."""


@pytest.mark.parametrize(
    ("source", "truth"),
    [
        ("customers JOIN orders ON orders.customer_id = customers.id", 300),
        ("orders JOIN customers ON orders.customer_id = customers.id", 300),
        ("customers, orders WHERE customers.id = orders.customer_id", 300),
        ("customers LEFT JOIN orders ON orders.customer_id = customers.id", 300),
        ("(SELECT id FROM customers UNION ALL SELECT customer_id FROM orders) AS t", 350),
        ("(SELECT customer_id FROM orders UNION ALL SELECT id FROM customers) AS t", 350),
        ("orders AS a JOIN orders AS b ON a.customer_id = b.customer_id", 1800),
    ],
)
def test_no_order_of_tables_cuts_rows_off(source: str, truth: int) -> None:
    account = so.account(so.dataset("shop", PAIR, unit="customer"), so.unlimited("a comparison with the truth"))
    answer = account.sql(f"SELECT COUNT(*) AS n FROM {source}").run(epsilon=LARGE)
    assert answer.to_arrow()["n"].to_pylist() == pytest.approx([truth], abs=EXACT)


def test_limits_follow_from_who_owns_the_rows() -> None:
    schema = so.dataset("shop", PAIR, unit="customer").schema

    def rows(source: str) -> int | None:
        return contribution.declared(parse(f"SELECT COUNT(*) FROM {source}", schema)).rows

    assert rows("customers c JOIN orders o ON o.customer_id = c.id") == 10
    assert rows("orders o JOIN customers c ON o.customer_id = c.id") == 10
    assert rows("orders a JOIN orders b ON a.customer_id = b.customer_id") == 100
    assert rows("customers c LEFT JOIN orders o ON o.customer_id = c.id") == 10
    assert rows("(SELECT id FROM customers UNION ALL SELECT customer_id FROM orders) AS t") == 11


def test_integers_and_reals_are_added_up_in_either_order_of_a_union() -> None:
    tables = {
        "visits": pa.table({"who": [1, 1, 2, None], "spent": [1.5, 2.25, 3.0, None]}),
        "bills": pa.table({"who": [2, 3], "total": [4, 7]}),
    }
    columns = {"spent": so.bounds(0, 10), "total": so.bounds(0, 10)}
    private = {
        name: so.private(
            table,
            unit="who",
            columns={each: columns[each] for each in table.column_names[1:]},
            limits=so.limits(rows=2),
        )
        for name, table in tables.items()
    }
    account = so.account(so.dataset("spending", private, unit="person"), so.unlimited("a comparison with the truth"))
    parts = ["SELECT who, spent AS x FROM visits", "SELECT who, total AS x FROM bills"]
    for order in (parts, parts[::-1]):
        answer = account.sql(f"SELECT SUM(x) AS x FROM ({' UNION ALL '.join(order)}) AS t").run(epsilon=LARGE)
        assert answer.to_arrow()["x"].to_pylist() == pytest.approx([17.75], abs=0.2)
