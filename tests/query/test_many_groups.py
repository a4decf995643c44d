"""Very many groups: exact sums come back by Arrow and meet noise in this process; rows never leave the engine."""

from __future__ import annotations

import resource
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from query.engines import Engine
from sordino.accounting.account import unlimited
from sordino.data.dataset import dataset
from sordino.data.declare import bounds, limits, private, public
from sordino.query.answer.answer import Answer
from sordino.query.ask import account

FEW, MANY = 10**5, 10**6
SIZES = [FEW, pytest.param(MANY, marks=pytest.mark.long)]
GIBIBYTE = 2**20
"""In the unit of ru_maxrss."""
PER_GROUP = 4
RIDES = {"fare": bounds(0, 100)}


def rides(engine: Engine, groups: int) -> Any:
    """Return a table of four people in each place, each with one ride; made by Spark itself."""
    session = engine.backend._session
    return session.range(PER_GROUP * groups).selectExpr(
        "id AS rider", f"id % {groups} AS place", f"CAST((id % {groups}) % 100 AS DOUBLE) AS fare"
    )


def by_private_keys(engine: Engine, groups: int) -> Answer:
    data = dataset("rides", rides(engine, groups), unit="rider", columns=RIDES, limits=limits(rows=1))
    asked = account(data, unlimited("a test")).sql(
        "SELECT place, COUNT(*) AS n, AVG(fare) AS fare FROM rides GROUP BY place"
    )
    return asked.run(epsilon=40, delta=1e-3)


def by_a_public_table(engine: Engine, groups: int) -> Answer:
    places = engine.backend._session.range(groups + 1).selectExpr("id AS place")
    tables = {
        "rides": private(rides(engine, groups), unit="rider", columns=RIDES, limits=limits(rows=1)),
        "places": public(places),
    }
    asked = account(dataset("city", tables, unit="rider"), unlimited("a test")).sql(
        "SELECT p.place, COUNT(r.rider) AS n, AVG(r.fare) AS fare FROM places p LEFT JOIN rides r "
        "ON r.place = p.place GROUP BY p.place"
    )
    return asked.run(epsilon=40)


@pytest.mark.parametrize("groups", SIZES)
@pytest.mark.parametrize("ask", [by_private_keys, by_a_public_table])
def test_spark_answers_by_very_many_groups(
    spark_engine: Engine, ask: Callable[[Engine, int], Answer], groups: int
) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = ask(spark_engine, groups)
    table = answer.to_arrow(intervals=True)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2 * GIBIBYTE
    assert table.num_rows == groups + (ask is by_a_public_table)
    place, count, fare = (table[name].to_numpy()[:groups] for name in ("place", "n", "fare"))
    assert np.array_equal(place, np.arange(groups))
    assert np.abs(count - PER_GROUP).max() < 1.5
    assert np.abs(fare - place % 100).max() < 50
    assert np.abs(fare - place % 100).mean() < 2


def test_lists_of_keys_are_taken_from_spark_again(spark_engine: Engine) -> None:
    """They are sent as views, which would fill the session if they stayed."""
    session = spark_engine.backend._session
    before = {table.name for table in session.catalog.listTables()}
    by_a_public_table(spark_engine, 2_000)
    left = {table.name for table in session.catalog.listTables()} - before
    assert all(name.startswith("sordino_") for name in left), left


def test_keys_that_are_not_all_combinations(spark_engine: Engine) -> None:
    pairs = pa.table({"a": [1, 1, 2], "b": ["x", "y", "x"]})
    rows = pa.table({"rider": [1, 2, 3, 4], "a": [1, 2, 2, 9], "b": ["y", "x", "y", "x"]})
    tables = {
        "rides": private(spark_engine.load("rides", rows), unit="rider", limits=limits(rows=1)),
        "pairs": public(pairs),
    }
    asked = account(dataset("city", tables, unit="rider"), unlimited("a test")).sql(
        "SELECT p.a, p.b, COUNT(r.rider) AS n FROM pairs p LEFT JOIN rides r ON r.a = p.a AND r.b = p.b "
        "GROUP BY p.a, p.b"
    )
    answer = asked.run(epsilon=100, integers=True)
    assert answer.to_arrow().select(["a", "b"]).to_pylist() == pairs.to_pylist()
    assert answer["n"].tolist() == pytest.approx([0, 1, 1], abs=0.6)
