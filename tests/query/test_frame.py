"""Questions by method calls are the same frozen questions as from SQL."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from query.framed import PEOPLE, ROWS, Arrangeable, table
from sordino.query.frame import aggregates as so
from sordino.query.frame import windows as windows
from sordino.query.frame.expression import Place, col, lit
from sordino.query.frame.when import when
from sordino.query.model.question import Question
from sordino.query.sql.parse import parse

Pair = tuple[str, Callable[[], Question]]

SIMPLE: list[Pair] = [
    ("SELECT COUNT(*) AS n FROM trips", lambda: table("trips").agg(n=so.count())),
    (
        "SELECT city, COUNT(*) AS rides, AVG(fare) AS fare FROM trips GROUP BY city",
        lambda: table("trips").group_by("city").agg(rides=so.count(), fare=so.mean("fare")),
    ),
    (
        "SELECT MONTH(day) AS month, city, SUM(fare + tip) / COUNT(*) AS each FROM trips GROUP BY MONTH(day), city",
        lambda: (
            table("trips")
            .group_by(month=col("day").month(), city="city")
            .agg(each=so.sum(col("fare") + col("tip")) / so.count())
        ),
    ),
    (
        "SELECT FLOOR(fare), COUNT(*) AS n FROM trips GROUP BY FLOOR(fare)",
        lambda: table("trips").group_by(col("fare").floor()).agg(n=so.count()),
    ),
    (
        "SELECT COUNT(*) AS n FROM trips WHERE fare > 10 AND (city = 'Oslo' OR paid) AND day >= '2026-01-31'",
        lambda: (
            table("trips")
            .filter(col("fare") > 10, (col("city") == "Oslo") | col("paid"))
            .filter(col("day") >= "2026-01-31")
            .agg(n=so.count())
        ),
    ),
    (
        "SELECT fare_class, COUNT(*) AS n FROM (SELECT CASE WHEN fare > 20 THEN 'dear' WHEN fare > 5 THEN 'fair' "
        "ELSE 'cheap' END AS fare_class FROM trips) GROUP BY fare_class",
        lambda: (
            table("trips")
            .select(
                fare_class=when(col("fare") > 20).then("dear").when(col("fare") > 5).then("fair").otherwise("cheap")
            )
            .group_by("fare_class")
            .agg(n=so.count())
        ),
    ),
    (
        "SELECT SUM(all_in) AS total FROM (SELECT *, fare + COALESCE(tip, 0) AS all_in FROM trips)",
        lambda: table("trips").with_columns(all_in=col("fare") + col("tip").fill_null(0)).agg(total=so.sum("all_in")),
    ),
    (
        "SELECT SUM(fare) AS total FROM (SELECT rider, fare / 2 AS fare FROM (SELECT rider, fare FROM trips))",
        lambda: table("trips").select("rider", "fare").with_columns(fare=col("fare") / 2).agg(total=so.sum("fare")),
    ),
]

JOINED: list[Pair] = [
    (
        "SELECT country, AVG(fare) AS fare FROM trips JOIN cities USING (city) GROUP BY country",
        lambda: table("trips").join("cities", on="city").group_by("country").agg(fare=so.mean("fare")),
    ),
    (
        "SELECT country, COUNT(*) AS n FROM trips LEFT JOIN cities ON note = cities.city WHERE cities.city <> "
        "trips.city GROUP BY country",
        lambda: (
            table("trips")
            .join("cities", on={"note": "city"}, how="left")
            .filter(col("cities.city") != col("trips.city"))
            .group_by("country")
            .agg(n=so.count())
        ),
    ),
    (
        "SELECT stars, COUNT(*) AS n FROM trips JOIN ratings USING (rider, city) GROUP BY stars",
        lambda: table("trips").join(table("ratings"), on=["rider", "city"]).group_by("stars").agg(n=so.count()),
    ),
    (
        "SELECT COUNT(*) AS n FROM trips JOIN (SELECT rider, AVG(fare) AS usual FROM trips GROUP BY rider) AS people "
        "USING (rider) WHERE fare > 2 * usual",
        lambda: (
            table("trips")
            .join(table("trips").per_person(usual=so.mean("fare")), on="rider")
            .filter(col("fare") > 2 * col("usual"))
            .agg(n=so.count())
        ),
    ),
    (
        "SELECT COUNT(*) AS n FROM trips WHERE EXISTS (SELECT 1 FROM cities WHERE cities.city = trips.city)",
        lambda: table("trips").semi_join("cities", on="city").agg(n=so.count()),
    ),
    (
        "SELECT COUNT(*) AS n FROM trips WHERE paid AND NOT EXISTS (SELECT 1 FROM ratings AS r WHERE "
        "r.rider = trips.rider AND r.city = trips.note AND stars > 2)",
        lambda: (
            table("trips")
            .filter(col("paid"))
            .anti_join(table("ratings").filter(col("stars") > 2), on={"rider": "rider", "note": "city"})
            .agg(n=so.count())
        ),
    ),
    (
        "SELECT city, COUNT(*) AS n FROM (SELECT * FROM (SELECT rider, city FROM trips) UNION ALL "
        "SELECT * FROM (SELECT rider, city FROM ratings)) GROUP BY city",
        lambda: (
            table("trips")
            .select("rider", "city")
            .union(table("ratings").select("rider", "city"))
            .group_by("city")
            .agg(n=so.count())
        ),
    ),
    (
        "SELECT city, COUNT(minutes) AS n FROM stops JOIN trips ON stops.trip = trips.trip GROUP BY city",
        lambda: table("stops").join("trips", on={"trip": "trip"}).group_by("city").agg(n=so.count("minutes")),
    ),
]

SUMMARISED: list[Pair] = [
    (
        "SELECT AVG(rides) AS rides, STDDEV(total) AS spread FROM (SELECT rider, COUNT(*) AS rides, SUM(fare) AS total "
        "FROM trips GROUP BY rider)",
        lambda: (
            table("trips")
            .per_person(rides=so.count(), total=so.sum("fare"))
            .agg(rides=so.mean("rides"), spread=so.deviation("total"))
        ),
    ),
    (
        "SELECT month, MEDIAN(most) AS most FROM (SELECT rider, month, MAX(fare) AS most FROM (SELECT *, MONTH(day) AS "
        "month FROM trips) GROUP BY rider, month) GROUP BY month",
        lambda: (
            table("trips")
            .with_columns(month=col("day").month())
            .per_person("month", most=so.maximum("fare"))
            .group_by("month")
            .agg(most=so.median("most"))
        ),
    ),
    (
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT rider, city FROM trips)",
        lambda: table("trips").select("rider", "city").distinct().agg(n=so.count()),
    ),
    (
        "SELECT city, seats, COUNT(*) AS n FROM trips GROUP BY ROLLUP (city, seats)",
        lambda: table("trips").group_by("city", "seats").rollup().agg(n=so.count()),
    ),
    (
        "SELECT city, seats, COUNT(*) AS n FROM trips GROUP BY CUBE (city, seats)",
        lambda: table("trips").group_by("city", "seats").cube().agg(n=so.count()),
    ),
    (
        "SELECT city, seats, COUNT(*) AS n FROM trips GROUP BY GROUPING SETS ((city, seats), (city), ())",
        lambda: table("trips").group_by("city", "seats").grouping_sets(["City", "seats"], "city", ()).agg(n=so.count()),
    ),
    ("SELECT DISTINCT note FROM trips", lambda: table("trips").group_by("note").keys()),
    (
        "SELECT k.city, COUNT(p.fare) AS n FROM cities AS k LEFT JOIN trips AS p ON k.city = p.city GROUP BY k.city",
        lambda: table("trips").group_by("city", listed_in="cities").agg(n=so.count("fare")),
    ),
]

WINDOWED: list[Pair] = [
    (
        "SELECT AVG(fare) AS first FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY rider ORDER BY day, fare DESC) AS "
        "nth FROM trips) WHERE nth = 1",
        lambda: (
            table("trips")
            .with_columns(nth=windows.row_number(order_by=["day", "-fare"]))
            .filter(col("nth") == 1)
            .agg(first=so.mean("fare"))
        ),
    ),
    (
        "SELECT COUNT(*) AS n FROM (SELECT *, RANK() OVER (PARTITION BY rider, city ORDER BY fare) AS place, "
        "LEAD(fare) OVER (PARTITION BY rider ORDER BY day) AS next FROM trips) WHERE place < 3 AND next > 5",
        lambda: (
            table("trips")
            .with_columns(place=windows.rank("fare", within="city"), next=windows.lead("fare", order_by="day"))
            .filter(col("place") < 3, col("next") > 5)
            .agg(n=so.count())
        ),
    ),
    (
        "SELECT AVG(gap) AS gap FROM (SELECT day - LAG(day) OVER (PARTITION BY rider ORDER BY day) AS gap FROM trips)",
        lambda: table("trips").select(gap=col("day") - windows.lag("day", order_by=col("day"))).agg(gap=so.mean("gap")),
    ),
    (
        "SELECT COUNT(*) AS n FROM (SELECT fare > 2 * AVG(fare) OVER (PARTITION BY rider, city, MONTH(day)) AS dear "
        "FROM trips) WHERE dear",
        lambda: (
            table("trips")
            .select(dear=col("fare") > 2 * so.mean("fare").each_person("city", col("day").month()))
            .filter(col("dear"))
            .agg(n=so.count())
        ),
    ),
]

QUESTIONS = dict([*SIMPLE, *JOINED, *SUMMARISED, *WINDOWED])

AGGREGATES: dict[str, Callable[[], so.Aggregated]] = {
    "COUNT(tip)": lambda: so.count("tip"),
    "COUNT(DISTINCT rider)": so.count_people,
    "COUNT(DISTINCT note)": lambda: so.count_distinct("note"),
    "SUM(fare)": lambda: so.sum("fare"),
    "AVG(fare * 2)": lambda: so.mean(col("fare") * 2),
    "VARIANCE(tip)": lambda: so.variance("tip"),
    "STDDEV(tip)": lambda: so.deviation("tip"),
    "MIN(fare)": lambda: so.minimum("fare"),
    "MAX(fare)": lambda: so.maximum("fare"),
    "MEDIAN(fare)": lambda: so.median("fare"),
    "QUANTILE(fare, 0.9)": lambda: so.quantile("fare", 0.9),
    "QUANTILE(fare, [0.25, 0.5, 1])": lambda: so.quantile("fare", [0.25, 0.5, 1]),
    "HISTOGRAM(fare, 0, 10, 20.5, 100)": lambda: so.histogram("fare", [0, 10, 20.5, 100]),
    "HISTOGRAM(fare, 10)": lambda: so.histogram("fare", 10),
    "COVAR_POP(fare, tip)": lambda: so.covariance("fare", "tip"),
    "CORR(fare, tip)": lambda: so.correlation("fare", "tip"),
    "TOP(city, 2)": lambda: so.top("city", 2),
    "MODE(city)": lambda: so.top("city"),
    "REGRESSION(fare, tip, seats)": lambda: so.regression("fare", "tip", "seats"),
    "COUNT(*) FILTER (WHERE fare > 20)": lambda: so.count().where(col("fare") > 20),
    "SUM(fare) FILTER (WHERE fare > 20 AND paid)": lambda: so.sum("fare").where(col("fare") > 20).where(col("paid")),
}


@pytest.mark.parametrize("sql", QUESTIONS)
def test_the_question_is_that_of_the_sql(sql: str) -> None:
    assert QUESTIONS[sql]() == parse(sql, PEOPLE)


@pytest.mark.parametrize("sql", AGGREGATES)
def test_every_aggregate_is_that_of_the_sql(sql: str) -> None:
    question = table("trips").group_by("seats").agg(x=AGGREGATES[sql]())
    assert question == parse(f"SELECT seats, {sql} AS x FROM trips GROUP BY seats", PEOPLE)  # noqa: S608


def test_every_aggregate_of_the_module_is_tried() -> None:
    public = {name for name, made in vars(so).items() if getattr(made, "__module__", "") == so.__name__}
    tried = {str(make()).partition("(")[0] for make in AGGREGATES.values()}
    assert {name for name in public if name.islower() and not name.startswith("_")} == tried


def test_equal_aggregates_are_asked_once() -> None:
    question = table("trips").agg(each=so.sum("fare") / so.count(), n=so.count(), share=so.count() / so.count_people())
    assert [aggregate.function for aggregate in question.aggregates] == ["sum", "count_rows", "count_people"]
    assert question == parse(
        "SELECT SUM(fare) / COUNT(*) AS each, COUNT(*) AS n, COUNT(*) / COUNT(DISTINCT rider) AS share FROM trips",
        PEOPLE,
    )


def test_keys_can_be_computed_with_by_the_name_that_they_were_given() -> None:
    question = table("trips").group_by(month=col("day").month()).agg(index=col("month") - 1, n=so.count())
    sql = "SELECT MONTH(day) AS month, MONTH(day) - 1 AS index, COUNT(*) AS n FROM trips GROUP BY MONTH(day)"
    assert question == parse(sql, PEOPLE)


def test_people_are_counted_where_no_column_names_them() -> None:
    question = table("stops").agg(people=so.count_people())
    assert [aggregate.function for aggregate in question.aggregates] == ["count_people"]
    assert question == parse("SELECT COUNT_PEOPLE() AS people FROM stops", PEOPLE)


def test_public_keys_list_rows_that_are_counted_as_they_are() -> None:
    question = table("trips").group_by("city", listed_in=table("cities").filter(col("mayor") > 3)).agg(n=so.count())
    listed = parse(
        "SELECT k.city, COUNT(p.fare) AS n FROM (SELECT * FROM cities) AS k LEFT JOIN trips AS p ON k.city = p.city "
        "GROUP BY k.city",
        PEOPLE,
    )
    assert question.aggregates[0].function == "count_rows"
    assert question.relation == listed.relation
    assert question.key_table is not None
    assert question.key_table.columns == ("city",)


def test_a_row_stays_one_row_where_rows_are_protected() -> None:
    question = table("trips", ROWS).join("cities", on="city").group_by("country").agg(n=so.count())
    assert question == parse("SELECT country, COUNT(*) AS n FROM trips JOIN cities USING (city) GROUP BY country", ROWS)


def test_a_constant_may_stand_on_the_left() -> None:
    question = table("trips").filter(20 < col("fare"), "Oslo" == col("city")).agg(n=so.count())  # noqa: SIM300
    assert question == parse("SELECT COUNT(*) AS n FROM trips WHERE fare > 20 AND city = 'Oslo'", PEOPLE)


def test_a_union_puts_columns_in_order_by_name() -> None:
    swapped = table("trips").select("rider", "city").union(table("ratings").select("city", "rider"))
    assert list(swapped.columns) == ["rider", "city"]
    assert (
        swapped.agg(n=so.count_people()).relation
        == parse(
            "SELECT COUNT(*) AS n FROM (SELECT * FROM (SELECT rider, city FROM trips) UNION ALL SELECT * FROM "
            "(SELECT rider, city FROM (SELECT city, rider FROM ratings)))",
            PEOPLE,
        ).relation
    )


def test_a_union_after_a_join_sees_each_column_once() -> None:
    joined = table("ratings").join("cities", on="city").select("rider", "city")
    both = table("ratings").join("cities", on="city").union(table("ratings").join("cities", on="city"))
    assert list(both.columns) == ["rider", "city", "stars", "country", "mayor"]
    assert list(joined.columns) == ["rider", "city"]
    assert both.agg(n=so.count()).relation.copies["ratings"] == 2


def test_columns_of_one_name_get_numbers_when_a_star_is_written_out() -> None:
    joined = table("trips").select("rider", "city").join("cities", on={"city": "country"})
    assert list(joined.columns) == ["rider", "city", "city_2", "country", "mayor"]
    assert list(joined.with_columns(one=lit(1)).columns) == ["rider", "city", "city_2", "country", "mayor", "one"]


def test_a_table_joined_with_itself_is_told_apart_by_a_number() -> None:
    twice = table("trips").join("trips", on={"rider": "rider"}).filter(col("trips.fare") < col("trips_2.fare"))
    sql = "SELECT COUNT(*) AS n FROM trips JOIN trips AS t2 ON trips.rider = t2.rider WHERE trips.fare < t2.fare"
    assert twice.agg(n=so.count()) == parse(sql, PEOPLE)


def test_tables_joined_many_times_all_have_names_of_their_own() -> None:
    ratings = table("ratings")
    four = ratings.join(ratings, on="rider").join(ratings.join("ratings", on="rider"), on="rider")
    names = sorted({seen.qualifier for seen in four.scope.visible})
    columns = [col(f"{name}.stars").node(Place(four.scope)) for name in names]
    assert len({four.scope.find(column).column for column in columns}) == 4


def test_a_hundred_steps_are_still_a_question() -> None:
    frame = table("trips")
    for place in range(100):
        frame = frame.with_columns(x=lit(place) + col("fare"))
    question = frame.agg(n=so.sum("x"))
    assert question.relation.copies["trips"] == 1
    assert question == frame.agg(n=so.sum("x"))


def test_a_column_whose_name_has_a_dot_is_found_as_it_is() -> None:
    dotted = table("trips").select("rider", **{"fare.net": col("fare") * 0.8})
    assert dotted.agg(n=so.sum("fare.net")).aggregates == dotted.agg(n=so.sum(col("trips.fare.net"))).aggregates


ARRANGED: dict[str, Callable[[Arrangeable], Arrangeable]] = {
    "HAVING COUNT(*) > 10 AND fare < 50 ORDER BY rides DESC, city LIMIT 3 OFFSET 1": lambda asked: (
        asked.having(so.count() > 10).having(col("fare") < 50).order_by("-rides", "city").limit(3, 1)
    ),
    "ORDER BY MEDIAN(fare) LIMIT 2": lambda asked: asked.order_by(so.median("fare")).limit(2),
    "ORDER BY city, rides DESC": lambda asked: asked.order_by("-rides").order_by(col("city")),
}


@pytest.mark.parametrize("sql", ARRANGED)
def test_answers_are_arranged_as_in_sql(sql: str) -> None:
    question = ARRANGED[sql](Arrangeable.of()).question
    plain = "SELECT city, COUNT(*) AS rides, AVG(fare) AS fare FROM trips GROUP BY city"
    assert question == parse(f"{plain} {sql}", PEOPLE)
