"""Private keys from a question to its answer: what comes along for nothing, its price, and what one person can do."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sordino as so
from query.planning import BY_CITY, BY_PLACE, COUNT, FARE, MEDIAN, PEOPLE, SEATS, TIP, ask, engine, of, with_limits
from sordino.accounting import accountants, approximate, pure, zcdp
from sordino.data.metadata import Limits
from sordino.mechanisms.geometric_threshold import GeometricThreshold
from sordino.mechanisms.partition import GaussianThreshold, LaplaceThreshold
from sordino.query.model.bounding import Bounding
from sordino.query.model.question import Aggregate
from sordino.query.plan.plan import QueryPlan
from sordino.query.plan.planner import Wishes, plan
from sordino.query.plan.price import own_delta_of
from sordino.query.plan.reading import read
from sordino.query.plan.spend import Spend
from sordino.query.plan.whole import plan_whole
from sordino.query.release.run import measure
from sordino.query.sql.parse import parse

DELTA = Fraction(1, 10**6)
ONE_EACH = with_limits(Limits(rows=4, groups=4, rows_per_group=1))


def planned(*aggregates: Aggregate, spend: Spend | None = None, **more: Any) -> QueryPlan:
    wishes = Wishes(**{name: more.pop(name) for name in ("bounding", "noise") if name in more})
    asked = {"keys": BY_PLACE, "schema": ONE_EACH} | more
    return plan(ask(*aggregates, **asked), spend or Spend(Fraction(1), keys_delta=DELTA), wishes)


# ---- what is planned ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [(PEOPLE,), (COUNT,), (COUNT, PEOPLE), (of("count", FARE),), ()])
def test_counts_of_people_come_with_the_keys_for_all_of_the_price(asked: tuple[Aggregate, ...]) -> None:
    found = planned(*asked)
    assert found.selection is not None
    assert found.selection.mechanism == GeometricThreshold(1, DELTA, 4)
    assert found.selection.counted == tuple(range(len(asked)))
    assert not found.blocks
    assert found.event() == found.selection.event
    assert pure.total(found.event()) == 1
    assert approximate.own_delta(found.event()) == DELTA


@pytest.mark.parametrize(
    ("asked", "counted"),
    [
        ((COUNT, of("mean", FARE)), (0,)),
        ((of("mean", FARE), PEOPLE), (1,)),
        ((COUNT, MEDIAN), (0,)),
        ((of("count", TIP), COUNT), (1,)),  # where a value is missing, only its own count tells
        ((of("sum", SEATS),), ()),
    ],
)
def test_everything_else_has_noise_of_its_own(asked: tuple[Aggregate, ...], counted: tuple[int, ...]) -> None:
    found = planned(*asked)
    assert found.selection is not None
    assert found.selection.counted == counted
    assert float(found.selection.mechanism.epsilon) == pytest.approx(0.55)  # type: ignore[union-attr]
    assert found.blocks or found.choices
    assert pure.total(found.event()) == 1


def test_rows_are_no_people_where_one_person_may_have_several_in_a_group() -> None:
    several = with_limits(Limits(rows=4, groups=2, rows_per_group=2))
    found = planned(COUNT, PEOPLE, schema=several, bounding=Bounding("groups", groups=2, rows_per_group=2))
    assert found.selection is not None
    assert found.selection.counted == (1,)
    assert len(found.blocks) == 1


BOTH = Spend(Fraction(1), None, DELTA, DELTA)


def test_gaussian_noise_if_asked_for_shows_keys_as_well() -> None:
    found = planned(COUNT, spend=BOTH, noise="gaussian")
    assert found.selection is not None
    assert isinstance(found.selection.mechanism, GaussianThreshold)
    assert found.selection.counted == (0,)
    noise = GaussianThreshold(DELTA, found.selection.mechanism.variance).counting.event(found.selection.bound)
    assert 0.999 < accountants.epsilon(noise, DELTA, "gaussian") <= 1
    assert approximate.own_delta(found.event()) == DELTA
    question = ask(COUNT, keys=BY_PLACE, schema=ONE_EACH)
    assert own_delta_of(plan_whole(question, BOTH, Wishes(noise="gaussian"))) == 2 * DELTA
    assert own_delta_of(plan_whole(question, BOTH, Wishes(noise="laplace"))) == DELTA


def test_gaussian_noise_beside_keys_is_calibrated_once() -> None:
    found = planned(COUNT, of("mean", FARE), spend=BOTH, noise="gaussian")
    assert found.selection is not None
    assert isinstance(found.selection.mechanism, GeometricThreshold)
    assert found.selection.counted == ()
    assert found.blocks
    keys_alone = planned(spend=BOTH, noise="gaussian")
    assert keys_alone.selection is not None
    assert isinstance(keys_alone.selection.mechanism, GeometricThreshold)


def test_gaussian_noise_is_taken_where_one_person_is_in_many_groups() -> None:
    chosen = []
    for groups in (1, 100):
        many = with_limits(Limits(groups=groups, rows_per_group=1))
        found = planned(COUNT, spend=BOTH, schema=many).selection
        assert found is not None
        chosen.append(type(found.mechanism))
    assert chosen == [GeometricThreshold, GaussianThreshold]


def test_at_rho_keys_are_found_by_gaussian_noise() -> None:
    found = planned(COUNT, spend=Spend(None, Fraction(1, 2), keys_delta=DELTA))
    assert found.selection is not None
    assert found.selection.mechanism == GaussianThreshold(DELTA, Fraction(4))
    assert zcdp.rho(found.event()) == Fraction(1, 2)
    by_pure_noise = GeometricThreshold(1, DELTA, 4)
    assert found.selection.size_shown(Fraction(1, 2)) < by_pure_noise.size_shown("0.5", found.selection.bound) / 3


def test_people_of_very_many_groups() -> None:
    found = planned(COUNT, schema=with_limits(Limits(groups=10**5, rows_per_group=1)))
    assert found.selection is not None
    assert isinstance(found.selection.mechanism, LaplaceThreshold)
    assert pure.total(found.event()) == 1


def test_public_keys_select_nothing() -> None:
    assert planned(COUNT, keys=BY_CITY).selection is None


# ---- what comes out -------------------------------------------------------------------------------------------------


def groups_of(**sizes: int) -> list[dict[str, Any]]:
    return [{"user": f"{place}{n}", "place": place, "fare": 50} for place, size in sizes.items() for n in range(size)]


@pytest.mark.parametrize("size", [1, 9, 13, 16, 40])
def test_intervals_cover_given_that_a_group_is_shown(size: int) -> None:
    """From a lone person to groups that are always shown, at a δ that lets the small ones be seen."""
    one = with_limits(Limits(1, 1, 1))
    asked = planned(PEOPLE, spend=Spend(Fraction(1, 4), keys_delta=Fraction(1, 50)), schema=one)
    exact = engine(groups_of(a=size))(asked.task, 0)
    trials = 300 if size > 1 else 4000
    shown, covered = 0, 0
    for _ in range(trials):
        released = measure(asked, lambda _task, _salt: exact)
        if released.groups:
            low, high = read(asked, released)[0].interval("0.9")  # type: ignore[union-attr]
            shown += 1
            covered += int(low[0] <= size <= high[0])
    assert shown > 30
    assert covered >= 0.9 * shown - 4 * math.sqrt(0.09 * shown)


def words(sizes: dict[str, int]) -> Any:
    people = [(f"{word} {n}", word) for word, size in sizes.items() for n in range(size)]
    table = pa.table({"user": [who for who, _ in people], "word": [word for _, word in people]})
    data = so.dataset("words", table, unit="user", limits=so.limits(rows=1, groups=1, rows_per_group=1))
    return so.account(data, so.unlimited("a test"))


def test_an_answer_says_how_its_keys_were_found() -> None:
    asked = words({"often": 400, "once": 1, "seldom": 30}).sql("SELECT word, COUNT(*) AS n FROM words GROUP BY word")
    price = asked.price(epsilon=1, delta=1e-6)
    assert any("14 or more" in note for note in price.notes)
    assert str(price).count("± 3") == 1
    answer = asked.run(epsilon=1, delta=1e-6)
    assert answer.to_arrow().to_pydict()["word"] == ["often", "seldom"]
    assert answer.to_arrow().schema.field("n").type == pa.int64()
    keys = answer.details["plan"]["keys"]
    assert keys == {
        "rule": "GeometricThreshold",
        "epsilon": "1",
        "delta": "1/1000000",
        "keys": "1",
        "shown_from": 14,
        "counts_of": ["a0"],
    }
    low, high = answer.interval("n")
    assert np.all(low <= answer.to_arrow().to_pydict()["n"])
    assert np.all(high - low <= 30)


def test_goals_know_counts_that_come_with_keys() -> None:
    data = words({"often": 400, "seldom": 30})
    counted = data.sql("SELECT word, COUNT(*) AS n FROM words GROUP BY word")
    by_noise = counted.plan(noise=10, delta=1e-6)
    selection = by_noise.passes[0].selection
    assert selection is not None
    assert 9.5 <= math.sqrt(selection.mechanism.variance_of_error) <= 10
    assert counted.plan(error=so.within(20, of="n", size=1000), delta=1e-6).spend.epsilon < Fraction(1, 4)
    answer = counted.run(epsilon=1, delta=1e-6)
    assert so.within(1, of="n", size=answer).size == max(answer.interval("n")[0].min(), 1)


# ---- what one person can do -----------------------------------------------------------------------------------------


PERSON_ALONE = [("alone", f"key {n % 7}") for n in range(40)] + [("b", "key 1"), ("c", "key 1"), ("c", None)]


def table_of(rows: list[tuple[Any, Any]]) -> pa.Table:
    return pa.table(
        {
            "user": pa.array([row[0] for row in rows], pa.string()),
            "word": pa.array([row[1] for row in rows], pa.string()),
        }
    )


def shown_and_hidden(load: Any, rows: list[tuple[Any, Any]], groups: int) -> tuple[QueryPlan, dict[Any, int]]:
    """The plan, and how many people have each key after bounding, all keys with the same salt."""
    data = so.dataset(
        "words", load("words", table_of(rows)), unit="user", limits=so.limits(groups=groups, rows_per_group=1)
    )
    question = parse("SELECT word, COUNT(*) AS n FROM words GROUP BY word", data.schema)
    found = plan_whole(question, Spend(Fraction(1), keys_delta=DELTA), Wishes()).passes[0]
    account = so.account(data, so.unlimited("a test"))
    exact = account.compute(found.task, 11)
    assert exact.people is not None
    return found, dict(zip(exact.keys[0], exact.people.tolist(), strict=True))


def outcomes(rule: GeometricThreshold, units: int) -> dict[int | None, Fraction]:
    shown: dict[int | None, Fraction] = {
        units - drawn: rule.probability(drawn + 1) - rule.probability(drawn) for drawn in range(units)
    }
    return {**shown, None: 1 - rule.probability(units)}


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("name", ["duckdb", "postgres", "spark"])
def test_a_person_who_alone_has_keys_is_shown_with_delta_at_most(request: Any, name: str, groups: int) -> None:
    load = request.getfixturevalue(f"{name}_engine").load
    found, counts = shown_and_hidden(load, PERSON_ALONE, groups)
    _, without = shown_and_hidden(load, [row for row in PERSON_ALONE if row[0] != "alone"], groups)
    assert found.selection is not None
    rule = found.selection.mechanism
    assert isinstance(rule, GeometricThreshold)
    alone = [key for key in counts if key not in without]
    assert all(counts[key] == 1 for key in alone)
    assert 0 < len(alone) <= groups
    hidden = math.prod(1 - rule.probability(counts[key]) for key in alone)
    assert 1 - hidden <= DELTA
    assert 1 - hidden >= DELTA * len(alone) / groups * Fraction(999, 1000)


@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["a", "b", "c", "d", None]), st.sampled_from(["x", "y", "z", None])), max_size=20
    ),
    groups=st.sampled_from([1, 2, 4]),
    who=st.sampled_from(["a", "b"]),
)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_one_person_changes_what_is_shown_within_the_price(
    duckdb_engine: Any, rows: list[Any], groups: int, who: str
) -> None:
    """Everything that can come out about any key, on D and on D without one person: (ε, δ) all together, exactly."""
    found, here = shown_and_hidden(duckdb_engine.load, rows, groups)
    same, there = shown_and_hidden(duckdb_engine.load, [row for row in rows if row[0] != who], groups)
    assert repr(found) == repr(same)
    assert found.selection is not None
    rule = found.selection.mechanism
    assert isinstance(rule, GeometricThreshold)
    moved = [key for key in here.keys() | there.keys() if here.get(key, 0) != there.get(key, 0)]
    assert len(moved) <= groups
    growth = Fraction(math.exp(1 / groups)) * (1 + Fraction(1, 10**12))
    for one, other in ((here, there), (there, here)):
        failure = Fraction(0)
        for key in moved:
            left, right = outcomes(rule, one.get(key, 0)), outcomes(rule, other.get(key, 0))
            failure += sum(
                max(share - growth * right.get(what, Fraction(0)), Fraction(0)) for what, share in left.items()
            )
        assert failure <= DELTA
