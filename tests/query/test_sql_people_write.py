"""SQL as people write it: with next to no noise, answers are what DuckDB says; keys that are public are all returned."""

# ruff: noqa: E501  (questions stand on one line; these are read by us, or run on made-up rows)

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sordino as so
from query.engines import Engine
from query.sql_schemas import ask
from sordino.errors import ArgumentError, BudgetError, QuestionError
from sordino.query.ask import TableAccount

FIRST = datetime(2026, 1, 5, 9, 30)
VISITS = pa.table(
    {
        "person": [place // 2 for place in range(200)],
        "city": [("Oslo", "Rome", "Bern", None)[place % 4] for place in range(200)],
        "code": [("12", "7", "x", "12")[place % 4] for place in range(200)],
        "n": [place % 7 for place in range(200)],
        "part": [place % 11 / 100 for place in range(200)],
        "paid": [place % 3 == 0 for place in range(200)],
        "came": [FIRST + timedelta(days=place % 50, minutes=place) for place in range(200)],
        "went": [FIRST + timedelta(days=place % 50, minutes=2 * place, seconds=20) for place in range(200)],
    }
)
CITIES = pa.table({"city": ["Oslo", "Rome", "Bern", "Nice"], "land": ["north", "south", "south", "west"]})
BARE = VISITS.set_column(VISITS.column_names.index("came"), "came", VISITS["came"].cast(pa.timestamp("us")))


@pytest.fixture
def shop(duckdb_engine: Engine) -> TableAccount:
    data = so.dataset(
        "shop",
        {
            "visits": so.private(
                duckdb_engine.load("people_write_visits", BARE), unit="person",
                columns={"n": so.bounds(0, 6), "part": so.bounds(0, "0.1")}, limits=so.limits(rows=2),
            ),
            "cities": so.public(duckdb_engine.load("people_write_cities", CITIES)),
        },
        unit="person",
    )  # fmt: skip
    return so.account(data, so.unlimited("a test"))


ANSWERED: dict[str, str | None] = {
    "SELECT 1 AS k, COUNT(*) AS m FROM visits WHERE part BETWEEN 0.06 - 0.01 AND 0.06 + 0.01": None,
    "SELECT 1 AS k, SUM(1) AS m FROM visits": None,
    "SELECT 1 AS k, SUM(CASE WHEN n > 3 THEN 1 END) AS m FROM visits": None,
    "SELECT 1 AS k, SUM(paid) AS m FROM visits": "SELECT 1, COUNT_IF(paid) FROM visits",
    "SELECT 1 AS k, COUNT(*) AS m FROM visits WHERE code = 12": "SELECT 1, COUNT_IF(code = '12') FROM visits",
    "SELECT 1 AS k, COUNT(*) AS m FROM visits WHERE code IN (12, 7)": "SELECT 1, COUNT_IF(code <> 'x') FROM visits",
    "SELECT 1 AS k, COUNT(*) AS m FROM visits WHERE n = '3' AND paid = 1": None,
    "SELECT 1 AS k, COUNT(DISTINCT (city, n)) AS m FROM visits": None,
    "SELECT 1 AS k, COUNT(*) AS m FROM visits WHERE city IS DISTINCT FROM 'Oslo'": None,
    "SELECT 1 AS k, COUNT(*) AS m FROM visits WHERE city IS NOT DISTINCT FROM NULL": None,
    "SELECT 1 AS k, COUNT(*) AS m FROM visits WHERE city = ANY (['Oslo', 'Rome'])": None,
    "SELECT 1 AS k, COUNT(*) AS m FROM visits WHERE CONTAINS(city, 'o') AND NOT ENDS_WITH(city, 'lo')": None,
    "SELECT 1 AS k, SUM(CLIP(STRPOS(city, 'o'), 0, 9)) AS m FROM visits": "SELECT 1, SUM(STRPOS(city, 'o')) FROM visits",
    "SELECT 1 AS k, COUNT(*) AS m FROM visits WHERE SUBSTRING(city FROM 2 FOR 2) = 'om' OR RIGHT(city, 2) = 'rn'": None,
    "SELECT 1 AS k, COUNT(*) AS m FROM visits WHERE REPLACE(city, 'o', 'a') = 'Rame'": None,
    "SELECT 1 AS k, COUNT(*) AS m FROM visits WHERE SPLIT_PART(city, 'o', 2) = 'me'": None,
    "SELECT 1 AS k, COUNT(*) AS m FROM visits WHERE went - came > INTERVAL 100 MINUTE": None,
    "SELECT 1 AS k, COUNT(*) AS m FROM visits WHERE came + INTERVAL 2 MONTH < TIMESTAMP '2026-03-20 00:00:00'": None,
    "SELECT 1 AS k, COUNT(*) AS m FROM visits WHERE came >= DATE '2026-01-31' + INTERVAL 1 MONTH": None,
    "SELECT 1 AS k, SUM(CLIP(DATE_DIFF('hour', came, went), 0, 99)) AS m FROM visits": (
        "SELECT 1, SUM(DATE_DIFF('hour', came, went)) FROM visits"
    ),
    "SELECT 1 AS k, SUM(CLIP(went - came, 0, 99999)) / 60 AS m FROM visits": (
        "SELECT 1, SUM(EPOCH(went - came)) / 60 FROM visits"
    ),
    "SELECT 1 AS k, COUNT(*) AS m FROM visits WHERE STRFTIME(came, '%Y-%m') = '2026-02'": None,
    "SELECT 1 AS k, COUNT(*) AS m FROM visits WHERE LAST_DAY(came) = DATE '2026-01-31'": None,
    "SELECT 1 AS k, COUNT(*) AS m FROM (visits JOIN cities ON visits.city = cities.city) WHERE land = 'south'": None,
    "SELECT land AS k, COUNT(*) AS m FROM visits JOIN cities ON visits.city = cities.city GROUP BY land": (
        "SELECT land, COUNT(v.n) FROM cities c LEFT JOIN visits v ON v.city = c.city GROUP BY land"
    ),
    "SELECT FLOOR(n / 3) * 10 AS k, COUNT(*) AS m FROM visits GROUP BY k": (
        "SELECT CAST(FLOOR(n / 3) * 10 AS INT), COUNT(*) FROM visits GROUP BY 1"
    ),
    "SELECT n % 2 AS k, SUM(n) AS m FROM visits GROUP BY k": None,
    "SELECT n - 3 AS k, COUNT(*) AS m FROM visits GROUP BY n - 3": None,
    "SELECT WIDTH_BUCKET(n, 0, 4, 2) AS k, COUNT(*) AS m FROM visits GROUP BY k": (
        "SELECT CASE WHEN n >= 4 THEN 3 WHEN n >= 2 THEN 2 ELSE 1 END, COUNT(*) FROM visits GROUP BY 1 "
        "UNION ALL SELECT 0, 0"
    ),
    "SELECT city AS k, COUNT(*) AS m FROM visits WHERE city IN ('Rome', 'Nice') GROUP BY city": (
        "SELECT 'Rome', COUNT(*) FROM visits WHERE city = 'Rome' UNION ALL SELECT 'Nice', 0"
    ),
    "SELECT c.city AS k, COUNT(n) AS m FROM visits v RIGHT JOIN (SELECT DISTINCT city FROM cities) c "
    "ON v.city = c.city GROUP BY c.city": None,
    "SELECT k, COUNT(n) AS m FROM visits RIGHT JOIN UNNEST(['Rome', 'Nice']) AS k ON city = k GROUP BY k": (
        "SELECT 'Rome', COUNT(*) FROM visits WHERE city = 'Rome' UNION ALL SELECT 'Nice', 0"
    ),
    "SELECT 1 AS k, COUNT(*) AS m FROM (SELECT person FROM visits WHERE n > 3 INTERSECT "
    "SELECT person FROM visits WHERE paid)": None,
    "SELECT 1 AS k, COUNT(*) AS m FROM (SELECT person FROM visits WHERE n > 3 EXCEPT "
    "SELECT person FROM visits WHERE paid)": None,
    "SELECT 1 AS k, COUNT(*) AS m FROM (SELECT person FROM visits WHERE n > 3 UNION SELECT person FROM visits "
    "WHERE paid)": None,
    "SELECT TOP 1 n AS k, COUNT(*) AS m FROM visits WHERE n IN (1, 2) GROUP BY n ORDER BY n": (
        "SELECT n, COUNT(*) FROM visits WHERE n = 1 GROUP BY n"
    ),
    "SELECT city AS k, SUM(n, contribution_bounds_per_group => (0, 4)) AS m FROM visits "
    "WHERE city IN ('Oslo', 'Rome') GROUP BY city": (
        "SELECT city, SUM(LEAST(s, 4)) FROM (SELECT person, city, SUM(n) AS s FROM visits GROUP BY ALL) "
        "WHERE city IN ('Oslo', 'Rome') GROUP BY city"
    ),
    "SELECT k, 2 * m AS m FROM (SELECT city AS k, COUNT(*) AS m FROM visits WHERE city IN ('Rome', 'Nice') GROUP BY city) "
    "WHERE m > 10 ORDER BY m": None,
    "WITH c AS (SELECT land, n FROM visits v JOIN cities c ON v.city = c.city), g AS (SELECT land AS k, SUM(n) AS m FROM c "
    "GROUP BY land) SELECT * FROM g WHERE m > 1": None,
    "SELECT 1 AS k, n + 1 AS m FROM (SELECT COUNT(*) AS n FROM visits)": None,
    "SELECT DECODE(n, 1, 10, 2, 20, 0) AS k, COUNT(*) AS m FROM visits GROUP BY k": (
        "SELECT CASE n WHEN 1 THEN 10 WHEN 2 THEN 20 ELSE 0 END, COUNT(*) FROM visits GROUP BY 1"
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", ANSWERED)
def test_answers_are_those_of_the_engine(shop: TableAccount, text: str) -> None:
    answer = shop.sql(text.replace("(DISTINCT (city, n))", "(DISTINCT city, n)")).run(epsilon=1_000).to_pandas()
    with duckdb.connect() as connection:
        connection.register("visits", BARE)
        connection.register("cities", CITIES)
        expected = dict(connection.execute(ANSWERED[text] or text).fetchall())
    found = dict(zip(answer["k"], answer["m"], strict=True))
    if "DISTINCT (city" in text:
        expected = {1: 21}  # those in which nothing is missing
    assert set(found) == set(expected)
    for key, value in expected.items():
        assert found[key] == pytest.approx(float(value), abs=0.6, rel=1e-3)


def test_variances_of_samples(shop: TableAccount) -> None:
    answer = shop.sql("SELECT VAR_SAMP(n) AS v, STDDEV_SAMP(n) AS d, VAR(n) AS p FROM visits").run(epsilon=10_000)
    with duckdb.connect() as connection:
        connection.register("visits", BARE)
        expected = connection.execute("SELECT VAR_SAMP(n), STDDEV_SAMP(n), VAR_POP(n) FROM visits").fetchall()
    assert [float(answer[name][0]) for name in ("v", "d", "p")] == pytest.approx(expected[0], abs=1e-2)


REFUSED = {
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, group_selection_strategy = PUBLIC_GROUPS) zone, COUNT(*) "
    "FROM orders GROUP BY zone": "RIGHT JOIN",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, k_threshold = 9) COUNT(*) FROM orders": "give that",
    "SELECT MEDIAN(amount, contribution_bounds_per_group => (0, 1)) FROM orders": "contribution_bounds_per_row",
    "SELECT SUM(DISTINCT amount) FROM orders": "group by x",
    "SELECT TRANSMOGRIFY(zone) FROM orders": "the page on SQL",
    "SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM items i WHERE i.order_id <> o.order_id)": "by an equality",
    "SELECT COUNT(*) FROM orders CROSS JOIN items": "two private tables",
    "SELECT COUNT(*) FROM orders WHERE at + INTERVAL 1 FORTNIGHT > at": "constant whole number of seconds",
    "SELECT COUNT(*) FROM orders WHERE day > INTERVAL 1 DAY": "difference of dates",
    "SELECT COUNT(*) FROM (SELECT customer_id, zone FROM orders INTERSECT SELECT customer_id, zone FROM orders)": "NULL",
    "SELECT AVG(n) FROM (SELECT zone, COUNT(*) AS n FROM orders GROUP BY zone)": "keyed by the person",
    "SELECT n FROM (SELECT zone, COUNT(*) AS n FROM orders GROUP BY zone LIMIT 3) WHERE n > 5": "before the LIMIT",
    "SELECT m FROM (SELECT zone, COUNT(*) AS n FROM orders GROUP BY zone)": "no column 'm'",
    "SELECT TIMESTAMPDIFF(MINUTE, at, at) AS m, COUNT(*) FROM orders GROUP BY m": "engines disagree",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_refusal_names_what_to_write(text: str) -> None:
    with pytest.raises(QuestionError, match=REFUSED[text]):
        ask(text)


def test_a_delta_beyond_the_budget_is_told_as_such(duckdb_engine: Engine) -> None:
    rows = so.private(duckdb_engine.load("people_write_few", BARE), unit="person", limits=so.limits(rows=2))
    budget = so.account(so.dataset("shop", {"visits": rows}, unit="person"), so.budget(epsilon=1, delta="1e-9"))
    with pytest.raises(BudgetError, match=r"needs a delta of 0\.001 of its own"):
        budget.sql("SELECT city, COUNT(*) AS n FROM visits GROUP BY city").run(epsilon=0.1, delta="1e-3")


def test_tables_with_dotted_names(duckdb_engine: Engine) -> None:
    rows = so.private(duckdb_engine.load("people_write_dotted", BARE), unit="person", limits=so.limits(rows=2))
    data = so.dataset("shop", {"PUMS.Visits": rows}, unit="person")
    budget = so.account(data, so.unlimited("a test"))
    for name in ("PUMS.Visits", "pums.visits", "Visits", "shop.PUMS.Visits"):
        found = budget.sql(f"SELECT COUNT(Visits.n) AS n FROM {name}").run(epsilon=100)  # noqa: S608
        assert abs(found["n"][0] - 200) < 5
    with pytest.raises(QuestionError, match=r"no table 'other\.Visits'"):
        budget.sql("SELECT COUNT(*) FROM other.Visits")
    for wrong in ("a.b.c.d", "a..b", "a.b-c", "."):
        with pytest.raises(ArgumentError, match="name"):
            so.dataset("shop", {wrong: rows}, unit="person")


def keys_of(text: str) -> Any:
    return ask(text).keys[0].column.keys


def test_keys_that_the_question_lists_are_public() -> None:
    assert keys_of("SELECT zone, COUNT(*) FROM orders WHERE zone = 'a' OR zone IN ('b', 'a') GROUP BY zone") == (
        "a",
        "b",
    )
    declared = "SELECT city, COUNT(*) FROM customers WHERE city IN ('Chur', 'Bonn', 'Bern') GROUP BY city"
    assert keys_of(declared) == ("Bern", "Chur")
    assert keys_of("SELECT zone, COUNT(*) FROM orders WHERE zone = 'a' OR paid GROUP BY zone") is None
    assert keys_of("SELECT zone, COUNT(*) FROM orders WHERE NOT (zone = 'a') GROUP BY zone") is None
    assert keys_of("SELECT order_id, COUNT(*) FROM orders WHERE order_id > 3 AND order_id <= 6 GROUP BY 1") == (4, 5, 6)


def test_keys_of_arithmetic_on_bounded_numbers_are_public() -> None:
    assert keys_of("SELECT FLOOR(age / 50) * 50, COUNT(*) FROM customers GROUP BY 1") == (0, 50, 100)
    assert keys_of("SELECT age % 3, COUNT(*) FROM customers GROUP BY 1") == (0, 1, 2)
    assert keys_of("SELECT ROUND(age, -2), COUNT(*) FROM customers GROUP BY 1") == (0, 100)
    assert keys_of("SELECT order_id % 3, COUNT(*) FROM orders GROUP BY 1") == (-2, -1, 0, 1, 2)
    assert keys_of("SELECT order_id + 3, COUNT(*) FROM orders GROUP BY 1") is None
