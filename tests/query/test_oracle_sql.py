"""The neighbour oracle, from the analyst's text down: random questions, hostile data, one person more or less.

Everything that a plan makes noisy is computed exactly on D and on D without one person, with the same salt. What moves
must be within what the plan was priced for; what is not noisy (keys, shapes, types) must not move at all.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sordino as so
from sordino.errors import QuestionError
from sordino.query.engine.exact import compute
from sordino.query.plan.plan import QueryPlan
from sordino.query.plan.planner import Wishes
from sordino.query.plan.spend import Spend
from sordino.query.plan.whole import plan_whole
from sordino.query.release.run import exact_steps
from sordino.query.sql.parse import parse

HOSTILE = (0.0, -0.0, 1.0, -1.0, 0.3, 7.5, 1e300, -1e300, 5e-324, float("nan"), float("inf"), float("-inf"), None)
WHOLE = (0, 1, -1, 3, 2**63 - 1, -(2**63), None)
CITIES = ("Oslo", "Rome", "Bern", "elsewhere", None)

VALUES = (
    "x",
    "y",
    "x * y",
    "x + 1",
    "x / NULLIF(y, 0)",
    "ABS(x) % 3",
    "CASE WHEN x > 0.5 THEN y ELSE 2 END",
    "COALESCE(LN(x), EXP(y))",
    "n",
    "LEAST(x, 3)",
    "CLIP(x, -1, n)",
    "CLIP(n, 0, 2)",
)
AGGREGATES = (
    "COUNT(*)",
    "COUNT({0})",
    "SUM({0})",
    "AVG({0})",
    "VARIANCE({0})",
    "CORR(x, y)",
    "MEDIAN({0})",
    "MAX({0})",
    "HISTOGRAM(x, 0, 1, 5)",
    "TOP(city, 2)",
    "COUNT(DISTINCT person)",
    "COUNT(DISTINCT n)",
)
SOURCES = (
    "visits",
    "(SELECT person, city, x * 2 AS x, y, n FROM visits WHERE x IS NULL OR x < 5) AS t",
    "(SELECT v.person, v.city, v.x, c.rate AS y, v.n FROM visits v JOIN cities c ON v.city = c.city) AS t",
    "(SELECT v.person, v.city, v.x, p.y, v.n FROM visits v JOIN payments p ON v.person = p.person) AS t",
    "(SELECT person, MIN(city) AS city, SUM(x) AS x, AVG(y) AS y, COUNT(*) AS n FROM visits GROUP BY person) AS t",
    "(SELECT * FROM visits UNION ALL SELECT person, city, y AS x, x AS y, n FROM visits) AS t",
    "(SELECT *, ROW_NUMBER() OVER (PARTITION BY person ORDER BY x) AS r FROM visits) AS t",
    "(SELECT v.person, v.city, v.x, p.y, c.rate AS n FROM visits v, cities c, payments p WHERE v.city = c.city AND "
    "p.person = v.person) AS t",
    "dear",
    "totals",
)
CONDITIONS = (
    "",
    "WHERE x > 0",
    "WHERE city IN ('Oslo', 'Rome') OR y BETWEEN 0 AND 2",
    "WHERE person IN (SELECT person FROM payments WHERE y > 1)",
    "WHERE city LIKE '%o%'",
)
GROUPS = ("", "city", "CASE WHEN x > 1 THEN 'high' ELSE 'low' END", "city, n > 0")


@st.composite
def questions(draw: st.DrawFn) -> str:
    wanted = draw(st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=3, unique=True))
    columns = [each.format(draw(st.sampled_from(VALUES))) for each in wanted]
    group = draw(st.sampled_from(GROUPS))
    source, condition = draw(st.sampled_from(SOURCES)), draw(st.sampled_from(CONDITIONS))
    text = f"SELECT {', '.join(columns)} FROM {source} {condition}"  # noqa: S608
    return f"{text} GROUP BY {group}" if group else text


def rows() -> st.SearchStrategy[list[tuple[Any, ...]]]:
    row = st.tuples(
        st.sampled_from((1, 2, 3, 4, None)),
        st.sampled_from(CITIES),
        st.sampled_from(HOSTILE),
        st.sampled_from(HOSTILE),
        st.sampled_from(WHOLE),
    )
    return st.lists(row, max_size=25)


def visits(data: list[tuple[Any, ...]]) -> pa.Table:
    columns = list(zip(*data, strict=True)) or [()] * 5
    kinds = (pa.int64(), pa.string(), pa.float64(), pa.float64(), pa.int64())
    names = ("person", "city", "x", "y", "n")
    return pa.table({name: pa.array(column, kind) for name, column, kind in zip(names, columns, kinds, strict=True)})


VIEWS = {
    "dear": "SELECT person, city, CLIP(x, 0, 2) AS x, y, n FROM visits WHERE y > 0.5 OR y IS NULL",
    "totals": "SELECT d.person, MAX(d.city) AS city, SUM(d.x) AS x, AVG(p.y) AS y, COUNT(*) AS n FROM dear d, "
    "payments p WHERE d.person = p.person GROUP BY d.person",
}


def shop(load: Any, data: list[tuple[Any, ...]], limits: Any) -> Any:
    payments = visits(data).select(["person", "y"])
    cities = pa.table({"city": ["Oslo", "Oslo", "Bern"], "rate": [0.5, 1.5, 2.0]})
    bounds = {"x": so.bounds(-1, 4), "y": so.bounds(0, 10), "n": so.bounds(-3, 100), "city": so.keys(CITIES[:3])}
    return so.dataset(
        "shop",
        {
            "visits": so.private(load("visits", visits(data)), unit="person", columns=bounds, limits=limits),
            "payments": so.private(
                load("payments", payments), unit="person", columns={"y": so.bounds(0, 10)}, limits=limits
            ),
            "cities": so.public(load("cities", cities), columns={"rate": so.bounds(0, 3)}),
        },
        unit="person",
        views=VIEWS,
    )


LIMITS = (so.limits(rows=2), so.limits(rows=5, groups=2, rows_per_group=1), so.limits(groups=1, rows_per_group=3))


def norms(difference: Any) -> tuple[int, int, int, int]:
    flat = [abs(int(each)) for each in np.ravel(difference)]
    return sum(1 for each in flat if each), sum(flat), sum(each * each for each in flat), max(flat, default=0)


def check_blocks(plan: QueryPlan, here: Any, there: Any) -> None:
    for part in plan.blocks:
        moved = norms(
            exact_steps(part, plan.task, here).astype(object) - exact_steps(part, plan.task, there).astype(object)
        )
        allowed = part.mechanism.grid.sensitivity(part.bound)
        assert moved[0] <= allowed.l0
        assert moved[1] <= allowed.l1
        assert moved[2] <= allowed.l2_squared
        assert moved[3] <= allowed.linf


def check_histograms(plan: QueryPlan, here: Any, there: Any) -> None:
    for part in (*plan.histograms, *plan.choices):
        counts = []
        for exact in (here, there):
            dense = np.zeros((exact.groups, plan.task.histograms[part.histogram].buckets), dtype=object)
            lines = exact.histograms[part.histogram].reshape(-1, 3)
            dense[lines[:, 0], lines[:, 1]] = lines[:, 2]
            counts.append(dense)
        moved = norms(counts[0] - counts[1])
        assert moved[1] <= part.bound.l1
        assert moved[2] <= part.bound.l2_squared


def planned(text: str, data: Any) -> tuple[QueryPlan, ...] | str:
    """Return the passes of a plan, or the refusal: neither may depend on data."""
    try:
        return plan_whole(parse(text, data.schema), Spend(Fraction(1)), Wishes()).passes
    except QuestionError as refusal:
        return str(refusal)


def judge(text: str, load: Any, data: list[tuple[Any, ...]], who: int, limits: Any) -> None:
    with_them = shop(load, data, limits)
    without = shop(load, [row for row in data if row[0] != who], limits)
    plans = [planned(text, side) for side in (with_them, without)]
    assert repr(plans[0]) == repr(plans[1])
    if isinstance(plans[0], str):
        return
    for each in plans[0]:
        here, there = (compute(each.task, side.schema, side.table, 7) for side in (with_them, without))
        assert here.keys == there.keys
        check_blocks(each, here, there)
        check_histograms(each, here, there)


def examples(count: int) -> settings:
    return settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))


RANDOM = (questions(), rows(), st.sampled_from((1, 2, 3)), st.sampled_from(LIMITS))


@examples(30)
@given(*RANDOM)
def test_one_person_moves_nothing_beyond_the_bound(duckdb_engine, text, data, who, limits):
    judge(text, duckdb_engine.load, data, who, limits)


@examples(12)
@given(*RANDOM)
def test_nor_on_postgres(postgres_engine, text, data, who, limits):
    judge(text, postgres_engine.load, data, who, limits)


@examples(4)
@given(*RANDOM)
def test_nor_on_spark(spark_engine, text, data, who, limits):
    judge(text, spark_engine.load, data, who, limits)


MANY_ROWS = [(1, CITIES[place % 4], HOSTILE[place % 13], HOSTILE[place % 7], WHOLE[place % 7]) for place in range(60)]
A_FEW = [(2, "Oslo", 0.5, 1.5, 2), (3, "Rome", 2.0, None, 1), (None, "Bern", 1.0, 1.0, 1)]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_every_shape_of_question_with_a_person_of_many_rows(duckdb_engine, source, condition):
    text = f"SELECT city, COUNT(*), AVG(x), COUNT(y), MEDIAN(y) FROM {source} {condition} GROUP BY city"  # noqa: S608
    judge(text, duckdb_engine.load, MANY_ROWS + A_FEW, 1, LIMITS[0])


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("name", ["duckdb", "postgres", "spark"])
def test_every_way_of_bounding_on_every_engine(request, name, limits):
    engine = request.getfixturevalue(f"{name}_engine")
    text = "SELECT city, COUNT(*), AVG(x), SUM(y), COUNT(DISTINCT person) FROM visits GROUP BY city"
    judge(text, engine.load, MANY_ROWS + A_FEW, 1, limits)


LISTED = (
    "SELECT c.city, COUNT(v.x), AVG(v.x) FROM cities c LEFT JOIN visits v ON c.city = v.city GROUP BY c.city",
    "SELECT UPPER(c.city), COUNT(v.x), AVG(v.x) FROM cities c LEFT JOIN visits v ON c.city = v.city GROUP BY 1",
    "SELECT FLOOR(c.rate), SUM(d.x) FROM cities c LEFT JOIN dear d ON c.city = d.city AND d.x > 0 GROUP BY 1",
)


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("text", LISTED)
def test_keys_that_a_public_table_lists_or_computes(duckdb_engine, text, limits):
    judge(text, duckdb_engine.load, MANY_ROWS + A_FEW, 1, limits)
    assert not isinstance(planned(text, shop(duckdb_engine.load, A_FEW, limits)), str)


WRITTEN = (
    "SELECT city, SUM(x, contribution_bounds_per_group => (-1, 2)), AVG(y, contribution_bounds_per_group => (0, 1)), "
    "COUNT(*) FROM visits GROUP BY city",
    "SELECT c.city, COUNT(*), SUM(v.x) FROM visits v JOIN cities c ON v.city = c.city WHERE c.rate > 1 GROUP BY c.city",
    "SELECT FLOOR(n / 10) * 10 AS k, COUNT(*), SUM(x) FROM visits GROUP BY k",
    "SELECT n % 2 AS k, COUNT(*) FROM visits WHERE n BETWEEN 0 AND 3 GROUP BY k",
    "SELECT n, COUNT(*), AVG(x) FROM visits WHERE n IN (0, 1, 3) GROUP BY n",
    "SELECT COUNT(*), SUM(v.x), SUM(c.rate) FROM visits v CROSS JOIN cities c",
    "SELECT k, COUNT(v.x), SUM(v.x) FROM visits v RIGHT JOIN UNNEST(['Oslo', 'Nice']) AS k ON v.city = k GROUP BY k",
    "SELECT city, COUNT(*), SUM(x) FROM visits JOIN UNNEST(['Oslo', 'Nice']) AS k ON city = k GROUP BY city",
    "SELECT COUNT(*) FROM (SELECT person FROM visits WHERE x > 0 INTERSECT SELECT person FROM payments WHERE y > 0)",
    "SELECT COUNT(*) FROM (SELECT person FROM visits EXCEPT SELECT person FROM payments WHERE y > 0)",
    "SELECT COUNT(*), SUM(n) FROM (SELECT person, n FROM visits UNION SELECT person, n FROM visits WHERE x > 0)",
    "SELECT COUNT(*), SUM(q.x) FROM (visits v JOIN payments p ON v.person = p.person) AS q",
    "SELECT COUNT(*), SUM(m.most) FROM visits v JOIN (SELECT city, MAX(rate) AS most FROM cities GROUP BY city) AS m "
    "ON v.city = m.city",
    "SELECT COUNT(DISTINCT city, n), SUM(CASE WHEN x > 0 THEN 1 END), VAR_SAMP(y) FROM visits",
)


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("text", WRITTEN)
def test_sql_as_people_write_it(duckdb_engine, text, limits):
    judge(text, duckdb_engine.load, MANY_ROWS + A_FEW, 1, limits)


@pytest.mark.parametrize("name", ["duckdb", "postgres", "spark"])
def test_sql_as_people_write_it_on_every_engine(request, name):
    engine = request.getfixturevalue(f"{name}_engine")
    for text in WRITTEN:
        judge(text, engine.load, MANY_ROWS + A_FEW, 1, LIMITS[0])
        assert not isinstance(planned(text, shop(engine.load, A_FEW, LIMITS[0])), str)


@pytest.mark.parametrize("name", ["duckdb", "postgres", "spark"])
def test_views_commas_and_computed_keys_on_every_engine(request, name):
    engine = request.getfixturevalue(f"{name}_engine")
    texts = (LISTED[1], f"SELECT city, COUNT(*), AVG(x), SUM(CLIP(n, 0, 2)) FROM {SOURCES[-3]} GROUP BY city")  # noqa: S608
    for text in (*texts, "SELECT COUNT(*), AVG(x), SUM(CLIP(y, 0, 1)) FROM totals"):
        judge(text, engine.load, MANY_ROWS + A_FEW, 1, LIMITS[0])
        assert not isinstance(planned(text, shop(engine.load, A_FEW, LIMITS[0])), str)
