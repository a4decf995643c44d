"""Prices, goals and notes: all of it is known before any data is touched."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from query.planning import (
    BINS,
    BY_PLACE,
    BY_ROW,
    CITY,
    COUNT,
    FARE,
    FREE,
    LATE,
    MEDIAN,
    NO_KEYS,
    PEOPLE,
    TIP,
    TOP,
    ask,
    engine,
    of,
    with_limits,
)
from sordino.accounting import approximate, pure
from sordino.accounting.account import UnlimitedAccount
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Limits
from sordino.errors import ArgumentError, QuestionError
from sordino.query.engine import exact
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import Literal
from sordino.query.model.operations import call
from sordino.query.model.question import Question
from sordino.query.model.wording import describe
from sordino.query.plan.discovery import Found
from sordino.query.plan.goal import cheapest, error_of, noise_of
from sordino.query.plan.notes import bounding_note, notes
from sordino.query.plan.plan import QueryPlan
from sordino.query.plan.planner import Wishes, plan
from sordino.query.plan.price import ColumnPrice, column_prices, own_delta_of, price_of
from sordino.query.plan.reading import read
from sordino.query.plan.spend import Spend
from sordino.query.plan.whole import plan_whole
from sordino.query.release.run import measure
from sordino.query.words import Within, within

DELTA = Fraction(1, 10**6)
MEAN = of("mean", FARE)


def priced(question: Question, spend: Spend, wishes: Wishes | None = None, **words: Any) -> Any:
    return price_of(plan_whole(question, spend, wishes or Wishes(), **words), UnlimitedAccount("a test"), 0.95)


# ---- prices --------------------------------------------------------------------------------------------------------


def test_a_price_touches_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    def touched(*_: Any) -> None:
        pytest.fail("data was touched")

    monkeypatch.setattr(exact, "compute", touched)
    price = priced(ask(COUNT, MEAN, MEDIAN, TOP, BINS), Spend(Fraction(1)))
    assert price.epsilon == 1
    assert pure.total(price.event) == 1
    assert [column.name for column in price.columns] == ["c0", "c1", "c2", "c3", "c4"]
    assert price.fits
    assert "± " in str(price)
    assert "chosen privately" in str(price)
    shown = price._repr_html_()
    assert "<strong>price: ε = " in shown
    assert ('role="img" aria-label="' in shown) == (price.part is not None)


def test_errors_that_depend_on_size_say_so() -> None:
    count, mean, median, top = priced(ask(COUNT, MEAN, MEDIAN, TOP), Spend(Fraction(1))).columns
    assert not count.depends_on_size
    assert mean.depends_on_size
    assert median.depends_on_size
    assert list(mean.half_widths) == [100, 1_000, 10_000]
    assert mean.half_widths[10_000] < mean.half_widths[1_000] < mean.half_widths[100] <= 50
    assert not top.half_widths


@pytest.mark.parametrize("asked", [COUNT, of("sum", TIP), MEAN, of("deviation", FARE)], ids=lambda each: each.function)
def test_the_error_stated_is_the_error_met(asked: Any) -> None:
    """Of a group that is as imagined, the noisy answer is within the half width in 95 of 100 runs, and not in all."""
    size = 1000
    planned = plan(ask(asked, keys=NO_KEYS), Spend(Fraction(1)), Wishes(bounding=Bounding("weigh", rows=1)))
    (column,) = column_prices(planned, 0.95, (float(size),))
    half = column.half_widths[float(size)]
    rows = [{"user": n, "fare": 100 * (n + 0.5) / size, "tip": 20 * (n + 0.5) / size - 10} for n in range(size)]
    answer = engine(rows)(planned.task, 0)
    truth = {"count_rows": size, "sum": 0.0, "mean": 50.0, "deviation": 100 / math.sqrt(12)}[asked.function]
    errors = [
        abs(float(read(planned, measure(planned, lambda _task, _salt: answer))[0].values[0]) - truth)
        for _ in range(400)
    ]
    assert sum(each <= half for each in errors) / 400 > 0.90
    assert sum(each <= half / 2 for each in errors) / 400 < 0.93


@pytest.mark.parametrize(
    ("question", "spend", "wishes"),
    [
        (ask(COUNT), Spend(Fraction(1), None, DELTA), Wishes()),
        (ask(COUNT), Spend(Fraction(1), None, DELTA), Wishes(noise="gaussian")),
        (ask(BINS), Spend(Fraction(1), None, DELTA), Wishes(noise="gaussian")),
        (ask(COUNT, keys=BY_PLACE), Spend(Fraction(1), None, DELTA, DELTA), Wishes(noise="gaussian")),
        (ask(BINS, keys=BY_PLACE), Spend(Fraction(1), None, DELTA, DELTA), Wishes(noise="gaussian")),
        (ask(COUNT, keys=BY_PLACE), Spend(None, Fraction(1), keys_delta=DELTA), Wishes()),
        (ask(of("mean", FREE), keys=BY_PLACE), Spend(Fraction(1), keys_delta=DELTA), Wishes()),
    ],
)
def test_the_delta_stated_is_the_delta_needed(question: Question, spend: Spend, wishes: Wishes) -> None:
    """That of the events themselves, and one more where Gaussian noise is calibrated to (ε, δ)."""
    whole = plan_whole(question, spend, wishes)
    parts = [part.mechanism for each in whole.passes for part in (*each.blocks, *each.histograms)]
    gaussian = spend.epsilon is not None and any(type(part).__name__ == "Gaussian" for part in parts)
    assert own_delta_of(whole) == approximate.own_delta(whole.event()) + gaussian * spend.gaussian_delta


def test_what_must_be_found_first_has_no_error_yet() -> None:
    price = priced(ask(of("mean", FREE)), Spend(Fraction(1)))
    assert price.columns == ()
    assert "found privately" in price.notes[0]
    assert "10%" in price.notes[0]


def test_a_column_price_reads_well() -> None:
    assert str(ColumnPrice("n", {100: 2.5, 1000: 2.5}, False)) == "± 2.5"
    assert str(ColumnPrice("m", {100: 2.5, 1000: 0.25}, True)) == "± 2.5 for 100 rows, ± 0.25 for 1,000 rows"
    assert "∞" in str(ColumnPrice("m", {100: math.inf}, False))
    price = priced(ask(COUNT, keys=BY_PLACE), Spend(None, Fraction(1, 2), keys_delta=DELTA))
    assert "ρ = 0.5" in str(price)
    assert "δ = 1e-06" in str(price)


# ---- goals ---------------------------------------------------------------------------------------------------------


def make(question: Question, **wishes: Any) -> Callable[[Fraction], QueryPlan]:
    return lambda epsilon: plan(question, Spend(epsilon, keys_delta=DELTA), Wishes(**wishes))


@pytest.mark.parametrize(
    ("asked", "amount", "size"),
    [
        (COUNT, 10, None),
        (COUNT, "0.5", None),
        (MEAN, 1, 1000),
        (MEAN, "0.01", 10**5),
        (of("deviation", FARE), 2, 5000),
        (MEDIAN, 5, 5000),
    ],
)
def test_the_cheapest_price_meets_the_goal_and_hardly_more(asked: Any, amount: Any, size: Any) -> None:
    goal = within(amount, "c0", size=size)
    build = make(ask(asked))

    def error(planned: QueryPlan) -> float:
        return error_of(planned, goal)

    price = cheapest(build, error, float(goal.amount))
    assert error(build(price)) <= goal.amount
    assert error(build(price * Fraction(99, 100))) > float(goal.amount) * 0.999
    assert price == Fraction(f"{float(price):.3e}")


@given(some.floats(0.3, 3.0), some.floats(1e-3, 1e3), some.floats(1e-2, 1e2))
@settings(deadline=None)
def test_powers_of_the_price(power: float, size: float, goal: float) -> None:
    """Errors that fall like any power: the price is at most 1 % above the least one."""
    least = (size / goal) ** (1 / power)
    if not 1e-5 < least < 900:
        return
    calls = 0

    def error(price: Fraction) -> float:
        nonlocal calls
        calls += 1
        return size / float(price) ** power

    price = cheapest(lambda each: each, error, goal)
    assert error(price) <= goal
    assert float(price) <= least * 1.01
    assert calls < 100


def test_a_goal_that_any_price_meets_is_cheap() -> None:
    """A mean's error is at most half its range: whoever allows more pays the least that there is."""
    price = cheapest(make(ask(MEAN)), lambda planned: error_of(planned, within(60, "c0", size=100)), 60.0)
    assert price <= Fraction(1, 1000)


def test_a_goal_on_a_plateau_is_met_in_a_few_steps() -> None:
    calls = 0

    def error(price: Fraction) -> float:
        nonlocal calls
        calls += 1
        return min(50.0, 5000.0 / float(price) if price > 20 else 50.0)

    price = cheapest(lambda each: each, error, 49.0)
    assert error(price) <= 49
    assert float(price) <= 5000 / 49 * 1.01
    assert calls < 200


def test_an_impossible_goal_is_refused() -> None:
    with pytest.raises(QuestionError, match="SRD-Q315"):
        cheapest(lambda each: each, lambda price: 1 + 1 / float(price), 0.5)


def test_goals_that_make_no_sense_are_refused() -> None:
    planned = plan(ask(COUNT, MEAN, TOP), Spend(Fraction(1)))
    for goal, code in (
        (within(1, "nothing"), "SRD-Q313"),
        (within(1, "c2"), "SRD-Q313"),
        (within(1, "c1"), "SRD-Q312"),
    ):
        with pytest.raises(QuestionError, match=code):
            error_of(planned, goal)
    for words in ({"amount": 0}, {"of": 3}, {"confidence": 1}, {"size": 0}):
        with pytest.raises(ArgumentError):
            within(**{"amount": 1, "of": "c0", **words})  # type: ignore[arg-type]
    assert within("0.5", "c0") == Within(Fraction(1, 2), "c0", Fraction(95, 100), None)


@pytest.mark.parametrize("weights", [{}, {"c0": 5.0}, {"c0": 0.2}])
@pytest.mark.parametrize(
    "asked", [(COUNT,), (COUNT, MEAN), (PEOPLE,), (of("count", TIP), COUNT)], ids=["count", "pair", "people", "present"]
)
def test_noise_is_the_deviation_of_a_count(asked: Any, weights: dict[str, float]) -> None:
    """Whatever the columns matter: the noise is in rows, not in weights."""
    planned = plan(ask(*asked), Spend(Fraction(1)), Wishes(weights=weights))
    assert noise_of(planned) == pytest.approx(float(read(planned, measure(planned, engine([])))[0].standard_error[0]))  # type: ignore[union-attr, index]


def test_noise_of_a_mean_is_that_of_its_count() -> None:
    alone, beside = (plan(ask(*asked), Spend(Fraction(1))) for asked in ((MEAN,), (COUNT, MEAN)))
    assert noise_of(alone) == pytest.approx(noise_of(beside), rel=1e-3)


def test_noise_of_a_sum_is_in_rows() -> None:
    planned = plan(ask(of("sum", TIP)), Spend(Fraction(1)))
    assert noise_of(planned) == pytest.approx(3 * math.sqrt(2), rel=1e-3)
    with pytest.raises(QuestionError, match="SRD-Q314"):
        noise_of(plan(ask(MEDIAN), Spend(Fraction(1))))


# ---- notes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "words"),
    [
        (Bounding("row", rows=1), "each row counts by itself"),
        (Bounding("row", rows=2), "up to 2 times"),
        (Bounding("sample", rows=3), "3 rows of each user are kept"),
        (Bounding("weigh", rows=3), "weigh 3 in all"),
        (Bounding("groups", groups=1, rows_per_group=2), "1 group at most, with the weight of 2 rows"),
        (Bounding("groups", groups=2, rows_per_group=1), "2 groups at most, with the weight of 1 row "),
        (Bounding("norm", rows=3), "norm of 3"),
    ],
)
def test_every_way_of_bounding_is_said(way: Bounding, words: str) -> None:
    assert words in bounding_note(way, "user")


def said(question: Question, **more: Any) -> str:
    return "\n".join(notes(plan(question, Spend(Fraction(1), keys_delta=DELTA)), **more))


def test_what_keeps_an_answer_from_being_plain_is_said() -> None:
    text = said(ask(COUNT, MEAN, MEDIAN))
    assert "values of fare outside of [0, 100] count as its ends" in text
    assert text.count("values of fare") == 1
    assert "not among its 3 declared keys" in text
    assert "groups of few are left out" in said(ask(COUNT, keys=BY_PLACE))
    assert "groups of few" not in text


def test_what_was_found_is_said() -> None:
    question = ask(of("mean", FREE), schema=with_limits(Limits(rows=8)))
    planned = plan(question, Spend(Fraction(1)), Wishes(ranges={FREE: Range.of(-4, 8)}))
    text = "\n".join(notes(planned, Found(Limits(rows=8), {FREE: Range.of(-4, 8)})))
    assert "bounds [-4, 8] of free were found privately" in text
    assert "limit of 8 rows was found privately" in text


def test_clipping_to_zero_and_one_is_said_too() -> None:
    assert "values of late outside of [0, 1]" in said(ask(of("mean", LATE)))


def test_rows_outside_of_a_histogram_are_said() -> None:
    assert "fare" in said(ask(BINS, keys=NO_KEYS))


def test_values_outside_of_a_top_are_said() -> None:
    assert "city" in said(ask(of("top", CITY, parameters=[1]), keys=NO_KEYS))


def test_a_presence_is_no_value() -> None:
    text = said(ask(of("count", TIP), keys=NO_KEYS))
    assert "is_null" not in text
    assert "tip" not in text


def test_expressions_read_well() -> None:
    relation = ask(COUNT).relation
    assert describe(FARE, relation) == "fare"
    assert describe(Literal(Kind.TEXT, None), relation) == "NULL"
    assert describe(call("add", FARE, Literal(Kind.INTEGER, 3)), relation) == "fare + 3"
    long = FARE
    for _ in range(20):
        long = call("add", long, FARE)  # type: ignore[assignment]
    assert len(describe(long, relation)) == 80
    assert said(ask(COUNT, schema=BY_ROW)).startswith("each row counts by itself")


def test_notes_about_whole_numbers_with_odd_bounds() -> None:
    planned = plan(
        ask(of("quantile", LATE, parameters=["1/2"])), Spend(Fraction(1)), Wishes(ranges={LATE: Range.of("0.5", 1)})
    )
    assert "values of late outside of [0.5, 1]" in "\n".join(notes(planned))
