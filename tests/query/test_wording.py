"""Notes and receipts speak the analyst's words: columns of tables, what was computed from them, and what joins cut."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pytest

from sordino.accounting.account import unlimited
from sordino.accounting.bound import ROW
from sordino.data.dataset import dataset
from sordino.data.declare import bounds, keys, limits, private, public
from sordino.data.kinds import Kind
from sordino.query.ask import TableAccount, account
from sordino.query.model.expression import Call, ColumnRef, Expression, Literal
from sordino.query.model.relation import Scan
from sordino.query.model.wording import describe

RIDES = pa.table({"rider": [1, 1, 2], "fare": [1.0, 2.0, 3.0], "city": ["a", "b", "a"], "tip": [1.0, 2.0, None]})
PEOPLE = pa.table({"id": [1, 2], "age": [3, 4]})
CITIES = pa.table({"city": ["a", "b"], "size": [1, 2], "country": ["x", "y"]})
OF_RIDES = {"fare": bounds(0, 50), "tip": bounds(0, 5), "city": keys(["a", "b"])}
OF_CITIES = {"size": bounds(0, 10), "country": keys(["x", "y"])}


@pytest.fixture(scope="module")
def city() -> TableAccount:
    tables = {
        "rides": private(RIDES, unit="rider", columns=OF_RIDES, limits=limits(rows=5)),
        "people": private(PEOPLE, unit="id", columns={"age": bounds(0, 100)}, limits=limits(rows=1)),
        "cities": public(CITIES, columns=OF_CITIES),
    }
    return account(dataset("town", tables, unit="rider"), unlimited("a test"))


def said(data: TableAccount, text: str) -> str:
    return "\n".join(data.sql(text).price(epsilon=1).notes)


SUBQUERIES = {
    "SELECT AVG(fare) AS f FROM rides": "values of fare outside of [0, 50]",
    "SELECT AVG(fare * 2 + tip) AS f FROM rides": "values of (fare * 2) + tip outside of [0, 105]",
    "SELECT AVG(total) AS f FROM (SELECT rider, SUM(fare) AS total FROM rides GROUP BY rider) s": "values of SUM(fare)",
    "SELECT AVG(top) AS f FROM (SELECT rider, MAX(fare + tip) AS top FROM rides GROUP BY rider) s": (
        "values of MAX(fare + tip) outside of [0, 55]"
    ),
    "SELECT AVG(n) AS f FROM (SELECT rider, COUNT(*) AS n FROM rides GROUP BY rider) s": "values of COUNT(*)",
    "SELECT AVG(m) AS f FROM (SELECT rider, AVG(fare) AS m FROM rides GROUP BY rider) s": "values of AVG(fare)",
    "SELECT AVG(x) AS f FROM (SELECT fare AS x FROM rides UNION ALL SELECT tip AS x FROM rides) t": (
        "values of fare or tip outside of [0, 50]"
    ),
    "SELECT AVG(x) AS f FROM (SELECT fare AS x FROM rides UNION ALL SELECT fare AS x FROM rides) t": "values of fare ",
    "SELECT AVG(d) AS f FROM (SELECT fare - LAG(fare) OVER (PARTITION BY rider ORDER BY tip) AS d FROM rides) t": (
        "values of fare - LAG(fare) OVER (…) outside of [-50, 50]"
    ),
    "SELECT AVG(fare) AS f FROM (SELECT fare, ROW_NUMBER() OVER (PARTITION BY rider ORDER BY tip) AS k FROM rides) t "
    "WHERE k = 1": "values of fare ",
    "SELECT AVG(x) AS f FROM (SELECT ROUND(fare / 10) * 10 AS x FROM rides) t": "values of ROUND(fare / 10) * 10 ",
    "SELECT AVG(p.age) AS f FROM rides r JOIN people p ON r.rider = p.id": "values of age outside of [0, 100]",
    "SELECT AVG(fare) AS f FROM rides WHERE rider IN (SELECT id FROM people WHERE age > 3)": "values of fare ",
}


@pytest.mark.parametrize("text", SUBQUERIES)
def test_values_are_named_as_they_were_computed(city: TableAccount, text: str) -> None:
    notes = said(city, text)
    assert SUBQUERIES[text] in notes
    assert not re.search(r"\bc\d", notes), notes
    answer = city.sql(text).run(epsilon=1)
    assert not re.search(r"\bc\d", str(answer.details["noise"]) + str(answer.notes))


FARE, TIP = ColumnRef(Kind.REAL, "fare"), ColumnRef(Kind.REAL, "tip")
LARGE = Call(Kind.BOOLEAN, "greater", (FARE, Literal(Kind.INTEGER, 2)))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (LARGE, "fare > 2"),
        (Call(Kind.BOOLEAN, "and", (LARGE, LARGE, LARGE)), "(fare > 2) AND (fare > 2) AND (fare > 2)"),
        (Call(Kind.BOOLEAN, "is_null", (TIP,)), "tip IS NULL"),
        (Call(Kind.REAL, "case", (LARGE, TIP, LARGE, FARE, Literal(Kind.REAL, None))),
         "CASE WHEN fare > 2 THEN tip WHEN fare > 2 THEN fare ELSE NULL END"),
        (Call(Kind.REAL, "coalesce", (TIP, Literal(Kind.REAL, 0.5))), "COALESCE(tip, 0.5)"),
    ],
)  # fmt: skip
def test_expressions_read_like_sql(city: TableAccount, expression: Expression, text: str) -> None:
    assert describe(expression, Scan(city.dataset.schema.tables["rides"])) == text


def test_what_is_neither_column_nor_constant_nor_call_is_a_mistake(city: TableAccount) -> None:
    with pytest.raises(TypeError):
        describe(Expression(Kind.REAL), Scan(city.dataset.schema.tables["rides"]))


def test_nothing_is_said_about_values_that_cannot_lie_outside(city: TableAccount) -> None:
    assert "values of" not in said(city, "SELECT AVG(CASE WHEN fare > 2 THEN 1 ELSE 0 END) AS f FROM rides")
    assert "values of" in said(city, "SELECT AVG(CASE WHEN fare > 2 THEN fare ELSE 0 END) AS f FROM rides")


JOINS = {
    "SELECT COUNT(*) AS n FROM rides r JOIN cities c ON r.city = c.city": [
        "of cities 10,000 rows for each city can be joined at most: further ones are left out"
    ],
    "SELECT COUNT(*) AS n FROM rides r JOIN cities c ON r.city = c.city JOIN cities d ON c.country = d.country": [
        "of cities 100 rows for each country can be joined",
        "of cities 100 rows for each city can be joined",
    ],
    "SELECT COUNT(*) AS n FROM rides r LEFT JOIN people p ON r.rider = p.id": [
        "1,000 rows of each rider go into each side of the join with people at most"
    ],
}


@pytest.mark.parametrize("text", JOINS)
def test_it_is_said_where_a_join_may_be_cut(city: TableAccount, text: str) -> None:
    notes, answered = said(city, text), city.sql(text).run(epsilon=1).notes
    for words in JOINS[text]:
        assert words in notes
        assert any(words in note for note in answered)
    assert notes.count("join") == len(JOINS[text])


def test_joins_that_cannot_be_cut_are_not_spoken_of(city: TableAccount) -> None:
    text = (
        "WITH a AS (SELECT rider, SUM(fare) AS x FROM rides GROUP BY rider), "
        "b AS (SELECT rider, SUM(tip) AS x FROM rides GROUP BY rider) "
        "SELECT COUNT(*) AS n FROM a JOIN b ON a.rider = b.rider"
    )
    assert "join" not in said(city, text)
    assert "join" not in said(city, "SELECT COUNT(*) AS n FROM rides")


def test_of_a_public_table_one_row_of_a_key_is_joined_where_rows_are_protected() -> None:
    tables = {"rides": private(RIDES, columns=OF_RIDES), "cities": public(CITIES, columns=OF_CITIES)}
    rows = account(dataset("town", tables, unit=ROW), unlimited("a test"))
    assert "of cities one row for each city can be joined at most" in said(
        rows, "SELECT COUNT(*) AS n FROM rides r JOIN cities c ON r.city = c.city"
    )


def receipt(data: TableAccount, text: str) -> Any:
    return data.sql(text).run(epsilon=1).details["noise"]


def test_receipts_say_what_noise_is_in_and_how_wide_it_is_in_rows(city: TableAccount) -> None:
    (counted,) = receipt(city, "SELECT COUNT(*) AS n FROM rides")
    assert (counted["of"], counted["numbers"]) == ("COUNT(*)", 1)
    assert float(counted["standard_deviation_in_rows"]) == pytest.approx(5 * 2**0.5, rel=0.01), "five rows at ε = 1"
    (shared,) = receipt(city, "SELECT city, COUNT(*) AS n, AVG(fare) AS f FROM rides GROUP BY city")
    assert (shared["of"], shared["numbers"]) == ("COUNT(*), AVG(fare)", 3)
    assert float(shared["standard_deviation_in_rows"]) == pytest.approx(5 * 2**0.5, rel=0.01)
    (bins,) = receipt(city, "SELECT HISTOGRAM(fare, 0, 10, 20) AS h FROM rides")
    assert (bins["of"], bins["numbers"]) == ("HISTOGRAM(fare)", 2)
    assert float(bins["standard_deviation_in_rows"]) == pytest.approx(5 * 2**0.5, rel=0.01)
    assert receipt(city, "SELECT COUNT(DISTINCT rider) AS n FROM rides")[0]["of"] == "COUNT(DISTINCT person)"
