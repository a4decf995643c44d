"""Expressions by operators and methods are those of SQL: each of them, and any of them together."""

from __future__ import annotations

import datetime
import operator as op
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from query.framed import PEOPLE, ROWS, table
from sordino.errors import QuestionError
from sordino.query.frame import aggregates as so
from sordino.query.frame.expression import Formula, Place, col, lit
from sordino.query.frame.methods import Methods
from sordino.query.frame.when import when
from sordino.query.model.expression import ColumnRef, Expression, Literal
from sordino.query.model.ranges import derive
from sordino.query.model.relation import Project
from sordino.query.sql.parse import parse

Both = tuple[str, Formula]
"""How it is written in SQL, and by operators."""


def framed(formula: Any) -> Expression:
    relation = table("trips").with_columns(x_=formula).scope.relation
    assert isinstance(relation, Project)
    return relation.outputs[-1][1]


def written(sql: str) -> Expression:
    question = parse(f"SELECT COUNT(x_) AS n FROM (SELECT {sql} AS x_ FROM trips)", PEOPLE)  # noqa: S608
    assert isinstance(question.relation, Project)
    return question.relation.outputs[-1][1]


OPERATORS: dict[str, Callable[[], Formula]] = {
    "fare + 1": lambda: col("fare") + 1,
    "1 + fare": lambda: 1 + col("fare"),
    "fare - tip": lambda: col("fare") - col("tip"),
    "1 - fare": lambda: 1 - col("fare"),
    "fare * -2.5": lambda: col("fare") * -2.5,
    "2 * fare": lambda: 2 * col("fare"),
    "fare / seats": lambda: col("fare") / col("seats"),
    "1 / fare": lambda: 1 / col("fare"),
    "FLOOR(fare / 10)": lambda: col("fare") // 10,
    "FLOOR(10 / fare)": lambda: 10 // col("fare"),
    "seats % 2": lambda: col("seats") % 2,
    "2 % seats": lambda: 2 % col("seats"),
    "POWER(fare, 2)": lambda: col("fare") ** 2,
    "POWER(2, fare)": lambda: 2 ** col("fare"),
    "-fare": lambda: -col("fare"),
    "-5": lambda: -lit(5),
    "ABS(fare - 1)": lambda: abs(col("fare") - 1),
    "fare = 1": lambda: col("fare") == 1,
    "fare <> 1": lambda: col("fare") != 1,
    "fare < tip": lambda: col("fare") < col("tip"),
    "fare <= 1": lambda: col("fare") <= 1,
    "fare > 1": lambda: col("fare") > 1,
    "fare >= 1": lambda: col("fare") >= 1,
    "paid AND fare > 1 AND tip > 1": lambda: col("paid") & ((col("fare") > 1) & (col("tip") > 1)),
    "paid OR fare > 1 OR tip > 1": lambda: col("paid") | (col("fare") > 1) | (col("tip") > 1),
    "(paid OR fare > 1) AND paid": lambda: (col("paid") | (col("fare") > 1)) & col("paid"),
    "TRUE AND paid": lambda: True & col("paid"),
    "FALSE OR paid": lambda: False | col("paid"),
    "NOT paid": lambda: ~col("paid"),
    "day + INTERVAL 3 DAY": lambda: col("day") + 3,
    "day - DATE '2026-01-31'": lambda: col("day") - datetime.date(2026, 1, 31),
    "CASE WHEN paid THEN fare END": lambda: when(col("paid")).then(col("fare")),
    "CASE WHEN paid THEN 1 WHEN fare > 2 THEN 2.5 ELSE 0 END": lambda: (
        when(col("paid")).then(1).when(col("fare") > 2).then(2.5).otherwise(0)
    ),
}

METHODS: dict[str, Callable[[], Formula]] = {
    "fare IS NULL": lambda: col("fare").is_null(),
    "NOT fare IS NULL": lambda: col("fare").is_not_null(),
    "COALESCE(tip, 0)": lambda: col("tip").fill_null(0),
    "NULLIF(seats, 8)": lambda: col("seats").null_if(8),
    "city IN ('Oslo', 'Rome')": lambda: col("city").is_in(["Oslo", "Rome"]),
    "fare BETWEEN 1 AND tip": lambda: col("fare").between(1, col("tip")),
    "note LIKE 'a%'": lambda: col("note").like("a%"),
    "note ILIKE 'a%'": lambda: col("note").ilike("a%"),
    "STARTS_WITH(note, 'a')": lambda: col("note").starts_with("a"),
    "LOWER(note)": lambda: col("note").lower(),
    "UPPER(note)": lambda: col("note").upper(),
    "TRIM(note)": lambda: col("note").trim(),
    "LENGTH(note)": lambda: col("note").length(),
    "SUBSTRING(note, 2)": lambda: col("note").substring(2),
    "SUBSTRING(note, 2, 3)": lambda: col("note").substring(2, 3),
    "CONCAT(note, '-', city)": lambda: col("note").concat("-", col("city")),
    "FLOOR(fare)": lambda: col("fare").floor(),
    "CEIL(fare)": lambda: col("fare").ceil(),
    "ROUND(fare)": lambda: col("fare").round(),
    "ROUND(fare, 2)": lambda: col("fare").round(2),
    "ROUND(fare, -1)": lambda: col("fare").round(-1),
    "SIGN(fare)": lambda: col("fare").sign(),
    "SQRT(fare)": lambda: col("fare").sqrt(),
    "EXP(fare)": lambda: col("fare").exp(),
    "LN(fare)": lambda: col("fare").ln(),
    "CAST(note AS DOUBLE)": lambda: col("note").cast("real"),
    "CAST(fare AS BIGINT)": lambda: col("fare").cast("integer"),
    "CAST(seats AS VARCHAR)": lambda: col("seats").cast("text"),
    "CAST(start AS DATE)": lambda: col("start").cast("date"),
    "EXTRACT(ISODOW FROM start)": lambda: col("start").date_part("weekday"),
    "DATE_TRUNC('month', day)": lambda: col("day").truncate("month"),
    "YEAR(day)": lambda: col("day").year(),
    "QUARTER(day)": lambda: col("day").quarter(),
    "MONTH(day)": lambda: col("day").month(),
    "WEEK(day)": lambda: col("day").week(),
    "DAY(day)": lambda: col("day").day(),
    "ISODOW(day)": lambda: col("day").weekday(),
    "DAYOFYEAR(day)": lambda: col("day").day_of_year(),
    "HOUR(start)": lambda: col("start").hour(),
    "MINUTE(start)": lambda: col("start").minute(),
    "day - INTERVAL 3 DAY": lambda: col("day").add_days(-3),
    "DATE_DIFF('day', DATE '2026-01-31', day)": lambda: col("day").days_since(datetime.date(2026, 1, 31)),
    "CLIP(fare, 1, 20)": lambda: col("fare").clip(1, 20),
    "CLIP(tip, 1, fare)": lambda: col("tip").clip(1, col("fare")),
    "CLIP(seats, 1, 4)": lambda: col("seats").clip(1, 4),
}


@pytest.mark.parametrize("sql", [*OPERATORS, *METHODS])
def test_each_operator_and_method_is_that_of_sql(sql: str) -> None:
    assert framed({**OPERATORS, **METHODS}[sql]()) == written(sql)


def test_every_method_is_tried() -> None:
    tried = " ".join(repr(make()) for make in METHODS.values())
    known = {name for name in [*vars(Methods), "clip"] if not name.startswith("_")}
    assert {name for name in known if f".{name}(" not in tried} == set()


@pytest.mark.parametrize("sql", [*OPERATORS, *METHODS])
def test_the_text_of_an_expression_is_how_it_is_written(sql: str) -> None:
    formula = {**OPERATORS, **METHODS}[sql]()
    again = eval(repr(formula), {"col": col, "lit": lit, "when": when, "datetime": datetime})  # noqa: S307
    assert framed(again) == framed(formula)


INFIXES = {"+": op.add, "-": op.sub, "*": op.mul, "/": op.truediv, "%": op.mod}
COMPARISONS = {"=": op.eq, "<>": op.ne, "<": op.lt, ">=": op.ge}
LEAVES = st.one_of(
    st.sampled_from(["fare", "tip", "seats"]).map(lambda name: (name, col(name))),
    st.integers(0, 1000).map(lambda number: (str(number), lit(number))),
    st.floats(0, 1e6, allow_nan=False).map(lambda number: (repr(number), lit(number))),
)


@st.composite
def numbers(draw: st.DrawFn, depth: int = 3) -> Both:
    """A number: a leaf, or from other numbers by an operator, by functions, or by a choice."""
    way = draw(st.sampled_from(["leaf", "infix", "function", "choice"] if depth else ["leaf"]))
    if way == "leaf":
        return draw(LEAVES)
    one, other = draw(numbers(depth - 1)), draw(numbers(depth - 1))
    if way == "infix":
        sign = draw(st.sampled_from(sorted(INFIXES)))
        return f"({one[0]} {sign} {other[0]})", INFIXES[sign](one[1], other[1])
    if way == "function":
        return f"ROUND(ABS({one[0]}))", abs(one[1]).round()
    test = draw(conditions(depth - 1))
    return f"CASE WHEN {test[0]} THEN {one[0]} ELSE {other[0]} END", when(test[1]).then(one[1]).otherwise(other[1])


@st.composite
def conditions(draw: st.DrawFn, depth: int = 3) -> Both:
    """Something true or false: a comparison, or from other conditions by AND, OR and NOT."""
    way = draw(st.sampled_from(["compared", "AND", "OR", "NOT"] if depth else ["compared"]))
    if way == "compared":
        name = draw(st.sampled_from(["fare", "tip", "seats"]))
        sign = draw(st.sampled_from(sorted(COMPARISONS)))
        right = draw(numbers(max(depth - 1, 0)))
        return f"({name} {sign} {right[0]})", COMPARISONS[sign](col(name), right[1])
    one, other = draw(conditions(depth - 1)), draw(conditions(depth - 1))
    if way == "NOT":
        return f"(NOT {one[0]})", ~one[1]
    return f"({one[0]} {way} {other[0]})", one[1] & other[1] if way == "AND" else one[1] | other[1]


FARE = col("fare")


@settings(deadline=None, max_examples=100)
@given(st.one_of(numbers(), conditions()))
@example(("(((fare * fare) * fare) * fare)", FARE * FARE * FARE * FARE))
def test_any_expression_is_that_of_sql(both: Both) -> None:
    sql, formula = both
    assert framed(formula) == written(sql)


class Size(IntEnum):
    LARGE = 8


@pytest.mark.parametrize(
    ("value", "held"),
    [
        (np.int32(3), 3),
        (np.float64(0.5), 0.5),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (Size.LARGE, 8),
        (pd.Timestamp("2026-01-31 12:00"), datetime.datetime(2026, 1, 31, 12)),
        (datetime.datetime(2026, 1, 31, 12, 30, 1, 500), datetime.datetime(2026, 1, 31, 12, 30, 1, 500)),
        (datetime.date(2026, 1, 31), datetime.date(2026, 1, 31)),
        (-3, -3),
        (-1e-7, -1e-7),
        (2**62, 2**62),
        ("it's; DROP TABLE trips --", "it's; DROP TABLE trips --"),
        (False, False),
    ],
    ids=lambda value: f"{type(value).__name__} {value}",
)
def test_constants_are_held_as_plain_values(value: Any, held: Any) -> None:
    expression = framed(value)
    assert isinstance(expression, Literal)
    assert (type(expression.value), expression.value) == (type(held), held)


@pytest.mark.parametrize(
    "value",
    [float("nan"), pd.NaT, float("inf"), 2**63, [1], {"a": 1}, 1j, b"a", "a\0", pd.Timestamp("2026-01-31", tz="UTC")],
    ids=repr,
)
def test_what_no_engine_holds_is_no_constant(value: Any) -> None:
    with pytest.raises(QuestionError, match="SRD-Q104"):
        lit(value)


@pytest.mark.parametrize(
    "values", [("Rome", "Oslo"), np.array(["Rome", "Oslo"]), pd.Series(["Rome", "Oslo"])], ids=type
)
def test_lists_are_of_any_sort(values: Any) -> None:
    assert framed(col("city").is_in(values)) == written("city IN ('Rome', 'Oslo')")


def test_a_set_has_no_order_and_still_gives_one_question() -> None:
    assert framed(col("seats").is_in({3, 1, 2})) == framed(col("seats").is_in(frozenset((2, 1, 3))))


def test_a_clipped_number_has_bounds_and_stays_missing() -> None:
    """LEAST and GREATEST pass over NULL: a missing number would become the lower end."""
    columns = table("trips").scope.relation.columns
    clipped = framed(col("tip").clip(1, 5))
    assert clipped == written("CLIP(tip, 1, 5)")
    assert derive(clipped, columns).nullable
    assert (derive(clipped, columns).range.low, derive(clipped, columns).range.high) == (1, 5)
    assert not derive(framed(col("fare").clip(1, 5)), columns).nullable


def test_a_clipped_aggregate_is_clipped_after_the_noise() -> None:
    question = table("trips").agg(n=so.count().clip(0, 100))
    sql = "SELECT CASE WHEN COUNT(*) IS NULL THEN NULL ELSE LEAST(GREATEST(COUNT(*), 0), 100) END AS n FROM trips"
    assert question == parse(sql, PEOPLE)


def test_names_are_looked_up_where_an_expression_is_used() -> None:
    fare = col("fare")
    place = Place(table("trips", ROWS).scope)
    assert fare.node(place) is not fare.node(place)
    assert framed(fare) == ColumnRef(PEOPLE.tables["trips"].columns["fare"].kind, "fare")
    with pytest.raises(QuestionError, match="there is no column 'fare'"):
        table("cities").filter(fare > 1)


def test_long_chains_are_no_deeper_than_one() -> None:
    every = col("paid")
    for place in range(200):
        every = every & (col("fare") > place)
    relation = table("trips").filter(every).scope.relation
    assert len(relation.condition.arguments) == 201
