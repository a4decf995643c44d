"""What SQL means, end to end: with next to no noise, answers are those of the engine itself."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

import sordino as so
from query.engines import Engine
from sordino.query.ask import TableAccount

VISITS = pa.table(
    {
        "person": [place // 2 for place in range(200)],
        "city": [("Oslo", "Rome", "Bern", None)[place % 4] for place in range(200)],
        "paid": [(None, 3.0, -7.5, 90.0, float("inf"))[place % 5] for place in range(200)],
        "n": [place % 7 for place in range(200)],
    }
)
CITIES = pa.table({"city": ["Oslo", "Rome", "Bern", "Nice"], "land": ["north", "south", "south", "west"]})


@pytest.fixture
def shop(duckdb_engine: Engine) -> TableAccount:
    data = so.dataset(
        "shop",
        {
            "visits": so.private(
                duckdb_engine.load("visits", VISITS), unit="person", columns={"n": so.bounds(0, 6)},
                limits=so.limits(rows=2),
            ),
            "cities": so.public(duckdb_engine.load("cities", CITIES)),
        },
        unit="person",
        views={"rome": "SELECT person, n FROM visits WHERE city = 'Rome'"},
    )  # fmt: skip
    return so.account(data, so.unlimited("a test"))


PLAIN = {
    "SELECT c.land AS k, COUNT(v.n) AS m FROM cities c LEFT JOIN visits v ON c.city = v.city GROUP BY c.land": None,
    "SELECT UPPER(c.land) AS k, SUM(v.n) AS m FROM cities c LEFT JOIN visits v ON c.city = v.city AND v.n > 2 "
    "GROUP BY 1": (
        "SELECT UPPER(c.land) AS k, COALESCE(SUM(v.n), 0) AS m FROM cities c LEFT JOIN visits v ON c.city = v.city AND "
        "v.n > 2 GROUP BY 1"
    ),
    "SELECT c.city AS k, COUNT(v.n) AS m FROM cities c LEFT JOIN visits v ON c.city = v.city GROUP BY c.city": None,
    "SELECT 1 AS k, COUNT(*) AS m FROM visits v, cities c WHERE v.city = c.city AND c.land = 'south' AND v.n > 2": None,
    "SELECT 1 AS k, SUM(n) AS m FROM rome": "SELECT 1 AS k, SUM(n) AS m FROM visits WHERE city = 'Rome'",
    "SELECT 1 AS k, COUNT(CLIP(paid, 0, 10)) AS m FROM visits": "SELECT 1 AS k, COUNT(paid) AS m FROM visits",
    "SELECT 1 AS k, SUM(CLIP(paid, 0, 10)) AS m FROM visits": (
        "SELECT 1 AS k, SUM(CASE WHEN paid < 0 THEN 0 WHEN paid > 10 THEN 10 ELSE paid END) AS m FROM visits"
    ),
    "SELECT 1 AS k, SUM(CLIP(n, 2, 4)) AS m FROM visits": (
        "SELECT 1 AS k, SUM(CASE WHEN n < 2 THEN 2 WHEN n > 4 THEN 4 ELSE n END) AS m FROM visits"
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
def test_answers_are_those_of_the_engine(shop: TableAccount, text: str) -> None:
    answer = shop.sql(text).run(epsilon=10_000).to_pandas()
    with duckdb.connect() as connection:
        connection.register("visits", VISITS)
        connection.register("cities", CITIES)
        expected = dict(connection.execute(PLAIN[text] or text).fetchall())
    found = dict(zip(answer["k"], answer["m"], strict=True))
    assert set(found) == set(expected)
    for key, value in expected.items():
        assert found[key] == pytest.approx(float(value), abs=0.6)


def test_which_groups_there_are(shop: TableAccount) -> None:
    for text in ("SELECT DISTINCT city FROM visits", "SELECT city FROM visits GROUP BY city"):
        answer = shop.sql(text).run(epsilon=20, delta="1e-3")
        assert answer.names == ["city"]
        assert {str(each) for each in answer.to_pandas()["city"].dropna()} == {"Oslo", "Rome", "Bern"}
