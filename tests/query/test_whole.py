"""Everything that a question runs: finding bounds first, several levels of keys, and one price that covers it all."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from query.planning import (
    BY_CITY,
    BY_PLACE,
    BY_ROW,
    CITY,
    COUNT,
    FARE,
    FREE,
    NO_KEYS,
    PEOPLE,
    PLACE,
    TIP,
    ask,
    engine,
    never,
    of,
    with_limits,
)
from sordino.accounting import approximate, pure, zcdp
from sordino.accounting.bound import Bound
from sordino.accounting.events import Composed, Pure
from sordino.accounting.grant import Grant
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column, Limits, Public, Table
from sordino.errors import GrantError, QuestionError, RunError
from sordino.query.model.bounding import Bounding
from sordino.query.model.operations import call
from sordino.query.model.question import Key, KeyTable, Question
from sordino.query.model.relation import Scan, UnionAll
from sordino.query.model.task import Exact, Task
from sordino.query.plan.discovery import Discovery, Found, limits_unknown, plan_discovery, unknown_ranges
from sordino.query.plan.planner import Wishes, plan
from sordino.query.plan.reading import read
from sordino.query.plan.spend import Spend
from sordino.query.plan.whole import WholePlan, plan_whole, questions, with_found
from sordino.query.release.whole import discover, run_whole

DELTA = Fraction(1, 10**6)
UNLIMITED = with_limits(Limits())
LATE_KEY = Key("late", CITY, Column(Kind.TEXT, keys=("x", "y")))
MEAN_FREE = of("mean", FREE)


def grant_for(whole: WholePlan) -> Grant:
    return Grant(whole.event(), whole.bound, whole.digest())


def levels(*aggregates: Any, keys: Any = (*BY_CITY, LATE_KEY)) -> Question:
    return ask(*aggregates, keys=keys, grouping_sets=((0, 1), (0,), ()))


WHOLES = {
    "plain": ask(COUNT),
    "rollup": levels(COUNT, of("mean", FARE)),
    "private-rollup": levels(COUNT, keys=(*BY_PLACE, LATE_KEY)),
    "range": ask(COUNT, MEAN_FREE),
    "limits": ask(COUNT, schema=UNLIMITED),
    "both": ask(COUNT, MEAN_FREE, of("quantile", FREE, parameters=["1/2"]), schema=UNLIMITED),
    "private": ask(COUNT, MEAN_FREE, keys=BY_PLACE, schema=UNLIMITED),
    "by-row": ask(MEAN_FREE, schema=BY_ROW),
    "range-rollup": levels(MEAN_FREE),
}


# ---- one price -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("truncation", [False, True])
@pytest.mark.parametrize("name", WHOLES)
def test_epsilon_given_is_epsilon_spent(name: str, truncation: bool) -> None:
    for epsilon in (Fraction(1), Fraction(7, 13)):
        whole = plan_whole(
            WHOLES[name], Spend(epsilon, None, DELTA, DELTA / 2), Wishes(noise="laplace"), truncation=truncation
        )
        assert pure.total(whole.event()) == epsilon
        levels_selected = {"private": Fraction(1), "private-rollup": Fraction(2, 3)}.get(name, Fraction(0))
        assert approximate.own_delta(whole.event()) == levels_selected * DELTA / 2


@pytest.mark.parametrize("name", WHOLES)
def test_rho_given_covers_rho_spent(name: str) -> None:
    for rho in (Fraction(1, 2), Fraction(1, 1000)):
        whole = plan_whole(WHOLES[name], Spend(None, rho, keys_delta=DELTA), Wishes())
        assert rho * Fraction(9, 10) < zcdp.rho(whole.event()) <= rho
        assert approximate.own_delta(whole.event()) <= DELTA


@pytest.mark.parametrize("name", [each for each, question in WHOLES.items() if "range" in each or "both" in each])
@pytest.mark.parametrize(
    "spend", [Spend(Fraction(1), None, DELTA, DELTA), Spend(None, Fraction(1), Fraction(0), DELTA)]
)
def test_the_claim_covers_whatever_is_planned_after_finding(name: str, spend: Spend) -> None:
    """The passes are planned after the charge: for any bounds found they cost no more than what was set aside."""
    whole = plan_whole(WHOLES[name], spend, Wishes())
    assert whole.passes == ()
    seen = []
    for limits, reach in ((Limits(rows=1), 1), (Limits(rows=1000), 2**40), (None, Fraction(1, 2**20))):
        found = Found(limits, {FREE: Range.of(-reach, reach)})
        wishes = with_found(whole.question, whole.wishes, found)
        for level in questions(whole.question):
            if limits is None and name == "both":
                continue
            share = whole.rest.amount / len(questions(whole.question))
            planned = plan(level, whole.rest.part(share), wishes)
            spent = pure.total(planned.event()) if spend.epsilon is not None else zcdp.rho(planned.event())
            assert spent <= share
            seen.append(spent)
    assert seen


def test_a_plain_question_is_one_pass() -> None:
    whole = plan_whole(ask(COUNT), Spend(Fraction(1)), Wishes())
    assert whole.discovery is None
    assert len(whole.passes) == 1
    assert whole.event() == whole.passes[0].event()
    assert whole.bound == whole.passes[0].bound


# ---- levels --------------------------------------------------------------------------------------------------------


def test_each_level_is_a_question_of_its_own() -> None:
    found = questions(levels(COUNT))
    assert [len(each.keys) for each in found] == [2, 1, 0]
    assert all(each.grouping_sets is None for each in found)
    whole = plan_whole(levels(COUNT), Spend(Fraction(1)), Wishes())
    assert [pure.total(each.event()) for each in whole.passes] == pytest.approx([1 / 3] * 3)
    assert sum(pure.total(each.event()) for each in whole.passes) == 1


def test_levels_do_not_take_gaussian_noise_at_epsilon_and_delta() -> None:
    whole = plan_whole(levels(COUNT), Spend(Fraction(1), None, DELTA), Wishes())
    assert approximate.own_delta(whole.event()) == 0
    with pytest.raises(QuestionError, match="SRD-Q306"):
        plan_whole(levels(COUNT), Spend(Fraction(1), None, DELTA), Wishes(noise="gaussian"))


def test_levels_divide_delta() -> None:
    whole = plan_whole(levels(COUNT, keys=(*BY_PLACE, LATE_KEY)), Spend(Fraction(1), keys_delta=DELTA), Wishes())
    deltas = [each.selection.mechanism.delta for each in whole.passes if each.selection is not None]
    assert deltas == [DELTA / 3] * 2


def test_levels_of_a_key_table_are_refused() -> None:
    public = Scan(Table("known", {"p": Column(Kind.TEXT), "c": Column(Kind.TEXT)}, Public()))
    question = ask(
        COUNT, keys=(*BY_PLACE, *BY_CITY), key_table=KeyTable(public, ("p", "c")), grouping_sets=((0, 1), (1,), ())
    )
    with pytest.raises(QuestionError, match="each set by itself"):
        questions(question)


# ---- finding bounds ------------------------------------------------------------------------------------------------


def test_what_is_unknown() -> None:
    assert unknown_ranges(ask(MEAN_FREE, of("sum", FREE), of("mean", FARE), COUNT)) == [FREE]
    assert unknown_ranges(ask(of("count", FREE), of("count_distinct", PLACE))) == []
    assert limits_unknown(ask(COUNT, schema=UNLIMITED))
    assert not limits_unknown(ask(PEOPLE, schema=UNLIMITED))
    assert limits_unknown(ask(PEOPLE, keys=BY_PLACE, schema=UNLIMITED))
    assert not limits_unknown(ask(COUNT))
    assert not limits_unknown(ask(COUNT, schema=BY_ROW))


def test_nothing_is_found_unless_it_is_allowed() -> None:
    for question in (WHOLES["range"], WHOLES["limits"]):
        with pytest.raises(QuestionError, match=r"SRD-Q302|SRD-Q311"):
            plan_whole(question, Spend(Fraction(1)), Wishes(), find=False)
    with pytest.raises(QuestionError, match="SRD-Q306"):
        plan_whole(WHOLES["range"], Spend(Fraction(1), None, DELTA), Wishes(noise="gaussian"))
    with pytest.raises(QuestionError, match="SRD-Q305"):
        plan_whole(WHOLES["private"], Spend(Fraction(1)), Wishes())


def test_a_wish_for_a_range_is_kept_and_not_paid_for() -> None:
    question = ask(MEAN_FREE, of("mean", TIP), of("sum", FREE))
    whole = plan_whole(question, Spend(Fraction(1)), Wishes(ranges={FREE: Range.of(0, 7)}))
    assert whole.discovery is None
    assert whole.passes[0].task.measures[0].range == Range.of(0, 7)


def test_a_wish_for_one_of_two_ranges_is_kept() -> None:
    other = of("mean", FREE)
    negative = of("sum", _negated())
    question = ask(other, negative, schema=UNLIMITED)
    whole = plan_whole(question, Spend(Fraction(1)), Wishes(ranges={FREE: Range.of(0, 7)}))
    assert whole.discovery is not None
    assert {search.subject for search in whole.discovery.searches} == {_negated(), None}


def _negated() -> Any:
    return call("negate", FREE)


def people(size: int, rows: int, low: float, high: float) -> list[dict[str, Any]]:
    generator = np.random.default_rng(4)
    return [
        {"user": user, "city": "abc"[row % 3], "place": "p", "free": float(value), "fare": float(value)}
        for user in range(size)
        for row, value in enumerate(generator.uniform(low, high, rows))
    ]


def found_often(discovery: Discovery, rows: list[dict[str, Any]], times: int) -> list[Found]:
    """What is found on the same data, time after time; the engine is asked once."""
    remembered: dict[int, Exact] = {}

    def compute(task: Task, salt: int) -> Exact:
        place = next(at for at, each in enumerate(discovery.searches) if each.relation is task.relation)
        if question_by_row or place not in remembered:
            remembered[place] = engine(rows)(task, salt)
        return remembered[place]

    question_by_row = discovery.bounding.method == "row"
    return [discover(discovery, compute, salt) for salt in range(times)]


@pytest.mark.parametrize(("low", "high"), [(3, 90), (-50, 20), (-900, -600), (0, 0.001)])
@pytest.mark.parametrize("by_row", [False, True])
def test_ranges_that_are_found_hold_nearly_all_values(low: float, high: float, by_row: bool) -> None:
    """Each end is beyond all data one time in twenty at most; then the range is much too wide, but never too narrow."""
    question = ask(MEAN_FREE, keys=NO_KEYS, schema=BY_ROW if by_row else with_limits(Limits(rows=5)))
    discovery = plan_discovery(question, Fraction(1), unknown_ranges(question), None, by_rho=False)
    rows = people(600, 1, low, high)
    values = np.array([row["free"] for row in rows])
    times, narrow = 20, 0
    for found in found_often(discovery, rows, times):
        spread = found.ranges[FREE]
        inside = np.mean((values >= float(spread.low)) & (values <= float(spread.high)))
        assert inside > 0.8, spread
        narrow += float(spread.high - spread.low) <= 4 * max(abs(low), abs(high)) + 1e-3
    assert narrow >= times * 0.6, narrow


@pytest.mark.parametrize("rows", [1, 3, 10])
def test_limits_that_are_found_suit_nearly_everyone(rows: int) -> None:
    question = ask(COUNT, schema=UNLIMITED)
    discovery = plan_discovery(question, Fraction(1), unknown_ranges(question), Spend(Fraction(1)), by_rho=False)
    assert [search.subject for search in discovery.searches] == [None]
    data = people(500, rows, 0, 1) + people(2, 300, 0, 1)
    times, good = 20, 0
    for found in found_often(discovery, data, times):
        assert found.limits is not None
        assert found.limits.rows is not None
        good += rows <= found.limits.rows <= 2 * rows + 1
    assert good >= times * 0.7, good


def test_an_empty_table_finds_something() -> None:
    question = ask(COUNT, MEAN_FREE, schema=UNLIMITED)
    discovery = plan_discovery(question, Fraction(1), unknown_ranges(question), Spend(Fraction(1)), by_rho=False)
    for salt in range(20):
        found = discover(discovery, engine([]), salt)
        assert found.limits is not None
        assert 1 <= (found.limits.rows or 0) <= 2**21
        assert found.ranges[FREE].low < found.ranges[FREE].high


def test_one_person_moves_each_histogram_by_one_weight() -> None:
    """The bound of a search: one unit's weight, on the histogram that the engine returns."""
    rows = people(5, 3, 0, 10)
    person: list[dict[str, Any]] = [{"user": 99, "city": "a", "free": x} for x in (-1e9, 0, 5, 1e9)]
    scan = Scan(BY_ROW.tables["trips"])
    for question, more in (
        (ask(COUNT, MEAN_FREE, schema=UNLIMITED), person),
        (ask(MEAN_FREE, schema=BY_ROW), person[:1]),
        (ask(MEAN_FREE, schema=BY_ROW, relation=UnionAll((scan, scan))), person[:1]),
    ):
        spend = None if question.schema.by_row else Spend(Fraction(1))
        discovery = plan_discovery(question, Fraction(1), unknown_ranges(question), spend, by_rho=False)
        seen: list[dict[tuple[int, int], int]] = []

        def spy(task: Task, salt: int, data: Any, seen: Any = seen) -> Exact:
            exact = engine(data)(task, salt)
            seen.append({(row[0], row[1]): row[2] for row in exact.histograms[0].tolist()})
            return exact

        discover(discovery, lambda task, salt, spy=spy: spy(task, salt, rows), 1)
        discover(discovery, lambda task, salt, spy=spy, more=more: spy(task, salt, rows + more), 1)
        half = len(seen) // 2
        for before, after in zip(seen[:half], seen[half:], strict=True):
            moved = sum(abs(before.get(each, 0) - after.get(each, 0)) for each in before.keys() | after.keys())
            assert moved <= discovery.bound.l1
        assert isinstance(discovery.bound, Bound)


# ---- running -------------------------------------------------------------------------------------------------------


def test_bounds_are_found_and_used() -> None:
    whole = plan_whole(WHOLES["both"], Spend(Fraction(20)), Wishes())
    outcome = run_whole(whole, grant_for(whole), engine(people(600, 3, 10, 50)))
    assert outcome.found is not None
    assert outcome.found.limits is not None
    ((planned, released),) = outcome.passes
    assert planned.bounding.linf == outcome.found.limits.rows
    count, mean, median = read(planned, released)
    assert count.values == pytest.approx([600] * 3, rel=0.1)
    assert mean.values == pytest.approx([30] * 3, abs=3)
    assert median.values == pytest.approx([30] * 3, abs=5)


def test_levels_run_one_after_the_other() -> None:
    whole = plan_whole(levels(COUNT), Spend(Fraction(1)), Wishes())
    outcome = run_whole(whole, grant_for(whole), engine([]))
    assert [released.groups for _, released in outcome.passes] == [6, 3, 1]
    assert outcome.found is None


def test_a_grant_covers_all_of_it_once() -> None:
    whole = plan_whole(WHOLES["both"], Spend(Fraction(1)), Wishes())
    with pytest.raises(GrantError):
        run_whole(whole, Grant(Pure(1), whole.bound), never)
    grant = grant_for(whole)
    with pytest.raises(RunError) as failure:
        run_whole(whole, grant, never)
    assert "touched" not in str(failure.value)
    with pytest.raises(GrantError):
        run_whole(whole, grant, never)


HOPELESS = {
    "a mean of texts": (ask(MEAN_FREE, of("mean", PLACE)), Wishes()),
    "a top of what nobody lists": (ask(MEAN_FREE, of("top", PLACE, parameters=[1])), Wishes()),
    "a level beyond one": (ask(MEAN_FREE, of("quantile", FARE, parameters=["3/2"])), Wishes()),
    "a correlation with itself": (ask(of("correlation", FREE, FREE)), Wishes()),
    "weights of no column": (ask(MEAN_FREE), Wishes(weights={"nothing": 1.0})),
    "a bounding that does not suit": (ask(MEAN_FREE, PEOPLE), Wishes(bounding=Bounding("weigh", rows=1))),
}


@pytest.mark.parametrize("name", HOPELESS)
def test_a_hopeless_question_is_refused_before_anything_is_charged(name: str) -> None:
    """Even where bounds must be found first: every refusal comes before the data, not as a mute failure after."""
    question, wishes = HOPELESS[name]
    with pytest.raises(QuestionError):
        plan_whole(question, Spend(Fraction(1)), wishes)


def test_gaussian_rho_but_laplace_wished_is_refused_beforehand() -> None:
    with pytest.raises(QuestionError, match="SRD-Q306"):
        plan_whole(ask(MEAN_FREE), Spend(None, Fraction(1)), Wishes(noise="laplace"))


def test_declared_groups_are_kept_when_rows_are_found() -> None:
    """Someone declared groups=1 and nothing else: what is found is added to that, and does not replace it."""
    question = ask(COUNT, keys=BY_PLACE, schema=with_limits(Limits(groups=1)))
    whole = plan_whole(question, Spend(Fraction(1), keys_delta=DELTA), Wishes())
    assert whole.discovery is not None
    found = Found(Limits(rows=8), {})
    planned = plan(question, whole.rest, with_found(whole.question, whole.wishes, found))
    assert planned.bounding.l0 == 1


def test_events_of_everything_compose() -> None:
    whole = plan_whole(WHOLES["private"], Spend(Fraction(1), keys_delta=DELTA), Wishes())
    event = whole.event()
    assert isinstance(event, Composed)
    assert type(event).from_json(event.to_json()) == event
