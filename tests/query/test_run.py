"""Running: noise as large as claimed, failures that say nothing, groups of one that stay hidden."""

from __future__ import annotations

import math
import traceback
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare, kstest

from query.planning import (
    BINS,
    BY_CITY,
    BY_PLACE,
    CITY,
    COUNT,
    FARE,
    MEDIAN,
    NO_KEYS,
    PEOPLE,
    TOP,
    ask,
    engine,
    never,
    of,
)
from sordino.accounting.grant import Grant
from sordino.errors import GrantError, RunError
from sordino.noise import DiscreteLaplace
from sordino.query.model.bounding import Bounding
from sordino.query.model.task import Exact, Task
from sordino.query.plan.plan import QueryPlan
from sordino.query.plan.planner import Wishes, plan
from sordino.query.plan.reading import Released, read
from sordino.query.plan.spend import Spend
from sordino.query.plan.whole import WholePlan
from sordino.query.release.run import exact_steps, measure, mute
from sordino.query.release.whole import run_whole

_SMALLEST_P = 1e-6
ONE_ROW = Wishes(bounding=Bounding("weigh", rows=1))
Compute = Callable[[Task, int], Exact]


def whole_of(planned: QueryPlan) -> WholePlan:
    return WholePlan(planned.question, planned.spend, Wishes(), None, planned.spend, (planned,))


def grant_for(planned: QueryPlan) -> Grant:
    return Grant(planned.event(), planned.bound, whole_of(planned).digest())


def release(planned: QueryPlan, grant: Grant, compute: Compute) -> Released:
    """Run a plan as questions are run, as the one pass of its question."""
    ((_, released),) = run_whole(whole_of(planned), grant, compute).passes
    return released


def many(planned: QueryPlan, compute: Compute, times: int) -> list[Any]:
    exact = compute(planned.task, 0)
    return [read(planned, release(planned, grant_for(planned), lambda _task, _salt: exact)) for _ in range(times)]


# ---- noise ---------------------------------------------------------------------------------------------------------


def judged(errors: list[float], law: Callable[[float], Any]) -> None:
    """Accept the claimed scale, reject 0.7 and 1.3 times of it."""
    claimed = kstest(errors, law(1.0)).pvalue
    assert claimed > _SMALLEST_P, (len(errors), claimed)
    for factor in (0.7, 1.3):
        assert kstest(errors, law(factor)).pvalue < _SMALLEST_P, (len(errors), factor)


def laplace_cdf(scale: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: np.where(x < 0, np.exp(np.minimum(x, 0) / scale) / 2, 1 - np.exp(-np.maximum(x, 0) / scale) / 2)


@pytest.mark.parametrize("rows", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_a_count_has_the_noise_that_it_claims(rows: int) -> None:
    """COUNT alone at ε = ½, up to `rows` rows a person: Laplace of scale 2·rows, in fractions of a row."""
    planned = plan(ask(COUNT), Spend(Fraction(1, 2)), Wishes(bounding=Bounding("weigh", rows=rows)))
    compute = engine([{"user": place, "city": "b"} for place in range(50)])
    errors = [
        x - (50 if at == 1 else 0) for (count,) in many(planned, compute, 4000) for at, x in enumerate(count.values)
    ]
    judged(errors, lambda factor: laplace_cdf(2 * rows * factor))


@pytest.mark.slow
def test_a_whole_count_has_whole_noise() -> None:
    planned = plan(ask(COUNT, keys=NO_KEYS), Spend(Fraction(1)), Wishes(bounding=Bounding("sample", rows=2)))
    law = planned.blocks[0].mechanism.law
    assert law == DiscreteLaplace(2)
    seen = Counter(int(count.values[0]) for (count,) in many(planned, engine([{"user": 1}]), 8000))

    def p_value(factor: float) -> float:
        scale = 2 * factor
        top = (1 - math.exp(-1 / scale)) / (1 + math.exp(-1 / scale))
        shares = {k + 1: top * math.exp(-abs(k) / scale) for k in range(-7, 8)}
        rest = 1 - sum(shares.values())
        counted = [seen[k] for k in shares]
        return float(
            chisquare([*counted, 8000 - sum(counted)], [8000 * each for each in (*shares.values(), rest)]).pvalue
        )

    assert p_value(1.0) > _SMALLEST_P
    assert p_value(0.7) < _SMALLEST_P
    assert p_value(1.3) < _SMALLEST_P


@pytest.mark.slow
def test_a_mean_has_the_noise_of_its_pair() -> None:
    """AVG of n rows at ε: half the range times the difference of two Laplaces of scale 1/ε, over n, to first order."""
    size, epsilon = 4000, 1.0
    planned = plan(ask(COUNT, of("mean", FARE), keys=NO_KEYS), Spend(Fraction(1)), ONE_ROW)
    compute = engine([{"user": place, "fare": 50} for place in range(size)])
    answers = many(planned, compute, 8000)
    errors = [(float(mean.values[0]) - 50) * size / 50 for _, mean in answers]
    counts = [float(count.values[0]) - size for count, _ in answers]

    def law(factor: float) -> Callable[[np.ndarray], np.ndarray]:
        # The sum of two Laplaces of one scale b has the density (1 + |x|/b)·exp(−|x|/b)/(4b).
        scale = factor / epsilon
        tail = lambda x: np.exp(-np.abs(x) / scale) * (2 + np.abs(x) / scale) / 4  # noqa: E731
        return lambda x: np.where(x < 0, tail(x), 1 - tail(x))

    judged(counts, law)
    judged(errors, law)


@pytest.mark.slow
def test_gaussian_counts() -> None:
    planned = plan(ask(COUNT, keys=NO_KEYS), Spend(None, Fraction(1, 8)), ONE_ROW)
    errors = [float(count.values[0]) - 9 for (count,) in many(planned, engine([{"user": n} for n in range(9)]), 8000)]
    judged(
        errors, lambda factor: lambda x: np.vectorize(lambda t: 0.5 * math.erfc(-t / (2 * factor) / math.sqrt(2)))(x)
    )


@pytest.mark.slow
def test_bins_have_the_noise_that_they_claim() -> None:
    planned = plan(ask(BINS, keys=NO_KEYS), Spend(Fraction(1, 2)), ONE_ROW)
    compute = engine([{"user": place, "fare": 30} for place in range(40)])
    answers = many(planned, compute, 5000)
    errors = [float(x) - w for (bins,) in answers for x, w in zip(bins.values[0], (0, 40, 0), strict=True)]
    judged(errors, lambda factor: laplace_cdf(2 * factor))


def test_noise_is_fresh_for_every_group_and_release() -> None:
    planned = plan(ask(COUNT, PEOPLE), Spend(Fraction(1, 100)))
    values = [float(x) for answer in many(planned, engine([]), 20) for each in answer for x in each.values]
    assert len(values) == 120
    assert len(set(values)) > 100


# ---- end to end ----------------------------------------------------------------------------------------------------


def test_every_public_group_comes_back_in_order() -> None:
    planned = plan(ask(COUNT, MEDIAN, TOP, BINS), Spend(Fraction(1)))
    for rows in ([], [{"user": 1, "city": "b", "fare": 3.0}]):
        released = release(planned, grant_for(planned), engine(rows))
        assert released.keys == (["a", "b", "c"],)
        assert released.groups == 3
        assert [len(each.values) for each in read(planned, released)] == [3, 3, 3, 3]


def test_a_large_budget_gives_the_truth() -> None:
    rows = [{"user": place, "city": "ab"[place % 2], "fare": place % 100} for place in range(1000)]
    planned = plan(ask(COUNT, of("mean", FARE), MEDIAN, TOP, BINS, keys=NO_KEYS), Spend(Fraction(1000)), ONE_ROW)
    count, mean, median, top, bins = read(planned, release(planned, grant_for(planned), engine(rows)))
    assert count.values[0] == pytest.approx(1000, abs=2)
    assert mean.values[0] == pytest.approx(49.5, abs=0.1)
    assert median.values[0] == pytest.approx(49.5, abs=1.1)
    assert sorted(top.values[0]) == ["a", "b"]
    assert bins.values[0] == pytest.approx([250, 250, 500], abs=2)


def test_the_engine_gets_the_plan_s_task_once_and_a_fresh_salt() -> None:
    planned = plan(ask(COUNT), Spend(Fraction(1)))
    calls: list[tuple[Task, int]] = []

    def compute(task: Task, salt: int) -> Exact:
        calls.append((task, salt))
        return engine([])(task, salt)

    for _ in range(3):
        release(planned, grant_for(planned), compute)
    assert [task for task, _ in calls] == [planned.task] * 3
    assert len({salt for _, salt in calls}) == 3
    assert all(0 <= salt < 2**62 for _, salt in calls)


def test_no_groups_at_all() -> None:
    spend = Spend(Fraction(1), keys_delta=Fraction(1, 10**6))
    planned = plan(ask(COUNT, of("mean", FARE), MEDIAN, TOP, BINS, keys=BY_PLACE), spend)
    released = release(planned, grant_for(planned), engine([]))
    assert released.groups == 0
    assert released.keys == ([],)
    assert [len(each.values) for each in read(planned, released)] == [0, 0, 0, 0, 0]


# ---- failures ------------------------------------------------------------------------------------------------------

CANARY = "Zebedee-Quill-1834"


def failing(_task: Task, _salt: int) -> Exact:
    raise ValueError(f"could not convert {CANARY} to a number")


def everything_said(error: BaseException | None) -> str:
    """All that an exception carries along: texts, arguments, notes, and every exception that hangs on it."""
    said = ""
    while error is not None:
        said += "".join(traceback.format_exception(error)) + repr(error) + repr(error.args) + repr(vars(error))
        error = error.__cause__ or error.__context__
    return said


def test_an_engine_s_failure_says_nothing_and_is_charged() -> None:
    planned = plan(ask(COUNT), Spend(Fraction(1)))
    grant = grant_for(planned)
    with pytest.raises(RunError) as failure:
        release(planned, grant, failing)
    assert failure.value.code == "SRD-R001"
    assert CANARY not in "".join(traceback.format_exception(failure.value))
    with pytest.raises(GrantError):
        release(planned, grant, engine([]))


def test_nothing_of_the_failure_hangs_on_what_is_raised() -> None:
    """A logger that follows `__context__`, as some do, must find nothing either."""
    with pytest.raises(RunError) as failure:
        mute(lambda: failing(None, 0))  # type: ignore[arg-type]
    assert CANARY not in everything_said(failure.value)


def test_all_failures_look_alike() -> None:
    def broken(_task: Task, _salt: int) -> Any:
        return None

    planned = plan(ask(COUNT), Spend(Fraction(1)))
    texts = set()
    for compute in (failing, broken, lambda _task, _salt: 1 / 0):
        with pytest.raises(RunError) as failure:
            release(planned, grant_for(planned), compute)  # type: ignore[arg-type]
        texts.add(str(failure.value))
    assert len(texts) == 1


def test_a_foreign_or_used_grant_touches_nothing() -> None:
    planned, other = plan(ask(COUNT), Spend(Fraction(1))), plan(ask(COUNT), Spend(Fraction(2)))
    with pytest.raises(GrantError):
        release(planned, grant_for(other), never)
    grant = grant_for(planned)
    grant.use(planned.event())
    with pytest.raises(GrantError):
        release(planned, grant, never)


# ---- saturation ----------------------------------------------------------------------------------------------------


def given(sums: list[list[int]], kind: Any) -> Exact:
    none = np.zeros((0, len(sums[0])), dtype=np.int64)
    return Exact((), np.array(sums, dtype=kind), None, none, ())


ONE_BLOCK = plan(ask(COUNT, of("mean", FARE), keys=NO_KEYS), Spend(Fraction(1)), ONE_ROW)
FINE = plan(ask(COUNT, keys=NO_KEYS), Spend(Fraction(500)), Wishes(bounding=Bounding("sample", rows=1)))


@pytest.mark.parametrize("planned", [ONE_BLOCK, FINE], ids=["coarse", "whole"])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("size", [2**62 - 1, 2**62, 2**62 + 1, 2**70, 2**200])
def test_sums_stop_at_the_limit(planned: QueryPlan, sign: int, size: int) -> None:
    """Beyond ±2^62 steps a feature stays there, so one person still moves it by no more than before."""
    part, many = planned.blocks[0], len(planned.task.monomials)
    exact = given([[sign * size, sign * (size + 1)]] * many, object)
    steps = exact_steps(part, planned.task, exact)
    assert steps.dtype == np.int64
    assert np.all(np.abs(steps) <= 2**62)
    assert np.all(np.abs(np.diff(steps, axis=1)) <= part.block.reach)
    assert np.all(np.isfinite(measure(planned, lambda _task, _salt: exact).vectors))


@pytest.mark.parametrize("planned", [ONE_BLOCK, FINE], ids=["coarse", "whole"])
def test_both_ways_of_adding_up_give_the_same_steps(planned: QueryPlan) -> None:
    """Whether sums fit into int64 depends on the data, so it must not be seen: halves are rounded alike."""
    part, many = planned.blocks[0], len(planned.task.monomials)
    step = int(part.mechanism.grid.step)
    values = [
        sign * (base + shift)
        for base in (0, step // 2, step, 7 * step // 2)
        for shift in (-1, 0, 1)
        for sign in (1, -1)
    ]
    coefficient = part.block.features[0][0][1]
    sums = [[each // coefficient for each in values] if place == 0 else [0] * len(values) for place in range(many)]
    plain = exact_steps(part, planned.task, given(sums, np.int64))
    sums[0].append(2**80)
    for row in sums[1:]:
        row.append(0)
    large = exact_steps(part, planned.task, given(sums, object))
    assert (plain == large[:, :-1]).all()


def test_features_are_combined_exactly_whatever_the_type() -> None:
    planned = plan(ask(COUNT, of("mean", FARE), keys=NO_KEYS), Spend(Fraction(10**4)), ONE_ROW)
    for kind in (np.int64, object):
        exact = given([[5_000_000 * 2**16]] * len(planned.task.monomials), kind)
        count = read(planned, measure(planned, lambda _task, _salt, exact=exact: exact))[0]
        assert count.values[0] == pytest.approx(5_000_000, rel=1e-6)


# ---- private keys --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_group_of_one_is_shown_as_rarely_as_delta_says() -> None:
    """δ is made large so that it can be seen: a lone person's groups come out with probability δ, all together."""
    delta = Fraction(1, 10)
    for keys, places in ((1, "x"), (3, "xyz")):
        spend = Spend(Fraction(1), keys_delta=delta)
        way = Bounding("groups", groups=keys, rows_per_group=1)
        planned = plan(ask(COUNT, keys=BY_PLACE), spend, Wishes(bounding=way))
        exact = engine([{"user": 1, "place": place} for place in places])(planned.task, 0)
        trials = 10_000
        shown = sum(
            release(planned, grant_for(planned), lambda _task, _salt, exact=exact: exact).groups > 0
            for _ in range(trials)
        )
        assert binomtest(shown, trials, float(delta), alternative="greater").pvalue > _SMALLEST_P, shown
        assert binomtest(shown, trials, float(delta) * 0.7, alternative="greater").pvalue < _SMALLEST_P, shown


def test_what_is_selected_keeps_its_own_numbers() -> None:
    """Groups are left out of everything: keys, sums, people, histograms and choices stay side by side."""
    rows: list[dict[str, Any]] = [
        {"user": 10_000 + n, "place": f"lone {n:03}", "fare": 1, "city": "b"} for n in range(60)
    ]
    for place, size, fare in (("big", 700, 99), ("huge", 1400, 60)):
        rows += [{"user": f"{place}{n}", "place": place, "fare": fare, "city": "c"} for n in range(size)]
    spend = Spend(Fraction(100), keys_delta=Fraction(1, 10**9))
    asked = (COUNT, PEOPLE, of("mean", FARE), MEDIAN, of("top", CITY, parameters=[1]), BINS)
    way = Bounding("groups", groups=1, rows_per_group=1)
    planned = plan(ask(*asked, keys=BY_PLACE), spend, Wishes(bounding=way))
    released = release(planned, grant_for(planned), engine(rows))
    assert released.keys == (["big", "huge"],)
    count, people, mean, median, top, bins = read(planned, released)
    assert count.values == pytest.approx([700, 1400], abs=10)
    assert people.values == pytest.approx([700, 1400], abs=10)
    assert mean.values == pytest.approx([99, 60], abs=1)
    assert median.values == pytest.approx([99, 60], abs=1)
    assert top.values == ["c", "c"]
    assert bins.values[:, 2] == pytest.approx([700, 1400], abs=10)
    assert bins.values[:, 0] == pytest.approx([0, 0], abs=10)


def test_public_keys_are_never_selected() -> None:
    planned = plan(ask(COUNT, keys=BY_CITY), Spend(Fraction(1), keys_delta=Fraction(1, 10)))
    assert planned.selection is None
    assert not planned.task.people


# ---- what cannot be ------------------------------------------------------------------------------------------------


def test_an_interruption_is_not_muted() -> None:
    def stopped() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mute(stopped)


@pytest.mark.parametrize("asked", [ask(COUNT, keys=BY_PLACE), ask(PEOPLE, keys=NO_KEYS)], ids=["keys", "people"])
def test_people_who_were_not_counted_are_a_mistake(asked: Any) -> None:
    planned = plan(asked, Spend(Fraction(1), keys_delta=Fraction(1, 10**6)))
    nobody = Exact(([],) if asked.keys else (), np.zeros((1, 1), np.int64), None, np.zeros((0, 1), np.int64), ())
    with pytest.raises(TypeError, match="was not asked to count people"):
        measure(planned, lambda _task, _salt: nobody)
