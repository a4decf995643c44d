"""Reading answers: on exact features every formula is what numpy says of the rows; imagined groups are uniform ones."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from query.planning import (
    BINS,
    BY_CITY,
    BY_ROW,
    CITY,
    COUNT,
    FARE,
    LATE,
    MEDIAN,
    NO_KEYS,
    PEOPLE,
    SEATS,
    TIP,
    TOP,
    ask,
    engine,
    feature_sums,
    of,
)
from sordino.query.estimate.estimate import Chosen, Picked, Several
from sordino.query.model.bounding import Bounding
from sordino.query.model.task import Exact, Task
from sordino.query.plan.imagine import imagine
from sordino.query.plan.plan import QueryPlan
from sordino.query.plan.planner import Wishes, plan
from sordino.query.plan.reading import Released, read
from sordino.query.plan.spend import Spend
from sordino.query.release.run import measure

ALL_ADDITIVE = (
    COUNT,
    of("count", TIP),
    of("sum", FARE),
    of("sum", TIP),
    of("mean", FARE),
    of("mean", TIP),
    of("variance", FARE),
    of("deviation", TIP),
    of("covariance", FARE, TIP),
    of("correlation", FARE, TIP),
    of("regression", FARE, TIP, SEATS),
)


def without_noise(planned: QueryPlan, rows: list[dict[str, Any]]) -> Released:
    """What would be released if the noise happened to be zero."""
    exact = engine(rows)(planned.task, 1)
    vectors, laws, worth = [], [], []
    for part in planned.blocks:
        for sums in feature_sums(part.block.features, planned.task, exact):
            vectors.append([each / float(part.mechanism.grid.step) for each in sums])
            laws.append(part.mechanism.law)
            worth.append(planned.worth_of(part))
    return Released(exact.keys, np.array(vectors).reshape(-1, exact.groups), tuple(laws), np.array(worth), (), ())


def numbers(rows: list[dict[str, Any]], *names: str) -> np.ndarray:
    """The columns of all rows in which none of them is missing."""
    found = [[row[name] for name in names] for row in rows if all(row[name] is not None for name in names)]
    return np.array(found, dtype=float).reshape(-1, len(names)).T


def some_rows(seed: int, size: int) -> list[dict[str, Any]]:
    generator = np.random.default_rng(seed)
    rows = []
    for place in range(size):
        fare = float(generator.uniform(0, 100))
        tip = float(np.clip(fare / 10 - 5 + generator.normal(0, 2), -10, 10))
        rows.append(
            {
                "user": place,
                "city": "abc"[place % 3] if place else "a",
                "fare": fare,
                "tip": None if generator.uniform() < 0.2 else tip,
                "seats": None if generator.uniform() < 0.1 else int(generator.integers(1, 5)),
                "late": int(generator.integers(0, 2)),
            }
        )
    return rows


def expected(rows: list[dict[str, Any]]) -> list[Any]:
    fare, tip = numbers(rows, "fare"), numbers(rows, "tip")
    both, three = numbers(rows, "fare", "tip"), numbers(rows, "fare", "tip", "seats")
    design = np.column_stack((np.ones(three.shape[1]), three[1], three[2]))
    return [
        len(rows),
        tip.size,
        fare.sum(),
        tip.sum(),
        fare.mean(),
        tip.mean(),
        fare.var(),
        tip.std(),
        np.cov(both, ddof=0)[0, 1],
        np.corrcoef(both)[0, 1],
        np.linalg.lstsq(design, three[0], rcond=None)[0].tolist(),
    ]


CLOSE = (1e-9, 1e-9, 1e-3, 1e-3, 1e-3, 1e-3, 1e-2, 1e-2, 1e-2, 1e-2, 2e-2)
"""Relative: what rounding to steps may do."""


@pytest.mark.parametrize("schema", [None, BY_ROW], ids=["people", "rows"])
@pytest.mark.parametrize("together", [True, False])
def test_formulas_agree_with_numpy(schema: Any, together: bool) -> None:
    rows = some_rows(3, 400)
    more = {} if schema is None else {"schema": schema}
    wanted = expected(rows)
    asked = [ALL_ADDITIVE] if together else [(each,) for each in ALL_ADDITIVE]
    found: list[Any] = []
    for aggregates in asked:
        for spend in (Spend(Fraction(1)), Spend(None, Fraction(1))):
            planned = plan(ask(*aggregates, keys=NO_KEYS, **more), spend)
            estimates = read(planned, without_noise(planned, rows))
        found += [each.values[0] for each in estimates]
    for value, exact, close in zip(found, wanted, CLOSE, strict=True):
        assert np.asarray(value) == pytest.approx(np.asarray(exact), rel=close, abs=close)


def test_groups_are_read_side_by_side() -> None:
    rows = some_rows(5, 300)
    planned = plan(ask(COUNT, of("mean", FARE), keys=BY_CITY), Spend(Fraction(1)))
    released = without_noise(planned, rows)
    assert released.keys == (["a", "b", "c"],)
    counts, means = read(planned, released)
    for place, city in enumerate("abc"):
        fares = [row["fare"] for row in rows if row["city"] == city]
        assert counts.values[place] == pytest.approx(len(fares))
        assert means.values[place] == pytest.approx(np.mean(fares), rel=1e-3)


@given(some.lists(some.integers(1, 4), min_size=1, max_size=30))
@settings(deadline=None, max_examples=40)
def test_whole_numbers_are_exact(seats: list[int]) -> None:
    rows = [{"user": place, "seats": value} for place, value in enumerate(seats)]
    planned = plan(ask(of("sum", SEATS), of("variance", SEATS), keys=NO_KEYS), Spend(Fraction(1)))
    total, variance = read(planned, without_noise(planned, rows))
    assert total.values[0] == pytest.approx(sum(seats), rel=1e-9)
    assert variance.values[0] == pytest.approx(np.var(seats), rel=1e-6, abs=1e-6)


def test_people_and_different_values() -> None:
    rows = [{"user": place % 3, "city": "ab"[place % 2]} for place in range(6)]
    for asked, wanted in ((PEOPLE, 3), (of("count_distinct", CITY), 2)):
        planned = plan(ask(asked, keys=NO_KEYS), Spend(Fraction(1)), Wishes(bounding=Bounding("sample", rows=3)))
        assert read(planned, without_noise(planned, rows))[0].values[0] == wanted


@pytest.mark.parametrize("asked", [COUNT, PEOPLE], ids=["rows", "people"])
def test_counts_of_whole_weights_are_whole(asked: Any) -> None:
    planned = plan(ask(asked, keys=NO_KEYS), Spend(Fraction(1)), Wishes(bounding=Bounding("sample", rows=3)))
    estimate = read(planned, measure(planned, engine([{"user": 1}])))[0]
    assert estimate.whole  # type: ignore[union-attr]
    assert float(estimate.values[0]).is_integer()


# ---- imagined groups -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [100, 12345.5])
@pytest.mark.parametrize("spend", [Spend(Fraction(1)), Spend(None, Fraction(1))], ids=["laplace", "gaussian"])
def test_an_imagined_group_is_uniform(size: float, spend: Spend) -> None:
    planned = plan(ask(*ALL_ADDITIVE), spend)
    values = [each.values[0] for each in read(planned, imagine(planned, [size]))]
    third = 1 / math.sqrt(3)
    wanted = [size, size, 50 * size, 0, 50, 0, 2500 / 3, 10 * third, 0, 0, [50, 0, 0]]
    for value, exact in zip(values, wanted, strict=True):
        assert np.asarray(value) == pytest.approx(np.asarray(exact), rel=1e-3, abs=1e-3)


def test_imagined_choices_and_bins() -> None:
    planned = plan(ask(MEDIAN, TOP, BINS, PEOPLE), Spend(Fraction(1)))
    median, top, bins, people = read(planned, imagine(planned, [30_000]))
    assert isinstance(median, Chosen)
    assert median.values[0] == pytest.approx(50, abs=0.1)
    low, high = median.interval(0.95)
    assert low[0] < 49 < 51 < high[0]
    assert isinstance(top, Picked)
    assert top.values == [["a", "b"]]
    assert isinstance(bins, Several)
    assert bins.values[0] == pytest.approx([10_000] * 3)
    assert people.values[0] == pytest.approx(30_000)


def test_the_imagined_interval_shrinks_with_the_group() -> None:
    planned = plan(ask(MEDIAN, of("mean", FARE)), Spend(Fraction(1)))
    widths = []
    for size in (2_000.0, 20_000.0, 200_000.0):
        ends = [each.interval(0.9) for each in read(planned, imagine(planned, [size]))]  # type: ignore[union-attr]
        widths.append([float(high[0] - low[0]) for low, high in ends])
    for first, second in itertools.pairwise(widths):
        assert all(one >= 2 * other for one, other in zip(first, second, strict=True))


# ---- intervals of what is chosen -----------------------------------------------------------------------------------


def chosen_interval(planned: QueryPlan, buckets: np.ndarray) -> tuple[float, float, float]:
    taken, counts = np.unique(buckets, return_counts=True)
    rows = np.column_stack((np.zeros_like(taken), taken, counts * planned.bounding.unit))
    none = np.zeros((0, 1), dtype=np.int64)

    def compute(_task: Task, _salt: int) -> Exact:
        return Exact((), none, None, none, (rows,))

    estimate = read(planned, measure(planned, compute))[0]
    low, high = estimate.interval(0.95)  # type: ignore[union-attr]
    return float(low[0]), float(estimate.values[0]), float(high[0])


@pytest.mark.parametrize(
    ("function", "level", "size", "epsilon"),
    [
        ("quantile", "1/2", 2000, 1),
        ("quantile", "1/2", 10, 1),
        ("quantile", "1/2", 40, "0.1"),
        ("quantile", "9/10", 100, 1),
        ("minimum", "0", 1000, 1),
        ("maximum", "1", 1000, 1),
        ("maximum", "1", 100, "0.1"),
    ],
)
def test_intervals_of_quantiles_cover_as_claimed(function: Any, level: str, size: int, epsilon: Any) -> None:
    """However small the group: 95 % means 95 % (less five standard errors of 200 trials)."""
    parameters = [level] if function == "quantile" else []
    question = ask(of(function, FARE, parameters=parameters), keys=NO_KEYS)
    planned = plan(question, Spend(Fraction(epsilon)), Wishes(bounding=Bounding("weigh", rows=1)))
    spread = planned.task.histograms[0].buckets
    generator = np.random.default_rng(11)
    trials, covered = 200, 0
    for _ in range(trials):
        buckets = np.sort(generator.integers(0, spread, size))
        true = buckets[max(0, math.ceil(Fraction(level) * size) - 1)] + 0.5
        low, value, high = chosen_interval(planned, buckets)
        assert low <= value <= high
        covered += low <= true * 100 / spread <= high
    assert covered / trials > 0.95 - 5 * math.sqrt(0.95 * 0.05 / trials), covered


def test_beyond_the_planned_confidence_the_interval_is_the_range() -> None:
    planned = plan(ask(MEDIAN, of("quantile", SEATS, parameters=["1/2"])), Spend(Fraction(1)))
    fare, seats = read(planned, imagine(planned, [10**6]))
    low, high = fare.interval(0.99)  # type: ignore[union-attr]
    assert (low[0], high[0]) == (0, 100)
    assert fare.interval(0.95)[0][0] > 0  # type: ignore[union-attr]
    low, high = seats.interval(0.99)  # type: ignore[union-attr]
    assert (low[0], high[0]) == (1, 4)
    assert seats.whole  # type: ignore[union-attr]
    assert float(seats.values[0]).is_integer()


def test_one_top_is_a_value_and_several_are_lists() -> None:
    for count, wanted in ((1, ["a"]), (3, [["a", "b", "c"]])):
        planned = plan(ask(of("top", CITY, parameters=[count]), keys=NO_KEYS), Spend(Fraction(1)))
        picked = read(planned, imagine(planned, [100]))[0]
        assert isinstance(picked, Picked)
        assert picked.values == wanted


def test_undefined_answers_are_not_numbers() -> None:
    planned = plan(ask(of("variance", FARE), of("correlation", FARE, LATE), keys=NO_KEYS), Spend(Fraction(1)))
    nothing = without_noise(planned, [])
    assert all(np.isnan(each.values[0]) for each in read(planned, nothing))
    alone = without_noise(planned, [{"user": 1, "fare": 30.0, "late": 1}])
    variance, correlation = read(planned, alone)
    assert variance.values[0] == pytest.approx(0, abs=1e-3)
    assert np.isnan(correlation.values[0]) or abs(correlation.values[0]) <= 1
