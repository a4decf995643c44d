"""Quantiles with and without intervals: what is bought, what it costs, and that what is claimed to cover does."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from query.planning import BY_ROW, COUNT, FARE, MEDIAN, NO_KEYS, SEATS, TOP, ask, of
from sordino.accounting import pure, zcdp
from sordino.accounting.budget import Budget, budget
from sordino.accounting.events import Exponential, PermuteAndFlip
from sordino.data.dataset import dataset
from sordino.data.declare import bounds, limits
from sordino.errors import ArgumentError
from sordino.mechanisms.flipped_quantile import FlippedQuantile
from sordino.mechanisms.grouped_choice import GroupedQuantile
from sordino.query.ask import TableAccount, account
from sordino.query.frame import aggregates as so
from sordino.query.model.task import Exact, Task
from sordino.query.plan import rungs
from sordino.query.plan.imagine import imagine
from sordino.query.plan.plan import QueryPlan
from sordino.query.plan.planner import Wishes, plan
from sordino.query.plan.reading import read
from sordino.query.plan.spend import Spend
from sordino.query.release.run import measure
from sordino.query.words import within

ONE = Spend(Fraction(1))
WITHOUT = Wishes(intervals=False)

# ---- rungs ---------------------------------------------------------------------------------------------------------


@given(some.integers(1, 3000), some.data())
@settings(deadline=None, max_examples=200)
def test_rungs_hold_every_bucket_once(buckets: int, data: Any) -> None:
    """The first and the last bucket of the rung of a bucket enclose it, and those in between are of the same rung."""
    value = np.full(buckets, data.draw(some.integers(0, buckets - 1)))
    places = np.arange(buckets)
    found = rungs.to_rungs(places, value, buckets)
    assert found.min() >= 0
    assert found.max() < rungs.count(buckets)
    assert (np.diff(found) >= 0).all()
    first = rungs.to_buckets(found, value, buckets, upper=False)
    last = rungs.to_buckets(found, value, buckets, upper=True)
    assert ((first <= places) & (places <= last)).all()
    assert (first[1:][np.diff(found) > 0] == places[1:][np.diff(found) > 0]).all()
    assert (last[:-1][np.diff(found) > 0] == places[:-1][np.diff(found) > 0]).all()


def test_rungs_are_few_and_narrow_beside_the_value() -> None:
    assert rungs.count(2**14) < 90
    assert rungs.count(2**20) < 130
    value = np.array([5000])
    for distance in (-3, -1, 0, 1, 3):
        rung = rungs.to_rungs(value + distance, value, 2**14)
        assert rungs.to_buckets(rung, value, 2**14, upper=False) == value + distance
        assert rungs.to_buckets(rung, value, 2**14, upper=True) == value + distance


def test_guards_and_rungs_beyond_the_range_stand_for_its_ends() -> None:
    value, every = np.array([2]), rungs.count(10)
    for upper in (False, True):
        assert rungs.to_buckets(np.array([-1]), value, 10, upper=upper) == -1
        assert rungs.to_buckets(np.array([every]), value, 10, upper=upper) == 10
    assert rungs.to_buckets(np.array([0]), value, 10, upper=False) == -1
    assert rungs.to_buckets(np.array([every - 1]), value, 10, upper=True) == 10


# ---- coverage ------------------------------------------------------------------------------------------------------


def _gap_above(generator: np.random.Generator) -> np.ndarray:
    """Half of the rows in two buckets, the others at the far end: nearly all buckets are one rank above the median."""
    return np.concatenate((generator.integers(20, 22, 61), np.full(60, 16_000)))


def _gap_below(generator: np.random.Generator) -> np.ndarray:
    return np.concatenate((np.full(60, 3), generator.integers(16_000, 16_002, 61)))


def _one_value(_generator: np.random.Generator) -> np.ndarray:
    return np.full(50, 8_000)


def _few(generator: np.random.Generator) -> np.ndarray:
    return generator.integers(0, 2**14, 3)


@pytest.mark.parametrize("level", ["0", "1/2", "9/10", "1"])
@pytest.mark.parametrize("rows_of", [_gap_above, _gap_below, _one_value, _few])
def test_intervals_cover_where_data_is_at_its_worst(
    rows_of: Callable[[np.random.Generator], np.ndarray], level: str
) -> None:
    """Less five standard errors; the value's own choice is permute-and-flip, as in an account of pure ε."""
    question = ask(of("quantile", FARE, parameters=[level]), keys=NO_KEYS, schema=BY_ROW)
    planned = plan(question, ONE, Wishes(flips=True))
    generator = np.random.default_rng(3)
    trials, covered = 120, 0
    for _ in range(trials):
        buckets = np.sort(rows_of(generator))
        true = (buckets[max(0, math.ceil(Fraction(level) * len(buckets)) - 1)] + 0.5) * 100 / 2**14
        low, high = _released(planned, buckets).interval(0.95)
        covered += float(low[0]) <= true <= float(high[0])
    assert covered / trials > 0.95 - 5 * math.sqrt(0.95 * 0.05 / trials), covered


def _released(planned: QueryPlan, buckets: np.ndarray) -> Any:
    taken, counts = np.unique(buckets, return_counts=True)
    rows = np.column_stack((np.zeros_like(taken), taken, counts * planned.bounding.unit))
    none = np.zeros((0, 1), dtype=np.int64)

    def compute(_task: Task, _salt: int) -> Exact:
        return Exact((), none, None, none, (rows,))

    return read(planned, measure(planned, compute))[0]


# ---- what is bought ------------------------------------------------------------------------------------------------


def test_without_an_interval_all_of_the_price_goes_to_the_value() -> None:
    question = ask(MEDIAN, keys=NO_KEYS, schema=BY_ROW)
    bought, bare = plan(question, ONE).choices[0], plan(question, ONE, WITHOUT).choices[0]
    assert (len(bought.mechanisms), len(bare.mechanisms)) == (3, 1)
    assert (bought.without_interval, bare.without_interval) == (False, True)
    assert bare.mechanisms[0].epsilon == 1
    assert bought.mechanisms[0].epsilon == Fraction(7, 10)
    assert sum(mechanism.epsilon for mechanism in bought.mechanisms) == 1
    for wishes in (Wishes(), WITHOUT):
        assert pure.total(plan(question, ONE, wishes).event()) == 1
        paid = plan(question, Spend(None, Fraction(1, 2)), wishes)
        assert Fraction(1, 2) - Fraction(1, 10**6) < zcdp.rho(paid.event()) <= Fraction(1, 2)


def test_tops_and_counts_have_no_part_in_it() -> None:
    for aggregate in (TOP, COUNT):
        assert plan(ask(aggregate), ONE, WITHOUT) == plan(ask(aggregate), ONE)
    assert not plan(ask(TOP), ONE, WITHOUT).choices[0].without_interval


def test_flips_are_for_those_who_pay_pure_epsilon_and_have_few_buckets() -> None:
    question = ask(MEDIAN, keys=NO_KEYS, schema=BY_ROW)
    flipped = plan(question, ONE, Wishes(flips=True)).choices[0]
    assert [type(each) for each in flipped.mechanisms] == [FlippedQuantile, GroupedQuantile, GroupedQuantile]
    assert flipped.mechanisms[0].event(flipped.bound) == PermuteAndFlip(Fraction(7, 10))
    for planned in (plan(question, ONE), plan(question, Spend(None, Fraction(1)), Wishes(flips=True))):
        assert type(planned.choices[0].mechanisms[0]) is GroupedQuantile
    wide = _account(budget(epsilon=9), 10**6).sql("SELECT MEDIAN(number) AS m FROM numbers").plan(epsilon=1)
    assert type(wide.passes[0].choices[0].mechanisms[0]) is GroupedQuantile


def test_the_interval_that_was_not_bought_is_the_whole_range() -> None:
    planned = plan(ask(MEDIAN, of("maximum", SEATS), keys=NO_KEYS, schema=BY_ROW), ONE, WITHOUT)
    rows = np.array([[0, 100, 40]])
    none = np.zeros((0, 1), dtype=np.int64)
    fare, seats = read(planned, measure(planned, lambda _task, _salt: Exact((), none, None, none, (rows, rows // 50))))
    for estimate, ends in ((fare, (0, 100)), (seats, (1, 4))):
        for confidence in (0.5, 0.95, 0.999):
            low, high = estimate.interval(confidence)  # type: ignore[union-attr]
            assert (low[0], high[0]) == ends


def test_a_price_without_intervals_says_how_far_off_the_value_is() -> None:
    """By the tail of the choice among evenly spread values; less than with intervals, and falling with the group."""
    question = ask(MEDIAN, keys=NO_KEYS, schema=BY_ROW)
    widths = {}
    for wishes in (Wishes(), WITHOUT):
        for rows in (1_000, 10_000):
            planned = plan(question, ONE, wishes)
            low, high = read(planned, imagine(planned, [rows]))[0].interval(0.95)  # type: ignore[union-attr]
            widths[wishes.intervals, rows] = float(high[0] - low[0]) / 2
    assert widths[False, 1_000] < widths[True, 1_000] / 4
    assert widths[False, 10_000] < widths[False, 1_000] / 5
    tail = math.log(1 / 0.05) / 1_000 * 100
    assert widths[False, 1_000] == pytest.approx(tail, abs=0.02)


# ---- asking --------------------------------------------------------------------------------------------------------


def _account(cap: Budget, high: int = 100) -> TableAccount:
    data = pa.table({"number": list(range(101)), "real": [each / 2 for each in range(101)]})
    columns = {"number": bounds(0, high), "real": bounds(0, 50)}
    return account(dataset("numbers", data, unit="number", columns=columns, limits=limits(rows=1)), cap)


def test_the_word_is_passed_on_from_sql_and_from_method_calls() -> None:
    numbers = _account(budget(epsilon=100))
    asked = (
        numbers.sql("SELECT MEDIAN(real) AS middle FROM numbers"),
        numbers.table("numbers").agg(middle=so.median("real")),
    )
    for each in asked:
        answer = each.run(epsilon=20, intervals=False)
        assert answer["middle"][0] == pytest.approx(25, abs=3)
        assert [float(end[0]) for end in answer.interval("middle")] == [0, 50]
        assert any("no intervals were bought for quantiles of real" in note for note in answer.notes)
        price = each.price(epsilon=20, intervals=False)
        assert any("no intervals were bought" in note for note in price.notes)
        assert price.columns[0].half_widths[100] < each.price(epsilon=20).columns[0].half_widths[100]
        assert not any("no intervals" in note for note in each.run(epsilon=20).notes)
    assert numbers.account.used == 0.8  # type: ignore[union-attr]


def test_an_error_can_be_aimed_for_without_intervals() -> None:
    asked = _account(budget(epsilon=1000)).sql("SELECT MEDIAN(real) AS middle FROM numbers")
    goal = within(1, of="middle", size=1000)
    bare, bought = (asked.price(error=goal, intervals=each).epsilon for each in (False, True))
    assert bare is not None
    assert bought is not None
    assert bare < bought / 4


@pytest.mark.parametrize(
    ("cap", "kind"), [(budget(epsilon=9), PermuteAndFlip), (budget(epsilon=9, delta="1e-6"), Exponential)]
)
def test_the_account_decides_how_the_value_is_drawn(cap: Budget, kind: type) -> None:
    """Where choices of bounded range are charged less, they are what is bought."""
    asked = _account(cap).sql("SELECT MEDIAN(real) AS middle FROM numbers")
    (choice,) = asked.plan(epsilon=1, intervals=False).passes[0].choices
    assert choice.event.events == (kind(Fraction(1)),)  # type: ignore[attr-defined]


@pytest.mark.parametrize("word", ["no", 0, None])
def test_other_words_are_refused(word: Any) -> None:
    with pytest.raises(ArgumentError, match="intervals must be True or False"):
        _account(budget(epsilon=1)).sql("SELECT MEDIAN(real) AS m FROM numbers").price(epsilon=1, intervals=word)
