"""Extremes in bounds that are far too wide, and how far off the price says that quantiles are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import sordino as so
from query.planning import BY_ROW, FARE, NO_KEYS, ask, of
from query.test_quantile_intervals import _released
from sordino.query.plan.imagine import imagine
from sordino.query.plan.plan import QueryPlan
from sordino.query.plan.planner import Wishes, plan
from sordino.query.plan.reading import read
from sordino.query.plan.spend import Spend

ROWS = 20_000
VALUES = np.random.default_rng(1).uniform(0, 100, ROWS)
TABLE = pa.table({"person": np.arange(ROWS), "side": ["left", "right"] * (ROWS // 2), "x": VALUES, "y": -VALUES})


@pytest.fixture(scope="module")
def wide() -> so.Account:
    columns = {"x": so.bounds(0, 10**6), "y": so.bounds(-(10**6), 0), "side": so.keys(["left", "right"])}
    data = so.dataset("wide", TABLE, unit="person", columns=columns, limits=so.limits(rows=1))
    return so.account(data, so.unlimited("test"))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("epsilon", "runs", "near"), [pytest.param(5, 200, (50, 1000), marks=pytest.mark.slow), (500, 20, (99, 101))]
)
def test_extremes_are_found_in_bounds_that_are_far_too_wide(
    wide: so.Account, epsilon: int, runs: int, near: tuple[float, float]
) -> None:
    asked = wide.sql("SELECT MAX(x) AS most, MIN(y) AS least FROM wide")  # type: ignore[attr-defined]
    for _ in range(runs):
        (row,) = asked.run(epsilon=2 * epsilon)
        assert near[0] <= row["most"] <= near[1]
        assert near[0] <= -row["least"] <= near[1]


def test_extremes_of_groups(wide: so.Account) -> None:
    text = "SELECT side, MAX(x) AS most, MIN(x) AS least FROM wide GROUP BY side"
    for _ in range(10):
        answer = wide.sql(text).run(epsilon=10)  # type: ignore[attr-defined]
        assert all(99 < row["most"] < 101 and row["least"] < 1 for row in answer)
        low, high = answer.interval("most")
        assert (low > 95).all()
        assert (high == 10**6).all()  # one person may be that far out
        assert any("looked for about" in note for note in answer.notes)


LEVELS = ("0", "1/10", "1/2", "9/10", "1")


def _planned(level: str, epsilon: str, *, intervals: bool) -> QueryPlan:
    question = ask(of("quantile", FARE, parameters=[level]), keys=NO_KEYS, schema=BY_ROW)
    return plan(question, Spend(Fraction(epsilon)), Wishes(intervals=intervals))


@pytest.mark.parametrize("rows", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("level", LEVELS)
def test_the_interval_is_about_as_wide_as_the_price_says(level: str, rows: int) -> None:
    planned = _planned(level, "1", intervals=True)
    buckets = planned.task.histograms[0].buckets
    evenly = ((np.arange(rows) + 0.5) / rows * buckets).astype(np.int64)
    ends = [_released(planned, evenly).interval(0.95) for _ in range(60)]
    told = np.mean([high[0] - low[0] for low, high in ends])
    low, high = read(planned, imagine(planned, [rows]))[0].interval(0.95)  # type: ignore[union-attr]
    assert 0.8 * told < high[0] - low[0] < 1.6 * told


@pytest.mark.parametrize("rows", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("level", LEVELS)
def test_without_an_interval_the_price_says_how_far_off_the_value_is(level: str, rows: int) -> None:
    """About 95 of 100 values are as near as that: more than 85, and half as near would not do."""
    planned = _planned(level, "1", intervals=False)
    buckets = planned.task.histograms[0].buckets
    evenly = ((np.arange(rows) + 0.5) / rows * buckets).astype(np.int64)
    true = float(Fraction(level)) * 100
    low, high = read(planned, imagine(planned, [rows]))[0].ends(0.5)  # type: ignore[union-attr]
    half = float(high[0] - low[0]) / 2
    off = np.array([abs(_released(planned, evenly).values[0] - true) for _ in range(200)])
    assert np.mean(off <= half + 100 / rows) > 0.85, (half, np.quantile(off, 0.95))
    assert np.quantile(off, 0.95) > half / 2 - 100 / rows
