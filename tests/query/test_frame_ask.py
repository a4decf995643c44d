"""From method calls to an answer: priced and charged as the same question in SQL is."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sordino.accounting.budget import budget
from sordino.data.dataset import dataset
from sordino.data.declare import bounds, keys, limits
from sordino.errors import BudgetError
from sordino.query.ask import Ask, TableAccount, account
from sordino.query.frame import aggregates as so
from sordino.query.frame.expression import col

CITIES = ["Oslo", "Rome", "Bern"]


@pytest.fixture
def trips() -> TableAccount:
    people = range(600)
    data = pa.table(
        {
            "rider": list(people),
            "city": [CITIES[person % 2] for person in people],
            "fare": [float(person % 50) for person in people],
        }
    )
    declared = dataset(
        "trips",
        data,
        unit="rider",
        columns={"city": keys(CITIES), "fare": bounds(0, 50)},
        limits=limits(rows=1),
    )
    return account(declared, budget(epsilon=1000))


def test_the_price_is_that_of_the_same_question_in_sql(trips: TableAccount) -> None:
    asked = trips.table("trips").group_by("city").agg(rides=so.count(), fare=so.mean("fare"))
    written = trips.sql("SELECT city, COUNT(*) AS rides, AVG(fare) AS fare FROM trips GROUP BY city")
    assert isinstance(asked, Ask)
    assert asked.question == written.question
    assert str(asked.price(epsilon=1)) == str(written.price(epsilon=1))


def test_an_answer_is_filtered_ordered_and_cut(trips: TableAccount) -> None:
    asked = (
        trips.table("trips")
        .filter(col("fare") < 40)
        .group_by("city")
        .agg(rides=so.count(), fare=so.mean("fare"))
        .having(col("rides") > 50)
        .order_by("-city")
    )
    answer = asked.run(epsilon=300).to_pandas()
    assert list(answer["city"]) == ["Rome", "Oslo"]
    assert list(answer["rides"].round()) == [240, 240]
    assert list(answer["fare"].round()) == [20, 19]
    assert list(asked.limit(1).run(epsilon=300).to_pandas()["city"]) == ["Rome"]


def test_what_is_run_is_charged(trips: TableAccount) -> None:
    asked = trips.table("trips").agg(rides=so.count())
    asked.run(epsilon=900)
    with pytest.raises(BudgetError):
        asked.run(epsilon=200)
    assert len(trips.history) == 1


def test_the_text_goes_with_the_question(trips: TableAccount) -> None:
    assert trips.table("trips").agg(rides=so.count()).text == "table('trips').agg(rides=count())"
