"""Method calls at a service: they travel as text, are read there as the same question, and nothing else is called."""

from __future__ import annotations

import ast
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sordino as so
from query import test_frame as by_calls
from query import test_frame_expression as expressions
from query.framed import PEOPLE, Arrangeable, table
from serve.conftest import Caller
from serve.places import OWNER
from serve.test_client import CITIES, client_of
from sordino.data.dataset import Dataset
from sordino.data.metadata import Schema
from sordino.errors import ArgumentError, BudgetError, QuestionError, SordinoError
from sordino.query.frame.aggregates import count
from sordino.query.frame.draft import Draft
from sordino.query.frame.frame import Frame
from sordino.query.frame.windows import lag, row_number
from sordino.query.frame.written import LONGEST, check_it_travels, read_calls
from sordino.query.model.question import Question
from sordino.serve.afar.client import Connection
from sordino.serve.questions.public_schema import schema_of
from sordino.serve.questions.tables import public
from sordino.serve.service import Service

# ---- from calls to text and back ------------------------------------------------------------------------------------


def drafted(make: Callable[[], Any]) -> list[Draft]:
    """Return the drafts of all questions that a function asks."""
    asked: list[Draft] = []
    original = Draft.question
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Draft, "question", property(lambda draft: asked.append(draft) or original.fget(draft)))  # type: ignore[attr-defined]
        make()
    assert asked
    return asked


def test_what_is_no_text_is_called_so() -> None:
    with pytest.raises(ArgumentError, match="read from a text, not from list"):
        read_calls([], PEOPLE, Arrangeable)  # type: ignore[arg-type]


def again(text: str, schema: Schema = PEOPLE) -> Question:
    return read_calls(text, schema, Arrangeable).question


@pytest.mark.parametrize("sql", by_calls.QUESTIONS)
def test_every_question_is_read_from_its_text(sql: str) -> None:
    for draft in drafted(by_calls.QUESTIONS[sql]):
        assert again(draft.text) == draft.question == by_calls.QUESTIONS[sql]()
        check_it_travels(draft.text, draft)


@pytest.mark.parametrize("sql", by_calls.AGGREGATES)
def test_every_aggregate_is_read_from_its_text(sql: str) -> None:
    make = by_calls.AGGREGATES[sql]
    (draft,) = drafted(
        lambda: (
            table("trips").group_by("seats").agg(x=make(), y=make().where(so.col("paid")))
            if sql != "COUNT(DISTINCT rider)"
            else table("trips").agg(x=make())
        )
    )
    assert again(draft.text) == draft.question


@pytest.mark.parametrize("sql", by_calls.ARRANGED)
def test_what_is_done_with_answers_is_read_from_its_text(sql: str) -> None:
    asked = by_calls.ARRANGED[sql](Arrangeable.of())
    assert again(asked.text) == asked.question


@pytest.mark.parametrize("sql", [*expressions.OPERATORS, *expressions.METHODS])
def test_every_operator_and_method_is_read_from_its_text(sql: str) -> None:
    formula = {**expressions.OPERATORS, **expressions.METHODS}[sql]()
    (draft,) = drafted(lambda: table("trips").with_columns(x_=formula).agg(n=so.count("x_")))
    assert again(draft.text) == draft.question


@settings(max_examples=60)
@given(st.one_of(expressions.numbers(), expressions.conditions()))
def test_any_expression_is_read_from_its_text(both: tuple[str, Any]) -> None:
    (draft,) = drafted(lambda: table("trips").with_columns(x_=both[1]).agg(n=so.count("x_")))
    assert again(draft.text) == draft.question


FURTHER: list[Callable[[], Any]] = [
    lambda: (
        table("trips")
        .filter(so.col("day") >= date(2026, 6, 1), so.col("start") < datetime(2026, 6, 2, 3))
        .agg(n=count())
    ),
    lambda: table("trips").filter(so.col("day").is_in([date(2026, 6, 1), np.datetime64("2026-06-02")])).agg(n=count()),
    lambda: table("trips").select(x=so.lit("fare"), fare="fare").group_by("x").agg(n=count()),
    lambda: table("trips").with_columns(x="fare").group_by("x").agg(n=count()),
    lambda: table("trips").with_columns(x=-(2 ** so.col("fare")), y=(-2.5) ** so.col("tip")).agg(n=so.count("x")),
    lambda: table("trips").filter(so.col("note") == 'it\'s "x"\n\\ ✓').agg(n=count()),
    lambda: table("trips").filter(so.col("seats").is_in({3, 1, 2})).agg(n=count()),
    lambda: table("trips").join("cities", on={"note": "city"}, how="left").agg(n=count()),
    lambda: table("trips").join(table("cities").filter(so.col("mayor") > 3), on=["city"]).agg(n=count()),
    lambda: table("trips").semi_join("ratings", on="rider").anti_join("cities", on=("city",)).agg(n=count()),
    lambda: table("trips").select("rider", "city").union(table("ratings").select("rider", "city")).agg(n=count()),
    lambda: table("trips").per_person("city", top=so.maximum("fare")).group_by("city").agg(m=so.mean("top")),
    lambda: (
        table("trips")
        .with_columns(k=row_number(order_by=["-day", "fare"], within="city"))
        .filter(so.col("k") == 1)
        .agg(n=count())
    ),
    lambda: table("trips").with_columns(k=lag(so.col("fare") * 2, order_by=so.col("day"))).agg(n=so.count("k")),
    lambda: table("trips").with_columns(k=so.sum("fare").each_person("city")).agg(n=so.count("k")),
    lambda: table("trips").group_by("city", "seats").grouping_sets(["city", "seats"], "city", []).agg(n=count()),
    lambda: table("trips").group_by("city", "seats").rollup().agg(n=count()),
    lambda: table("trips").group_by("city", "seats").cube().agg(n=count()),
    lambda: table("trips").group_by("note").keys(),
    lambda: table("trips").group_by("city", listed_in=table("cities").filter(so.col("mayor") > 3)).agg(n=count()),
    lambda: table("trips").select("rider", "city").distinct().agg(n=count()),
    lambda: table("trips").group_by(so.col("trips.city")).agg(**{"größe": count()}),
]


@pytest.mark.parametrize("make", FURTHER, ids=range(len(FURTHER)))
def test_further_questions_are_read_from_their_text(make: Callable[[], Any]) -> None:
    for draft in drafted(make):
        assert again(draft.text) == draft.question


def test_what_would_be_read_otherwise_is_not_sent() -> None:
    awkward = [
        lambda: table("trips").select("rider", **{"fare net": so.col("fare")}).agg(n=count()),
        lambda: table("trips").select("rider", **{"class": so.col("fare")}).agg(n=count()),
        lambda: table("trips").agg(**{"n) or (1": count()}),
        lambda: table("trips").filter(so.col("note") == "x" * LONGEST).agg(n=count()),
        lambda: table("trips").join("cities", on=(name for name in ("city",))).agg(n=count()),
    ]
    for make in awkward:
        (draft,) = drafted(make)
        with pytest.raises(QuestionError) as refused:
            check_it_travels(draft.text, draft)
        assert refused.value.code == "SRD-Q406"


# ---- nothing else is called -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "None",
        "count()",
        "col('fare')",
        "[table('trips').agg(n=count())]",
        "__import__('os').system('true')",
        "table('trips').__class__",
        "table('trips').__class__()",
        "table('trips').ask(1)",
        "table('trips').schema.unit",
        "table('trips').agg(n=count()).question",
        "table('trips').agg(n=count()).run(epsilon=1)",
        "table('trips').agg(n=count())._redrafted(1)",
        "table('trips').agg(n=count())._draft",
        "table('trips').agg(n=mean('fare').node(1))",
        "table('trips').agg(n=mean('fare')._applied('x', print))",
        "table('trips').agg(**{'n': count()})",
        "table(*['trips']).agg(n=count())",
        "table('trips').filter(lambda: 1).agg(n=count())",
        "table('trips').filter([x for x in 'a']).agg(n=count())",
        "table('trips').filter(col('fare') > 9**9**9**9).agg(n=count())",
        "table('trips').filter(col('note') == 'a' * 999999999).agg(n=count())",
        "table('trips').filter(1 < 2).agg(n=count())",
        "table('trips').filter(1 < col('fare') < 3).agg(n=count())",
        "table('trips').filter(col('paid') and True).agg(n=count())",
        "table('trips').filter(col('fare') > 1j).agg(n=count())",
        "table('trips').filter(col('note') == b'x').agg(n=count())",
        "table('trips').filter(col('note') == f'{1}').agg(n=count())",
        "table('trips').filter(col('fare') > ...).agg(n=count())",
        "table('trips').filter(not col('paid')).agg(n=count())",
        "table('trips').filter(col('day') > datetime.date.today()).agg(n=count())",
        "table('trips').filter(col('day') > datetime.date(2026, 13, 1)).agg(n=count())",
        "table('trips').filter(col('day') > datetime.datetime.now()).agg(n=count())",
        "table('trips').filter(nothing=1).agg(n=count())",
        "table('trips').join('cities', on={'a': 1}).agg(n=count())",
        "table('trips').join('cities', on={**{}}).agg(n=count())",
        "table('trips').limit(3)",
        "table('trips').agg(n=count()).limit('x')",
        "table('trips').agg(n=count()); 1",
        "x := table('trips').agg(n=count())",
        "table('trips').agg(n=count(" + "(" * 300 + ")" * 300 + "))",
        "table('trips').filter(" + "-" * 15_000 + "col('fare') > 1).agg(n=count())",
        "table('trips')" + ".distinct()" * 1_500 + ".agg(n=count())",
        "table('trips').filter(col('fare') > " + "1" * 5_000 + ").agg(n=count())",
        "a" + ".b" * 9_000,
        "x" * (LONGEST + 1),
        "table('trips')\x00",
    ],
)
def test_nothing_but_questions_can_be_written(text: str) -> None:
    with pytest.raises(SordinoError):
        again(text)


def test_rows_cannot_be_asked_for() -> None:
    for text in ("table('trips')", "table('trips').filter(col('fare') > 1)", "table('trips').group_by('city')"):
        with pytest.raises(QuestionError, match="single rows are never shown"):
            again(text)


words = st.sampled_from(
    [
        "table('trips')",
        "count()",
        "col('fare')",
        "'fare'",
        "(3)",
        "(-1.5)",
        "None",
        "True",
        "[1]",
        "{'a': 'b'}",
        "when(col('paid'))",
    ]
)
verbs = st.sampled_from(
    [
        "agg(n={})",
        "agg({})",
        "filter({})",
        "group_by({})",
        "limit({})",
        "where({})",
        "then({})",
        "is_in({})",
        "join({}, on={})",
        "floor()",
    ]
)


@settings(max_examples=300)
@given(
    st.recursive(
        words,
        lambda parts: st.one_of(
            st.tuples(parts, verbs, parts).map(lambda it: f"{it[0]}.{it[1].replace('{}', it[2])}"),
            st.tuples(parts, st.sampled_from(["+", ">", "&", "**", "==", "//"]), parts).map(" ".join),
            parts.map(lambda one: f"-({one})"),
        ),
        max_leaves=8,
    )
)
def test_whatever_is_written_is_a_question_or_an_error_of_ours(text: str) -> None:
    ast.parse(text, mode="eval")
    try:
        found = again(text)
    except SordinoError:
        return
    assert isinstance(found, Question)


# ---- at a service ---------------------------------------------------------------------------------------------------


@pytest.fixture
def house(call: Caller) -> Connection:
    return Connection(client_of(call), pause=lambda _: None)


def test_method_calls_are_priced_and_run_as_the_same_question_in_sql(house: Connection, service: Service) -> None:
    asked = house.table("trips").group_by("city").agg(rides=so.count(), fare=so.mean("fare"))
    priced, written = asked.price(epsilon="0.25"), house.sql(CITIES).price(epsilon="0.25")
    assert (priced.event, priced.columns, priced.notes) == (written.event, written.columns, written.notes)
    answer = asked.order_by("-city").limit(2).run(epsilon="0.25", key="once")
    assert list(answer["city"]) == ["Rome", "Oslo"]
    assert answer.details["question"].startswith("table('trips').group_by('city').agg(rides=count()")
    size = service.checkpoint(OWNER)["size"]
    assert asked.order_by("-city").limit(2).run(epsilon="0.25", key="once").to_json() == answer.to_json()
    assert service.checkpoint(OWNER)["size"] == size
    with pytest.raises(BudgetError):
        asked.run(epsilon=1)


def test_mistakes_are_found_before_anything_is_sent(house: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    trips = house.account("trips").table("trips")
    monkeypatch.setattr(house.remote, "price", None)
    assert list(trips.columns) == ["rider", "fare", "city", "note"]
    with pytest.raises(QuestionError, match="fair"):
        trips.agg(x=so.mean("fair"))
    with pytest.raises(QuestionError, match="nothing to price or run yet"):
        trips.group_by("city").run(epsilon=1)
    with pytest.raises(QuestionError) as refused:
        trips.agg(**{"not a word": so.count()})
    assert refused.value.code == "SRD-Q406"


def test_the_service_reads_calls_by_its_own_rules(quiet: Service) -> None:
    asked = {"dataset": "trips", "calls": "table('trips').agg(n=count())", "epsilon": "0.1"}
    assert quiet.price(OWNER, "query", asked)["sql"] == asked["calls"]
    for change in ({"calls": "print(1)"}, {"calls": "table('other').agg(n=count())"}):
        with pytest.raises(QuestionError):
            quiet.run(OWNER, "query", {**asked, **change})
    for change in ({"sql": "SELECT 1"}, {"calls": None}, {"calls": ""}):
        with pytest.raises(ArgumentError):
            quiet.price(OWNER, "query", {**asked, **change})


def told(dataset: Dataset) -> dict[str, Any]:
    return {"name": dataset.name, "unit": dataset.unit.name, **public(dataset)}


def test_what_is_told_is_the_schema_that_was_declared() -> None:
    trips = pa.table(
        {"rider": [1], "day": [date(2026, 6, 1)], "fare": [1.5], "city": ["Oslo"], "at": [datetime(2026, 6, 1)]}
    )
    columns = {
        "fare": so.bounds("0.1", 100, granularity="0.5", nullable=False),
        "city": so.keys(["Oslo", None]),
        "day": so.keys([date(2026, 6, 1)]),
        "at": so.keys([datetime(2026, 6, 1)]),
    }
    stops = so.private(
        pa.table({"trip": ["a"], "minutes": [1.0]}), parent={"trip": "visits.trip"}, limits=so.limits(rows=2, groups=1)
    )
    visits = so.private(pa.table({"trip": ["a"], "rider": [1]}), unit="rider")
    several = {"visits": visits, "stops": stops, "cities": so.public(pa.table({"city": ["Oslo"]}))}
    days = {"first": "2026-06-01"}
    for dataset in (
        so.dataset(
            "trips", trips, unit="rider", columns=columns, views={"oslo": "SELECT * FROM trips WHERE city = 'Oslo'"}
        ),
        so.dataset("trips", trips, unit=so.ROW, columns=columns),
        so.dataset("trips", trips, unit="rider", blocks=so.days("day", protects="person-day", **days)),
        so.dataset("trips", trips, unit="rider", blocks=so.days("at", protects="person", last="2027-01-01")),
        so.dataset("city", several, unit="rider"),
    ):
        assert schema_of(told(dataset)) == dataset.schema
    assert Frame.over(schema_of(told(dataset)), "stops", Arrangeable).agg(n=so.count_people()).question
