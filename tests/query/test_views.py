"""Views: subqueries that the data's owner has named. They can be asked about like tables, and inherit who owns what."""

# ruff: noqa: S608  (the texts are ours)

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sordino as so
from sordino.data.dataset import Dataset
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Limits
from sordino.errors import ArgumentError, QuestionError
from sordino.query.model.limits import limits_of
from sordino.query.model.relation import Filter, Project
from sordino.query.sql.parse import parse
from sordino.query.sql.views import view_columns

TRIPS = pa.table(
    {"rider": [1, 1, 2, 3], "city": ["Oslo", "Rome", "Oslo", None], "fare": [9.5, 120.0, 30.0, None], "age": [30] * 4}
)
CITIES = pa.table({"city": ["Oslo", "Rome"], "country": ["NO", "IT"]})
DEAR = "SELECT rider, city, CASE WHEN fare > 50 THEN 50 ELSE fare END AS fare FROM trips WHERE fare > 10"


def taxi(**words: Any) -> Dataset:
    columns = {"fare": so.bounds(0, 100), "city": so.keys(["Oslo", "Rome"])}
    return so.dataset(
        "taxi",
        {
            "trips": so.private(TRIPS, unit="rider", columns=columns, limits=so.limits(rows=2)),
            "cities": so.public(CITIES, columns={"country": so.keys(["NO", "IT"])}),
        },
        unit="rider",
        **words,
    )


def test_a_view_is_asked_about_like_a_table() -> None:
    data = taxi(views={"dear": DEAR})
    for text in ("SELECT SUM(fare) AS s, COUNT(DISTINCT rider) FROM dear", "SELECT SUM(d.fare) AS s FROM Dear AS d"):
        question = parse(text, data.schema)
        assert isinstance(question.relation, Project)
        assert isinstance(question.relation.source, Filter)
        assert limits_of(question.relation, (), question.schema) == Limits(rows=2)
    asked = so.account(data, so.unlimited("a test"))
    inside = asked.sql(f"SELECT city, COUNT(*) AS n, AVG(fare) AS fare FROM ({DEAR}) AS t GROUP BY city")
    by_name = asked.sql("SELECT city, COUNT(*) AS n, AVG(fare) AS fare FROM dear GROUP BY city")
    assert by_name.question == inside.question
    assert by_name.run(epsilon=1).names == ["city", "n", "fare"]


def test_what_is_known_is_inherited() -> None:
    columns = view_columns("dear", taxi(views={"dear": DEAR}).schema)
    assert list(columns) == ["rider", "city", "fare"]
    assert (columns["city"].kind, columns["city"].keys) == (Kind.TEXT, ("Oslo", "Rome"))
    assert columns["fare"].range == Range.of(0, 100)


def test_views_build_upon_each_other_and_on_joins() -> None:
    data = (
        taxi()
        .with_view("dear", DEAR)
        .with_view("abroad", "SELECT d.*, c.country FROM dear d JOIN cities c USING (city)")
        .with_view("people", "SELECT rider, COUNT(*) AS n FROM abroad GROUP BY rider")
        .with_view("places", "SELECT UPPER(city) AS city FROM cities")
    )
    question = parse("SELECT COUNT(*), AVG(n) FROM people", data.schema)
    assert limits_of(question.relation, (), question.schema) == Limits(1, 1, 1)
    listed = parse(
        "SELECT p.city, COUNT(a.fare) FROM places p LEFT JOIN abroad a ON p.city = a.city GROUP BY p.city", data.schema
    )
    assert listed.key_table is not None
    assert "abroad" not in taxi().schema.views


def test_a_frame_is_over_a_view_as_well() -> None:
    budget = so.account(taxi(views={"dear": DEAR}), so.unlimited("a test"))
    framed = budget.table("dear").filter(so.col("fare") > 20).group_by("city").agg(n=so.count())
    written = budget.sql("SELECT city, COUNT(*) AS n FROM dear WHERE fare > 20 GROUP BY city")
    assert framed.question.relation == written.question.relation
    assert list(budget.table("dear").columns) == ["rider", "city", "fare"]


def test_a_name_of_the_question_comes_first_and_views_do_not_see_it() -> None:
    schema = taxi(views={"dear": DEAR}).schema
    shadowed = parse("WITH dear AS (SELECT * FROM trips) SELECT COUNT(*) FROM dear", schema)
    assert len(shadowed.relation.columns) == len(TRIPS.column_names)
    unmoved = parse("WITH trips AS (SELECT 1 AS x FROM cities) SELECT COUNT(*) FROM dear", schema)
    assert unmoved.relation == parse("SELECT COUNT(*) FROM dear", schema).relation


def test_a_view_is_shown_with_what_it_says() -> None:
    shown = repr(taxi(views={"dear": DEAR}))
    assert f"view dear: {DEAR}" in shown
    assert "<p>view dear: SELECT rider" in taxi(views={"dear": DEAR})._repr_html_()
    with pytest.raises(QuestionError, match="did you mean dear"):
        parse("SELECT COUNT(*) FROM deer", taxi(views={"dear": DEAR}).schema)


def test_views_are_kept_in_yaml(tmp_path: Path) -> None:
    views = {"dear": DEAR, "dearest": "SELECT * FROM dear WHERE fare > 40"}
    path = tmp_path / "taxi.yaml"
    path.write_text(taxi(views=views).to_yaml())
    again = so.dataset_from_file(path, {"trips": TRIPS, "cities": CITIES})
    assert dict(again.schema.views) == views
    assert list(again.schema.views) == ["dear", "dearest"]
    path.write_text("name: taxi\nunit: rider\nviews:\n  few: SELECT rider FROM taxi\n")
    assert so.dataset_from_file(path, {"taxi": TRIPS}).schema.views == {"few": "SELECT rider FROM taxi"}
    path.write_text("name: taxi\nunit: rider\nviews: [few]\n")
    with pytest.raises(ArgumentError, match="views must be a mapping"):
        so.dataset_from_file(path, {"taxi": TRIPS})


def test_where_rows_are_protected_views_keep_them_single() -> None:
    data = so.dataset("trips", TRIPS, unit=so.ROW, views={"dear": "SELECT city FROM trips WHERE fare > 10"})
    assert parse("SELECT COUNT(*) FROM dear", data.schema).relation.copies == {"trips": 1}


@pytest.mark.parametrize(
    ("name", "text", "message", "code"),
    [
        ("trips", DEAR, "called like a table", "SRD-A003"),
        ("TRIPS", DEAR, "called like a table", "SRD-A003"),
        ("two words", DEAR, "a view's name must be a word", "SRD-A001"),
        (["dear"], DEAR, "a view's name must be a word", "SRD-A001"),
        ("odd", 3, "view 'odd': a question must be a text", "SRD-A001"),
        ("odd", "SELECT rider FROM odd", "view 'odd': there is no table 'odd'.*not itself", "SRD-Q103"),
        ("odd", "SELECT rider FROM later", "a view sees the views before it", "SRD-Q103"),
        ("odd", "SELECT rider, wage FROM trips", "view 'odd': there is no column 'wage'", "SRD-Q103"),
        ("odd", "SELECT city, COUNT(*) AS n FROM trips GROUP BY city", "keyed by the person", "SRD-Q105"),
        ("odd", "SELECT * FROM trips ORDER BY fare LIMIT 3", "LIMIT", "SRD-Q102"),
        ("odd", "DROP TABLE trips", "view 'odd': DROP", "SRD-Q101"),
        ("odd", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1) rider FROM trips", "leave it out", "SRD-Q108"),
        ("odd", "SELECT WITH DIFFERENTIAL_PRIVACY rider FROM trips WHERE", "view 'odd'", "SRD-Q101"),
        ("odd", "SELECT " + "(" * 120 + "1" + ")" * 120 + " AS x FROM trips", "nested too deeply", "SRD-Q101"),
    ],
)  # fmt: skip
def test_mistakes_are_found_before_anything_can_be_asked(name: Any, text: Any, message: str, code: str) -> None:
    with pytest.raises((ArgumentError, QuestionError), match=message) as caught:
        so.account(taxi().with_view(name, text), so.budget(epsilon=1))
    assert caught.value.code == code


def test_two_views_of_one_name_are_refused() -> None:
    with pytest.raises(ArgumentError, match="already"):
        taxi(views={"dear": DEAR}).with_view("dear", DEAR)
    with pytest.raises(ArgumentError, match="another view"):
        taxi(views={"dear": DEAR, "Dear": DEAR})
    with pytest.raises(ArgumentError, match="views must be a dict"):
        taxi(views=[DEAR])


def test_views_that_multiply_are_refused_before_anything_can_be_asked() -> None:
    twice = {f"v{place + 1}": f"SELECT * FROM v{place} UNION ALL SELECT * FROM v{place}" for place in range(12)}
    with pytest.raises(QuestionError, match=r"view 'v[0-9]+': the question puts too many subqueries") as caught:
        so.account(taxi(views={"v0": "SELECT rider FROM trips", **twice}), so.budget(epsilon=1))
    assert caught.value.code == "SRD-Q101"


def test_classes_of_people_are_handed_on_by_views_and_subqueries() -> None:
    """Columns that are handed on keep their names, so the class of a person is found again."""
    rides = pa.table({"rider": [1, 2], "consent": ["strict", "open"], "fare": [3.0, 5.0]})
    data = so.dataset(
        "rides",
        rides,
        unit="rider",
        columns={"fare": so.bounds(0, 10)},
        limits=so.limits(rows=1),
        personal=so.personal("consent", {"strict": 0.1, "open": 1}),
        views={"dear": "SELECT rider, consent, fare * 2 AS twice FROM rides WHERE fare > 1"},
    )
    budget = so.account(data, so.unlimited("a test"))
    assert len(budget.sql("SELECT SUM(twice) AS s FROM dear").run(epsilon=1)) == 1
    with pytest.raises(QuestionError, match="hand it on"):
        budget.sql("SELECT SUM(fare) AS s FROM (SELECT fare, 'open' AS consent FROM rides)").price(epsilon=1)
